"""Records of a graph: entities with their properties, and relations between them, read into findings. Pure.

An entity is told as one would write it down, so that sentences and `key: value` lines can be cited and compared:

    Hermes (Service)
    status: stopped
    Hermes runs on ct215

Servers call the parts of both many things; what has neither a name nor an end is no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from cortex_gateway.adapters.dates import moment
from cortex_gateway.adapters.findings import MOST, Finding
from cortex_gateway.adapters.reading import number
from cortex_gateway.adapters.records import DATES, LISTS, first, written

NAMES: Final = ("name", "title", "label", "display_name", "displayName", "key", "slug", "entity", "id", "uid")
KINDS: Final = ("labels", "type", "entityType", "entity_type", "kind", "category")
FROM: Final = ("from", "source", "subject", "start", "from_entity", "source_name", "head", "src")
TO: Final = ("to", "target", "object", "end", "to_entity", "target_name", "tail", "dst")
VERBS: Final = (
    "relationType",
    "relation_type",
    "relation",
    "type",
    "predicate",
    "relationship",
    "label",
    "rel",
    "edge",
)
TEXTS: Final = ("description", "summary", "content", "text", "note", "observations", "observation", "body", "value")
PROPERTY_CHARS: Final = 2_000
PROPERTIES: Final = 40
"""Of one entity; vectors and other lists of numbers are none of them."""
_ENTITIES: Final = ("entities", "nodes", *LISTS)
_RELATIONS: Final = ("relations", "relationships", "edges", "triples", *LISTS)


def entities(data: JsonValue) -> list[Finding]:
    """The entities of an answer, in its order."""
    return [one for row in _rows(data, _ENTITIES) if (one := entity(row)) is not None]


def relations(data: JsonValue) -> list[Finding]:
    """The relations of an answer, in its order, each as a sentence."""
    return [one for row in _rows(data, _RELATIONS) if (one := _relation(row)) is not None]


def entity(row: Mapping[str, JsonValue], sentences: Sequence[str] = ()) -> Finding | None:
    """An entity: `sentences` are what its relations say of it."""
    properties = _properties(row)
    name = name_of(properties)
    if not name:
        return None
    kind = _kind(row) or _kind(properties)
    texts = [text for field in TEXTS if (text := written(properties.get(field)).strip())]
    skipped = {*NAMES[:2], *TEXTS, "confidence", *(() if row.get("labels") else KINDS)}
    lines = [
        f"{field.replace('_', ' ')}: {value}"
        for field, held in properties.items()
        if field not in skipped and (value := _plain(held))
    ][:PROPERTIES]
    head = f"{name} ({kind})" if kind else name
    return Finding(
        text="\n".join(dict.fromkeys([head, *texts, *lines, *sentences])),
        title=name,
        path=f"{kind.split(',')[0] if kind else 'node'}/{name}",
        date=next((when for field in DATES if (when := moment(properties.get(field))) is not None), None),
        confidence=number(properties.get("confidence")),
        score=number(first(row, ("score", "similarity"))),
    )


def sentence(subject: str, verb: str, object_: str, about: Mapping[str, JsonValue] | None = None) -> str:
    """A relation in words: `Hermes runs on ct215 (since: 2026)`."""
    more = ", ".join(
        f"{field.replace('_', ' ')}: {value}" for field, held in (about or {}).items() if (value := _plain(held))
    )
    said = " ".join(f"{subject} {verb.replace('_', ' ').lower()} {object_}".split())
    return f"{said} ({more})" if more else said


def name_of(properties: Mapping[str, JsonValue]) -> str:
    """What an entity is called, if it is called anything."""
    found = first(properties, NAMES)
    return " ".join(str(found).split())[:PROPERTY_CHARS] if isinstance(found, str | int) else ""


def _relation(row: Mapping[str, JsonValue]) -> Finding | None:
    ends = [_end(first(row, names)) for names in (FROM, TO)]
    verb = first(row, VERBS)
    if not all(ends) or not isinstance(verb, str):
        return None
    about = row.get("properties")
    told = about if isinstance(about, Mapping) else {}
    known = {*FROM, *TO, *VERBS, "properties", "confidence", "id", "_type"}
    more = {**{field: held for field, held in row.items() if field not in known}, **told}
    return Finding(
        text=sentence(ends[0], verb, ends[1], more),
        title=ends[0],
        path=f"relation/{ends[0]}/{verb}/{ends[1]}",
        date=next((when for field in DATES if (when := moment(more.get(field))) is not None), None),
        confidence=number(row.get("confidence", more.get("confidence"))),
    )


def _rows(data: JsonValue, names: Iterable[str]) -> list[Mapping[str, JsonValue]]:
    if isinstance(data, Mapping):
        inner = next((data[name] for name in names if isinstance(data.get(name), list | Mapping)), None)
        data = data if inner is None else inner
    rows = data if isinstance(data, list) else [data]
    return [_inside(row) for row in rows[:MOST] if isinstance(row, Mapping)]


def _inside(row: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """The node of a record that holds it alone (`{"n": {...}}`); of `{"n.name": "Alice"}` what stands after the dot."""
    if len(row) == 1 and isinstance(only := next(iter(row.values())), Mapping):
        return only
    return {field.rsplit(".", 1)[-1]: held for field, held in row.items()}


def _properties(row: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The properties of an entity, beside its labels, within it, or it itself."""
    held = row.get("properties")
    if not isinstance(held, Mapping):
        return dict(row)
    around = {} if "labels" in row else {field: one for field, one in row.items() if field != "properties"}
    return {**around, **held}


def _kind(row: Mapping[str, JsonValue]) -> str:
    found = first(row, KINDS)
    if isinstance(found, list):
        return ", ".join(str(one) for one in found if isinstance(one, str))
    return found if isinstance(found, str) else ""


def _end(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return name_of(_properties(value))
    return " ".join(str(value).split()) if isinstance(value, str | int) else ""


def _plain(value: JsonValue) -> str:
    """A property as it can be read; nothing for what nobody reads."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, str):
        return " ".join(value.split())[:PROPERTY_CHARS]
    if isinstance(value, list):
        return ", ".join(one for one in value if isinstance(one, str))[:PROPERTY_CHARS]
    return ""
