"""Who does what on the bus: what each service publishes, calls, serves and consumes.

The NATS permissions, the AsyncAPI document and the contract tests are made from this one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cortex_contracts import subjects
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.archive import ARCHIVE_RPCS
from cortex_contracts.rpc.ask import ASK
from cortex_contracts.rpc.cold import COLD_RPCS, THAW
from cortex_contracts.rpc.contract import Rpc
from cortex_contracts.rpc.documents import DOCUMENT_READS, DOCUMENT_WRITES
from cortex_contracts.rpc.ingest import INGEST_RPCS
from cortex_contracts.rpc.keys import KEY_RPCS
from cortex_contracts.rpc.operations import OPERATION_RPCS
from cortex_contracts.rpc.pages import PAGE_READS, PAGE_WRITES
from cortex_contracts.rpc.recall import CONTEXT, GET, RECALL
from cortex_contracts.rpc.sleep import SLEEP_RPCS
from cortex_contracts.rpc.usage import USAGE_RPCS
from cortex_contracts.streams import INGEST_CAPTURES, INGEST_SYNCS, SLEEP_MEMORY_EVENTS, SLEEP_WAKES, Consumer


@dataclass(frozen=True, slots=True)
class ServiceContract:
    """One service's side of the bus."""

    name: str
    publishes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    serves: tuple[Rpc[Any, Any], ...] = ()
    consumes: tuple[Consumer, ...] = ()
    watches: tuple[str, ...] = ()
    """What every replica hears of while it is there: a hint, since what was said in its absence is not said again."""
    answers: tuple[str, ...] = ()
    """Subjects that it may answer on, where configuration alone says on which of them it does."""
    leaves: tuple[str, ...] = ()
    """What it may not hear although a pattern above covers it: what another service serves."""


EXTERNAL_ENGINES: Final = (
    subjects.engines("ask"),
    subjects.cancel(subjects.engines("ask")),
    subjects.engines("health"),
)
"""What adapters answer; which engines there are is configured."""
BUILT_IN_ENGINES: Final = tuple(map(subjects.engine_pattern, (*engine.BUILT_IN_ENGINES, *engine.ON_REQUEST_ENGINES)))

SERVICES: Final = (
    ServiceContract("webhook", publishes=(subjects.SYNC_PATTERN,)),
    ServiceContract(
        "ingest",
        publishes=(
            subjects.MEMORY_EVENT_PATTERN,
            subjects.PAGE_EVENT_PATTERN,
            subjects.SYNC_EVENT_PATTERN,
            subjects.KEY_EVENT_PATTERN,
            subjects.SYNC_PATTERN,
        ),
        # For the principal of a change: it can bind the database to any principal anyway.
        calls=(THAW.subject,),
        serves=(*INGEST_RPCS, *DOCUMENT_WRITES, *PAGE_WRITES, *OPERATION_RPCS, *USAGE_RPCS, *KEY_RPCS),
        consumes=(INGEST_CAPTURES, INGEST_SYNCS),
    ),
    ServiceContract(
        "recall",
        publishes=(subjects.MEMORY_EVENT_PATTERN,),
        serves=(
            RECALL,
            GET,
            CONTEXT,
            *DOCUMENT_READS,
            *PAGE_READS,
            *(engine.ask(key) for key in engine.BUILT_IN_ENGINES),
            *(engine.health(key) for key in engine.BUILT_IN_ENGINES),
        ),
    ),
    ServiceContract(
        "sleep",
        publishes=(subjects.MEMORY_EVENT_PATTERN, subjects.SLEEP_EVENT_PATTERN, subjects.WAKE_EVENT_PATTERN),
        serves=(
            *SLEEP_RPCS,
            *ARCHIVE_RPCS,
            *COLD_RPCS,
            *(engine.ask(key) for key in engine.ON_REQUEST_ENGINES),
            *(engine.health(key) for key in engine.ON_REQUEST_ENGINES),
        ),
        consumes=(SLEEP_MEMORY_EVENTS, SLEEP_WAKES),
    ),
    ServiceContract(
        "gateway",
        publishes=(subjects.CAPTURE_PATTERN, subjects.SYNC_PATTERN),
        calls=(f"{subjects.PREFIX}.rpc.>",),
        serves=(ASK,),
        watches=(subjects.KEY_EVENT_PATTERN,),
        answers=EXTERNAL_ENGINES,
        leaves=BUILT_IN_ENGINES,
    ),
    # The same adapters as in the gateway, in a process of their own.
    ServiceContract("engines", answers=EXTERNAL_ENGINES, leaves=BUILT_IN_ENGINES),
)
