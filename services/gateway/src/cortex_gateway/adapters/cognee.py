"""The engine `cognee`: texts that a Cognee server holds, over its REST interface.

It is asked for chunks (`CHUNKS`), the search that costs no language model and gives the texts as they were written. A
server that does not take that, or fails at it (its embedder is away), is asked for chunks by words and then for
summaries, neither of which needs a model to write.

Relevance: by rank and the words of the question. Of these searches only that for chunks gives scores, the distances of
whatever vector database stands behind it (seen of Cognee 1.6.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.errors import CortexError, Unavailable
from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters.dates import moment
from cortex_gateway.adapters.findings import Finding, hits
from cortex_gateway.adapters.json_api import Failing, JsonApi, Refused
from cortex_gateway.adapters.rag import standing
from cortex_gateway.adapters.records import DATES, first, read, written
from cortex_gateway.adapters.relevance import RANKED
from cortex_gateway.adapters.settings import EngineSource
from cortex_providers.cognee import authorization, explained

BASE: Final = "/api/v1"
SEARCHES: Final = ("CHUNKS", "CHUNKS_LEXICAL", "SUMMARIES")
"""In this order, one after the other; none of them calls a language model."""
QUERY_CHARS: Final = 2_000
DEPTH: Final = 4
NOTHING: Final = ("NoData", "CollectionNotFound")
"""Beginnings of the names of its errors when it knows nothing yet, which is an answer."""
UNKNOWN: Final = "DatasetNotFound"
"""The beginning of the one when there is no such dataset: of those that are configured, that is told."""


class Cognee:
    """A Cognee server."""

    def __init__(self, source: EngineSource) -> None:
        headers = {name: value.get_secret_value() for name, value in source.headers.items()}
        headers |= authorization(source.token.get_secret_value())
        self._api = JsonApi(source, base=BASE, headers=headers, explain=explained)
        self._datasets = source.datasets
        self._nothing = NOTHING if source.datasets else (*NOTHING, UNKNOWN)
        self._standing = standing(source, SourceClass.AGENT_MEMORY)

    async def open(self) -> None:
        """Connect and ask for the datasets."""
        await self._api.open()
        await self.check()

    async def close(self) -> None:
        """Close the connections."""
        await self._api.close()

    async def check(self) -> None:
        """Ask for the datasets: is it there, and does it take the token?"""
        await self._api.get("datasets", {})

    async def last_ingest(self) -> datetime | None:
        """When a dataset was touched last, as far as the server says so."""
        listed = await self._api.get("datasets", {})
        rows = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []
        return max(
            (when for row in rows for name in DATES if (when := moment(row.get(name))) is not None), default=None
        )

    async def search(self, query: str, k: int) -> Sequence[Hit]:
        """Chunks that are near to the question."""
        failed: CortexError | None = None
        for kind in SEARCHES:
            body: dict[str, JsonValue] = {"searchType": kind, "query": query[:QUERY_CHARS], "topK": k}
            if self._datasets:
                body["datasets"] = list(self._datasets)
            try:
                answer = await self._api.post("search", body)
            except (Refused, Failing) as error:
                if any(f"({name}" in error.message for name in self._nothing):
                    return []
                failed = failed or error
                continue
            if not isinstance(answer, list):
                raise Unavailable(f"{self._api.who} answered with something that is no list of results")
            return hits(query, list(_findings(answer)), k, RANKED, self._standing)
        assert failed is not None
        raise failed


def _findings(answer: list[JsonValue]) -> Iterator[Finding]:
    """Both forms of an answer: results under their datasets, and bare ones."""
    for row in answer:
        dataset = written(row.get("dataset_name", row.get("datasetName"))) if isinstance(row, Mapping) else ""
        held = row
        if isinstance(row, Mapping):
            held = next((row[name] for name in ("search_result", "searchResult") if name in row), row)
        for chunk in _chunks(held, DEPTH):
            yield from _finding(chunk, dataset)


def _chunks(held: JsonValue, depth: int) -> Iterator[JsonValue]:
    if isinstance(held, list) and depth:
        for one in held:
            yield from _chunks(one, depth - 1)
    else:
        yield held


def _finding(chunk: JsonValue, dataset: str) -> Iterator[Finding]:
    for found in read([chunk], "").found:
        row = chunk if isinstance(chunk, Mapping) else {}
        document = first(row, ("document_name", "documentName", "name")) or _document(row)
        place = "/".join(part for part in (dataset, str(document or first(row, ("document_id", "id")) or "")) if part)
        yield Finding(text=found.text, title=str(document or ""), path=place, date=found.date)


def _document(row: Mapping[str, JsonValue]) -> JsonValue:
    parent = first(row, ("is_part_of", "isPartOf"))
    return parent.get("name") if isinstance(parent, Mapping) else None


def engine(source: EngineSource) -> Cognee:
    """The engine that is configured. Raises Permanent when its address is none."""
    return Cognee(source)
