"""What each NATS user may publish and subscribe, derived from who does what.

A user's private inbox is `_INBOX_<user>.>`: replies meant for one service cannot be read by another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cortex_contracts import subjects
from cortex_contracts.services import SERVICES, ServiceContract
from cortex_contracts.streams import CONSUMERS

OPERATOR: Final = "operator"
PROVISIONER: Final = "provisioner"


@dataclass(frozen=True, slots=True)
class UserPermissions:
    """Allow-lists of one NATS user; everything else is denied by the server."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    allow_responses: bool = False
    """May answer a request on the reply subject it came with."""
    not_subscribe: tuple[str, ...] = ()
    """What is denied although `subscribe` covers it."""


def inbox_prefix(user: str) -> str:
    """The prefix of the reply subjects that `user` listens on."""
    return f"_INBOX_{user}"


def of_service(contract: ServiceContract) -> UserPermissions:
    """The permissions of a service: its own part of the bus and nothing else."""
    publish = [*contract.publishes, *contract.calls]
    for consumer in contract.consumes:
        stream = consumer.stream.name
        publish += [
            f"$JS.API.CONSUMER.INFO.{stream}.{consumer.name}",
            f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer.name}",
            f"$JS.ACK.{stream}.{consumer.name}.>",
            subjects.dead_letter(stream, consumer.name),
        ]
    subscribe = [
        f"{inbox_prefix(contract.name)}.>",
        "$SRV.>",
        *(rpc.subject for rpc in contract.serves),
        *(rpc.cancel_subject for rpc in contract.serves if rpc.cancellable),
        *contract.watches,
        *contract.answers,
    ]
    return UserPermissions(tuple(publish), tuple(subscribe), allow_responses=True, not_subscribe=contract.leaves)


def of_publisher(org: str) -> UserPermissions:
    """The permissions of an outside publisher: captures of its own org."""
    return UserPermissions((subjects.captures_of(org),), (f"{inbox_prefix(publisher_user(org))}.>",))


def publisher_user(org: str) -> str:
    """Name of the NATS user that publishes captures of `org` from outside."""
    return f"publisher-{subjects.token(org, 'org')}"


USERS: Final[Mapping[str, UserPermissions]] = {
    **{contract.name: of_service(contract) for contract in SERVICES},
    # An operator watches, asks and replays; it can not provision streams.
    OPERATOR: UserPermissions(
        (
            f"{subjects.PREFIX}.rpc.>",
            # What a consumer takes in: commands to send, and any dead letter's subject to replay to.
            *(consumer.filter_subject for consumer in CONSUMERS),
            "$JS.API.INFO",
            "$JS.API.STREAM.NAMES",
            "$JS.API.STREAM.LIST",
            "$JS.API.STREAM.INFO.*",
            "$JS.API.STREAM.MSG.GET.*",
            "$JS.API.STREAM.MSG.DELETE.DEAD_LETTERS",
            "$JS.API.STREAM.PURGE.DEAD_LETTERS",
            "$JS.API.DIRECT.GET.>",
            "$JS.API.CONSUMER.>",
            "$JS.FC.>",
            "$SRV.>",
        ),
        (f"{inbox_prefix(OPERATOR)}.>", f"{subjects.PREFIX}.>"),
    ),
    PROVISIONER: UserPermissions(("$JS.API.>",), (f"{inbox_prefix(PROVISIONER)}.>",)),
}
