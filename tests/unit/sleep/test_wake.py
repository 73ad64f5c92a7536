"""What a person should know now, and what of it may be shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.messages.base import PREVIEW_LENGTH
from cortex_contracts.messages.events import MemoryEvent, WakeKind
from cortex_contracts.messages.memory import MemoryType, Network, Visibility, WriteDecision
from cortex_contracts.subjects import MemoryOp
from cortex_sleep import wake
from cortex_store.ids import uuid7
from cortex_store.memories import Memory
from cortex_store.wakes import Idle

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OLD = Memory(
    id=uuid7(),
    namespace="work",
    content="The auth service listens on port 7001.",
    source_kind="manual",
    importance=0.8,
    valid_at=NOW - timedelta(days=200),
    invalid_at=NOW,
    superseded_by=UUID(int=1),
    created_at=NOW - timedelta(days=200),
    owner="me",
    visibility=Visibility.TEAM,
    network=Network.EXPERIENCE,
    memory_type=MemoryType.EPISODIC,
    source_ref=None,
    session=None,
    turn=None,
    speaker=None,
    assertions=(),
    metadata={},
    decision=WriteDecision.ADD,
    decision_reason="",
    tier="hot",
)
NEW = replace(
    OLD,
    id=uuid7(),
    content="The auth service listens on port 7015 now.",
    importance=0.6,
    valid_at=NOW,
    invalid_at=None,
    superseded_by=None,
    decision=WriteDecision.UPDATE,
)


def event(**fields: Any) -> MemoryEvent:
    given_fields: dict[str, Any] = {
        "event_id": uuid7(),
        "op": MemoryOp.RETAIN,
        "org": "local",
        "namespace": "work",
        "memory_id": NEW.id,
        "decision": "update",
        "superseded": (OLD.id,),
        "occurred_at": NOW,
    }
    return MemoryEvent(**given_fields | fields)


@pytest.mark.parametrize(
    ("fields", "tells"),
    [
        ({}, True),
        ({"decision": "invalidate"}, True),
        ({"op": MemoryOp.RECONSOLIDATE}, True),
        ({"decision": "add"}, False),
        ({"decision": None}, False),
        ({"superseded": ()}, False),
        ({"memory_id": None}, False),
        # Somebody improved or forgot a memory knowingly, and a fact that grew takes the place of its smaller self.
        ({"op": MemoryOp.IMPROVE}, False),
        ({"op": MemoryOp.FORGET}, False),
        ({"op": MemoryOp.REFLECT}, False),
    ],
)
def test_a_contradiction_is_a_memory_that_ended_others_because_it_says_otherwise(fields: dict[str, Any], tells: bool):
    assert wake.may_contradict(event(**fields)) is tells


def test_a_contradiction_names_what_ended_and_shows_what_is_said_now():
    found = wake.contradiction(NEW, [OLD], "auth service")
    assert found is not None
    assert (found.kind, found.memory_id, found.memory_ids) == (WakeKind.CONTRADICTION, NEW.id, (OLD.id,))
    assert found.reason == "what was known is not true any more: a newer memory says otherwise"
    assert found.importance == 0.8
    assert (found.entity, found.preview) == ("auth service", NEW.content)


def test_several_that_ended_are_counted_and_an_end_is_called_one():
    others = [replace(OLD, id=uuid7()) for _ in range(40)]
    found = wake.contradiction(replace(NEW, decision=WriteDecision.INVALIDATE), others, None)
    assert found is not None
    assert found.reason == "40 memories are not true any more: a newer memory says that it is over"
    assert len(found.memory_ids) == wake.MOST_IDS


@pytest.mark.parametrize("side", ["new", "old"])
def test_of_private_memories_nothing_is_shown(side: str):
    new = replace(NEW, visibility=Visibility.PRIVATE) if side == "new" else NEW
    old = replace(OLD, visibility=Visibility.PRIVATE) if side == "old" else OLD
    found = wake.contradiction(new, [old], "auth service")
    assert found is not None
    assert (found.entity, found.preview) == (None, "")
    secret = replace(NEW, visibility=Visibility.PRIVATE)
    made = wake.pattern(replace(secret, importance=0.9), [uuid7()] * 5, "auth service")
    assert made is not None
    assert (made.entity, made.preview) == (None, "")
    idle = wake.stale(secret, Idle(secret.id, 0.9, NOW - timedelta(days=400), "key"), NOW, "auth service")
    assert (idle.entity, idle.preview) == (None, "")


def test_what_was_forgotten_meanwhile_is_not_told_but_what_was_corrected_again_is():
    assert wake.contradiction(replace(NEW, invalid_at=NOW), [OLD], None) is None
    assert wake.contradiction(replace(NEW, invalid_at=NOW, superseded_by=uuid7()), [OLD], None) is not None
    assert wake.contradiction(NEW, [], None) is None


@pytest.mark.parametrize(
    ("importance", "sources", "ended", "tells"),
    [
        (0.7, 3, False, True),
        (0.69, 9, False, False),
        (0.9, 2, False, False),
        (0.9, 9, True, False),
    ],
)
def test_a_pattern_is_important_of_several_and_still_true(importance: float, sources: int, ended: bool, tells: bool):
    fact = replace(NEW, importance=importance, invalid_at=NOW if ended else None)
    found = wake.pattern(fact, [uuid7() for _ in range(sources)], None)
    assert (found is not None) is tells


def test_a_pattern_that_grows_is_the_same_pattern():
    ids = [uuid7() for _ in range(3)]
    fact = replace(NEW, importance=0.8, metadata={"topic": "c1"})
    one, other = wake.pattern(fact, ids, None), wake.pattern(replace(fact, id=uuid7()), [*ids, uuid7()], None)
    assert one is not None
    assert other is not None
    assert one.key == other.key == "c1"
    assert one.reason == "3 memories say something important together"


@given(st.floats(0, 1), st.floats(0, 1))
@settings(deadline=None, max_examples=60)
def test_what_matters_more_is_stale_later(one: float, other: float):
    low, high = sorted((one, other))
    assert wake.stale_after(low) <= wake.stale_after(high)
    assert 15 <= wake.stale_after(low) <= 480


def test_a_preview_is_no_longer_than_events_may_carry():
    found = wake.contradiction(replace(NEW, content="long " * 500), [OLD], None)
    assert found is not None
    assert len(found.preview) == PREVIEW_LENGTH
