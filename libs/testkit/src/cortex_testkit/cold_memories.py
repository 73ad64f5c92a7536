"""Memories for a cold store, each different and the same in every run."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np

from cortex_providers.cold_memory import ColdEntity, ColdMemory, ColdOccurrence, ColdRelation

DIMENSION: Final = 384
MODEL: Final = "test-model"
FIRST: Final = datetime(2024, 1, 31, 22, tzinfo=UTC)
"""When the first one became true; each further one is an hour later."""


def cold_memory(number: int, **changes: Any) -> ColdMemory:
    """Memory `number` of `local/work`, with `changes` of its fields. Every field varies: some are empty."""
    chance = random.Random(number)
    valid_at = FIRST + timedelta(hours=number, microseconds=chance.randrange(1_000_000))
    plain = number % 5 == 0
    terms = np.array(sorted({chance.randrange(1_000_000_000) for _ in range(0 if plain else 12)}), "<i4")
    vector = np.random.default_rng(number).normal(size=DIMENSION)
    memory = ColdMemory(
        id=_id(chance, number),
        org="local",
        namespace="work",
        owner=None if plain else f"agent-{number % 3}",
        visibility=("team", "global", "private")[0 if plain else number % 3],
        network="experience",
        memory_type="episodic",
        content=f"Statement {number}: the pump «Ωmega» ran, وعملت المضخة {number} ساعة.\n",
        source_kind="chat",
        source_ref=None if plain else f"thread-{number // 10}",
        session=None if plain else f"session-{number // 10}",
        turn=None if plain else number % 10,
        speaker=None if plain else "Inês",
        document=_id(chance, number) if number % 7 == 0 else None,
        assertions="[]",
        metadata="{}" if plain else '{"ticket": "T-1"}',
        importance=float(np.float32(chance.random())),
        base_importance=None if plain else float(np.float32(chance.random())),
        valid_at=valid_at,
        invalid_at=valid_at + timedelta(days=1) if number % 4 == 1 else None,
        superseded_by=_id(chance, number) if number % 4 == 1 else None,
        created_at=valid_at + timedelta(minutes=1),
        decision="add",
        decision_reason="",
        access_count=number % 4,
        last_accessed_at=valid_at + timedelta(hours=2) if number % 4 else None,
        occurrences=() if plain else (_occurrence(chance, number, valid_at),),
        entities=() if plain else (ColdEntity("omega", "Ωmega", "thing", "mention"),),
        relations=() if plain else (ColdRelation("ines", "works_on", "omega"),),
        sources=(_id(chance, number), _id(chance, number + 1)) if number % 6 == 2 else (),
        embedding=None if plain else (vector / np.linalg.norm(vector)).astype("<f2").tobytes(),
        embedding_model=None if plain else MODEL,
        script=None if plain else 1,
        folded=None if plain else chance.getrandbits(63) - (1 << 62),
        terms=terms.tobytes(),
        impacts=np.array([chance.random() for _ in terms], "<f4").tobytes(),
    )
    return replace(memory, **changes)


def _occurrence(chance: random.Random, number: int, at: datetime) -> ColdOccurrence:
    return ColdOccurrence(
        _id(chance, number), "chat", None, "session-x", number, None, at + timedelta(minutes=5), "said again"
    )


def _id(chance: random.Random, number: int) -> UUID:
    return UUID(int=((1_700_000_000_000 + number) << 80) | (7 << 76) | (2 << 62) | chance.getrandbits(62))
