"""Made-up memories at size, the same for the same seed: words, sessions, speakers, moments, vectors, and questions.

Words follow Zipf's law (exponent 1.05) over 200,000 terms, a quarter of them Arabic; 45 % of a text comes from one of
500 topics. Vectors have the shape of those of multilingual E5 models: a common direction, 30 fields, 500 topics,
sessions; two texts have a cosine of about 0.65, of one field 0.73, of one topic 0.83, of one session 0.86.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cortex_store import lexical, terms
from cortex_store.indexed_text import MONTHS
from cortex_store.lexical_index import DIMENSIONS

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]

SEED: Final = 20_261_130
SHARES: Final = (
    *(0.40, 0.15, 0.08, 0.06, 0.05, 0.04, 0.035, 0.03, 0.028, 0.025),
    *(0.02, 0.02, 0.015, 0.0125, 0.01, 0.0075, 0.006, 0.005, 0.0035, 0.0025),
)
"""Of the namespaces, together 1."""
NAMESPACES: Final = tuple(f"n{number:02}" for number in range(len(SHARES)))
WORDS: Final = 200_000
ARABIC: Final = 0.25
ZIPF: Final = 1.05
TOPICS: Final = 500
FIELDS: Final = 30
TOPIC_WORDS: Final = 400
FROM_TOPIC: Final = 0.45
TURNS: Final = 20
SPEAKERS: Final = 40
MONTHS_BACK: Final = 12
DIMENSION: Final = 384
CHUNK: Final = 50_000
COMMON, FIELD, TOPIC, SESSION, NOISE_RANK_64 = 0.65, 0.08, 0.10, 0.03, 0.09
"""Shares of a vector's squared length; the rest is noise in every direction."""


@dataclass(frozen=True)
class Vocabulary:
    """Words by rank, then the names of speakers and the words of a date. Each word is one term of the product.

    `dimensions`: of the sparse vectors, all different; `letters`: Latin letters less Arabic ones.
    """

    words: NDArray[np.object_]
    hashes: NDArray[np.uint32]
    dimensions: Ints
    letters: Ints
    by_rank: NDArray[np.float64]
    topics: Ints
    by_topic_rank: NDArray[np.float64]

    def number(self, word: str) -> int:
        """Where a name, a month, a day or a year is."""
        return _numbers()[word]


@cache
def _numbers() -> dict[str, int]:
    return {word: WORDS + at for at, word in enumerate(_dated_words())}


def _dated_words() -> list[str]:
    days = [str(day) for day in range(1, 32)]
    return [*speakers(), *MONTHS, *days, *(str(year) for year in range(2020, 2040))]


def speakers() -> list[str]:
    """Names that no other word is."""
    return [f"{one}{two}a".capitalize() for one in ("vezq", "dorx", "nimz", "jarq", "quilx") for two in _TWO]


_TWO: Final = ("bo", "du", "ge", "hi", "ka", "lo", "mu", "ne")


@cache
def vocabulary() -> Vocabulary:
    """The words; takes seconds."""
    rng = np.random.default_rng(SEED)
    words, known = [], {term_dimension(word) for word in _dated_words()}
    while len(words) < WORDS:
        is_arabic = rng.random() < ARABIC
        pieces = rng.integers(
            len(_ARABIC if is_arabic else _LATIN), size=rng.integers(3, 6) if is_arabic else rng.integers(2, 5)
        )
        word = "".join((_ARABIC if is_arabic else _LATIN)[piece] for piece in pieces)
        if word in terms.STOP_WORDS or len(terms.analyse(word)) != 1 or (at := term_dimension(word)) in known:
            continue
        known.add(at)
        words.append(word)
    words += _dated_words()
    hashes = np.array([lexical.term_hash(terms.analyse(word)[0]) for word in words], dtype=np.uint32)
    letters = [sum(c.isascii() and c.isalpha() for c in w) - sum("\u0620" <= c <= "\u064a" for c in w) for w in words]
    # The words of a topic are those that are not everybody's.
    topics = np.stack([rng.choice(np.arange(300, WORDS), TOPIC_WORDS, replace=False) for _ in range(TOPICS)])
    return Vocabulary(
        np.array(words, dtype=object),
        hashes,
        hashes.astype(np.int64) % DIMENSIONS,
        np.array(letters),
        _zipf(WORDS),
        topics,
        _zipf(TOPIC_WORDS),
    )


_LATIN: Final = [c + v for c in "bdfghjklmnprstvz" for v in ("a", "e", "i", "o", "u", "ar", "en", "ol")]
_ARABIC: Final = list("بتثجحخدذرزسشصضطظعغفقكلمن")


def term_dimension(word: str) -> int:
    """The dimension of a word that is one term."""
    return lexical.term_hash(terms.analyse(word)[0]) % DIMENSIONS


def _zipf(size: int) -> NDArray[np.float64]:
    weights = np.arange(1, size + 1) ** -ZIPF
    cumulative: NDArray[np.float64] = np.cumsum(weights / weights.sum())
    return cumulative


@dataclass(frozen=True)
class Chunk:
    """Consecutive memories. `tokens` are those of the contents, of memory i from `starts[i]` to `starts[i + 1]`."""

    first: int
    scopes: Ints
    sessions: Ints
    turns: Ints
    speakers: Ints
    millis: Ints
    tokens: Ints
    starts: Ints
    vectors: Floats

    def __len__(self) -> int:
        return len(self.scopes)

    def contents(self) -> list[str]:
        """The texts."""
        words = vocabulary().words[self.tokens]
        return [" ".join(words[a:b]) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def moments(self) -> list[datetime]:
        """When the memories were made and became true."""
        return [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(one)) for one in self.millis]


@dataclass(frozen=True)
class Plan:
    """Which namespace and topic each session has."""

    memories: int
    scopes: Ints
    topics: Ints
    first_millis: int
    step_millis: float


def plan(memories: int, until: datetime) -> Plan:
    """Sessions of `memories` memories over the last twelve months, in random order of namespaces."""
    rng = np.random.default_rng([SEED, memories])
    sessions = -(-memories // TURNS)
    counts = np.maximum(1, np.round(np.array(SHARES) * sessions)).astype(int)
    counts[0] += sessions - counts.sum()
    span = timedelta(days=365 * MONTHS_BACK / 12) / timedelta(milliseconds=1)
    return Plan(
        memories,
        rng.permutation(np.repeat(np.arange(len(SHARES)), counts)),
        rng.integers(TOPICS, size=sessions),
        int(until.timestamp() * 1000 - span),
        span / memories,
    )


def chunks(wanted: Plan) -> Iterator[Chunk]:
    """The memories in the order of time."""
    words = vocabulary()
    for first in range(0, wanted.memories, CHUNK):
        rng = np.random.default_rng([SEED, wanted.memories, first])
        n = min(CHUNK, wanted.memories - first)
        at = first + np.arange(n)
        sessions = at // TURNS
        topics = wanted.topics[sessions]
        lengths = rng.integers(20, 81, size=n)
        of = np.repeat(np.arange(n), lengths)
        everyday = np.searchsorted(words.by_rank, rng.random(len(of)))
        topical = words.topics[topics[of], np.searchsorted(words.by_topic_rank, rng.random(len(of)))]
        tokens = np.where(rng.random(len(of)) < FROM_TOPIC, topical, np.minimum(everyday, WORDS - 1))
        pair = np.stack([sessions * 7 % SPEAKERS, sessions * 11 % SPEAKERS])
        yield Chunk(
            first,
            wanted.scopes[sessions],
            sessions,
            at % TURNS,
            pair[at % 2, np.arange(n)],
            (wanted.first_millis + at * wanted.step_millis).astype(np.int64),
            tokens,
            np.concatenate([[0], np.cumsum(lengths)]),
            vectors(rng, topics, sessions),
        )


@cache
def _directions() -> tuple[Floats, Floats, Floats, Floats]:
    rng = np.random.default_rng([SEED, 1])
    return unit(rng, 1)[0], unit(rng, FIELDS), unit(rng, TOPICS), unit(rng, 64)


def unit(rng: np.random.Generator, size: int) -> Floats:
    """Random directions."""
    made = rng.standard_normal((size, DIMENSION), dtype=np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def vectors(rng: np.random.Generator, topics: Ints, sessions: Ints) -> Floats:
    """Vectors of texts of these topics and sessions, of length 1."""
    common, fields, of_topic, low = _directions()
    numbers, at = np.unique(sessions, return_inverse=True)
    of_session = np.concatenate([unit(np.random.default_rng([SEED, 2, int(number)]), 1) for number in numbers])
    made = np.sqrt(COMMON) * common + np.sqrt(FIELD) * fields[topics % FIELDS] + np.sqrt(TOPIC) * of_topic[topics]
    made = made + np.sqrt(SESSION) * of_session[at]
    inside = rng.standard_normal((len(topics), len(low)), dtype=np.float32) @ low
    made += np.sqrt(NOISE_RANK_64) * inside / np.linalg.norm(inside, axis=1, keepdims=True)
    rest = 1 - COMMON - FIELD - TOPIC - SESSION - NOISE_RANK_64
    made += np.sqrt(rest) * unit(rng, len(topics))
    found: Floats = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return found
