"""The pages of the vaults on behalf of a principal.

Who may read or write which vault is decided behind the bus, by the principal that goes with every call.
"""

from __future__ import annotations

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ingest import SyncStatus
from cortex_contracts.rpc.pages import (
    BRAIN_STATUS,
    DELETE_PAGE,
    GRAPH,
    IMPORT_PAGE,
    PAGE,
    PUT_PAGE,
    QUERY_PAGES,
    SYNC,
    SYNC_STATES,
    TIMELINE,
    BrainStatus,
    BrainStatusRequest,
    GraphReply,
    GraphRequest,
    ImportPageRequest,
    PageDraft,
    PageReply,
    PageRequest,
    PageWritten,
    PutPageRequest,
    QueryPagesReply,
    QueryPagesRequest,
    SyncRequest,
    SyncStatesRequest,
    TimelineReply,
    TimelineRequest,
)
from cortex_runtime.bus import Bus


class Brain:
    """Calls the services that read and write pages.

    Every verb raises CortexError: forbidden for the principal, unavailable, or too large for a message.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def query(self, request: QueryPagesRequest) -> QueryPagesReply:
        """Pages that answer a question, best first."""
        return await self._bus.request(QUERY_PAGES, request)

    async def page(self, principal: Principal, slug: str, vault: str | None) -> PageReply:
        """One page."""
        return await self._bus.request(PAGE, PageRequest(principal=principal, slug=slug, vault=vault))

    async def put(self, principal: Principal, slug: str, page: PageDraft, vault: str | None) -> PageWritten:
        """Write a page; it is found by its words and its meaning when this has returned."""
        return await self._bus.request(PUT_PAGE, PutPageRequest(principal=principal, slug=slug, page=page, vault=vault))

    async def import_page(self, principal: Principal, slug: str, markdown: str, vault: str | None) -> PageWritten:
        """Write the page that a Markdown file says."""
        return await self._bus.request(
            IMPORT_PAGE, ImportPageRequest(principal=principal, slug=slug, markdown=markdown, vault=vault)
        )

    async def delete(self, principal: Principal, slug: str, vault: str | None) -> bool:
        """Delete a page with its links; false: there was none."""
        request = PageRequest(principal=principal, slug=slug, vault=vault)
        return (await self._bus.request(DELETE_PAGE, request)).deleted

    async def status(
        self, principal: Principal, *, details: bool = False, timeout_s: float | None = None
    ) -> BrainStatus:
        """What there is and what is missing."""
        request = BrainStatusRequest(principal=principal, details=details)
        return await self._bus.request(BRAIN_STATUS, request, timeout_s=timeout_s)

    async def graph(self, principal: Principal, slug: str, depth: int, vault: str | None) -> GraphReply:
        """The pages around one page."""
        return await self._bus.request(GRAPH, GraphRequest(principal=principal, slug=slug, depth=depth, vault=vault))

    async def timeline(self, request: TimelineRequest) -> TimelineReply:
        """Pages by the day they are about, the latest first."""
        return await self._bus.request(TIMELINE, request)

    async def sync(self, principal: Principal, vault: str | None) -> None:
        """Queue the sync of one vault or of all."""
        await self._bus.request(SYNC, SyncRequest(principal=principal, vault=vault))

    async def sync_states(self, principal: Principal, vault: str | None) -> tuple[SyncStatus, ...]:
        """How far the vaults are, by name."""
        request = SyncStatesRequest(principal=principal, vault=vault)
        return (await self._bus.request(SYNC_STATES, request)).vaults
