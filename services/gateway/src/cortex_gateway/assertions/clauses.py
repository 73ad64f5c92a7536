"""Clauses: what one sentence, reduced to words and values, states.

A clause is not parsed. The word that joins subject and predicate is found, then the values behind it; what else is
content says what the value is of. Words of places and times, and verbs, are loose: another text may leave them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from cortex_decision.folding import fold
from cortex_gateway.assertions import english
from cortex_gateway.assertions.mentions import merged
from cortex_gateway.assertions.numbers import Item, Mention
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.subjects import (
    CONTENT,
    PRONOUNS,
    STEPS,
    UNANCHORED,
    UNKNOWN,
    Bag,
    Setting,
)
from cortex_gateway.assertions.values import Kind, Quantity, Value, Version
from cortex_gateway.assertions.wording import Slots
from cortex_gateway.assertions.words import Role, Word

MAX_ITEMS: Final = 48
"""A longer sentence is not read."""


class Clause:
    """One clause: its items, what it denies, and where its predicate begins."""

    def __init__(self, words: Sequence[Word], span: tuple[int, int], setting: Setting, before: Setting) -> None:
        self.items: list[Item] = merged(words)
        self.span, self.setting, self.before = span, setting, before
        self.denials: list[int] = []
        norms = {item.norm for item in self.items if isinstance(item, Word)}
        # "Has not been paid" is true of all the time until now, as "never" is.
        perfect = not norms.isdisjoint(_HAVE) and not norms.isdisjoint(_UNTIL_NOW)
        self.universal = perfect or not norms.isdisjoint(_UNIVERSAL) or _names_nothing(self.items)
        joint = norms & _HAVE and not norms & _STILL
        self.experienced = bool(joint) and not any(
            isinstance(item, Word) and item.role is Role.BE for item in self.items
        )
        self.negated = self.take_negation() ^ self.take_ceasing()
        self.was = any(isinstance(item, Word) and item.was for item in self.items)
        self.split = self.predicate()
        self.frame: frozenset[str] = frozenset()
        lead = self.bag(range(0, self.split), set()) if self.split else Bag()
        around = lead.topic | lead.loose
        pronoun = any(isinstance(item, Word) and item.norm in PRONOUNS for item in self.items[:2])
        self.subject = before if pronoun or not around else Setting(frozenset(around), " ".join(lead.spelled))

    def take_negation(self) -> bool:
        """Take the negations out of the items; whether the clause is denied."""
        found = False
        for at in range(len(self.items) - 1, -1, -1):
            item = self.items[at]
            if isinstance(item, Word) and item.role is Role.NEGATION:
                found = not found
                follows = self.items[at + 1] if at + 1 < len(self.items) else None
                if (
                    item.norm == "لم"
                    and isinstance(follows, Word)
                    and len(follows.norm) > 3
                    and follows.norm[0] in "يت"
                    and follows.state is None
                ):
                    self.items[at + 1] = replace(
                        follows, key=follows.key[1:] if follows.key == follows.norm else follows.key
                    )
                del self.items[at]
                self.denials = [place - 1 for place in self.denials] + [at]
        return found

    def denied(self, at: int) -> bool:
        """Whether what stands at `at` is denied: a "not" behind it is about something else."""
        ceased = self.negated ^ (len(self.denials) % 2 == 1)
        return (sum(place <= at for place in self.denials) % 2 == 1) ^ ceased

    def take_ceasing(self) -> bool:
        """ "Stopped using" is not using."""
        for at in range(len(self.items) - 1):
            item, follows = self.items[at], self.items[at + 1]
            if (
                isinstance(item, Word)
                and item.norm in _CEASED
                and isinstance(follows, Word)
                and follows.norm.endswith("ing")
            ):
                del self.items[at]
                return True
        return False

    def predicate(self) -> int | None:
        """Where the word between subject and predicate is."""
        verb = None
        for at, item in enumerate(self.items):
            if not isinstance(item, Word):
                continue
            if item.role is Role.BE or item.role is Role.BREAK:
                return at
            if verb is None and item.role is Role.VERB and (at or item.arabic) and not self.noun(at):
                verb = at
            if verb is None and item.norm in HAVING:
                verb = at
        return verb

    def noun(self, at: int) -> bool:
        """Whether the verb at `at` is used as a noun: after an article or a preposition, or with nothing before it."""
        item = self.items[at]
        assert isinstance(item, Word)
        if item.arabic:
            return False
        previous = next((each for each in reversed(self.items[:at])), None)
        if not isinstance(previous, Word):
            return item.norm in english.VERBS
        if previous.norm in _SPEAKING:
            return False
        if previous.role in {Role.PLACE, Role.PREPOSITION} or previous.norm in {
            "the",
            "a",
            "an",
            "of",
            "its",
            "our",
            "my",
        }:
            return True
        subject = any(isinstance(each, Word) and each.role in {Role.CONTENT, Role.LOOSE} for each in self.items[:at])
        singular = item.norm in english.VERBS and not previous.norm.endswith("s")
        helped = any(
            isinstance(each, Word) and each.norm in {"do", "does", "did", "can", "to"} for each in self.items[:at]
        )
        return not subject or (singular and not helped and item.norm not in _IRREGULAR)

    def ends(self, at: int) -> bool:
        """Whether nothing that belongs to a particle follows: "is on", not "is on Saturday"."""
        if at >= len(self.items):
            return True
        item = self.items[at]
        return isinstance(item, Word) and (
            item.role in STEPS
            or (item.role in {Role.TIME, Role.DROPPED, Role.BE} and item.norm not in {"the", "a", "an"})
        )

    def changes(self) -> bool:
        """Whether the clause tells of a change, whose outcome lasts."""
        return any(isinstance(item, Word) and item.norm in english.CHANGES for item in self.items)

    def indefinite(self) -> bool:
        """Whether the subject is one of many: "a backup"."""
        first = self.items[0]
        return isinstance(first, Word) and first.norm in {"a", "an"}

    def pronoun(self, bag: Bag) -> None:
        """A subject that only its text knows: another text's "she" may be somebody else."""
        first = self.items[0]
        if not bag.topic and isinstance(first, Word) and first.norm in {"she", "he", "they", "it"}:
            bag.topic.add(f"{UNKNOWN}{first.norm}")

    def since(self, at: int) -> bool:
        """Whether the time at `at` is when something began."""
        before = self.items[at - 1] if at else None
        return isinstance(before, Word) and before.norm in {"since", "منذ", "from"}

    def past(self) -> bool:
        """Whether the predicate is a verb of the past."""
        split = self.items[self.split] if self.split is not None else None
        return (
            isinstance(split, Word) and split.role is Role.VERB and (split.norm.endswith("ed") or split.norm in _PAST)
        )

    def end(self, start: int) -> int:
        """Where the clause that holds `start` ends."""
        for at in range(start, len(self.items)):
            if role_of(self.items[at]) in {Role.CAUSE, Role.END, Role.AND}:
                return at
        return len(self.items)

    def chunk(self, at: int) -> tuple[int, int]:
        """The words around `at` up to the next preposition, comma or value."""
        start = at
        while start and role_of(self.items[start - 1]) not in STEPS and not isinstance(self.items[start - 1], Mention):
            start -= 1
        end = at + 1
        while (
            end < len(self.items) and role_of(self.items[end]) not in STEPS and not isinstance(self.items[end], Mention)
        ):
            end += 1
        return start, end

    def bag(self, places: Iterable[int], without: set[int]) -> Bag:
        """The content words at `places`; those behind a preposition of place are loose."""
        bag, placed = Bag(), False
        aside = self.aside()
        for at in places:
            item = self.items[at]
            if at in without:
                continue
            if at in aside:
                if isinstance(item, Word) and item.role in CONTENT:
                    bag.add(item, loose=True)
                continue
            if isinstance(item, Mention):
                if item.value.kind is not Kind.DATE:
                    (bag.loose if placed else bag.topic).add(fold(item.value.text))
                    bag.spelled.append(item.value.text)
                continue
            if item.role is Role.PLACE:
                placed = True
            elif item.role in {Role.COMMA, Role.VERB, Role.BREAK, Role.PREPOSITION, Role.AND} and not item.arabic:
                placed = False
            if item.role in CONTENT:
                bag.add(item, loose=placed or self.classifies(at))
                bag.spelled.append(item.raw)
                if placed and item.arabic:
                    placed = item.definite is False and placed
        if not bag.topic and bag.loose:
            names = {key for key in bag.loose if key not in english.LOOSE}
            if names:
                bag.topic, bag.loose = names, bag.loose - names
        return bag

    def classifies(self, at: int) -> bool:
        """Whether a word only says what the identifier behind it is: "replica db3", "endpoint /v1/search"."""
        while at + 1 < len(self.items):
            item, follows = self.items[at], self.items[at + 1]
            if not isinstance(item, Word) or not isinstance(follows, Word) or item.arabic or _identifies(item):
                return False
            if item.norm in TELLING:
                return False
            if _identifies(follows) or (
                follows.role is Role.CONTENT
                and follows.raw[0].isupper()
                and follows.raw[1:].islower()
                and item.raw.islower()
            ):
                return True
            if follows.role not in {Role.CONTENT, Role.LOOSE}:
                return False
            at += 1
        return False

    def aside(self) -> range:
        """What stands between commas behind the subject, or before one at the beginning."""
        commas = [at for at, item in enumerate(self.items) if isinstance(item, Word) and item.raw in {",", "،"}]
        if commas and commas[0] == 1 and isinstance(first := self.items[0], Word) and first.norm.endswith("ly"):
            return range(0, 1)
        if self.split is not None and len(commas) > 1 and commas[0] > 0 and commas[1] == self.split - 1:
            return range(commas[0], commas[1])
        return range(0)

    def adjuncts(self, bag: Bag, start: int, end: int, told: Sequence[int] = ()) -> None:
        """Words of places between `start` and `end`, as loose ones."""
        place = None
        chunk: list[Word] = []
        for at in range(start, end + 1):
            item = self.items[at] if at < min(end, len(self.items)) else None
            step = item is None or isinstance(item, Mention) or item.role in STEPS
            if not step:
                assert isinstance(item, Word)
                if place is not None and item.role in CONTENT:
                    chunk.append(item)
                continue
            if (
                isinstance(item, Mention)
                and place is not None
                and at not in told
                and isinstance(item.value.content, Quantity | Version)
            ):
                bag.loose.add(fold(item.value.text))
            named = [word for word in chunk if word.role is not Role.LOOSE]
            for word in named or chunk:
                bag.add(word, loose=True)
            chunk = []
            if item is None or (isinstance(item, Word) and item.role in {Role.CAUSE, Role.END}):
                return
            if isinstance(item, Word):
                told_chunk = any(self.chunk(each)[0] == at + 1 for each in told)
                follows = self.items[at + 1] if at + 1 < len(self.items) else None
                placed = item.norm in _SIDES or (item.role is Role.PLACE and not told_chunk)
                served = item.norm in _SERVING and (bool(told) or _serves(follows))
                served = served or (item.norm == "to" and not told and _serves(follows))
                place = at if placed or served else None
                beyond = next((each for each in self.items[at + 1 : at + 4] if role_of(each) is not Role.DROPPED), None)
                if item.norm in _OUTSIDE and isinstance(beyond, Word) and beyond.role in CONTENT:
                    bag.topic.add("outside")

    def settle(self, bag: Bag) -> None:
        """Give the bag a subject from the surroundings when it has none of its own."""
        lead = next((at for at, item in enumerate(self.items) if role_of(item) is not Role.DROPPED), 0)
        pronoun = any(isinstance(item, Word) and item.norm in PRONOUNS for item in self.items[: lead + 1])
        attributes = {key for key in bag.topic if key in english.ATTRIBUTES or key in english.STATUS}
        named = bag.topic - attributes
        around = self.before if pronoun and self.before.topic else self.setting
        if not around.topic:
            return
        if pronoun or not bag.topic:
            bag.topic |= around.topic
            if around.subject:
                bag.spelled[:0] = [around.subject]
        elif not named:
            bag.loose |= around.topic - bag.topic
            bag.spelled[:0] = [around.subject] if around.subject else []
        else:
            # A heading that names what the sentence is about anyway adds nothing.
            bag.loose |= frozenset() if around.topic & bag.topic else around.topic

    def statement(
        self, bag: Bag, attribute: str, value: Value, marker: str, tense: Tense = Tense.NOW, slots: Slots = ()
    ) -> Stated:
        """The statement of `value` about the words of `bag`."""
        topic = bag.topic | ({marker} if marker else set())
        subject = " ".join(dict.fromkeys(bag.spelled))
        if not self.subject.topic and bag.topic:
            self.subject = Setting(frozenset(bag.topic), subject)
        words = attribute or " ".join(dict.fromkeys(bag.attribute))
        # "The port is 80" may be anybody's port; "the API timeout" names its subject.
        anchored = bool(self.setting.topic) or any(
            word[0] not in "@~" and word not in UNANCHORED for word in topic | bag.loose
        )
        about = frozenset(topic), frozenset(bag.loose - topic), anchored, slots
        return Stated(subject, words, value, tense, self.frame, self.span, *about)


_SIDES: Final = frozenset("by via outside outside_of".split())
_SERVING: Final = frozenset({"for", "ل", "من"})
_OUTSIDE: Final = frozenset("outside outside_of".split())
_REASONS: Final = frozenset("repairs renovations works reasons tests holidays improvements inspections updates".split())
_HAVE: Final = frozenset({"has", "have"})
_UNTIL_NOW: Final = frozenset({"been", "yet"})
_STILL: Final = frozenset("since for now to".split())
_UNIVERSAL: Final = frozenset("never no none مفيش مافيش مافي ما_في ما_فيه ماكو".split())
"""Negations that hold for every time, or for every one."""
HAVING: Final = frozenset("has have had having contains contain".split())
_CEASED: Final = frozenset("stopped quit ceased".split())
TELLING: Final = frozenset(
    "left right first second third last next primary secondary north south east west front back "
    "upper lower inner outer main test staging production dev development backup former top bottom".split()
)
"""Words that tell one thing from another of its name."""
_SPEAKING: Final = frozenset("we i they you".split())
_PAST: Final = frozenset(
    "took ran held kept gave sent wrote met left paid sold sat slept built taught came made had".split()
)
_IRREGULAR: Final = frozenset(
    "took ran held kept gave sent wrote met paid sold sat built taught came made cost".split()
)


def _names_nothing(items: Sequence[Item]) -> bool:
    """Whether the subject is nobody or nothing."""
    return bool(items) and isinstance(first := items[0], Word) and first.norm in english.NOTHING


def _serves(item: Item | None) -> bool:
    """Whether a word behind "for" says for whom or what, of many: a name, or people; not why ("for repairs")."""
    if not isinstance(item, Word):
        return False
    several = not item.arabic and item.norm.endswith("s") and item.role is Role.CONTENT and item.norm not in _REASONS
    return several or (item.name and not (item.arabic and item.definite))


def _identifies(word: Word) -> bool:
    return (
        word.role is Role.CONTENT
        and any(char.isdigit() or char in "/_" for char in word.raw.replace(".", "_"))
        and not word.raw.isdecimal()
    )


def role_of(item: Item) -> Role | None:
    """What an item does when it is a word."""
    return item.role if isinstance(item, Word) else None
