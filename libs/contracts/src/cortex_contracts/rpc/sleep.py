"""Sleep: what the background work has seen."""

from __future__ import annotations

from pydantic import Field

from cortex_contracts.messages.base import Message, Principal, Timestamp, Token
from cortex_contracts.rpc.contract import Rpc


class SleepStatusRequest(Message):
    """What has sleep seen of the principal's org?"""

    principal: Principal


class NamespaceProgress(Message):
    """Memory events that sleep has taken in for one namespace."""

    namespace: Token
    events_seen: int = Field(ge=0)
    last_event_at: Timestamp


class SleepStatus(Message):
    """Progress per namespace, in alphabetical order."""

    namespaces: tuple[NamespaceProgress, ...]


SLEEP_STATUS = Rpc("sleep", "status", SleepStatusRequest, SleepStatus, 2.0, "What sleep has seen, per namespace.")
