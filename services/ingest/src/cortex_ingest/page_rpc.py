"""The RPCs that write pages: message in, use case, message out."""

from __future__ import annotations

from cortex_contracts.rpc.pages import (
    FieldError,
    ImportPageRequest,
    PageDeleted,
    PageRequest,
    PageWritten,
    PutPageRequest,
)
from cortex_ingest import slugs
from cortex_ingest.page_writes import PageWrites, Written

NO_SLUG = PageWritten(errors=(FieldError(field="slug", message="expected a name, got only spaces, dots and slashes"),))


class PageRpc:
    """Serves `cortex.v1.rpc.ingest.put_page`, `import_page` and `delete_page`."""

    def __init__(self, writes: PageWrites) -> None:
        self._writes = writes

    async def put(self, request: PutPageRequest) -> PageWritten:
        """Write a page. The slug of the request wins, in the form that slugs have."""
        if (slug := _slug(request.slug)) is None:
            return NO_SLUG
        return _reply(await self._writes.put(request.principal, slug, request.page, request.vault))

    async def import_(self, request: ImportPageRequest) -> PageWritten:
        """Write the page that a Markdown file says."""
        if (slug := _slug(request.slug)) is None:
            return NO_SLUG
        return _reply(await self._writes.import_(request.principal, slug, request.markdown, request.vault))

    async def delete(self, request: PageRequest) -> PageDeleted:
        """Delete a page with its links."""
        if (slug := _slug(request.slug)) is None:
            return PageDeleted(deleted=False)
        return PageDeleted(deleted=await self._writes.delete(request.principal, slug, request.vault))


def _slug(text: str) -> str | None:
    """A text as a slug; none where nothing of it is left."""
    slug = slugs.slugify(text)
    return None if slug == slugs.UNTITLED and slugs.UNTITLED not in text.lower() else slug


def _reply(outcome: Written | tuple[FieldError, ...]) -> PageWritten:
    if isinstance(outcome, Written):
        return PageWritten(page=outcome.page, created=outcome.created)
    return PageWritten(errors=outcome)
