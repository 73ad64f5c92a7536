"""Pairs: a key and its value, as notes, configurations, tables and forms have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_decision.folding import fold
from cortex_gateway.assertions import english, measures, periods, roles
from cortex_gateway.assertions.clauses import Clause
from cortex_gateway.assertions.lines import Part
from cortex_gateway.assertions.mentions import merged, opens
from cortex_gateway.assertions.numbers import Item, Mention
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.states import STATES
from cortex_gateway.assertions.subjects import CLAUSE, CONTENT, NOWHERE, PLACE, STATUS, UNANCHORED, Bag, Setting
from cortex_gateway.assertions.surroundings import label, setting
from cortex_gateway.assertions.values import Kind, Quantity, Value, Words
from cortex_gateway.assertions.words import Role, Word, plain, words

_TRUE: Final = frozenset("✔ ☑ true yes y نعم صحيح on ✓ ✅ صح".split())
_FALSE: Final = frozenset("✘ ☒ false no n لا خطا off ✗ ❌ none".split())
_BOOLEAN: Final = _TRUE | _FALSE
_SWITCH: Final = {True: STATES["on"], False: STATES["off"]}
_PLACED: Final = english.HELD | english.HOUSED
_ATTRIBUTES: Final = english.ATTRIBUTES | english.STATUS | english.CONCEPTS.keys()
_EXAMPLES: Final = frozenset(
    "scheduled planned upcoming plan_ proposal forecast hypothesis rumour rumor draft wish todo example "
    "examples e.g idea ideas question template sample مثال مثلا امثله".split()
)


def read(part: Part, around: Setting, page: Setting, before: Setting) -> tuple[list[Stated], Setting]:
    """A key and its value; or a label before a sentence."""
    assert part.key is not None
    key = words(part.key.replace(".", " ") if " " not in part.key else part.key)
    right = words(part.text)
    if len(key) > 1 and key[-1].norm in {"until", "till"}:
        key = [*key[:-1], plain("end", "end")]
    if not key or not right or key[0].norm in _EXAMPLES or key[-1].role is Role.QUESTION:
        return [], before
    if not part.row and not _plain(right):
        dated = merged(key) if opens(key[0]) else []
        if len(dated) == 1 and isinstance(dated[0], Mention) and dated[0].value.kind is Kind.DATE:
            return periods.read([*key, *right], part.span, around, before)
        verb = right[0].role is Role.VERB and len(right) > 1 and right[0].norm != right[0].key
        if right[0].norm in _PLACED or verb or right[0].role in {Role.NEGATION, Role.BE}:
            return periods.read([*key, *right], part.span, around, before)
        said: list[Stated] = []
        if len(key) > 3 and periods.joined(key):
            said, before = periods.read(key, part.span, around, before)
        if _facts(right) or len(key) > 8:
            heard = label(part.key)
            more, before = periods.read(right, part.span, heard if heard.topic else around, before)
            return said + more, before
        if said:
            return said, before
    if any(_unsure(word) for word in (*(key if len(key) > 1 else ()), *right)):
        return [], before
    norms = [word.norm for word in key if word.role is not Role.DROPPED]
    if norms and (" ".join(norms) in english.OPEN_KEYS or norms[-1] in english.MANY_KEYS):
        return [], before
    under = setting(part.under) if part.row else around
    return Pair(key, right, part, under, page if under is not page else NOWHERE).stated(), before


def _unsure(word: Word) -> bool:
    return word.role in {Role.HEDGE, Role.QUESTION, Role.OVER} and word.norm not in {"may", "unknown", "هل"}


def _plain(right: Sequence[Word]) -> bool:
    """Whether the words begin with a state, a boolean or a measured value and are no sentence."""
    first = next((at for at, word in enumerate(right) if word.role not in {Role.DROPPED, Role.NEGATION}), None)
    if first is None:
        return right[0].norm in _BOOLEAN
    word = right[first]
    if any(each.role is Role.BE for each in right[first:]):
        return False
    if word.norm in _BOOLEAN or (
        word.state is not None and not word.definite and (first or word.role is not Role.VERB or len(right) == 1)
    ):
        return True
    return opens(word) and isinstance(merged(right[first:])[0], Mention)


def _facts(right: Sequence[Word]) -> bool:
    """Whether the words behind a colon are a sentence, or several facts."""
    if any(word.role is Role.BREAK for word in right[1:]) or right[0].norm == "عدد":
        return True
    if any(word.norm in _PLACED for word in right[1:]):
        return True
    for at, word in enumerate(right[1:], 1):
        if (
            word.role is Role.BE
            or word.norm in {"has", "have", "takes", "cannot"}
            or (word.state is not None and not word.definite)
        ):
            return True
        if word.role is Role.VERB and (
            word.arabic or (word.norm != word.key and right[at - 1].role is not Role.DROPPED)
        ):
            return True
    commas = any(word.role is Role.COMMA for word in right)
    return commas and any(isinstance(item, Mention) for item in merged(right))


class Pair:
    """A key with its value; `around` is what the pair stands under, `page` the title of the whole."""

    def __init__(self, key: Sequence[Word], right: Sequence[Word], part: Part, around: Setting, page: Setting) -> None:
        self._key, self._right, self._part, self._around, self._page = key, right, part, around, page
        self._label = label(part.label)
        self._status = [word for word in key if _asks_state(word, key)]
        self._negated = any(word.role is Role.NEGATION for word in right) ^ any(
            word.role is Role.NEGATION for word in key
        )
        self._items = merged(
            right,
            versions=any(word.key in _VERSIONED for word in key),
            years=any(word.key in english.EVENTS for word in key),
        )
        clause = Clause(key, (0, 0), NOWHERE, NOWHERE)
        self._asked = clause.items
        self._bag = _bag(clause, key)

    def stated(self) -> list[Stated]:
        """What the pair states: the first of the kinds that fit."""
        return self._boolean() or self._holder() or self._state() or self._measured() or self._described()

    def _boolean(self) -> list[Stated]:
        first = self._right[0].norm
        aside = len(self._right) > 1 and self._right[1].role in {Role.COMMA, Role.CAUSE, Role.PREPOSITION}
        if first not in _BOOLEAN or len(self._right) > (11 if aside else 3):
            return []
        asked = self._asked_state()
        state = _SWITCH[first in _TRUE]
        if asked is not None and asked.state is not None:
            state = asked.state if first in _TRUE else asked.state.negated()
            self._bag.topic -= {asked.key}
        told = [self._make("status", Value(Kind.STATE, self._right[0].raw, state), STATUS, own=True)]
        if asked is None and len(self._bag.topic) > 1 and any(_says(word) for word in self._key):
            # "Does the hotel have a pool? No": that it has.
            denied = first in _FALSE
            value = Value(Kind.CLAUSE, "none" if denied else "yes", Words(frozenset({CLAUSE})), denied)
            told.append(self._make("", value, CLAUSE, own=True))
        return told

    def _asked_state(self) -> Word | None:
        """The state that a key asks for: "pool heated", not "new cart", where it only describes."""
        for at, word in enumerate(self._key):
            follows = self._key[at + 1] if at + 1 < len(self._key) else None
            if word.state is not None and (follows is None or follows.role not in CONTENT or word.arabic):
                return word
        return None

    def _holder(self) -> list[Stated]:
        first = self._right[0]
        if first.state is not None and not first.name and not first.arabic:
            return []  # "tenant 7: active" tells how, not who.
        named = [name for word in self._key if (name := roles.role_of(word))]
        role = next((name for name in named if name != "owner"), named[0] if named else None)
        holder = roles.holder_of(self._items, listed=True) if role is not None else None
        if role is None or holder is None:
            return []
        self._bag.topic -= {word.key for word in self._key if roles.role_of(word)}
        self._bag.spelled = [word.raw for word in self._key if word.role in CONTENT and not roles.role_of(word)]
        return [self._make(role, Value(Kind.NAME, holder[1], holder[0]), f"@{role}")]

    def _state(self) -> list[Stated]:
        right = self._right
        at = next((i for i, word in enumerate(right[:4]) if word.state is not None), None)
        if at is None:
            return []
        while at + 1 < len(right) and right[at + 1].state is not None and right[at + 1].norm not in {"on", "up"}:
            at += 1
        plain = [word for word in right if word.role not in {Role.DROPPED, Role.NEGATION}]
        first = self._items[0]
        counted = isinstance(first, Mention) and first.value.kind is Kind.NUMBER
        word = right[at]
        if counted or word.state is None or not (len(plain) <= 3 or self._status or at <= 1):
            return []
        asked = [each for each in self._key if each.role in CONTENT]
        described = asked and asked[-1].norm in english.ATTRIBUTES and not self._status and not self._negated
        also = self._text() if described else []
        if any(axis == "color" for axis, _ in word.state.places):
            self._bag.topic -= {"colour", "color"}
        begin = max((i + 1 for i, each in enumerate(right[:at]) if each.role is Role.COMMA), default=0)
        for each in right[begin:at]:
            if each.role in {*CONTENT, Role.FIGURE} and each.state is None:
                self._bag.add(each)
        text = f"not {word.raw}" if self._negated else word.raw
        state = word.state.negated() if self._negated else word.state
        told = [self._make("status", Value(Kind.STATE, text, state), STATUS, own=not self._status)]
        return told + also

    def _measured(self) -> list[Stated]:
        mentions = [item for item in self._items if isinstance(item, Mention)]
        if not mentions or not (isinstance(self._items[0], Mention) or len(self._items) <= 6):
            return []
        found: list[Stated] = []
        first = self._right[0].norm
        if first in {"0", "1"} and len(self._right) == 1:
            found.append(self._make("status", Value(Kind.STATE, first, _SWITCH[first == "1"]), STATUS, own=True))
        # Of "14 days, 3 copies" the first is the value; a date and its time of day are two.
        clocked = len(mentions) > 1 and {each.value.kind for each in mentions[:2]} == {Kind.DATE, Kind.CLOCK}
        for item in mentions[: 1 + clocked]:
            self._of(item)
            found.append(self._make("", item.value))
        lead = [each for each in self._items[:2] if isinstance(each, Word) and each.role is Role.CONTENT]
        if lead and self._items[0] is lead[0] and self._bag.topic:
            self._bag.loose -= {each.key for each in lead}
            content = Words(frozenset(each.key for each in lead))
            found.append(self._make("", Value(Kind.TEXT, " ".join(each.raw for each in lead), content)))
        return found

    def _of(self, item: Mention) -> None:
        """Make the bag that of a measured value."""
        bag, content = self._bag, item.value.content
        if isinstance(content, Quantity) and content.bound:
            bag.topic -= {"limit", "minimum"}
            bag.loose |= {"limit", "minimum"}
        bag.loose -= {"version"} if len(bag.loose) > 1 or bag.topic else set()
        bag.topic -= {"minimum"} if item.value.kind is Kind.VERSION else set()
        implied = english.implied(item.value)
        alone = not self._around.topic and not self._label.topic
        if bag.topic | bag.loose and bag.topic | bag.loose <= implied and alone:
            bag.topic = {f"@{content.dimension if isinstance(content, Quantity) else item.value.kind}"}
        bag.topic -= implied if bag.topic - implied else frozenset()
        bag.loose -= implied
        if item.rate:
            bag.topic.add(item.rate)
        for each in self._items:
            versioned = item.value.kind is Kind.VERSION and isinstance(each, Word) and each.key == "version"
            if isinstance(each, Word) and each.role in CONTENT and not versioned:
                bag.add(each, loose=True)
                bag.spelled.append(each.raw)

    def _described(self) -> list[Stated]:
        plain = [word for word in self._right if word.role not in {Role.DROPPED, Role.NEGATION}]
        if self._status and len(plain) <= 4:
            content = Words(frozenset(word.key for word in plain if word.role in CONTENT))
            return [self._make("status", Value(Kind.TEXT, self._part.text, content, self._negated), STATUS)]
        where = [word for word in self._key if word.norm in english.WHERE]
        other = any(word.norm in english.ATTRIBUTES and word not in where for word in self._key)
        if where and not other and (self._key[0] in where or self._key[-1] in where):
            self._bag.topic -= {word.key for word in where}
            self._bag.loose -= {word.key for word in where}
            return self._text("host", PLACE)
        return self._text()

    def _text(self, attribute: str = "", marker: str = "") -> list[Stated]:
        """A few words as the value, or a list of them."""
        kept = [word for word in self._right if word.role in {*CONTENT, Role.FIGURE, Role.HEDGE}]
        many = any(word.role is Role.AND or word.raw in {",", "،", "/"} for word in self._right)
        if not kept or len(kept) > 6 or (len(kept) > 4 and not many):
            return []
        content = Words(frozenset(word.norm if word.arabic or "_" in word.key else word.key for word in kept), many)
        return [self._make(attribute, Value(Kind.TEXT, self._part.text, content), marker)]

    def _make(self, attribute: str, value: Value, marker: str = "", *, own: bool = False) -> Stated:
        """The statement of `value`; `own` when the key names a thing, not an attribute of what is around."""
        bag, around, heard = self._bag, self._around, self._label
        topic, loose, subject = set(bag.topic), set(bag.loose), list(bag.spelled)
        if value.kind is Kind.VERSION:
            surrounded = heard.topic | around.topic
            rest = topic - {"version", "release"}
            if rest or loose or surrounded:
                topic -= {"version", "release"} if rest or surrounded else {"version"}
                topic, loose = (topic, loose) if topic or surrounded else (loose, set())
        first = self._key[0].raw
        named = any(word.name and not _known(word) and word.raw != first for word in self._key) or (own and bool(topic))
        figures = any(word.role is Role.FIGURE for word in self._key)
        attributes = not figures and all(_known(word) for word in self._key if word.role in CONTENT)
        if heard.topic and topic and not attributes:
            loose |= heard.topic
        elif heard.topic:
            topic |= heard.topic
            subject[:0] = [heard.subject]
            named = True
        if self._part.row or not named:
            topic |= around.topic
            subject[:0] = [around.subject] if around.subject else []
        else:
            loose |= around.topic
        loose |= self._page.topic
        if marker:
            topic.add(marker)
        spelled = " ".join(dict.fromkeys(subject))
        frame = frozenset(measures.frame(item) for item in self._asked if _dates(item))
        telling = {word for word in topic | loose if word[0] not in "@~"} - UNANCHORED
        several = sum(word.role in CONTENT for word in self._key) > 1
        anchored = bool(self._part.row or named or around.topic) or (several and bool(telling))
        about = frozenset(topic), frozenset(loose - topic), anchored
        return Stated(spelled, attribute, value, Tense.NOW, frame, self._part.span, *about)


def _says(word: Word) -> bool:
    """Whether a key with the word is a question: "does it have", and Arabic's own word for one."""
    return word.norm in {"هل", "does", "do", "is", "are", "has", "have"}


_VERSIONED: Final = frozenset("version release firmware".split())


def _dates(item: Item) -> bool:
    return isinstance(item, Mention) and item.value.kind is Kind.DATE


def _asks_state(word: Word, key: Sequence[Word]) -> bool:
    """Whether a word of a key is one for the attribute of a state."""
    return word.norm in english.STATUS or word.key in english.STATUS or (word.norm == "active" and len(key) == 1)


def _bag(clause: Clause, key: Sequence[Word]) -> Bag:
    bag, placed = Bag(), False
    for at, item in enumerate(clause.items):
        if isinstance(item, Mention):
            if item.value.kind is not Kind.DATE:
                bag.topic.add(fold(item.value.text))
                bag.spelled.append(item.value.text)
            continue
        placed = item.role is Role.PLACE or (placed and item.role in {*CONTENT, Role.DROPPED})
        if item.norm == "هل" or _asks_state(item, key):
            continue
        if item.role in {*CONTENT, Role.HEDGE, Role.TIME}:
            bag.add(item, loose=placed or clause.classifies(at))
            bag.spelled.append(item.raw)
    if not bag.topic and bag.loose:
        bag.topic, bag.loose = bag.loose, set()
    return bag


def _known(word: Word) -> bool:
    """Whether a word is one of those for attributes."""
    return (
        word.role is Role.LOOSE
        or word.norm in _ATTRIBUTES
        or word.key in _ATTRIBUTES
        or word.key in roles.ATTRIBUTES_ARABIC
        or roles.role_of(word) is not None
    )
