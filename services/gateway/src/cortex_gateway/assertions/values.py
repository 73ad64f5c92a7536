"""Values: what a statement says of its attribute, by kind, and whether two of them can both be true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cortex_gateway.assertions import states
from cortex_gateway.assertions.relations import Relation
from cortex_gateway.assertions.states import State

APPROXIMATE: Final = 0.1
"""How far, as a share, a number may be from what is called "about" it."""
_CLOSE: Final = 1e-6


class Kind(StrEnum):
    """What a value is."""

    STATE = "state"
    NUMBER = "number"
    VERSION = "version"
    DATE = "date"
    CLOCK = "clock"
    NAME = "name"
    TEXT = "text"
    CLAUSE = "clause"


@dataclass(frozen=True, slots=True)
class Quantity:
    """Numbers from `low` to `high` in the base unit of `dimension` ("" for a bare number).

    `other` is the same interval where a unit has two readings (a kilobyte of 1000 or of 1024 bytes). `bound` says that
    the number is itself a limit ("at least", "at most"), `about` that it is not exact. More than one number is a list.
    """

    low: float
    high: float
    dimension: str = ""
    other: tuple[float, float] | None = None
    bound: str = ""
    about: bool = False
    more: frozenset[float] = frozenset()

    @property
    def readings(self) -> tuple[tuple[float, float], ...]:
        """The intervals that may be meant."""
        return ((self.low, self.high), self.other) if self.other else ((self.low, self.high),)


@dataclass(frozen=True, slots=True)
class Version:
    """A version: its numbers, and what stands behind them ("rc1")."""

    numbers: tuple[int, ...]
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date as far as it is given; `day` and `month` may be exchanged when `ambiguous`; `weekday` 0 is Monday."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    quarter: int | None = None
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes; `vague` when it may be in the morning or the evening."""

    minutes: int
    vague: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """Names or other text, in compared form; `more` when it is a list."""

    words: frozenset[str]
    more: bool = False


Content = State | Quantity | Version | Moment | Clock | Words
"""What is compared."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value as written and as compared; `negated` when the text denies it."""

    kind: Kind
    text: str
    content: Content
    negated: bool = False


def compare(one: Value, other: Value) -> Relation:
    """How two values of one attribute of one thing stand to each other."""
    found = _compare(one.content, other.content)
    if found is Relation.CONFLICT and isinstance(one.content, Words) and isinstance(other.content, Words):
        found = _across(one, other)
    if one.negated == other.negated:
        # What both deny leaves everything else open.
        return Relation.UNRELATED if one.negated and found is Relation.CONFLICT else found
    return {Relation.SAME: Relation.CONFLICT}.get(found, Relation.UNRELATED)


def compare_assigned(one: Value, other: Value) -> Relation:
    """As `compare`, for two values that were given for one attribute: what is not the same excludes the other."""
    found = compare(one, other)
    if found is Relation.SAME:
        named = isinstance(one.content, Words) and isinstance(other.content, Words)
        return Relation.SAME if not named or _alike(one.content, other.content) else Relation.CONFLICT
    open_ended = isinstance(one.content, Quantity) and isinstance(other.content, Quantity)
    return Relation.UNRELATED if open_ended and found is Relation.UNRELATED else Relation.CONFLICT


def _alike(one: Content, other: Content) -> bool:
    assert isinstance(one, Words)
    assert isinstance(other, Words)
    return one.words == other.words or bones(" ".join(sorted(one.words))) == bones(" ".join(sorted(other.words)))


def _compare(one: Content, other: Content) -> Relation:
    match one, other:
        case State(), State():
            return states.compare(one, other)
        case Quantity(), Quantity():
            return _quantities(one, other)
        case Version(), Version():
            return _versions(one, other)
        case Moment(), Moment():
            return _moments(one, other)
        case Clock(), Clock():
            same = one.minutes == other.minutes
            half = (one.vague or other.vague) and one.minutes % 720 == other.minutes % 720
            return Relation.SAME if same else Relation.UNRELATED if half else Relation.CONFLICT
        case Words(), Words():
            return _words(one, other)
        case (Version(), Quantity(dimension="")) | (Quantity(dimension=""), Version()):
            return _versions(_as_version(one), _as_version(other))
    return Relation.UNRELATED


def _across(one: Value, other: Value) -> Relation:
    """Different words of two scripts: names may be one name, other words one meaning."""
    left, right = (" ".join(sorted(value.content.words)) for value in (one, other) if isinstance(value.content, Words))
    if left.isascii() == right.isascii():
        return Relation.CONFLICT
    if bones(left) == bones(right):
        return Relation.SAME
    return Relation.CONFLICT if one.kind is other.kind is Kind.NAME else Relation.UNRELATED


_SOUNDS: Final = str.maketrans(
    dict(zip("بتثجخدذرزسشصضطظغفقكلمن", "bttgkddrzsssdtzgfkklmn", strict=True))
    | dict.fromkeys("اويهحعءئؤأإآةىaeiouywh' ", "")
    | {"c": "k", "q": "k", "j": "g", "v": "f", "p": "b", "x": "ks"}
)


def bones(name: str) -> str:
    """The consonants of a name, alike in Latin and Arabic letters."""
    found = name.casefold().translate(_SOUNDS)
    return "".join(char for at, char in enumerate(found) if not at or char != found[at - 1])


def _as_version(content: Content) -> Version:
    if isinstance(content, Version):
        return content
    assert isinstance(content, Quantity)
    return Version(tuple(int(part) for part in f"{content.low:g}".split(".") if part.isdecimal()))


def _quantities(one: Quantity, other: Quantity) -> Relation:
    if one.more or other.more:
        return Relation.SAME if one.more == other.more else Relation.UNRELATED
    if one.dimension != other.dimension:
        return _bare(one, other)
    pairs = [(left, right) for left in one.readings for right in other.readings]
    equal = any(_close(a[0], b[0]) and _close(a[1], b[1]) for a, b in pairs)
    if one.bound and other.bound:
        if one.bound != other.bound:
            return Relation.UNRELATED
        return Relation.SAME if equal else Relation.CONFLICT
    if equal:
        return Relation.SAME
    wide = [(_widened(one, left), _widened(other, right)) for left, right in pairs]
    overlap = any(a[0] <= b[1] and b[0] <= a[1] for a, b in wide)
    return Relation.UNRELATED if overlap else Relation.CONFLICT


def _bare(one: Quantity, other: Quantity) -> Relation:
    """A number without a unit against one with: it may be in any unit, so only equal ones say something."""
    if one.dimension and other.dimension:
        return Relation.UNRELATED
    if {one.dimension, other.dimension} == {"", "share"}:
        bare, share = (one, other) if not one.dimension else (other, one)
        if _close(bare.low, share.low) or _close(bare.low, share.low * 100):
            return Relation.SAME
        return Relation.CONFLICT
    if one.bound != other.bound:
        return Relation.UNRELATED
    if _close(one.low, other.low):
        return Relation.SAME
    # None of it is less than some, in whatever unit.
    if (0.0 == one.low == one.high and other.low > 0) or (0.0 == other.low == other.high and one.low > 0):
        return Relation.CONFLICT
    return Relation.UNRELATED


def _widened(quantity: Quantity, interval: tuple[float, float]) -> tuple[float, float]:
    if not quantity.about:
        return interval
    low, high = interval
    return low - abs(low) * APPROXIMATE, high + abs(high) * APPROXIMATE


def _close(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=_CLOSE)


def _versions(one: Version, other: Version) -> Relation:
    left, right = list(one.numbers), list(other.numbers)
    shared = min(len(left), len(right))
    if left[:shared] != right[:shared]:
        return Relation.CONFLICT
    if one.suffix != other.suffix and len(left) == len(right):
        return Relation.CONFLICT if (one.suffix and other.suffix) or len(left) > 2 else Relation.UNRELATED
    # A version that says less than the other includes it: 16 and 16.2.
    return Relation.SAME


def _moments(one: Moment, other: Moment) -> Relation:
    found = [_same_moment(a, b) for a in _readings(one) for b in _readings(other)]
    return Relation.SAME if True in found else Relation.UNRELATED if None in found else Relation.CONFLICT


def _readings(moment: Moment) -> tuple[Moment, ...]:
    if not moment.ambiguous:
        return (moment,)
    return moment, Moment(moment.year, moment.day, moment.month, moment.weekday)


def _same_moment(one: Moment, other: Moment) -> bool | None:
    """Whether two dates agree in what both give; none when they give different things."""
    shared = 0
    for name in ("year", "month", "day", "weekday", "quarter"):
        left, right = getattr(one, name), getattr(other, name)
        if left is not None and right is not None:
            if left != right:
                return False
            shared += 1
    return True if shared else None


def _narrower(one: str, other: str) -> bool:
    """Whether a name goes on where the other ends: "eu", "eu-north-1"."""
    short, long = sorted((one, other), key=len)
    return long.startswith((f"{short}-", f"{short}/"))


def _words(one: Words, other: Words) -> Relation:
    if one.words == other.words:
        return Relation.SAME
    if one.more or other.more:
        return Relation.UNRELATED
    if one.words <= other.words or other.words <= one.words:
        return Relation.SAME
    if len(one.words) == len(other.words) == 1 and _narrower(*one.words, *other.words):
        return Relation.SAME
    return (
        Relation.UNRELATED
        if one.words & other.words and max(len(one.words), len(other.words)) > 3
        else Relation.CONFLICT
    )
