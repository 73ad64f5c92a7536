"""From documents to pages: what is embedded, in which calls, and what a refusal costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from cortex_contracts.errors import Permanent, Unavailable
from cortex_ingest import markdown
from cortex_ingest.chunking import Passage
from cortex_ingest.page_drafts import SLICE, Placed, drafted, embedded, texts_of
from cortex_providers.embedder import ModelMismatch, TextKind, Vectors
from cortex_store.indexed_text import EMBEDDED_CHARS


@dataclass
class Embedder:
    """Counts; a text with "refused" in it is refused with the whole call."""

    model = "fake"
    error: Exception = field(default_factory=lambda: Permanent("expected some text, got none"))
    calls: list[list[str]] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        assert kind is TextKind.PASSAGE
        self.calls.append(list(texts))
        if any("refused" in text for text in texts):
            raise self.error
        return np.array([[float(len(text))] for text in texts], dtype=np.float32)


def placed(text: str, path: str = "a.md") -> Placed:
    return Placed(markdown.read(path, text.encode()), "notes", path.removesuffix(".md"), path, b"hash", "commit")


def sections(count: int, name: str = "text") -> str:
    return "\n\n".join(f"# {name} {number}\n\nabout {number}" for number in range(count))


async def test_pages_keep_their_order_and_share_calls() -> None:
    embedder = Embedder()
    documents = [placed(sections(3, name), f"{name}.md") for name in ("b", "a", "c")]
    pages = await embedded(documents, embedder)
    assert [page.slug for page in pages] == ["b", "a", "c"]
    assert [len(call) for call in embedder.calls] == [9]
    for one, page in zip(documents, pages, strict=True):
        assert [chunk.text for chunk in page.chunks] == [passage.text for passage in one.document.passages]
        vectors = [float(chunk.embedding[0]) for chunk in page.chunks if chunk.embedding is not None]
        assert vectors == [float(len(text)) for text in texts_of(one.document)]
        assert (page.vault, page.path, page.content_hash, page.commit, page.model) == (
            *("notes", one.path, b"hash", "commit", "fake"),
        )


async def test_a_long_document_is_embedded_in_slices_and_a_text_once() -> None:
    embedder = Embedder()
    pages = await embedded([placed(sections(SLICE * 2 + 1)), placed(sections(2), "a.md")], embedder)
    assert [len(call) for call in embedder.calls] == [SLICE, SLICE, 1]
    assert len(pages[0].chunks) == SLICE * 2 + 1


async def test_what_is_known_is_not_embedded_again() -> None:
    embedder = Embedder()
    document = placed(sections(3))
    known = {texts_of(document.document)[1]: np.array([7.0], dtype=np.float32), "of another page": [1.0]}
    [page] = await embedded([document], embedder, known)
    assert [len(call) for call in embedder.calls] == [2]
    assert [chunk.embedding is known[texts_of(document.document)[1]] for chunk in page.chunks] == [False, True, False]
    await embedded([document], embedder, {text: [1.0] for text in texts_of(document.document)})
    assert len(embedder.calls) == 1, "and with nothing to do the embedder is not asked"


async def test_a_text_that_is_refused_is_the_only_one_without_a_vector() -> None:
    embedder = Embedder()
    [page] = await embedded([placed(f"{sections(4)}\n\n# Five\n\nrefused\n\n{sections(4, 'more')}")], embedder)
    assert [chunk.text for chunk in page.chunks if chunk.embedding is None] == ["refused"]
    assert len(page.chunks) == 9


@pytest.mark.parametrize("error", [ModelMismatch("another model"), Unavailable("away")])
async def test_what_is_no_refusal_of_a_text_is_raised(error: Exception) -> None:
    embedder = Embedder(error)
    with pytest.raises(type(error)):
        await embedded([placed("one"), placed("refused")], embedder)
    assert len(embedder.calls) == 1


def test_a_passage_is_embedded_with_its_title_and_headings_up_to_what_a_vector_can_stand_for() -> None:
    passage = Passage(("One", "x" * EMBEDDED_CHARS), "text")
    document = dataclasses.replace(placed("---\ntitle: T\n---\ntext").document, passages=(passage,))
    [text] = texts_of(document)
    assert text.startswith("T › One › x")
    assert len(text) == EMBEDDED_CHARS


def test_a_page_may_be_drafted_without_vectors() -> None:
    page = drafted(placed("one"), [None], "fake")
    assert [chunk.embedding for chunk in page.chunks] == [None]
