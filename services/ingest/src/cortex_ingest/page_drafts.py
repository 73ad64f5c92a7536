"""From documents to pages that can be written: where they belong, and a vector for every passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from cortex_contracts.errors import Permanent
from cortex_ingest.markdown import Document
from cortex_providers.embedder import ModelMismatch, TextKind
from cortex_runtime import logs
from cortex_store import indexed_text
from cortex_store.embedding import Embedding
from cortex_store.pages import NewChunk, NewPage
from cortex_writing.ports import PassageEmbedder

SLICE: Final = 64
"""Texts of one call of the embedder, whatever page they are of: four requests of the driver, so that a server with
several processors has enough to do, and a query never waits behind more than what the server's own lanes allow."""
NO_VECTORS: Final[Mapping[str, Embedding]] = MappingProxyType({})

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Placed:
    """A document and where it belongs. `slug` is the page's, whatever the document asks for; `content_hash` is what a
    sync compares (`vault_sync.fingerprint`)."""

    document: Document
    vault: str
    slug: str
    path: str | None
    content_hash: bytes
    commit: str | None = None


def texts_of(document: Document) -> list[str]:
    """What the vectors of a document's passages stand for, in their order."""
    return [indexed_text.passage(document.title, passage.heading_path, passage.text) for passage in document.passages]


async def embedded(
    placed: Sequence[Placed], embedder: PassageEmbedder, known: Mapping[str, Embedding] = NO_VECTORS
) -> list[NewPage]:
    """The pages of documents in their order, embedded together in calls of at most `SLICE` texts.

    `known` has vectors of the same model by the text they stand for; those texts are not embedded again. A text that
    the model refuses stays without a vector: its passage is found by its words.

    Raises:
        Unavailable: the embedder is away.
        ModelMismatch: it is another model than configured.
    """
    texts = [texts_of(one.document) for one in placed]
    vectors: dict[str, Embedding | None] = {}
    # Each text once: what stands at the top of every daily note is embedded for the first of them.
    wanted = [text for text in dict.fromkeys(text for page in texts for text in page) if text not in known]
    for start in range(0, len(wanted), SLICE):
        vectors |= await vectors_of(wanted[start : start + SLICE], embedder)
    vectors |= {text: known[text] for page in texts for text in page if text in known}
    return [
        drafted(one, [vectors[text] for text in page], embedder.model) for one, page in zip(placed, texts, strict=True)
    ]


def drafted(placed: Placed, vectors: Sequence[Embedding | None], model: str) -> NewPage:
    """The page of one document with the vectors of its passages in order; none: that passage has none yet."""
    document = placed.document
    return NewPage(
        vault=placed.vault,
        slug=placed.slug,
        path=placed.path,
        title=document.title,
        type=document.type,
        body=document.body,
        content_hash=placed.content_hash,
        chunks=tuple(
            NewChunk(passage.text, passage.heading_path, vector)
            for passage, vector in zip(document.passages, vectors, strict=True)
        ),
        links=document.links,
        tags=document.tags,
        aliases=document.aliases,
        frontmatter=document.metadata,
        commit=placed.commit,
        created=document.created,
        model=model,
    )


async def vectors_of(texts: Sequence[str], embedder: PassageEmbedder) -> dict[str, Embedding | None]:
    """Vectors by text; none for one that the model refuses.

    Raises:
        Unavailable: the embedder is away.
        ModelMismatch: it is another model than configured.
    """
    try:
        return dict(zip(texts, await embedder.embed(texts, TextKind.PASSAGE), strict=True))
    except ModelMismatch:
        raise
    except Permanent as error:
        if len(texts) == 1:
            log.warning("a passage cannot be embedded", reason=error.message)
            return {texts[0]: None}
    # One text that the model refuses is no reason for the others to stay without a vector.
    middle = len(texts) // 2
    return await vectors_of(texts[:middle], embedder) | await vectors_of(texts[middle:], embedder)
