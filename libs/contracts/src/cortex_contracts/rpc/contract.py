"""What an RPC is: subject, queue group, request and reply types, time limit; and the envelope its reply travels in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from pydantic import ConfigDict, model_validator

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


@dataclass(frozen=True, slots=True)
class Rpc(Generic[RequestT, ReplyT]):
    """One request-reply verb. `timeout_s` is what a caller waits when it has no deadline of its own."""

    service: str
    verb: str
    request: type[RequestT]
    reply: type[ReplyT]
    timeout_s: float
    summary: str

    @property
    def subject(self) -> str:
        """The subject that requests are sent to."""
        return subjects.rpc(self.service, self.verb)

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
