"""Records: the results of a search tool whose form is not known beforehand, read into findings. Pure.

Retrieval servers give the same few things under many names: a list somewhere in the answer (`results`, `hits.hits`,
`matches`, …), of objects that hold a text, where it is from, a score or a distance and dates, some of them one object
further in (`metadata`, `payload`, `_source`, `node`, …); Chroma gives columns instead of rows; others give a page of
text (`prose`), some of them in an object of its own. What has no place here is no finding: nothing is guessed from
unknown fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import JsonValue

from cortex_gateway.adapters.dates import moment
from cortex_gateway.adapters.findings import MOST, Finding
from cortex_gateway.adapters.prose import prose
from cortex_gateway.adapters.reading import Reading, number
from cortex_gateway.adapters.result_fields import ResultFields
from cortex_gateway.adapters.written_data import written_data

LISTS: Final = (
    "results hits matches documents docs chunks passages items records nodes entities memories facts notes entries"
    " sources rows points data result response output context contexts search_results search_result value"
).split()
"""Where the list of results is, the surest name first."""
TEXTS: Final = (
    "snippet text content page_content pageContent chunk_text chunk passage body excerpt summary highlight"
    " description document observations fact memory value"
).split()
TITLES: Final = "title heading header name document_title documentTitle section filename file_name label".split()
PATHS: Final = (
    "path file_path filepath filePath relative_path rel_path source file filename file_name source_path uri url link"
    " document_name slug doc_id document_id id"
).split()
SCORES: Final = "score _score similarity relevance relevance_score rerank_score cosine_similarity certainty".split()
DISTANCES: Final = "distance _distance dist cosine_distance l2_distance".split()
DATES: Final = (
    "last_seen lastSeen updated_at updatedAt update_time updateTime last_modified lastModified modified_at modifiedAt"
    " modified mtime file_mtime updated indexed_at indexedAt ingested_at timestamp date created_at createdAt"
    " create_time createTime created"
).split()
"""When it was last touched, before when it was made."""
WITHIN: Final = (
    "metadata meta _source payload node document doc chunk entity properties _additional attributes fields record"
    " source memory"
).split()
"""Objects of a record that hold fields of it; the record's own win."""
DEPTH: Final = 4


def read(data: JsonValue | None, text: str) -> Reading:
    """The findings of an answer, in its order: those of its JSON, of its text where it has none."""
    if data is None:
        data = written_data(text)
    if data is None or (isinstance(data, str) and (text := text or data)):
        return prose(text)
    if isinstance(data, Mapping) and len(data) == 1 and isinstance(page := first(data, TEXTS), str):
        return prose(page)
    read_rows = [_finding(row) for row in islice(_rows(data, DEPTH), MOST)]
    distances = [distance for one, distance in read_rows if one is not None]
    return Reading([one for one, _ in read_rows if one is not None], distance=bool(distances) and all(distances))


def placed(data: JsonValue | None, text: str, fields: ResultFields) -> Reading:
    """The findings of an answer, by the places that are configured; what has no place is read by its usual names."""
    if data is None:
        data = written_data(text)
    if data is not None and fields.hits:
        data = _at(fields.hits, data)
        if data is None:
            return Reading(())
    if data is None or not any((fields.title, fields.path, fields.snippet, fields.score, fields.date)):
        return read(data, text)
    rows = data[:MOST] if isinstance(data, list) else [data]
    usual = [read([row], "") for row in rows]
    found = []
    for row, reading in zip(rows, usual, strict=True):
        base = reading.found[0] if reading.found else Finding(text="")
        found.append(
            Finding(
                text=written(_at(fields.snippet, row)) if fields.snippet else base.text,
                title=written(_at(fields.title, row)) if fields.title else base.title,
                path=_name(_at(fields.path, row)) if fields.path else base.path,
                score=number(_at(fields.score, row)) if fields.score else base.score,
                date=moment(_at(fields.date, row)) if fields.date else base.date,
                confidence=base.confidence,
            )
        )
    distance = not fields.score and any(one.distance for one in usual)
    return Reading([one for one in found if one.text.strip() or one.title.strip()], distance=distance)


def first(record: Mapping[str, JsonValue], names: Sequence[str]) -> JsonValue:
    """The first of the fields `names` that says something."""
    return next((value for name in names if (value := record.get(name)) not in (None, "", [], {})), None)


def written(value: JsonValue, depth: int = DEPTH) -> str:
    """A text, or the texts of a list of content blocks."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "\n".join(part for one in value[:MOST] if (part := written(one, depth - 1)))
    if isinstance(value, Mapping) and isinstance(inner := value.get("text", value.get("value")), str):
        return inner
    return ""


def _rows(data: JsonValue, depth: int) -> Iterator[JsonValue]:
    if isinstance(data, list):
        for one in data:
            # [[document, score], …] and [[…results of the first query…]]
            if isinstance(one, list) and not _pair(one) and depth:
                yield from _rows(one, depth - 1)
            else:
                yield one
    elif isinstance(data, Mapping):
        if columns := list(_columns(data)):
            yield from columns
            return
        inner = next((data[name] for name in LISTS if isinstance(data.get(name), list)), None)
        if inner is None and not _says_something(data) and depth:
            inner = next((data[name] for name in LISTS if isinstance(data.get(name), Mapping)), None)
        if inner is not None and depth:
            yield from _rows(inner, depth - 1)
        elif _says_something(data):
            yield data
        elif data and all("/" in name or "." in name for name in data):
            for path, value in data.items():
                for one in value if isinstance(value, list) else [value]:
                    yield {"path": path, **one} if isinstance(one, Mapping) else {"path": path, "text": one}


def _columns(data: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    """Rows of an answer in columns, as Chroma's: documents, metadatas, distances and ids, each a list per query."""
    documents = data.get("documents")
    if not isinstance(documents, list) or not any(isinstance(data.get(name), list) for name in ("metadatas", "ids")):
        return
    columns = {
        name: _column(values)
        for column, name in (
            ("documents", "text"),
            ("metadatas", "metadata"),
            ("distances", "distance"),
            ("scores", "score"),
            ("ids", "id"),
        )
        if isinstance(values := data.get(column), list)
    }
    count = len(columns["text"])
    for at in range(count):
        yield {name: values[at] for name, values in columns.items() if len(values) == count}


def _column(values: list[JsonValue]) -> list[JsonValue]:
    """The column of the first query."""
    first_of = values[0] if values else None
    return first_of if isinstance(first_of, list) else values


def _pair(row: list[JsonValue]) -> bool:
    return len(row) == 2 and isinstance(row[0], Mapping | str) and number(row[1]) is not None


def _says_something(record: Mapping[str, JsonValue]) -> bool:
    flat = _flat(record)
    return bool(written(first(flat, TEXTS)).strip())


def _flat(record: Mapping[str, JsonValue], depth: int = 2) -> dict[str, JsonValue]:
    """A record with the fields of the objects inside it, its own first."""
    flat = dict(record)
    for name in WITHIN:
        inner = record.get(name)
        if isinstance(inner, Mapping) and depth:
            if flat.get(name) is inner:
                del flat[name]
            for key, value in _flat(inner, depth - 1).items():
                flat.setdefault(key, value)
    return flat


def _finding(row: JsonValue) -> tuple[Finding | None, bool]:
    """One finding, and whether its score is a distance."""
    given: float | None = None
    if isinstance(row, list) and len(row) == 2:
        first_of, given = row[0], number(row[1])
        row = first_of
    if isinstance(row, str):
        return (Finding(text=row, score=given) if row.strip() else None), False
    if not isinstance(row, Mapping):
        return None, False
    flat = _flat(row)
    text, title = written(first(flat, TEXTS)), written(first(flat, TITLES))
    if not text.strip() and not title.strip():
        return None, False
    # The certainty of one place is the path of another: only what is a text can be one.
    paths = {name: value for name in PATHS if isinstance(value := flat.get(name), str | int)}
    score = next((value for name in SCORES if (value := number(flat.get(name))) is not None), given)
    distance = next((value for name in DISTANCES if (value := number(flat.get(name))) is not None), None)
    return Finding(
        text=text,
        title=title,
        path=str(first(paths, PATHS) or ""),
        score=distance if score is None else score,
        date=next((when for name in DATES if (when := moment(flat.get(name))) is not None), None),
        confidence=number(flat.get("confidence")),
    ), score is None and distance is not None


def _at(place: str, data: JsonValue) -> Any:
    """What is at a place; none when there is nothing, or something else than the expression can work with."""
    try:
        return jmespath.search(place, data)
    except JMESPathError:
        return None


def _name(value: JsonValue) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else written(value)
