"""Everything that travels on the bus, in one list: what schemas, AsyncAPI and the compatibility test are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cortex_contracts import subjects
from cortex_contracts.messages.base import Message
from cortex_contracts.messages.commands import Capture, SyncVault
from cortex_contracts.messages.events import (
    KeyEvent,
    MemoryEvent,
    PageEvent,
    SleepEvent,
    SleepRunEvent,
    SyncEvent,
    WakeEvent,
)
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.archive import ARCHIVE_RPCS
from cortex_contracts.rpc.ask import ASK, GatewayHealth
from cortex_contracts.rpc.cold import COLD_RPCS
from cortex_contracts.rpc.contract import Cancel, Rpc
from cortex_contracts.rpc.documents import DOCUMENT_READS, DOCUMENT_WRITES
from cortex_contracts.rpc.ingest import INGEST_RPCS
from cortex_contracts.rpc.keys import KEY_RPCS
from cortex_contracts.rpc.operations import OPERATION_RPCS
from cortex_contracts.rpc.pages import PAGE_READS, PAGE_WRITES
from cortex_contracts.rpc.recall import CONTEXT, GET, RECALL
from cortex_contracts.rpc.sleep import SLEEP_RPCS
from cortex_contracts.rpc.usage import USAGE_RPCS


@dataclass(frozen=True, slots=True)
class Publication:
    """A kind of message that is published, with the shape of its subject (`{name}` is one token)."""

    name: str
    address: str
    message: type[Message]
    summary: str

    @property
    def pattern(self) -> str:
        """The subscription that matches every subject of this kind."""
        return ".".join("*" if part.startswith("{") else part for part in self.address.split("."))


PUBLICATIONS: Final = (
    Publication(
        "capture", f"{subjects.PREFIX}.cmd.capture.{{org}}.{{source_kind}}", Capture, "A raw turn or event to remember."
    ),
    Publication("sync", f"{subjects.PREFIX}.cmd.sync.{{org}}.{{vault}}", SyncVault, "Bring a vault up to date."),
    Publication(
        "memory_event",
        f"{subjects.PREFIX}.evt.memory.{{op}}.{{org}}.{{namespace}}",
        MemoryEvent,
        "Something happened to a memory.",
    ),
    Publication(
        "page_event", f"{subjects.PREFIX}.evt.page.{{op}}.{{org}}.{{vault}}", PageEvent, "Something happened to a page."
    ),
    Publication(
        "sync_event", f"{subjects.PREFIX}.evt.sync.{{org}}.{{vault}}", SyncEvent, "How far the sync of a vault is."
    ),
    Publication(
        "sleep_event",
        f"{subjects.PREFIX}.evt.sleep.observe.{{org}}.{{namespace}}",
        SleepEvent,
        "A step of the background work is done.",
    ),
    Publication(
        "sleep_run_event",
        f"{subjects.PREFIX}.evt.sleep.{{phase}}.{{org}}.{{namespace}}",
        SleepRunEvent,
        "How far a phase of a run is: every phase but observe.",
    ),
    Publication("key_event", f"{subjects.PREFIX}.evt.key.{{org}}", KeyEvent, "A key was made or has ended."),
    Publication(
        "wake_event", f"{subjects.PREFIX}.evt.wake.{{org}}.{{namespace}}", WakeEvent, "A person should know this now."
    ),
)

RPCS: Final[tuple[Rpc[Any, Any], ...]] = (
    RECALL,
    GET,
    CONTEXT,
    *DOCUMENT_READS,
    *PAGE_READS,
    ASK,
    *INGEST_RPCS,
    *DOCUMENT_WRITES,
    *PAGE_WRITES,
    *OPERATION_RPCS,
    *USAGE_RPCS,
    *KEY_RPCS,
    *SLEEP_RPCS,
    *ARCHIVE_RPCS,
    *COLD_RPCS,
    *(engine.ask(key) for key in (*engine.BUILT_IN_ENGINES, *engine.ON_REQUEST_ENGINES)),
    *(engine.health(key) for key in (*engine.BUILT_IN_ENGINES, *engine.ON_REQUEST_ENGINES)),
)


def models() -> Mapping[str, type[Message]]:
    """Every public model by the name its committed schema has, in alphabetical order."""
    found: dict[str, type[Message]] = {p.message.__name__: p.message for p in PUBLICATIONS}
    for rpc in RPCS:
        found |= {rpc.request.__name__: rpc.request, rpc.reply.__name__: rpc.reply}
    found |= {Cancel.__name__: Cancel, GatewayHealth.__name__: GatewayHealth}
    return dict(sorted(found.items()))
