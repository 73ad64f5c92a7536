"""Pages as they travel on the bus."""

from __future__ import annotations

from collections.abc import Sequence

from cortex_contracts.rpc.pages import PageType, PageView
from cortex_store.links import Link
from cortex_store.pages import REST_FIELDS, Page, dated


def view(page: Page, links: Sequence[Link]) -> PageView:
    """A stored page with its outgoing links, as a reply shows it; a link to no page yet as it was written."""
    sources = page.frontmatter.get("sources")
    return PageView(
        vault=page.vault,
        slug=page.slug,
        path=page.path,
        type=page_type(page.type),
        title=page.title,
        created=page.created,
        updated=page.updated_at,
        tags=page.tags,
        aliases=page.aliases,
        body_markdown=page.body,
        links_out=tuple(dict.fromkeys(link.target if link.slug is None else link.slug for link in links)),
        effective_date=dated(page.frontmatter, ("effective_date",)),
        sources=tuple(map(str, sources)) if isinstance(sources, list) else (),
        metadata={name: value for name, value in page.frontmatter.items() if name not in REST_FIELDS},
    )


def page_type(text: str) -> PageType:
    """The type of a page; one that is none of them is a note."""
    try:
        return PageType(text)
    except ValueError:
        return PageType.NOTE
