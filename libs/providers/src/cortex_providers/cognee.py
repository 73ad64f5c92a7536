"""The engine of a Cognee server (1.6) over REST: texts go in, become a graph there, and its names come back.

One call makes a dataset of its own (`add`, then `cognify`), asks for the graph around each text (`search` with
`onlyContext`, which calls no model for an answer), and deletes the dataset: nothing of a memory stays there, where it
would outlive a `forget`. What has a form (dates, identifiers, wikilinks, speakers) is read by form as the built-in
engine does, the graph adds to it.

A graph is what a language model made of a text that somebody wrote. So only names that stand in the text are taken, and
relations only between two of them.

Known of the server: routes, fields, statuses of runs, three shapes of errors, two shapes of results. Assumed, because
no document says it:

- a token of three parts with dots is a bearer (JWT), any other one an API key for `X-Api-Key`;
- the context is text in the form that `search` gives to its own model (seen of 1.6.5): `Node: <name>` lines and
  `<name> --[<relation>]--> <name>  (<description>)` lines, inside its prompt, as a string, or in lists and objects at
  any place of the result;
- a run that is asked for in the foreground and answers with a status that is no completion has failed or goes on
  without us: it is not waited for;
- an answer without a status is a completed run.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

from cortex_contracts.errors import CortexError, Unavailable
from cortex_extraction.entities import MAX_NAME, MAX_WORDS, Entity, EntityKind
from cortex_extraction.folding import key, words
from cortex_extraction.relations import Relation
from cortex_extraction.stop_words import STOP_WORDS
from cortex_providers.engine import EngineConfig, EngineText, Extraction, read
from cortex_providers.model_server import ModelServer
from cortex_providers.outbound import Answer, Upload
from cortex_runtime import logs

SEARCH_TYPE: Final = "GRAPH_COMPLETION"
"""The search whose context is nodes and edges; the server's default mixes them with passages."""
TOP_K: Final = 30
"""Edges around one text."""
QUERY_CHARS: Final = 2_000
MAX_ENTITIES: Final = 32
"""As many as the built-in engine finds in one text at most."""
FORGET_S: Final = 5.0
"""Whoever asked waits for it, also when the time for the answer is over."""
MAX_DEPTH: Final = 6
"""Of lists and objects in a result."""
MAX_RESPONSE_BYTES: Final = 4 << 20

_COMPLETED: Final = frozenset({"PipelineRunCompleted", "PipelineRunAlreadyCompleted"})
_JWT: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")
_NODE: Final = re.compile(r"^Node: ?(.{1,200})$", re.MULTILINE)
_EDGE: Final = re.compile(
    r"^(.{1,200}?) -{1,2}\[(.{1,300}?)\]-{1,3}> ?(.{1,200}?)(?: {2}\(.*)?`?$",  # the prompt ends in a backtick
    re.MULTILINE,
)
_LABEL: Final = re.compile(r"[a-z][a-z0-9_]{1,39}")
_ERROR_NAME: Final = re.compile(r"\[([A-Z][A-Za-z]{2,60})\]\s*$")
_FIELD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")

log = logs.get(__name__)


class CogneeEngine:
    """The driver `cognee`."""

    local = False

    def __init__(self, config: EngineConfig) -> None:
        self._server = ModelServer(
            config.url,
            who="Cognee",
            setting="CORTEX_COGNEE_API",
            api_key="",
            timeout_s=config.timeout_s,
            base="/api/v1",
            headers=authorization(config.token),
            max_response_bytes=MAX_RESPONSE_BYTES,
            explain=explained,
            key_setting="CORTEX_COGNEE_API_TOKEN",
        )

    async def extract(self, texts: Sequence[EngineText]) -> list[Extraction]:
        """Read by form and by graph (see `Engine.extract`)."""
        if not texts:
            return []
        name = f"cortex-{uuid4().hex}"
        dataset: str | None = None
        try:
            added = await self._server.upload(
                "add",
                {"datasetName": name, "run_in_background": "false"},
                [
                    Upload("data", f"{number}.txt", one.text.encode(errors="replace"))
                    for number, one in enumerate(texts)
                ],
            )
            dataset = _dataset(added)
            _completed(added)
            runs = await self._server.ask("cognify", {"datasets": [name], "runInBackground": False})
            for run in runs.values() if isinstance(runs, Mapping) else ():
                _completed(run)
            return [await self._around(name, one) for one in texts]
        finally:
            await self._forget(name, dataset)

    async def open(self) -> None:
        """Nothing to do: a server that is away may come back."""

    async def check(self) -> None:
        """Is the server there, and does it take the token?"""
        await self._server.get("datasets")

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _around(self, name: str, text: EngineText) -> Extraction:
        result = await self._server.ask(
            "search",
            {
                "searchType": SEARCH_TYPE,
                "query": text.text[:QUERY_CHARS],
                "datasets": [name],
                "topK": TOP_K,
                "onlyContext": True,
            },
        )
        if not isinstance(result, list):
            raise Unavailable("Cognee's answer is not a list of results")
        return merged(text, "\n".join(_strings(result, MAX_DEPTH)))

    async def _forget(self, name: str, dataset: str | None) -> None:
        """Delete the dataset, however the call ended. A failure is told to the operator, not to who asked."""
        try:
            async with asyncio.timeout(FORGET_S):
                dataset = dataset or await self._named(name)
                if dataset is not None:
                    await self._server.delete(f"datasets/{dataset}")
        except (CortexError, TimeoutError) as error:
            reason = error.message if isinstance(error, CortexError) else "the time is over"
            log.warning("a dataset may stay in Cognee: delete it there", dataset=name, reason=reason)

    async def _named(self, name: str) -> str | None:
        """The id of a dataset whose `add` brought no answer."""
        listed = await self._server.get("datasets")
        rows = listed if isinstance(listed, list) else []
        return next((_id(row.get("id")) for row in rows if isinstance(row, Mapping) and row.get("name") == name), None)


def merged(text: EngineText, context: str) -> Extraction:
    """What the built-in rules find in `text`, and what of a graph's `context` stands in it."""
    found = read(text)
    spoken = f" {' '.join(words(text.text))} "
    entities = {one.key: one for one in found.entities}
    edges = _EDGE.findall(context)
    for name in (*_NODE.findall(context), *(end for edge in edges for end in (edge[0], edge[2]))):
        folded = key(name)
        if len(entities) < MAX_ENTITIES and folded not in entities and _is_name(folded) and f" {folded} " in spoken:
            entities[folded] = Entity(_spelling(text.text, folded), folded, EntityKind.PERSON_OR_THING)
    relations = dict.fromkeys(found.relations)
    for subject, label, object_ in edges:
        predicate = "_".join(words(label.replace("_", " ")))
        ends = key(subject), key(object_)
        if ends[0] != ends[1] and all(end in entities for end in ends) and _LABEL.fullmatch(predicate):
            relations.setdefault(Relation(ends[0], predicate, ends[1]))
    return Extraction(tuple(entities.values()), tuple(relations)[:MAX_ENTITIES])


def authorization(token: str) -> dict[str, str]:
    """The header that carries a token, by the token's form; none without one."""
    if not token:
        return {}
    return {"Authorization": f"Bearer {token}"} if _JWT.fullmatch(token) else {"X-Api-Key": token}


def explained(answer: Answer) -> str:
    """Why a request was refused, from one of three shapes, without a word that could be of a memory:
    `{"detail": "… [Name]"}`, `{"error": …, "detail": …}` and `{"detail": [{"loc": …}], "body": …}`."""
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, Mapping):
        return ""
    detail = body.get("detail")
    if isinstance(detail, list):
        fields = {part for one in detail if isinstance(one, Mapping) for part in _location(one.get("loc"))}
        return f" (fields: {', '.join(sorted(fields)[:5])})" if fields else ""
    name = next(
        (n[1] for said in (detail, body.get("error")) if isinstance(said, str) and (n := _ERROR_NAME.search(said))), ""
    )
    return f" ({name})" if name else ""


def _location(found: Any) -> Iterator[str]:
    parts = found if isinstance(found, list) else []
    yield from (part for part in parts if isinstance(part, str) and part != "body" and _FIELD.fullmatch(part))


def _completed(run: Any) -> None:
    status = run.get("status") if isinstance(run, Mapping) else None
    if status is not None and status not in _COMPLETED:
        ended = status if isinstance(status, str) and _FIELD.fullmatch(status) else "another state"
        raise Unavailable(f"Cognee did not complete its work: {ended}")


def _dataset(run: Any) -> str | None:
    return _id(run.get("dataset_id", run.get("datasetId"))) if isinstance(run, Mapping) else None


def _id(value: Any) -> str | None:
    """An id that may stand in a path."""
    try:
        return str(UUID(value))
    except (ValueError, TypeError, AttributeError):
        return None


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, list | Mapping):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(one, depth - 1)


def _is_name(folded: str) -> bool:
    return 1 < len(folded) <= MAX_NAME and len(folded.split()) <= MAX_WORDS and folded not in STOP_WORDS


def _spelling(text: str, folded: str) -> str:
    """The name as the text writes it, if it can be found again."""
    gap = r"[\W_]+"
    found = re.search(rf"(?<!\w){gap.join(map(re.escape, folded.split()))}(?!\w)", text, re.IGNORECASE)
    return found[0] if found else folded
