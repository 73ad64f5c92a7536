"""What a JSON Schema says, whatever its spelling: references followed, unions flat, types and limits comparable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

ANNOTATIONS: Final = frozenset(
    {
        "$schema",
        "$id",
        "$defs",
        "$ref",
        "$comment",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
    }
    | {"readOnly", "writeOnly", "discriminator"}
)
"""Keywords that refuse no value."""

EXACT: Final = frozenset({"pattern", "format", "multipleOf", "contentEncoding", "contentMediaType"})
"""Constraints that can only be compared for equality."""

_LOWER: Final = ("minimum", "minLength", "minItems", "minProperties")
_UPPER: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
BOUNDS: Final = (*_LOWER, *_UPPER, "uniqueItems")
"""Constraints that can be tightened or loosened; the exclusive ones count as their `minimum` or `maximum`."""

STRUCTURE: Final = frozenset(
    {"type", "enum", "const", "anyOf", "oneOf", "properties", "required", "additionalProperties", "items"}
    | {"patternProperties", "propertyNames", "prefixItems", "exclusiveMinimum", "exclusiveMaximum"}
)
"""The other keywords that the compatibility check understands."""

_NULL: Final = frozenset({"null"})


def resolve(schema: Schema | bool, root: Schema) -> Schema:
    """The schema with its reference and its single-entry `allOf` merged in; `True` is `{}`, `False` refuses all."""
    schema = _as_mapping(schema)
    for keyword in ("$ref", "allOf"):
        if keyword in schema and (keyword == "$ref" or len(schema[keyword]) == 1):
            inner = _target(schema["$ref"], root) if keyword == "$ref" else schema["allOf"][0]
            return resolve(_both(inner, {k: v for k, v in schema.items() if k != keyword}), root)
    return schema


def _as_mapping(schema: Schema | bool) -> Schema:
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return schema


def _both(schema: Schema | bool, limits: Schema) -> Schema:
    """A schema that refuses what either refuses."""
    schema = _as_mapping(schema)
    if (schema.keys() & limits.keys()) - ANNOTATIONS:
        return {"allOf": [schema, limits]}
    return {**schema, **limits}


def _target(ref: str, root: Schema) -> Schema:
    """The schema that a local reference names.

    Raises:
        ValueError: it leaves the document or names nothing in it.
    """
    found: Any = root
    try:
        for part in ref.removeprefix("#").split("/")[1:]:
            found = found[part.replace("~1", "/").replace("~0", "~")]
    except (KeyError, TypeError):
        raise ValueError(f"expected a reference into the document, got {ref!r}") from None
    if not ref.startswith("#") or not isinstance(found, Mapping):
        raise ValueError(f"expected a reference into the document, got {ref!r}")
    return found


def is_any(schema: Schema | bool, root: Schema) -> bool:
    """Whether the schema accepts everything."""
    return not resolve(schema, root).keys() - ANNOTATIONS


def alternatives(schema: Schema | bool, root: Schema) -> Iterator[Schema]:
    """The members of a union, flat; a schema that is none is its own only member. References to members stay."""
    seen = resolve(schema, root)
    for keyword in ("anyOf", "oneOf"):
        if keyword in seen:
            limits = {k: v for k, v in seen.items() if k != keyword and k not in ANNOTATIONS}
            for member in seen[keyword]:
                yield from alternatives(_both(member, limits), root)
            return
    kinds = seen.get("type")
    if isinstance(kinds, list):
        for kind in kinds:
            yield from alternatives({**seen, "type": kind}, root)
        return
    values = seen.get("enum")
    if values is not None and None in values and len(values) > 1:
        yield {"type": "null"}
        yield {**seen, "enum": [value for value in values if value is not None]}
        return
    yield schema if isinstance(schema, Mapping) else seen


def is_null(schema: Schema, root: Schema) -> bool:
    """Whether the schema accepts `null` and nothing else."""
    return types(resolve(schema, root)) == _NULL


def types(schema: Schema) -> frozenset[str] | None:
    """The JSON types that a resolved schema names or its values have; `None`: any."""
    if "type" in schema:
        return frozenset({schema["type"]})
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else None
    return None if values is None else frozenset(_type_of(value) for value in values)


def _type_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
    return "array"


def within(inner: frozenset[str] | None, outer: frozenset[str] | None) -> bool:
    """Whether every value of the types `inner` has one of the types `outer`; an integer is a number."""
    if outer is None:
        return True
    return inner is not None and inner <= (outer | {"integer"} if "number" in outer else outer)


def values(schema: Schema) -> frozenset[str] | None:
    """The only values a resolved schema accepts, as JSON; `None`: it does not list them."""
    if "const" in schema:
        return frozenset({json.dumps(schema["const"], sort_keys=True)})
    return frozenset(json.dumps(v, sort_keys=True) for v in schema["enum"]) if "enum" in schema else None


def limit(keyword: str, schema: Schema) -> tuple[float, int]:
    """How much a resolved schema allows by one of `BOUNDS`, comparable: the greater, the looser."""
    if keyword == "uniqueItems":
        return (-float(bool(schema.get(keyword, False))), 0)
    if keyword in _LOWER:
        least = float("-inf") if keyword == "minimum" else 0.0
        found = [(-schema.get(keyword, least), 0)]
        if keyword == "minimum" and "exclusiveMinimum" in schema:
            found.append((-schema["exclusiveMinimum"], -1))
    else:
        found = [(schema.get(keyword, float("inf")), 0)]
        if keyword == "maximum" and "exclusiveMaximum" in schema:
            found.append((schema["exclusiveMaximum"], -1))
    return min(found)


def kind(schema: Schema, root: Schema) -> str:
    """What tells a member of a union from its siblings: its type and the constants of its fields."""
    seen = resolve(schema, root)
    tags = {name: values(resolve(field, root)) for name, field in seen.get("properties", {}).items()}
    constants = sorted(f"{name}={next(iter(only))}" for name, only in tags.items() if only and len(only) == 1)
    return " ".join(["|".join(sorted(types(seen) or {"anything"})), *constants])


def bare(schema: Schema | bool, root: Schema) -> Schema:
    """A resolved schema without its annotations, to see whether two fields hold the same."""
    return {k: v for k, v in resolve(schema, root).items() if k not in ANNOTATIONS}


def inlined(value: Any, root: Schema, inside: frozenset[str] = frozenset()) -> Any:
    """A part of a schema with the targets of its references in their place; a reference to itself stays."""
    if isinstance(value, list):
        return [inlined(item, root, inside) for item in value]
    if not isinstance(value, Mapping):
        return value
    ref = value.get("$ref")
    if isinstance(ref, str) and ref not in inside:
        rest = {k: v for k, v in value.items() if k != "$ref"}
        return inlined(_both(_target(ref, root), rest), root, inside | {ref})
    return {k: inlined(v, root, inside) for k, v in value.items()}
