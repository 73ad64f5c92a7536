"""What a text states: a value of an attribute of a subject, at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from cortex_gateway.assertions.values import Value
from cortex_gateway.assertions.wording import Slots


class Tense(StrEnum):
    """When a statement is meant to be true."""

    NOW = "now"
    PAST = "past"
    OVER = "over"
    """It says itself that it holds no longer: used to, formerly, until."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement. Two are compared when their topics and times agree."""

    subject: str
    """As written; empty when the text leaves it to its surroundings."""
    attribute: str
    value: Value
    tense: Tense
    frame: frozenset[str]
    """The times that the text gives for it ("in 2024", "on Mondays"); empty: none."""
    span: tuple[int, int]
    """Where the sentence or line is in the text."""
    topic: frozenset[str] = field(repr=False)
    """Words of subject and attribute by which statements meet, in their compared form."""
    loose: frozenset[str] = field(repr=False)
    """Words that one of two statements on one topic may leave out: "the Hermes service" is "Hermes"."""
    anchored: bool = True
    """Whether it says itself what it is about; "port: 80" and "she lives in Oslo" do not, and may be about anything."""

    slots: Slots = field(default=(), repr=False)
    """Of a clause as a whole: its fillers and what stands before each."""

    @property
    def claim(self) -> str:
        """Subject and attribute in one line, as a person reads it."""
        return f"{self.subject} {self.attribute}".strip()
