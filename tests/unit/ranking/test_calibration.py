"""Cosines get their meaning from the model; across scripts a question is compared with unrelated texts first."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from structlog.testing import capture_logs

from cortex_ranking import calibration
from cortex_ranking.calibration import NEAREST, NEUTRAL, OWN_SHARE, Backgrounds
from cortex_ranking.fusion import Evidence, Recipe, fuse
from cortex_recall.app import build
from cortex_recall.config import RecallSettings
from cortex_runtime.settings import SettingsError, read

LATIN, ARABIC = 1, 2
RECIPES = TypeAdapter(Recipe)
E5 = "multilingual-e5-small-q4"


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("name", [E5, "intfloat/multilingual-e5-small", "Multilingual-E5-Small"])
def test_a_model_is_known_by_the_last_part_of_its_name(name: str) -> None:
    assert calibration.known(name)
    assert RECIPES.validate_python(calibration.of(name).numbers()) == Recipe()


def test_a_model_that_nobody_measured_is_neutral_and_has_no_background() -> None:
    assert not calibration.known("bge-m3")
    assert calibration.of("bge-m3") == NEUTRAL
    assert calibration.backgrounds("bge-m3").foreign(unit(1, 2), LATIN) is None


def test_the_numbers_of_a_model_make_a_recipe() -> None:
    for known in (*calibration.KNOWN.values(), NEUTRAL):
        recipe = RECIPES.validate_python(known.numbers())
        assert 0 < recipe.cosine_softness < recipe.cosine_span


def test_the_background_is_the_mean_of_the_nearest_references_of_both_scripts() -> None:
    near, far = unit(1, 0), unit(0, 1)
    latin = np.stack([near] * NEAREST + [far] * 3)
    arabic = np.stack([far] * (NEAREST + 3))
    found = Backgrounds(np.stack([latin, arabic]))
    assert found.foreign(near, LATIN) == pytest.approx(OWN_SHARE)
    assert found.foreign(near, ARABIC) == pytest.approx(1 - OWN_SHARE)


def test_without_a_vector_a_script_or_the_dimension_of_the_references_there_is_no_background() -> None:
    found = Backgrounds(np.ones((2, NEAREST, 3), dtype=np.float32))
    assert found.foreign(None, LATIN) is None
    assert found.foreign(unit(1, 1, 1), 0) is None
    assert found.foreign(unit(1, 1), LATIN) is None


def test_the_references_of_the_default_model_are_unit_vectors_of_both_scripts() -> None:
    references = calibration.backgrounds(E5).references
    assert references is not None
    assert references.shape == (2, 48, 384)
    assert np.linalg.norm(references, axis=2) == pytest.approx(1, abs=1e-5)
    # The model keeps the scripts apart: a text is nearer to others of its script, on the whole.
    latin, arabic = references
    within = (float((side @ side.T).mean()) for side in (latin, arabic))
    assert min(within) > float((latin @ arabic.T).mean())


@settings(deadline=None, max_examples=50)
@given(st.floats(0.5, 0.9), st.floats(-0.1, 0.3), st.integers(0, 20))
def test_a_foreign_relevance_depends_on_the_margin_alone(background: float, margin: float, others: int) -> None:
    def relevance(at: float, beside: int) -> float:
        found = [Evidence(UUID(int=1), 0.0, at + margin, foreign=True)]
        found += [Evidence(UUID(int=number + 2), 3.0, 0.8) for number in range(beside)]
        return next(each.relevance for each in fuse(found, 10.0, background=at) if each.id.int == 1)

    assert relevance(background, others) == pytest.approx(relevance(0.7, 0), abs=1e-9)


def test_a_background_changes_nothing_within_a_script() -> None:
    found = [Evidence(UUID(int=number), number, 0.7 + number / 50) for number in range(1, 8)]
    assert fuse(found, 10.0) == fuse(found, 10.0, background=0.75)


def test_a_nearer_background_makes_the_same_cosine_tell_less() -> None:
    found = [Evidence(UUID(int=1), 0.0, 0.82, foreign=True)]
    falling = [fuse(found, 10.0, background=at)[0].relevance for at in (0.7, 0.74, 0.78, 0.82, 0.9)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > Recipe().floor > falling[-2]


def settings_of(monkeypatch: pytest.MonkeyPatch, model: str, recipe: str | None) -> RecallSettings:
    for name, scheme in (("NATS", "nats"), ("DATABASE", "postgresql"), ("EMBEDDINGS", "http"), ("CACHE", "redis")):
        monkeypatch.setenv(f"CORTEX_{name}_URL", f"{scheme}://nowhere")
    monkeypatch.setenv("CORTEX_EMBEDDINGS_MODEL", model)
    if recipe is not None:
        monkeypatch.setenv("CORTEX_RECALL_RECIPE", recipe)
    return read(RecallSettings)


def test_a_recipe_follows_the_embedding_model_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_of(monkeypatch, E5, None).recall_recipe == Recipe()
    other = settings_of(monkeypatch, "universal-sentence-encoder-multilingual", None).recall_recipe
    assert (other.cosine_floor, other.cosine_span) == (0.28, 0.61)
    assert settings_of(monkeypatch, "bge-m3", None).recall_recipe.cosine_floor == NEUTRAL.cosine_floor


def test_what_the_recipe_says_itself_goes_before_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = settings_of(monkeypatch, "bge-m3", '{"cosine_floor": 0.5, "floor": 0.3}').recall_recipe
    assert (recipe.cosine_floor, recipe.cosine_span, recipe.floor) == (0.5, NEUTRAL.cosine_span, 0.3)


def test_a_wrong_recipe_is_refused_with_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="CORTEX_RECALL_RECIPE"):
        settings_of(monkeypatch, E5, '{"cosine_floor": "high"}')


@pytest.mark.parametrize(
    ("model", "recipe", "warned"),
    [(E5, None, False), ("bge-m3", None, True), ("bge-m3", '{"cosine_floor": 0.5}', False)],
)
async def test_a_service_with_a_model_that_nobody_measured_says_so_at_start(
    monkeypatch: pytest.MonkeyPatch, model: str, recipe: str | None, warned: bool
) -> None:
    known = settings_of(monkeypatch, model, recipe)
    with capture_logs() as told:
        build(known)
    assert any("CORTEX_RECALL_RECIPE" in line["event"] for line in told) == warned
