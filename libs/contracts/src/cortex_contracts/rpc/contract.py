"""What an RPC is: subject, queue group, request and reply types, time limit; the envelope its reply travels in; and
how a caller that waits no longer says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Generic, Self, TypeVar

from pydantic import ConfigDict, StringConstraints, model_validator

from cortex_contracts import subjects
from cortex_contracts.errors import ErrorBody
from cortex_contracts.messages.base import Message

RequestT = TypeVar("RequestT", bound=Message)
ReplyT = TypeVar("ReplyT", bound=Message)


class Envelope(Message, Generic[ReplyT]):
    """A reply on the bus: exactly one of `result` and `error`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    result: ReplyT | None = None
    error: ErrorBody | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.result is None) == (self.error is None):
            raise ValueError("a reply carries exactly one of result and error")
        return self


class Cancel(Message):
    """The caller of a cancellable RPC waits no longer: `call` is the header `Cortex-Call` of its request.

    Every replica hears it, since the caller does not know which one works on the call. It is a hint: one that gets lost
    costs work that nobody waits for, nothing else.
    """

    call: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]


@dataclass(frozen=True, slots=True)
class Rpc(Generic[RequestT, ReplyT]):
    """One request-reply verb. `timeout_s` is what a caller waits when it has no deadline of its own.

    `cancellable`: its handler only reads, and ends when the caller that waits no longer says so.
    """

    service: str
    verb: str
    request: type[RequestT]
    reply: type[ReplyT]
    timeout_s: float
    summary: str
    cancellable: bool = False

    @property
    def subject(self) -> str:
        """The subject that requests are sent to."""
        return subjects.rpc(self.service, self.verb)

    @property
    def cancel_subject(self) -> str:
        """The subject on which callers of a cancellable RPC say that they wait no longer."""
        return subjects.cancel(self.subject)

    @property
    def queue(self) -> str:
        """The queue group that shares the requests between replicas."""
        return self.service


@dataclass(frozen=True, slots=True)
class EngineRpc(Rpc[RequestT, ReplyT]):
    """A verb of an engine: `service` is the engine key."""

    @property
    def subject(self) -> str:
        """The subject that requests are sent to."""
        return subjects.engine(self.service, self.verb)

    @property
    def queue(self) -> str:
        """The queue group that shares the requests between replicas."""
        return f"engine-{self.service}"
