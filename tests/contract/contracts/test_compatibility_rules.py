"""The compatibility check finds each kind of breaking change, in the direction it breaks, and lets the others pass."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from cortex_contracts.compatibility import Role, Rule, compare

Json = dict[str, Any]
BOTH = {Role.CONSUMED, Role.PRODUCED}
WRITERS = {Role.CONSUMED}
READERS = {Role.PRODUCED}

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
WHOLE: Json = {"type": "integer"}
NULL: Json = {"type": "null"}


def thing(*required: str, **properties: Any) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


def one_of(*members: Json) -> Json:
    return {"anyOf": list(members)}


def pet(kind: str, **fields: Any) -> Json:
    return thing("kind", kind={"const": kind, "type": "string"}, **fields)


CASES: list[tuple[str, Json, Json, Rule, set[Role]]] = [
    ("field removed", thing(a=TEXT, b=WHOLE), thing(a=TEXT), Rule.FIELD_REMOVED, BOTH),
    ("field renamed", thing(a=TEXT), thing(b=TEXT), Rule.FIELD_REMOVED, BOTH),
    ("required field added", thing(), thing("a", a=TEXT), Rule.FIELD_REQUIRED, BOTH),
    ("field becomes required", thing(a=TEXT), thing("a", a=TEXT), Rule.FIELD_REQUIRED, WRITERS),
    ("field becomes optional", thing("a", a=TEXT), thing(a=TEXT), Rule.FIELD_OPTIONAL, READERS),
    ("type changed", thing(a=TEXT), thing(a=WHOLE), Rule.TYPE_CHANGED, BOTH),
    ("object became array", thing(), {"type": "array"}, Rule.TYPE_CHANGED, BOTH),
    ("number narrowed", thing(a=NUMBER), thing(a=WHOLE), Rule.TYPE_NARROWED, WRITERS),
    ("integer widened", thing(a=WHOLE), thing(a=NUMBER), Rule.TYPE_WIDENED, READERS),
    ("anything narrowed", thing(a={}), thing(a=TEXT), Rule.TYPE_NARROWED, WRITERS),
    ("widened to anything", thing(a=TEXT), thing(a={}), Rule.TYPE_WIDENED, READERS),
    ("enum narrowed", {"enum": ["a", "b"]}, {"enum": ["a"]}, Rule.ENUM_NARROWED, BOTH),
    ("enum widened", {"enum": ["a"]}, {"enum": ["a", "b"]}, Rule.ENUM_WIDENED, READERS),
    ("constant changed", {"const": "a"}, {"const": "b"}, Rule.ENUM_NARROWED, BOTH),
    ("enum introduced", TEXT, TEXT | {"enum": ["a"]}, Rule.CONSTRAINT_TIGHTENED, WRITERS),
    ("enum lifted", TEXT | {"enum": ["a"]}, TEXT, Rule.CONSTRAINT_LOOSENED, READERS),
    ("null refused", one_of(TEXT, NULL), TEXT, Rule.NULL_REFUSED, WRITERS),
    ("null added", TEXT, one_of(TEXT, NULL), Rule.NULL_ADDED, READERS),
    ("null refused in a type list", {"type": ["string", "null"]}, TEXT, Rule.NULL_REFUSED, WRITERS),
    ("null refused in an enum", {"enum": ["a", None]}, {"enum": ["a"]}, Rule.NULL_REFUSED, WRITERS),
    ("object closed", thing(), thing() | {"additionalProperties": False}, Rule.OBJECT_CLOSED, WRITERS),
    ("object opened", thing() | {"additionalProperties": False}, thing(), Rule.OBJECT_OPENED, READERS),
    (
        "field added to a closed object",
        thing() | {"additionalProperties": False},
        thing(a=TEXT) | {"additionalProperties": False},
        Rule.FIELD_ADDED,
        READERS,
    ),
    (
        "values of a mapping retyped",
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "additionalProperties": WHOLE},
        Rule.TYPE_CHANGED,
        BOTH,
    ),
    ("items retyped", {"type": "array", "items": TEXT}, {"type": "array", "items": WHOLE}, Rule.TYPE_CHANGED, BOTH),
    (
        "items narrowed",
        {"type": "array", "items": NUMBER},
        {"type": "array", "items": WHOLE},
        Rule.TYPE_NARROWED,
        WRITERS,
    ),
    (
        "tuple member retyped",
        {"type": "array", "prefixItems": [TEXT, WHOLE]},
        {"type": "array", "prefixItems": [TEXT, TEXT]},
        Rule.TYPE_CHANGED,
        BOTH,
    ),
    ("union member removed", one_of(TEXT, WHOLE), TEXT, Rule.ALTERNATIVE_REMOVED, WRITERS),
    ("union member added", TEXT, one_of(TEXT, WHOLE), Rule.ALTERNATIVE_ADDED, READERS),
    ("tagged member removed", one_of(pet("cat"), pet("dog")), one_of(pet("cat")), Rule.ALTERNATIVE_REMOVED, WRITERS),
    ("tagged member added", one_of(pet("cat")), one_of(pet("cat"), pet("dog")), Rule.ALTERNATIVE_ADDED, READERS),
    (
        "field of a tagged member removed",
        one_of(pet("cat", age=WHOLE), pet("dog", age=WHOLE)),
        one_of(pet("dog"), pet("cat", age=WHOLE)),
        Rule.FIELD_REMOVED,
        BOTH,
    ),
    ("pattern changed", TEXT | {"pattern": "^a"}, TEXT | {"pattern": "^b"}, Rule.CONSTRAINT_CHANGED, BOTH),
    ("pattern introduced", TEXT, TEXT | {"pattern": "^a"}, Rule.CONSTRAINT_TIGHTENED, WRITERS),
    ("format lifted", TEXT | {"format": "uuid"}, TEXT, Rule.CONSTRAINT_LOOSENED, READERS),
    ("unknown keyword changed", thing() | {"not": TEXT}, thing() | {"not": WHOLE}, Rule.CONSTRAINT_CHANGED, BOTH),
    (
        "keys of a mapping limited",
        {"type": "object"},
        {"type": "object", "propertyNames": TEXT | {"maxLength": 3}},
        Rule.TYPE_NARROWED,
        WRITERS,
    ),
]

TIGHTER: list[tuple[Json, Json]] = [
    (TEXT | {"maxLength": 9}, TEXT | {"maxLength": 8}),
    (TEXT, TEXT | {"maxLength": 8}),
    (TEXT, TEXT | {"minLength": 1}),
    (WHOLE | {"minimum": 0}, WHOLE | {"minimum": 1}),
    (WHOLE | {"maximum": 9}, WHOLE | {"maximum": 8}),
    (NUMBER | {"minimum": 0}, NUMBER | {"exclusiveMinimum": 0}),
    (NUMBER | {"maximum": 1}, NUMBER | {"exclusiveMaximum": 1}),
    ({"type": "array", "maxItems": 3}, {"type": "array", "maxItems": 2}),
    ({"type": "array"}, {"type": "array", "minItems": 1}),
    ({"type": "array"}, {"type": "array", "uniqueItems": True}),
    ({"type": "object", "maxProperties": 3}, {"type": "object", "maxProperties": 2}),
]


def rules(old: Json, new: Json, role: Role) -> set[Rule]:
    return {found.rule for found in compare(old, new, role)}


@pytest.mark.parametrize(
    ("old", "new", "rule", "broken"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_breaking_change_is_found_for_exactly_the_roles_it_breaks(
    old: Json, new: Json, rule: Rule, broken: set[Role]
) -> None:
    assert {role for role in BOTH if rule in rules(old, new, role)} == broken
    assert rule in rules(old, new, Role.STORED)


@pytest.mark.parametrize(("old", "new"), [case[1:3] for case in CASES if case[4] != BOTH], ids=lambda _: "")
def test_a_change_that_breaks_one_side_only_passes_on_the_other(old: Json, new: Json) -> None:
    assert {role for role in BOTH if not compare(old, new, role)} != set()


@pytest.mark.parametrize(("loose", "tight"), TIGHTER)
def test_a_tightened_limit_breaks_old_writers_and_a_loosened_one_old_readers(loose: Json, tight: Json) -> None:
    assert rules(loose, tight, Role.CONSUMED) == {Rule.CONSTRAINT_TIGHTENED}
    assert rules(loose, tight, Role.PRODUCED) == set()
    assert rules(tight, loose, Role.CONSUMED) == set()
    assert rules(tight, loose, Role.PRODUCED) == {Rule.CONSTRAINT_LOOSENED}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (thing(a=TEXT), thing(a=TEXT, b=WHOLE)),
        (thing(a=TEXT), thing(a=TEXT | {"title": "A", "description": "words", "default": "x", "examples": ["y"]})),
        (thing("a", "b", a=TEXT, b=TEXT), thing("b", "a", b=TEXT, a=TEXT)),
        (one_of(TEXT, NULL), {"type": ["null", "string"]}),
        (
            one_of(pet("cat"), pet("dog")),
            {"oneOf": [pet("dog"), pet("cat")], "discriminator": {"propertyName": "kind"}},
        ),
        ({"const": "a"}, {"enum": ["a"]}),
        (thing(a=TEXT), thing(a={"$ref": "#/$defs/Name"}) | {"$defs": {"Name": TEXT}}),
        (thing(a={"allOf": [TEXT]}), thing(a=TEXT)),
        (TEXT | {"minLength": 0}, TEXT),
    ],
)
def test_a_compatible_change_passes_for_every_role(old: Json, new: Json, role: Role) -> None:
    assert compare(old, new, role) == ()


def test_a_change_behind_references_is_found_with_its_path() -> None:
    old = thing(hits={"type": "array", "items": {"$ref": "#/$defs/Hit"}}) | {"$defs": {"Hit": thing(path=TEXT)}}
    new = thing(hits={"type": "array", "items": {"$ref": "#/$defs/Hit"}}) | {"$defs": {"Hit": thing(path=WHOLE)}}
    found = compare(old, new, Role.PRODUCED, name="AskReply")
    assert [str(one) for one in found] == ["AskReply.hits[].path: type changed: string became integer"]


def test_a_change_behind_a_reference_inside_an_unknown_keyword_is_found() -> None:
    old = {"not": {"$ref": "#/$defs/X"}, "$defs": {"X": TEXT}}
    new = {"not": {"$ref": "#/$defs/X"}, "$defs": {"X": WHOLE}}
    assert rules(old, new, Role.CONSUMED) == {Rule.CONSTRAINT_CHANGED}


def test_a_renamed_field_is_reported_with_its_likely_new_name() -> None:
    (found,) = compare(thing(speaker=TEXT), thing(spoken_by=TEXT, turn=WHOLE), Role.STORED)
    assert found.detail == "renamed to spoken_by?"


def test_a_reference_out_of_the_document_is_an_error_not_a_pass() -> None:
    elsewhere = thing(a={"$ref": "other.json#/X"})
    with pytest.raises(ValueError, match=r"expected a reference into the document, got 'other\.json"):
        compare(elsewhere, elsewhere, Role.CONSUMED)


class _OldNode(BaseModel):
    label: str
    children: list[_OldNode] = []
    parent: _OldNode | None = None


class _NewNode(BaseModel):
    label: int
    children: list[_NewNode] = []
    parent: _NewNode | None = None


def test_recursive_models_are_compared_to_the_end() -> None:
    old, new = _OldNode.model_json_schema(), _NewNode.model_json_schema()
    assert compare(old, old, Role.STORED) == ()
    assert rules(old, new, Role.STORED) == {Rule.TYPE_CHANGED}
