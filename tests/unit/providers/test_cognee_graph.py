"""What is taken of a graph: what stands in the text, and of a refusal: nothing that could be of a memory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_extraction.folding import words
from cortex_extraction.relations import Relation
from cortex_providers.cognee import explained, merged
from cortex_providers.engine import EngineText, read
from cortex_providers.outbound import Answer

TEXT = EngineText("we moved the billing service from redis to Valkey on 2026-03-01, says ada lund.")
GRAPH = """Nodes:
Node: billing service
__node_content_start__
A service.
__node_content_end__

Node: kafka
Connections:
billing service --[uses]--> valkey
billing service -[Depends On]-> redis
ada lund --[said: quoted at length; with reasons]--> valkey
billing service --[uses]--> kafka
valkey --[is_a]---> database
we moved the billing service from... [billing, service] --[contains]--> valkey
"""


def test_names_of_the_graph_that_stand_in_the_text_are_taken_as_it_writes_them():
    found = merged(TEXT, GRAPH)
    names = {one.key: one.name for one in found.entities}
    assert names["valkey"] == "Valkey"
    assert {"billing service", "ada lund", "redis", "2026-03-01"} <= names.keys()
    assert not {"kafka", "database"} & names.keys()


def test_relations_are_taken_between_two_names_of_the_text():
    found = set(merged(TEXT, GRAPH).relations)
    assert {Relation("billing service", "uses", "valkey"), Relation("billing service", "depends_on", "redis")} <= found
    assert all(one.object not in {"kafka", "database"} for one in found)


def test_a_relation_that_is_described_is_taken_also_at_the_end_of_the_prompt():
    """As Cognee 1.6.5 writes them."""
    context = (
        "and here is the context: `Nodes:\nNode: valkey\n\nConnections:\n"
        "billing service --[uses]--> valkey  (the billing service (all of it) uses valkey)\n"
        "ada lund --[praises]--> valkey  (as she said)`"
    )
    found = set(merged(TEXT, context).relations)
    assert {Relation("billing service", "uses", "valkey"), Relation("ada lund", "praises", "valkey")} <= found


def test_what_is_read_by_form_stays_whatever_the_graph_says():
    for context in ("", "Node: \n --[]--> ", GRAPH * 50):
        assert set(read(TEXT).entities) <= set(merged(TEXT, context).entities)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=4))
def test_no_graph_adds_a_name_that_the_text_does_not_hold(text: str, names: list[str]):
    said = EngineText(text)
    context = "\n".join(f"Node: {name}\n{name} --[knows]--> {name}s" for name in names)
    before = {one.key for one in read(said).entities}
    spoken = f" {' '.join(words(text))} "
    for one in merged(said, context).entities:
        assert one.key in before or f" {one.key} " in spoken


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"detail": "Dataset of my secret not found [DatasetNotFoundError]"}, " (DatasetNotFoundError)"),
        ({"error": "Pipeline run errored", "detail": "my secret"}, ""),
        ({"error": "failed [PipelineError]", "detail": None}, " (PipelineError)"),
        (
            {"detail": [{"loc": ["body", "datasets"], "msg": "my secret"}], "body": {"x": "my secret"}},
            " (fields: datasets)",
        ),
        ({"detail": [{"loc": ["body", "my secret"]}, 3, None]}, ""),
        ({"detail": [{"loc": "my secret"}]}, ""),
        (["my secret"], ""),
        ("my secret", ""),
        (None, ""),
    ],
)
def test_three_kinds_of_errors_are_one_without_what_was_sent(body: Any, why: str):
    assert explained(Answer(400, {}, json.dumps(body).encode())) == why


def test_a_body_that_is_no_json_explains_nothing():
    assert explained(Answer(500, {}, b"<html>my secret [SecretError]")) == ""
    assert explained(Answer(500, {}, b"[" * 100_000)) == ""
