"""What the compatibility check lets pass does break nobody: tried with generated schemas and generated messages."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cortex_contracts.compatibility import Role, compare

Json = dict[str, Any]
FIELDS = ("alpha", "beta", "gamma")
patient = settings(max_examples=80, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])

_scalars: st.SearchStrategy[Json] = st.one_of(
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more}, *[st.integers(0, 2)] * 2
    ),
    st.builds(lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more}, *[st.integers(0, 2)] * 2),
    st.lists(st.sampled_from(["red", "green", "blue"]), min_size=1, unique=True).map(lambda names: {"enum": names}),
    st.sampled_from([{"type": "boolean"}, {"type": "number"}, {"type": "string"}, {"type": "null"}]),
)


def _objects(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    properties = st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3)
    return st.builds(
        lambda fields, required, closed: {
            "type": "object",
            "properties": fields,
            "required": sorted(required & fields.keys()),
            **({"additionalProperties": False} if closed else {}),
        },
        properties,
        st.frozensets(st.sampled_from(FIELDS)),
        st.booleans(),
    )


def _larger(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.one_of(
        _objects(inner),
        inner.map(lambda item: {"type": "array", "items": item, "maxItems": 2}),
        st.lists(inner, min_size=1, max_size=3).map(lambda members: {"anyOf": members}),
    )


schemas = st.recursive(_scalars, _larger, max_leaves=6)


def messages(schema: Json) -> st.SearchStrategy[Any]:
    """Values that `schema` accepts."""
    if "anyOf" in schema:
        return st.one_of([messages(member) for member in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "string":
            return st.text("ab", min_size=schema.get("minLength", 0), max_size=schema.get("maxLength", 4))
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
        case "number":
            return st.floats(0, 5) | st.integers(0, 5)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            return st.lists(messages(schema["items"]), max_size=schema["maxItems"])
    fields = {name: messages(field) for name, field in schema["properties"].items()}
    needed = {name: field for name, field in fields.items() if name in schema["required"]}
    optional = {name: field for name, field in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=optional)


@st.composite
def changed(draw: st.DrawFn, schema: Json) -> Json:
    """`schema` with one or two parts replaced somewhere inside."""
    if draw(st.integers(0, 3)) == 0:
        return draw(schemas)
    if "anyOf" in schema:
        members = [draw(changed(member)) if draw(st.booleans()) else member for member in schema["anyOf"]]
        return {"anyOf": [*members, *draw(st.lists(_scalars, max_size=1))]}
    if schema.get("type") == "array":
        return {**schema, "items": draw(changed(schema["items"])), "maxItems": draw(st.integers(1, 3))}
    if schema.get("type") == "object":
        fields = {n: draw(changed(f)) if draw(st.integers(0, 2)) == 0 else f for n, f in schema["properties"].items()}
        fields = draw(st.dictionaries(st.sampled_from(FIELDS), _scalars, max_size=1)) | fields
        required = draw(st.frozensets(st.sampled_from(sorted(fields)))) if fields else frozenset()
        closed = draw(st.booleans()) and "additionalProperties" in schema
        return {
            "type": "object",
            "properties": fields,
            "required": sorted(required),
            **({"additionalProperties": False} if closed else {}),
        }
    limits = {key: value + draw(st.integers(-1, 1)) for key, value in schema.items() if isinstance(value, int)}
    return {**schema, **{key: max(0, value) for key, value in limits.items()}}


def _possible(schema: Any) -> bool:
    """Whether the limits leave room for a value."""
    if isinstance(schema, list):
        return all(_possible(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    pairs = (("minLength", "maxLength"), ("minimum", "maximum"))
    roomy = all(low not in schema or schema[low] <= schema[high] for low, high in pairs)
    return roomy and all(_possible(value) for value in schema.values())


@given(schemas, st.sampled_from(list(Role)))
@patient
def test_no_change_breaks_nobody(schema: Json, role: Role) -> None:
    assert compare(schema, schema, role) == ()


@given(st.data())
@patient
def test_what_an_old_writer_sends_is_accepted_after_a_change_that_passes(data: st.DataObject) -> None:
    old = data.draw(schemas)
    new = data.draw(changed(old))
    assume(old != new and not compare(old, new, Role.CONSUMED))
    Draft202012Validator(new).validate(data.draw(messages(old)))


@given(st.data())
@patient
def test_what_a_new_writer_sends_is_understood_by_an_old_reader_after_a_change_that_passes(
    data: st.DataObject,
) -> None:
    old = data.draw(schemas)
    new = data.draw(changed(old).filter(_possible))
    assume(old != new and not compare(old, new, Role.PRODUCED))
    Draft202012Validator(old).validate(data.draw(messages(new)))


@given(schemas, schemas)
@patient
def test_a_stored_message_survives_only_what_both_directions_survive(old: Json, new: Json) -> None:
    found = {role: {(one.path, one.rule) for one in compare(old, new, role)} for role in Role}
    if not found[Role.STORED]:
        assert not found[Role.CONSUMED]
        assert not found[Role.PRODUCED]


@given(_objects(_scalars), _scalars, st.sampled_from(list(Role)))
@patient
def test_a_new_optional_field_of_an_open_object_breaks_nobody(schema: Json, field: Json, role: Role) -> None:
    schema = {key: value for key, value in schema.items() if key != "additionalProperties"}
    wider = {**schema, "properties": {**schema["properties"], "delta": field}}
    assert compare(schema, wider, role) == ()
    assert compare(wider, schema, role) != ()
