"""Signatures tell who is near, and stay what they are: the cold tier has kept them for years."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_ranking import calibration, signature

E5 = "multilingual-e5-small-q4"
PINNED = "022c48ffdd78343a25593fc940eb6c2723b639c40d9b5d5963340fb692606edd"
DIMENSION = 384


def vectors(count: int, seed: int = 1, dimension: int = DIMENSION) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_the_centre_of_a_model_never_changes() -> None:
    centre = signature.centre(E5, DIMENSION)
    known = hashlib.sha256(np.round(centre * 10_000).astype("<i4").tobytes()).hexdigest()
    assert known == "022c48ffdd78343a25593fc940eb6c2723b639c40d9b5d5963340fb692606edd", (
        "the signatures in every cold tier were made with another centre"
    )
    assert np.linalg.norm(centre) == pytest.approx(0.88, abs=0.02)


def test_a_model_without_references_has_its_centre_at_the_origin() -> None:
    assert not signature.centre("bge-m3", 1024).any()
    assert not signature.centre(E5, 768).any(), "another dimension is another model"


def test_a_bit_says_on_which_side_of_the_centre_a_vector_lies() -> None:
    known = np.array([0.5, -0.5, 0.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0], dtype=np.float32)
    assert signature.signature(known, "bge-m3") == bytes([0b10010111, 0b10000000])
    assert signature.signatures(np.stack([known, -known]), "bge-m3").shape == (2, 2)


@given(st.integers(1, 70), st.integers(0, 1_000))
@settings(deadline=None, max_examples=40)
def test_nearness_is_the_sum_of_a_question_with_the_signs_of_the_bits(dimension: int, seed: int) -> None:
    stored, (question,) = vectors(5, seed, dimension), vectors(1, seed + 1, dimension)
    found = signature.nearness(signature.signatures(stored, "bge-m3"), signature.table(question))
    wanted = np.where(stored > 0, 1, -1) @ question
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_a_shortlist_holds_the_nearest_in_the_cone_of_a_real_model() -> None:
    references = calibration.backgrounds(E5).references
    assert references is not None
    centre = references.reshape(-1, DIMENSION).mean(axis=0)
    topics = vectors(400, 3)
    rng = np.random.default_rng(4)
    of = rng.integers(400, size=20_000)
    made = centre + 0.3 * topics[of] + 0.35 * vectors(20_000, 5)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    question = centre + 0.3 * topics[7] + 0.25 * vectors(1, 6)[0]
    question = (question / np.linalg.norm(question)).astype(np.float32)
    nearest = set(np.argsort(-(made @ question))[:20].tolist())
    nearness = signature.nearness(signature.signatures(made.astype(np.float32), E5), signature.table(question))
    shortlist = set(np.argsort(-nearness)[:80].tolist())
    assert len(nearest & shortlist) >= 19
