"""Entities and relations of a graph, told as one would write them down."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters import graph_records

FIELDS = st.sampled_from(
    ["name", "labels", "properties", "from", "to", "type", "source", "entities", "x", "confidence"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "data",
    [
        [{"_type": "node", "id": "4:7", "labels": ["Service"], "properties": {"name": "Hermes", "status": "stopped"}}],
        [{"n": {"_type": "node", "labels": ["Service"], "properties": {"name": "Hermes", "status": "stopped"}}}],
        {"entities": [{"name": "Hermes", "type": "Service", "status": "stopped"}]},
        [{"n.name": "Hermes", "n.status": "stopped", "n.type": "Service"}],
        {"nodes": [{"name": "Hermes", "entityType": "Service", "properties": {"status": "stopped"}}]},
    ],
)
def test_an_entity_is_its_name_its_kind_and_its_properties(data: Any):
    [found] = graph_records.entities(data)
    assert found.text == "Hermes (Service)\nstatus: stopped"
    assert (found.title, found.path) == ("Hermes", "Service/Hermes")


def test_observations_dates_and_confidence_are_read_and_vectors_are_not():
    [found] = graph_records.entities(
        [
            {
                "name": "Hermes",
                "observations": ["moved in May", "was slow"],
                "embedding": [0.1, 0.2],
                "updated_at": "2026-08-01",
                "confidence": 0.7,
                "on_call": True,
                "replicas": 3,
            }
        ]
    )
    assert found.text == "Hermes\nmoved in May\nwas slow\nupdated at: 2026-08-01\non call: true\nreplicas: 3"
    assert found.date == datetime(2026, 8, 1, tzinfo=UTC)
    assert found.confidence == 0.7


@pytest.mark.parametrize(
    "data",
    [
        {"relations": [{"from": "Alice", "relationType": "OWNS", "to": "Hermes", "since": "May"}]},
        [{"source": {"name": "Alice"}, "type": "OWNS", "target": {"name": "Hermes"}, "properties": {"since": "May"}}],
        {"triples": [{"subject": "Alice", "predicate": "owns", "object": "Hermes", "since": "May"}]},
    ],
)
def test_a_relation_is_a_sentence(data: Any):
    [found] = graph_records.relations(data)
    assert found.text == "Alice owns Hermes (since: May)"


@given(data=JSON)
@settings(deadline=None, max_examples=300)
def test_any_json_is_read_without_failing(data: Any):
    for one in graph_records.entities(data) + graph_records.relations(data):
        assert one.text.strip()
