"""Pages that are put, imported and deleted by hand, beside those that come from git."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any, Protocol

import pytest

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ingest import Access
from cortex_contracts.rpc.pages import (
    ImportPageRequest,
    PageDraft,
    PageRequest,
    PageType,
    PageView,
    PageWritten,
    PutPageRequest,
)
from cortex_ingest.page_rpc import PageRpc
from cortex_ingest.page_writes import MAX_VIEW_BYTES, PageWrites
from cortex_store import grants, links, page_overview, pages
from cortex_store.database import Database
from cortex_store.pages import Page

OWNER = Principal(org="local", subject="owner")
NAME = "notes"


class Git(Protocol):
    commit: Callable[[dict[str, Any]], str]


class Embedder(Protocol):
    model: str
    fail_after: int | None
    texts: list[str]
    embed: Callable[..., Any]


class Vault(Protocol):
    database: Database
    git: Git
    embedder: Embedder
    sync: Callable[..., Awaitable[Any]]
    page: Callable[[str], Awaitable[Page | None]]
    slugs: Callable[[], Awaitable[list[str]]]
    events: Callable[[], Awaitable[list[tuple[str, str | None]]]]
    links: Callable[[str], Awaitable[dict[str, str | None]]]


class Hand:
    """Somebody who writes pages."""

    def __init__(self, vault: Vault, default: str = NAME) -> None:
        self.commits = 0
        self.rpc = PageRpc(PageWrites(vault.database, vault.embedder, default, self._committed))

    def _committed(self) -> None:
        self.commits += 1

    async def put(
        self, slug: str, body: str = "Text.", *, by: Principal = OWNER, vault: str | None = None, **draft: Any
    ) -> PageWritten:
        page = PageDraft(**{"title": "A title", "body_markdown": body} | draft)
        return await self.rpc.put(PutPageRequest(principal=by, slug=slug, page=page, vault=vault))

    async def import_(self, slug: str, text: str, *, by: Principal = OWNER, vault: str | None = None) -> PageWritten:
        return await self.rpc.import_(ImportPageRequest(principal=by, slug=slug, markdown=text, vault=vault))

    async def delete(self, slug: str, *, by: Principal = OWNER, vault: str | None = None) -> bool:
        return (await self.rpc.delete(PageRequest(principal=by, slug=slug, vault=vault))).deleted


@pytest.fixture
def hand(vault: Vault) -> Hand:
    return Hand(vault)


def stored(written: PageWritten) -> PageView:
    assert written.page is not None, written.errors
    return written.page


async def page_of(vault: Vault, slug: str) -> Page:
    page = await vault.page(slug)
    assert page is not None
    return page


async def chunks(vault: Vault) -> tuple[int, int]:
    """How many chunks there are, and how many of them have no vector."""
    async with vault.database.transaction("local") as connection:
        return await connection.fetchval("SELECT count(*) FROM chunks"), (await page_overview.counts(connection)).stale


async def test_a_page_is_put_embedded_and_announced(vault: Vault, hand: Hand) -> None:
    written = await hand.put(
        "rasif",
        "# Rasif\r\n\r\nMakes software in Muscat, see [[Nadia]].  \n",
        title="Rasif",
        type=PageType.COMPANY,
        tags=("oman", "software"),
        effective_date=date(2026, 9, 22),
        sources=("https://example.org/a", "a call"),
    )
    page = stored(written)
    assert written.created
    assert (page.vault, page.slug, page.path, page.type, page.title) == (NAME, "rasif", None, PageType.COMPANY, "Rasif")
    assert page.body_markdown == "# Rasif\r\n\r\nMakes software in Muscat, see [[Nadia]].  \n"
    assert (page.tags, page.aliases, page.links_out) == (("oman", "software"), (), ("Nadia",))
    assert (page.effective_date, page.sources) == (date(2026, 9, 22), ("https://example.org/a", "a call"))
    assert page.metadata == {}
    assert page.created == page.updated
    assert any("Makes software in Muscat" in text for text in vault.embedder.texts)
    assert await chunks(vault) == (len(vault.embedder.texts), 0)
    assert await vault.events() == [("create", "rasif")]
    assert hand.commits == 1


async def test_a_page_is_put_again(vault: Vault, hand: Hand) -> None:
    first = stored(await hand.put("plan", "One.", tags=("old",), effective_date=date(2026, 1, 1)))
    again = await hand.put("plan", "Two.", title="Plan", type=PageType.DEAL)
    page = stored(again)
    assert not again.created
    assert (page.body_markdown, page.title, page.type, page.tags) == ("Two.", "Plan", PageType.DEAL, ())
    assert (page.effective_date, page.sources) == (None, ())
    assert page.created == first.created
    assert page.updated > first.updated
    assert (await chunks(vault))[0] == 1
    assert await vault.events() == [("create", "plan"), ("update", "plan")]


async def test_the_same_page_put_twice_is_one(vault: Vault, hand: Hand) -> None:
    first, second = stored(await hand.put("plan")), stored(await hand.put("plan"))
    assert second == first.model_copy(update={"updated": second.updated})
    assert await vault.slugs() == ["plan"]


async def test_only_what_changed_of_a_page_is_embedded(vault: Vault, hand: Hand) -> None:
    body = "# One\n\nThe first part.\n\n# Two\n\nThe second part.\n"
    await hand.put("plan", body)
    asked = len(vault.embedder.texts)
    await hand.put("plan", body)
    assert len(vault.embedder.texts) == asked
    await hand.put("plan", body.replace("second", "last"))
    assert ["last part" in text for text in vault.embedder.texts[asked:]] == [True]
    assert await chunks(vault) == (asked, 0)


async def test_two_who_put_one_slug_at_once_write_one_page(vault: Vault, hand: Hand) -> None:
    written = await asyncio.gather(*(hand.put("plan", f"Text {number}.") for number in range(6)))
    assert sorted(one.created for one in written) == [False] * 5 + [True]
    assert await vault.slugs() == ["plan"]
    page = await page_of(vault, "plan")
    assert page.body in {f"Text {number}." for number in range(6)}
    assert (await chunks(vault))[0] == 1


@pytest.mark.parametrize(
    ("asked", "slug"),
    [
        ("Foo Bar", "foo-bar"),
        ("People/Nadia Q", "people/nadia-q"),
        ("/a//b/", "a/b"),
        ("خطة العمل", "خطة-العمل"),
        ("Jose\N{COMBINING ACUTE ACCENT}", "jos\N{LATIN SMALL LETTER E WITH ACUTE}"),
    ],
)
async def test_a_slug_is_stored_in_its_one_form_and_found_by_the_other(
    vault: Vault, hand: Hand, asked: str, slug: str
) -> None:
    assert stored(await hand.put(asked)).slug == slug
    assert not (await hand.put(slug)).created
    assert await vault.slugs() == [slug]
    async with vault.database.transaction(OWNER) as connection:
        for name in (asked, slug):
            page = await pages.find(connection, name, vault=None, default=NAME)
            assert page is not None
            assert page.slug == slug
    assert await hand.delete(asked)
    assert await vault.slugs() == []


@pytest.mark.parametrize("slug", [" ", "/", " / ", "..", "./"])
async def test_a_slug_that_is_no_name_writes_and_deletes_nothing(vault: Vault, hand: Hand, slug: str) -> None:
    await hand.put("untitled")
    for written in (await hand.put(slug), await hand.import_(slug, "Text.")):
        assert written.page is None
        assert [error.field for error in written.errors] == ["slug"]
    assert not await hand.delete(slug)
    assert await vault.slugs() == ["untitled"]


async def test_links_are_resolved_in_both_directions_whichever_page_comes_first(vault: Vault, hand: Hand) -> None:
    await hand.put("call", "With [[Nadia Qasabgi|her]].")
    assert await vault.links("call") == {"Nadia Qasabgi": None}
    assert stored(await hand.put("nadia", "Back to [[call]].", title="Nadia Qasabgi")).links_out == ("call",)
    assert await vault.links("call") == {"Nadia Qasabgi": "nadia"}
    assert await hand.delete("nadia")
    assert await vault.links("call") == {"Nadia Qasabgi": None}
    async with vault.database.transaction("local") as connection:
        assert await connection.fetchval("SELECT count(*) FROM links") == 1
    await hand.put("nadia", title="Nadia Qasabgi")
    assert await vault.links("call") == {"Nadia Qasabgi": "nadia"}


async def test_a_page_is_deleted_once(vault: Vault, hand: Hand) -> None:
    assert not await hand.delete("plan")
    await hand.put("plan")
    assert sorted(await asyncio.gather(hand.delete("plan"), hand.delete("plan"))) == [False, True]
    assert await chunks(vault) == (0, 0)
    assert await vault.events() == [("create", "plan"), ("delete", "plan")]


async def test_an_embedder_that_is_away_leaves_everything_as_it_was(vault: Vault, hand: Hand) -> None:
    before = stored(await hand.put("plan", "The first text."))
    await vault.events()
    vault.embedder.fail_after = len(vault.embedder.texts)
    for write in (
        hand.put("plan", "Another text, with [[links]].", title="Other"),
        hand.put("new", "A new text."),
        hand.import_("plan", "---\ntitle: Other\n---\nAn imported text."),
    ):
        with pytest.raises(Unavailable):
            await write
    page = await page_of(vault, "plan")
    assert (page.title, page.body, page.updated_at) == (before.title, "The first text.", before.updated)
    assert await vault.slugs() == ["plan"]
    assert await vault.links("plan") == {}
    assert await vault.events() == []
    assert hand.commits == 1


async def test_a_page_of_a_file_that_is_put_stays_the_file_s_until_that_changes(vault: Vault, hand: Hand) -> None:
    text = "---\ntitle: Nadia\naliases: [Nadia Q]\nowner: rasif\ntype: animal\ntags: [old]\n---\nFrom git.\n"
    vault.git.commit({"people/nadia.md": text, "call.md": "With [[Nadia Q]]."})
    await vault.sync()
    page = stored(await hand.put("nadia", "By hand.", title="Nadia Qasabgi", type=PageType.PERSON, sources=("a call",)))
    assert (page.path, page.title, page.type) == ("people/nadia.md", "Nadia Qasabgi", PageType.PERSON)
    assert (page.body_markdown, page.tags, page.aliases) == ("By hand.", (), ("Nadia Q",))
    assert (page.sources, page.metadata["owner"]) == (("a call",), "rasif")
    assert await vault.links("call") == {"Nadia Q": "nadia"}

    # The file is what it was: a sync has nothing to do.
    vault.git.commit({"other.md": "Another page."})
    assert (await vault.sync()).pages_changed == 1
    kept = await page_of(vault, "nadia")
    assert kept.body == "By hand."

    vault.git.commit({"people/nadia.md": text.replace("From git.", "From git again.")})
    await vault.sync()
    back = await page_of(vault, "nadia")
    assert (back.body.strip(), back.title, back.type, back.tags) == ("From git again.", "Nadia", "note", ("old",))
    assert "sources" not in back.frontmatter


async def test_a_page_that_was_put_gets_the_file_that_appears_for_it(vault: Vault, hand: Hand) -> None:
    first = stored(await hand.put("nadia", "By hand."))
    vault.git.commit({"nadia.md": "From git."})
    await vault.sync()
    page = await page_of(vault, "nadia")
    assert (page.path, page.body, page.created) == ("nadia.md", "From git.", first.created)
    assert await vault.slugs() == ["nadia"]


async def test_a_page_that_was_put_outlives_every_sync(vault: Vault, hand: Hand) -> None:
    await hand.put("by-hand")
    vault.git.commit({"file.md": "A file."})
    await vault.sync()
    vault.git.commit({"file.md": None})
    await vault.sync()
    assert await vault.slugs() == ["by-hand"]


async def test_a_markdown_file_is_imported(vault: Vault, hand: Hand) -> None:
    text = (
        "---\ntitle: Nadia\ntype: person\ntags: [people, oman]\naliases: [N. Q.]\ncreated: 2024-05-01\n"
        "effective_date: 2026-01-02\nowner: rasif\n---\n# Nadia\n\nKnows [[rasif]].\n"
    )
    written = await hand.import_("fallback name", text)
    page = stored(written)
    assert written.created
    assert (page.slug, page.title, page.type) == ("fallback-name", "Nadia", PageType.PERSON)
    assert (page.tags, page.aliases, page.links_out) == (("people", "oman"), ("N. Q.",), ("rasif",))
    assert page.body_markdown == "# Nadia\n\nKnows [[rasif]].\n"
    assert (page.created.date(), page.effective_date) == (date(2024, 5, 1), date(2026, 1, 2))
    assert page.metadata["owner"] == "rasif"
    assert await chunks(vault) == (len(vault.embedder.texts), 0)


async def test_the_slug_of_the_frontmatter_wins_over_the_given_one(vault: Vault, hand: Hand) -> None:
    assert stored(await hand.import_("given", "---\ntitle: T\nslug: Its Own\n---\nText.")).slug == "its-own"
    assert await vault.slugs() == ["its-own"]


async def test_a_file_with_wrong_fields_is_not_imported(vault: Vault, hand: Hand) -> None:
    await hand.put("plan", "Before.")
    asked = len(vault.embedder.texts)
    written = await hand.import_("plan", "---\ntitle: T\ntype: bogus\n---\nSecret text.")
    assert (written.page, written.created) == (None, False)
    assert [error.field for error in written.errors] == ["type"]
    assert "Secret" not in written.model_dump_json()
    page = await page_of(vault, "plan")
    assert page.body == "Before."
    assert len(vault.embedder.texts) == asked


async def test_a_put_keeps_what_a_draft_has_no_word_for(vault: Vault, hand: Hand) -> None:
    await hand.import_("plan", "---\ntitle: Plan\naliases: [The Plan]\nowner: rasif\nsources: [a]\n---\nText.")
    page = stored(await hand.put("plan", "Other.", title="New"))
    assert (page.title, page.aliases, page.sources, page.metadata) == (
        "New",
        ("The Plan",),
        (),
        {"aliases": ["The Plan"], "owner": "rasif"},
    )


async def test_a_page_goes_to_the_vault_that_has_its_slug(vault: Vault, hand: Hand) -> None:
    assert stored(await hand.put("plan", vault="work")).vault == "work"
    assert stored(await hand.put("plan", "Changed.")).vault == "work"
    assert stored(await hand.put("plan", vault="other")).vault == "other"
    # Without a vault: the default one first, then the others by name.
    assert stored(await hand.put("plan")).vault == "other"
    assert stored(await hand.put("plan", vault=NAME)).vault == NAME
    assert stored(await hand.put("plan")).vault == NAME
    assert await hand.delete("plan", vault="work")
    assert not await hand.delete("plan", vault="work")
    assert [await hand.delete("plan") for _ in range(3)] == [True, True, False]


async def test_who_may_not_write_a_vault_writes_nothing_and_no_model_is_asked(vault: Vault, hand: Hand) -> None:
    await hand.put("plan", "Before.")
    await hand.put("secret", vault="hidden")
    asked = len(vault.embedder.texts)
    reader = Principal(org="local", subject="reader", readable=(NAME,), writable=("own",))
    for write in (
        hand.put("plan", "Overwritten.", by=reader),
        hand.put("new", by=reader),
        hand.put("new", by=reader, vault="hidden"),
        hand.import_("plan", "Overwritten.", by=reader),
        hand.delete("plan", by=reader),
    ):
        with pytest.raises(Permanent) as refused:
            await write
        assert refused.value.code is ErrorCode.FORBIDDEN
        assert "Overwritten" not in refused.value.message
    assert len(vault.embedder.texts) == asked
    assert (await page_of(vault, "plan")).body == "Before."
    # What one may not read is not there.
    assert not await hand.delete("secret", by=reader)
    assert stored(await hand.put("new", by=reader, vault="own")).vault == "own"


async def test_a_granted_vault_may_be_written(vault: Vault, hand: Hand) -> None:
    agent = Principal(org="local", subject="agent", readable=(), writable=())
    with pytest.raises(Permanent):
        await hand.put("plan", by=agent)
    async with vault.database.transaction(OWNER) as connection:
        await grants.put(connection, grants.Grant(NAME, "agent", Access.WRITE))
    assert stored(await hand.put("plan", by=agent)).vault == NAME
    assert await hand.delete("plan", by=agent)


async def test_another_org_has_pages_of_its_own(vault: Vault, hand: Hand) -> None:
    stranger = Principal(org="stranger", subject="owner")
    await hand.put("plan", "Ours.")
    written = await hand.put("plan", "Theirs.", by=stranger)
    assert written.created
    assert await hand.delete("plan", by=stranger)
    assert (await page_of(vault, "plan")).body == "Ours."


async def test_a_page_that_no_message_holds_is_not_written(vault: Vault, hand: Hand) -> None:
    # Long words keep the passages few; each link is in the page twice, in its text and among its links.
    link = "ك" * 180
    body = "\n".join(f"[[{number}{link}]]" for number in range(MAX_VIEW_BYTES // len(link.encode()) // 3 * 2))
    assert len(body) < 400_000
    assert len(body.encode()) < MAX_VIEW_BYTES
    with pytest.raises(Permanent) as refused:
        await hand.put("long", body)
    assert refused.value.code is ErrorCode.TOO_LARGE
    assert await vault.slugs() == []
    assert await vault.events() == []


async def test_what_was_changed_while_a_page_was_embedded_is_kept(vault: Vault, hand: Hand) -> None:
    """The file of the page arrives between the two transactions of a put."""
    arrived = asyncio.Event()
    embed = vault.embedder.embed

    async def embedded(*arguments: Any) -> Any:
        if not arrived.is_set():
            arrived.set()
            vault.git.commit({"plan.md": "---\nowner: git\naliases: [P]\n---\nFrom git."})
            await vault.sync()
        return await embed(*arguments)

    vault.embedder.embed = embedded
    page = stored(await hand.put("plan", "By hand."))
    assert (page.path, page.body_markdown, page.aliases) == ("plan.md", "By hand.", ("P",))
    assert page.metadata["owner"] == "git"
    async with vault.database.transaction("local") as connection:
        assert len(await links.from_page(connection, (await page_of(vault, "plan")).id)) == 0
    assert (await vault.sync()).pages_changed == 0
