"""What the cosines of an embedding model mean: one table, by the model's name. Only `backgrounds` reads a file.

Models put unrelated texts at very different cosines, so relevance needs to know each. And a model of many languages
keeps texts of two scripts apart whatever they say, by a distance that depends on the question: E5's cosines of right
answers across scripts and of unrelated texts overlap. There a question is compared with reference texts about nothing
in particular first (cohort normalisation, T-norm, of speaker verification: Auckenthaler, Carey and Lloyd-Thomas, 2000).
How much nearer a memory is than those does not depend on what else a namespace holds, even if that is nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

References: TypeAlias = NDArray[np.float32]

NEAREST: Final = 8
"""References, of 48 in each script, whose mean cosine is the background: 3 to 16 were as good, all 48 worse."""
OWN_SHARE: Final = 0.6
"""Share of the references in the question's own script: the memory's alone favours Arabic questions, this balances."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Numbers of `fusion.Recipe` that belong to a model, and the file of its reference vectors, if it has one."""

    cosine_floor: float
    cosine_span: float
    cosine_softness: float
    foreign_cosine: float
    references: str | None = None

    def numbers(self) -> dict[str, float]:
        """The fields of `fusion.Recipe` that this settles."""
        return {
            "cosine_floor": self.cosine_floor,
            "cosine_span": self.cosine_span,
            "cosine_softness": self.cosine_softness,
            "foreign_cosine": self.foreign_cosine,
        }


E5_SMALL: Final = Calibration(0.80, 0.15, 0.02, 0.02, "multilingual-e5-small.npy")
SENTENCE_ENCODER: Final = Calibration(0.28, 0.61, 0.08, 0.05)
"""99.6 % of the dialogue evidence is above the floor of relevance, and 99.8 % of the off-topic questions in its script
find nothing. Across scripts 36 % (Arabic asks) and 48 % of the right answers are above it, and 99.0 % of the off-topic
questions find nothing: it mixes scripts well enough that references gained nothing."""
KNOWN: Final = {
    "multilingual-e5-small": E5_SMALL,
    "multilingual-e5-small-q4": E5_SMALL,
    "universal-sentence-encoder-multilingual": SENTENCE_ENCODER,
}
"""By the last part of the model's name, in lower case; measured on the data of tests/bench/quality.py."""
NEUTRAL: Final = Calibration(0.45, 0.40, 0.05, 0.0)
"""For a model that was not measured: between models that put unrelated texts near 0 and those that put them near 0.8.
Order is right with it; the floor is a guess, so `CORTEX_RECALL_RECIPE` should say better."""


def of(model: str) -> Calibration:
    """The calibration of a model, `NEUTRAL` when it is not known."""
    return KNOWN.get(_short(model), NEUTRAL)


def known(model: str) -> bool:
    """Was the model measured?"""
    return _short(model) in KNOWN


@dataclass(frozen=True, slots=True, eq=False)
class Backgrounds:
    """Reference vectors of one model, shape (2, references, dimension), L2-normalised: Latin script, then Arabic."""

    references: References | None = None

    def foreign(self, question: NDArray[np.floating] | None, script: int) -> float | None:
        """How near a question (its vector, its `terms.script`) is to texts in the other script that have nothing to do
        with it; none when the model has no references, or the question no vector or no script."""
        if self.references is None or question is None or not script or self.references.shape[2] != len(question):
            return None
        nearest = np.sort(self.references @ np.asarray(question, dtype=np.float32), axis=1)[:, -NEAREST:].mean(axis=1)
        return float(OWN_SHARE * nearest[script - 1] + (1 - OWN_SHARE) * nearest[2 - script])


def backgrounds(model: str) -> Backgrounds:
    """The references of a model (`tests/bench/references.py` has the texts and writes the file), or none."""
    name = of(model).references
    if name is None:
        return Backgrounds()
    with files("cortex_ranking").joinpath("references", name).open("rb") as file:
        stored = np.load(file, allow_pickle=False).astype(np.float32)
    return Backgrounds(stored / np.linalg.norm(stored, axis=2, keepdims=True))


def _short(model: str) -> str:
    return model.rsplit("/", 1)[-1].lower()
