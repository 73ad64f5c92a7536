"""What the Brain API answers: the shapes of its contract, made from the replies of the bus.

The shapes are closed: consumers parse them as they are. What a page or a vault does not always have (an effective date,
sources, a sync that runs) is left out where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, Field

from cortex_contracts.rpc.ingest import SyncStatus
from cortex_contracts.rpc.pages import SNIPPET_CHARS, BrainStatus, GraphReply, PageReply, PageType, QueryPagesReply
from cortex_gateway.usage import AgentUsage

Utc = Annotated[datetime, AfterValidator(lambda moment: moment.astimezone(UTC))]
"""ISO 8601 with `Z`."""
Outcome = Literal["ok", "partial", "failed"]
SEVERITY: Final[Sequence[Outcome]] = ("ok", "partial", "failed")


class Result(BaseModel):
    """A page that answers."""

    slug: str
    title: str
    type: PageType
    score: float = Field(ge=0, le=1, description="relative to the first result, which has 1")
    snippet: str = Field(max_length=SNIPPET_CHARS, description="whole words, centred on the best passage")
    highlights: list[str] = Field(description="as they occur in the page")


class Results(BaseModel):
    """The best page first, each once; none is no error."""

    results: list[Result]
    took_ms: int = Field(ge=0)

    @classmethod
    def of(cls, reply: QueryPagesReply, took_ms: int) -> Results:
        """The results of a reply."""
        found = [
            Result(
                slug=one.slug,
                title=one.title,
                type=one.type,
                score=one.score,
                snippet=one.snippet,
                highlights=list(one.highlights),
            )
            for one in reply.results
        ]
        return cls(results=found, took_ms=took_ms)


class StoredPage(BaseModel):
    """A page as it is stored."""

    slug: str
    type: PageType
    title: str
    created: Utc
    updated: Utc
    tags: list[str]
    body_markdown: str
    links_out: list[str] = Field(
        description="the slug of each page it links to, or the link as written where there is none yet"
    )
    effective_date: date | None = Field(default=None, description="only where the page has one")
    sources: list[str] | None = Field(default=None, description="only where the page has some")
    truncated: Literal[True] | None = Field(
        default=None, description="only where the body is longer than an answer can be; do not write it back"
    )

    @classmethod
    def of(cls, reply: PageReply) -> StoredPage | None:
        """The page of a reply, if there is one."""
        if (page := reply.page) is None:
            return None
        return cls(
            slug=page.slug,
            type=page.type,
            title=page.title,
            created=page.created,
            updated=page.updated,
            tags=list(page.tags),
            body_markdown=page.body_markdown,
            links_out=list(page.links_out),
            effective_date=page.effective_date,
            sources=list(page.sources) or None,
            truncated=True if reply.truncated else None,
        )


class Health(BaseModel):
    """Whether the pages are served, and what there is."""

    status: Literal["ok", "degraded"]
    pages: int = Field(ge=0)
    links: int = Field(ge=0)
    embedded_pct: int = Field(ge=0, le=100, description="chunks with an embedding, rounded down; 100 of none")
    last_sync: Utc | None
    stale_chunks: int = Field(ge=0, description="chunks that wait for an embedding")

    @classmethod
    def of(cls, status: BrainStatus) -> Health:
        """The health that a status tells."""
        return cls(**_health(status))


class Stats(Health):
    """Health, and the pages by tag and type; with `usage` what each agent has used."""

    tags: dict[str, int]
    types: dict[str, int]
    usage: dict[str, AgentUsage] | None = Field(description="by agent; null: it cannot be told now")

    @classmethod
    def with_usage(cls, status: BrainStatus, usage: dict[str, AgentUsage] | None) -> Stats:
        """The numbers that a status tells, and what was used."""
        return cls(**_health(status), tags=status.tags, types=status.types, usage=usage)


def _health(status: BrainStatus) -> dict[str, Any]:
    embedded = status.chunks - status.stale_chunks
    return {
        "status": "degraded" if status.degraded else "ok",
        "pages": status.pages,
        "links": status.links,
        # Rounded down: 100 says that nothing is missing.
        "embedded_pct": max(0, embedded) * 100 // status.chunks if status.chunks else 100,
        "last_sync": status.last_sync,
        "stale_chunks": status.stale_chunks,
    }


class Queued(BaseModel):
    """A sync will run."""

    status: Literal["queued"] = "queued"


class SyncError(BaseModel):
    """A page that could not be applied; the rest of its vault was."""

    vault: str
    path: str
    message: str


class Progress(BaseModel):
    """How many of the files that changed a sync has applied."""

    commit: str
    done: int
    total: int
    started_at: Utc


class VaultState(BaseModel):
    """One vault: what its pages equal, and the sync that runs."""

    vault: str
    state: Literal["never", "running", "ok", "partial", "failed"]
    commit: str | None
    last_sync: Utc | None
    pages_changed: int
    progress: Progress | None

    @classmethod
    def of(cls, status: SyncStatus) -> VaultState:
        """The state of one vault."""
        running = status.progress
        return cls(
            vault=status.vault,
            state="running" if running else _outcome(status) or "never",
            commit=status.synced_commit,
            last_sync=status.last_sync,
            pages_changed=status.pages_changed,
            progress=Progress(**dict(running)) if running else None,
        )


class SyncReport(BaseModel):
    """The latest sync; of several vaults the latest moment, the worst result, and the pages and errors of all."""

    last_sync: Utc | None = Field(description="null: never")
    last_result: Outcome | None = Field(description="null: never synced")
    pages_changed: int
    errors: list[SyncError]
    vaults: list[VaultState] | None = Field(
        default=None,
        description="each vault, by name: while a sync runs, where there is more than one, or when one was asked for",
    )

    @classmethod
    def of(cls, states: Sequence[SyncStatus], *, single: bool) -> SyncReport:
        """The report over some vaults; `single`: over the one that was asked for."""
        moments = [one.last_sync for one in states if one.last_sync]
        outcomes = [outcome for one in states if (outcome := _outcome(one))]
        told = single or len(states) > 1 or any(one.progress for one in states)
        return cls(
            last_sync=max(moments, default=None),
            last_result=max(outcomes, key=SEVERITY.index, default=None),
            pages_changed=sum(one.pages_changed for one in states),
            errors=[
                SyncError(vault=one.vault, path=error.path, message=error.message)
                for one in states
                for error in one.errors
            ],
            vaults=[VaultState.of(one) for one in states] if told else None,
        )

    def shown(self) -> dict[str, Any]:
        """The report as it is sent: without `vaults` where there are none to tell, but with every other null."""
        return self.model_dump(mode="json", exclude={"vaults"} if self.vaults is None else None)


def _outcome(status: SyncStatus) -> Outcome | None:
    return next((known for known in SEVERITY if known == status.last_result), None)


class Node(BaseModel):
    """A page of a graph; `distance` is how many links it is away."""

    slug: str
    title: str
    type: PageType
    distance: int


class Edge(BaseModel):
    """A link between two pages of the graph."""

    source: str
    target: str


class Graph(BaseModel):
    """The pages around one page, the nearest first."""

    nodes: list[Node]
    edges: list[Edge]
    truncated: bool = Field(description="there are more pages than the answer holds")

    @classmethod
    def of(cls, reply: GraphReply) -> Graph:
        """The graph of a reply."""
        return cls(
            nodes=[Node(**dict(one)) for one in reply.nodes],
            edges=[Edge(**dict(one)) for one in reply.edges],
            truncated=reply.truncated,
        )


class Entry(BaseModel):
    """A page at the day it is about."""

    date: date
    slug: str
    title: str
    type: PageType


class Timeline(BaseModel):
    """The latest first."""

    entries: list[Entry]
