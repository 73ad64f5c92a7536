"""Where things are in the results of an MCP tool that is configured and not known. Pure.

Places are JMESPath expressions (jmespath.org): `results`, `hits.hits`, `metadata.file`, `join(' ', [name, kind])`.
They are compiled when the settings are read, so that a wrong one stops the start.
"""

from __future__ import annotations

from typing import Annotated, Self, TypeAlias

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, ConfigDict, model_validator

from cortex_contracts.messages.base import Message
from cortex_gateway.adapters.relevance import Measure, Scale


def _compiles(expression: str) -> str:
    try:
        if expression:
            jmespath.compile(expression)
    except JMESPathError:
        raise ValueError("expected a JMESPath expression") from None
    return expression


Place: TypeAlias = Annotated[str, AfterValidator(_compiles)]
"""A JMESPath expression; empty: where such a thing usually is (`records`)."""


class ResultFields(Message):
    """Where the hits are, and where in each of them its parts are; what its score is, best first."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    hits: Place = ""
    title: Place = ""
    path: Place = ""
    snippet: Place = ""
    score: Place = ""
    date: Place = ""
    scale: Scale | None = None
    """None: a score is recognised by its look (`relevance.recognised`)."""
    unrelated: float | None = None
    """The score of a text that has nothing to do with the question, where it is known (with `perfect`)."""
    perfect: float | None = None

    @property
    def measure(self) -> Measure | None:
        """What the scores are; none when they are to be recognised."""
        if self.scale is None:
            return None
        ends = None if self.unrelated is None or self.perfect is None else (self.unrelated, self.perfect)
        return Measure(self.scale, ends)

    @model_validator(mode="after")
    def _of_a_piece(self) -> Self:
        if (self.unrelated is None) != (self.perfect is None):
            raise ValueError("expected unrelated and perfect together")
        if self.unrelated is None:
            return self
        assert self.perfect is not None
        if self.scale not in (Scale.SIMILARITY, Scale.DISTANCE):
            raise ValueError("expected scale similarity or distance with unrelated and perfect")
        if self.unrelated == self.perfect or (self.unrelated > self.perfect) != (self.scale is Scale.DISTANCE):
            raise ValueError("expected unrelated below perfect for a similarity, above it for a distance")
        return self
