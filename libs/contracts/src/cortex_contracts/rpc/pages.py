"""Pages: the documents of the vaults, read through recall and written through ingest.

A vault is a namespace as far as access goes: who may read only some namespaces reads the vaults of those names. Without
a `vault` a page is looked for in the default vault first (the first configured one), then in the others by name.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from cortex_contracts.messages.base import NO_NUL, Message, Name, Principal, Score, ShortText, Timestamp, Token
from cortex_contracts.rpc.contract import Rpc
from cortex_contracts.rpc.ingest import SyncStatus

Slug = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=NO_NUL)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]

MAX_PAGE_QUERY = 2_000
"""Characters of a question about pages."""
MAX_PAGE_RESULTS = 50
MAX_PAGE_CHARS = 400_000
"""Characters of a page in a message, which is limited to 1 MiB; a vault's files may be longer."""
SNIPPET_CHARS = 300


class PageType(StrEnum):
    """What a page is about."""

    COMPANY = "company"
    PERSON = "person"
    CONCEPT = "concept"
    MEETING = "meeting"
    DEAL = "deal"
    SOURCE = "source"
    NOTE = "note"


# Reading --------------------------------------------------------------------------------------------------------------


class PageSearch(StrEnum):
    """How pages are searched."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    """By words only; the embedder is not asked."""


class QueryPagesRequest(Message):
    """Which pages answer this? Types and tags that no page has narrow nothing."""

    principal: Principal
    query: Annotated[str, StringConstraints(min_length=1, max_length=MAX_PAGE_QUERY, pattern=NO_NUL)]
    search: PageSearch = PageSearch.HYBRID
    limit: int = Field(default=5, ge=1, le=MAX_PAGE_RESULTS)
    types: tuple[ShortText, ...] = Field(default=(), max_length=32)
    tags: tuple[ShortText, ...] = Field(default=(), max_length=64)
    vault: Token | None = None


class PageResult(Message):
    """A page with its passage that answers best. `score` is relative to the first result, which has 1."""

    vault: Token
    slug: str
    title: str
    type: PageType
    score: Score
    snippet: str = Field(max_length=SNIPPET_CHARS, description="whole words, centred on the best passage")
    highlights: tuple[str, ...] = Field(default=(), max_length=16, description="as they occur in the page")


class QueryPagesReply(Message):
    """The best page first, each once; none is no error."""

    results: tuple[PageResult, ...]
    took_ms: float = Field(ge=0)
    stages: dict[str, float] = Field(default_factory=dict, description="milliseconds of each step")
    degraded: ShortText | None = Field(default=None, description="why meaning was not searched")


class PageRequest(Message):
    """One page, by its slug."""

    principal: Principal
    slug: Slug
    vault: Token | None = None


class PageView(Message):
    """A page as it is stored. `links_out`: the slug of each page it links to, or the link as written where there is
    none yet."""

    vault: Token
    slug: str
    path: str | None = Field(default=None, description="its file in the vault; none: written over REST only")
    type: PageType
    title: str
    created: Timestamp
    updated: Timestamp
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    body_markdown: str
    links_out: tuple[str, ...] = ()
    effective_date: date | None = None
    sources: tuple[str, ...] = ()
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class PageReply(Message):
    """The page; none: there is none of this slug that the principal may read. A page whose body is too long for a
    message comes cut, and says so."""

    page: PageView | None
    truncated: bool = False


class BrainStatusRequest(Message):
    """How is the brain? With `details`, the counts by tag and type too."""

    principal: Principal
    details: bool = False


class BrainStatus(Message):
    """What there is, and what is missing."""

    pages: int = Field(ge=0)
    links: int = Field(ge=0)
    chunks: int = Field(ge=0)
    stale_chunks: int = Field(ge=0, description="without an embedding of the present model")
    last_sync: Timestamp | None = None
    degraded: tuple[ShortText, ...] = Field(default=(), description="what does not work, in sentences; none: all does")
    tags: dict[str, int] = Field(default_factory=dict)
    types: dict[str, int] = Field(default_factory=dict)
    vaults: dict[str, int] = Field(default_factory=dict, description="pages of each vault")


class GraphRequest(Message):
    """The pages around one page."""

    principal: Principal
    slug: Slug
    depth: int = Field(default=1, ge=1, le=4)
    vault: Token | None = None


class GraphNode(Message):
    """A page of a graph; `distance` is how many links it is away."""

    slug: str
    title: str
    type: PageType
    distance: int = Field(ge=0)


class GraphEdge(Message):
    """A link between two pages of a graph."""

    source: str
    target: str


class GraphReply(Message):
    """The nearest pages first, at most 500; `found` false: there is no such page."""

    found: bool
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    truncated: bool = False


class TimelineRequest(Message):
    """What happened when? Both days count."""

    principal: Principal
    start: date | None = None
    end: date | None = None
    types: tuple[ShortText, ...] = Field(default=(), max_length=32)
    limit: int = Field(default=50, ge=1, le=500)
    vault: Token | None = None


class TimelineEntry(Message):
    """A page at the day it is about: its effective date, else the date that its frontmatter says, else its creation."""

    date: date
    slug: str
    title: str
    type: PageType


class TimelineReply(Message):
    """The latest first."""

    entries: tuple[TimelineEntry, ...]


# Writing --------------------------------------------------------------------------------------------------------------


class PageDraft(Message):
    """A page to write; the slug is the request's."""

    type: PageType = PageType.NOTE
    title: Name
    tags: tuple[Tag, ...] = Field(default=(), max_length=100)
    body_markdown: Annotated[str, StringConstraints(max_length=MAX_PAGE_CHARS, pattern=NO_NUL)]
    effective_date: date | None = None
    sources: tuple[ShortText, ...] = Field(default=(), max_length=100)


class PutPageRequest(Message):
    """Write a page, whether or not it is there."""

    principal: Principal
    slug: Slug
    page: PageDraft
    vault: Token | None = None


class ImportPageRequest(Message):
    """Write the page that a Markdown file with frontmatter says; `slug` counts where the frontmatter has none."""

    principal: Principal
    slug: Slug
    markdown: Annotated[str, StringConstraints(max_length=MAX_PAGE_CHARS)]
    vault: Token | None = None


class FieldError(Message):
    """A field that is not what it must be."""

    field: str
    message: str


class PageWritten(Message):
    """The page as it is stored, or, with `errors`, why nothing was written."""

    page: PageView | None = None
    created: bool = False
    errors: tuple[FieldError, ...] = ()


class PageDeleted(Message):
    """False: there was no such page."""

    deleted: bool


class SyncRequest(Message):
    """Sync one vault, or all of them that the principal may write."""

    principal: Principal
    vault: Token | None = None


class SyncQueued(Message):
    """The vaults whose sync was queued."""

    vaults: tuple[Token, ...]


class SyncStatesRequest(Message):
    """How far are the vaults?"""

    principal: Principal
    vault: Token | None = None


class SyncStates(Message):
    """Every configured or synced vault that the principal may read, by name."""

    vaults: tuple[SyncStatus, ...]


QUERY_PAGES = Rpc("recall", "query_pages", QueryPagesRequest, QueryPagesReply, 5.0, "Search the pages.")
PAGE = Rpc("recall", "page", PageRequest, PageReply, 2.0, "Read a page.")
BRAIN_STATUS = Rpc("recall", "brain_status", BrainStatusRequest, BrainStatus, 2.0, "Counts and health of the pages.")
GRAPH = Rpc("recall", "graph", GraphRequest, GraphReply, 2.0, "The pages around a page.")
TIMELINE = Rpc("recall", "timeline", TimelineRequest, TimelineReply, 2.0, "Pages by the day they are about.")

PUT_PAGE = Rpc("ingest", "put_page", PutPageRequest, PageWritten, 30.0, "Write a page.")
IMPORT_PAGE = Rpc("ingest", "import_page", ImportPageRequest, PageWritten, 30.0, "Write a page from Markdown.")
DELETE_PAGE = Rpc("ingest", "delete_page", PageRequest, PageDeleted, 5.0, "Delete a page with its links.")
SYNC = Rpc("ingest", "sync", SyncRequest, SyncQueued, 5.0, "Queue the sync of one vault or all.")
SYNC_STATES = Rpc("ingest", "sync_states", SyncStatesRequest, SyncStates, 2.0, "How far the syncs of the vaults are.")

PAGE_READS = (QUERY_PAGES, PAGE, BRAIN_STATUS, GRAPH, TIMELINE)
PAGE_WRITES = (PUT_PAGE, IMPORT_PAGE, DELETE_PAGE, SYNC, SYNC_STATES)
