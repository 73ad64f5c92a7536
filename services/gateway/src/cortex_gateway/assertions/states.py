"""States: the words for how a thing is, and which of them exclude each other.

Each word takes a place on one or more axes. Two states conflict when they differ on an axis that they share, say the
same when they agree on all of them, and have nothing to do with each other otherwise: a degraded service still runs.
A denied state is the other pole of its axes where they have two, so "not stopped" is "running".
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_decision.folding import fold
from cortex_gateway.assertions import opposites, state_words
from cortex_gateway.assertions.relations import Relation


@dataclass(frozen=True, slots=True)
class State:
    """Places on axes; `denied` when all that is known is that it is not there."""

    places: tuple[tuple[str, str], ...]
    implied: tuple[tuple[str, str], ...] = ()
    denied: bool = False

    def negated(self) -> State:
        """What "not" makes of it."""
        if self.denied:
            return State(self.places)
        if all(len(_POLES[axis]) == 2 or axis == "run" for axis, _ in self.places):
            return State(tuple((axis, _POLES[axis][place == _POLES[axis][0]]) for axis, place in self.places))
        return State(self.places, denied=True)


def compare(one: State, other: State) -> Relation:
    """How two states of one thing stand to each other."""
    left, right = dict(one.places + one.implied), dict(other.places + other.implied)
    shared = left.keys() & right.keys()
    if not shared:
        return Relation.UNRELATED
    equal = all(left[axis] == right[axis] for axis in shared)
    if one.denied or other.denied:
        if one.denied and other.denied:
            return Relation.SAME if equal else Relation.UNRELATED
        return Relation.CONFLICT if equal else Relation.UNRELATED
    return Relation.SAME if equal else Relation.CONFLICT


def _read() -> tuple[dict[str, State], dict[str, list[str]]]:
    places: dict[str, list[tuple[str, str]]] = {}
    poles: dict[str, list[str]] = {}
    axis = place = ""
    for line in fold(state_words.AXES).strip().splitlines():
        words = line
        if not line.startswith("  "):
            head, words = line.split(":", 1)
            axis, place = head.split()
            if place not in poles.setdefault(axis, []):
                poles[axis].append(place)
        for word in words.split():
            places.setdefault(word, []).append((axis, place))
    states = {word: State(tuple(found)) for word, found in places.items()}
    for line in fold(state_words.MORE).strip().splitlines():
        named, said = line.split(":", 1)
        pairs = [tuple(each.split("=")) for each in said.split()]
        said_places = tuple((axis, place) for axis, place in pairs if axis[0] != "~")
        implied = tuple((axis[1:], place) for axis, place in pairs if axis[0] == "~")
        for each, pole in said_places + implied:
            if pole not in poles.setdefault(each, []):
                poles[each].append(pole)
        states |= {word: State(said_places, implied) for word in named.split()}
        # "It was done" and, denied, "it was not done" have two forms of one verb.
        done = [word for word in named.split() if word.startswith(("تم_", "تمت_"))]
        states |= {
            ("يتم_" if word.startswith("تم_") else "تتم_") + word.partition("_")[2]: State(said_places, implied)
            for word in done
        }
    for line in fold(opposites.STATES + opposites.ARABIC).split("\n"):
        if "/" in line:
            _oppose(line, states, poles)
    return states, poles


def _oppose(line: str, states: dict[str, State], poles: dict[str, list[str]]) -> None:
    """Place the words of a line of opposites that have no place: beside one that has, or on an axis of their own."""
    sides = [side.split() for side in line.split("/")]
    known = next(((states[word].places[0], at) for at in (0, 1) for word in sides[at] if word in states), None)
    (axis, place), first = known or ((f"~{line}", "on"), 0)
    found = poles.setdefault(axis, ["on"])
    other = next((each for each in found if each != place), "off")
    if other not in found:
        found.append(other)
    for at, side in enumerate(sides):
        for word in side:
            states.setdefault(word, State(((axis, place if at == first else other),)))


STATES, _POLES = _read()
"""The state of each word, as `words.Word.key` has it; Arabic without the feminine ending."""
