"""Descriptions: the places, forms, names and other words that a clause gives of something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_gateway.assertions import english, roles, wording
from cortex_gateway.assertions.clauses import Clause, role_of
from cortex_gateway.assertions.forms import verb_of
from cortex_gateway.assertions.numbers import Item, Mention
from cortex_gateway.assertions.statement import Stated, Tense
from cortex_gateway.assertions.subjects import CONTENT, PLACE, STEPS, Bag
from cortex_gateway.assertions.values import Kind, Quantity, Value, Words
from cortex_gateway.assertions.words import Role, Word

_SEATED: Final = frozenset("انتقل انتقلت يقام تقام يقع تقع يسكن تسكن يعيش تعيش يقيم تقيم موجود موجوده".split())
_ORDINALS: Final = frozenset(
    "first second third fourth fifth sixth seventh eighth ninth tenth ground top basement".split()
)
_FORMS: Final = frozenset("as by in via over from".split())
_FORMING: Final = frozenset(
    "ship answer teach deliver send connect pay bill charge export encode format write log return serve "
    "publish print load heat power sign read transfer pull fetch download".split()
)


def compared(clause: Clause) -> Stated | None:
    """ "A has more X than B" leaves no room for "B has more X than A"."""
    than = next((at for at, item in enumerate(clause.items) if isinstance(item, Word) and item.norm == "than"), None)
    if (
        than is None
        or clause.split is None
        or clause.negated
        or any(isinstance(item, Mention) for item in clause.items)
    ):
        return None
    left, right = clause.bag(range(0, clause.split), set()), clause.bag(range(than + 1, len(clause.items)), set())
    middle = clause.bag(range(clause.split + 1, than), set())
    if not left.topic or not right.topic or not middle.topic:
        return None
    bag = Bag(left.topic | right.topic | middle.topic, set(), [*left.spelled, "and", *right.spelled])
    value = Value(Kind.TEXT, " ".join(left.spelled), Words(frozenset(left.topic)))
    return clause.statement(bag, " ".join(middle.spelled), value, "@than", Tense.PAST if clause.was else Tense.NOW)


def listed(clause: Clause) -> Stated | None:
    """ "Mirrors are Graz, Oslo and Turin"."""
    if clause.split is None or role_of(clause.items[clause.split]) is not Role.BE:
        return None
    right = clause.items[clause.split + 1 :]
    signs = [item for item in right if role_of(item) in {Role.COMMA, Role.AND}]
    if len(signs) < 1 or any(
        role_of(item) not in {Role.CONTENT, Role.LOOSE, Role.DROPPED, Role.COMMA, Role.AND} for item in right
    ):
        return None
    words = [item for item in right if isinstance(item, Word) and item.role in CONTENT]
    if len(words) > 2 * (len(signs) + 1) or not all(word.name for word in words):
        return None
    bag = clause.bag(range(0, clause.split), set())
    content = Words(frozenset(word.key for word in words), True)
    return clause.statement(
        bag, "", Value(Kind.TEXT, ", ".join(word.raw for word in words), content, clause.negated), ""
    )


def nominal(clause: Clause) -> Stated | None:
    """Arabic says "the language of the document Arabic" without a verb: an attribute first, its value last."""
    words = [item for item in clause.items if isinstance(item, Word) and item.role is not Role.DROPPED]
    if clause.split is not None or len(words) != len(clause.items) or not 2 <= len(words) <= 7 or not words[0].arabic:
        return None
    first, last = words[0], words[-1]
    if len(words) > 2 and words[-2].norm.endswith(("ها", "ه")) and words[-2].key in roles.ATTRIBUTES_ARABIC:
        words = [words[-2], *words[:-2], last]
        first = words[0]
        if all(word.role in CONTENT for word in words):
            return last_of(clause, words)
    pronoun = first.norm.endswith(("ها", "ه")) and len(words) == 2
    if first.key not in roles.ATTRIBUTES_ARABIC or any(word.role not in CONTENT for word in words):
        return None
    if not pronoun and (len(words) < 3 or not (words[-2].definite or not last.arabic)):
        return None
    return last_of(clause, words)


def last_of(clause: Clause, words: Sequence[Word]) -> Stated:
    """The last of `words` as the value of what the others name."""
    last = words[-1]
    bag = Bag({word.key for word in words[:-1]}, set(), [word.raw for word in words[:-1]])
    clause.settle(bag)
    return clause.statement(
        bag,
        "",
        Value(Kind.TEXT, last.raw, Words(frozenset({last.norm if last.arabic else last.key})), clause.negated),
        "",
    )


def formed(clause: Clause) -> Stated | None:
    """ "Logs are shipped as JSON": in what form, or by what means, of which there is one."""
    for at, item in enumerate(clause.items):
        if not isinstance(item, Word) or item.norm not in _FORMS or at < 2:
            continue
        verb = clause.items[at - 1]
        by = isinstance(verb, Word) and verb.role is Role.BE and item.norm in {"by", "via", "over"}
        if not isinstance(verb, Word) or not (by or verb_of(verb.norm) in _FORMING or carries(clause, at)):
            continue
        end = at + 1
        while (
            end < len(clause.items)
            and isinstance(word := clause.items[end], Word)
            and word.role in {*CONTENT, Role.DROPPED}
        ):
            end += 1
        words = [word for word in clause.items[at + 1 : end] if isinstance(word, Word) and word.role in CONTENT]
        bag = clause.bag(range(0, at - 1), set())
        if (
            not 0 < len(words) <= 3
            or not bag.topic | bag.loose
            or (end < len(clause.items) and role_of(clause.items[end]) is not Role.CAUSE)
        ):
            return None
        bag.topic.add(verb_of(verb.norm) or verb.key)
        content = Words(frozenset(word.key for word in words))
        value = Value(Kind.TEXT, " ".join(word.raw for word in words), content, clause.negated)
        return clause.statement(
            bag, f"{verb.raw} {item.raw}", value, f"@{item.norm}", Tense.PAST if clause.was else Tense.NOW
        )
    return None


def carries(clause: Clause, at: int) -> bool:
    """ "pull images from": a verb of carrying, then what it carries."""
    verb = clause.items[at - 2] if at > 2 else None
    return isinstance(verb, Word) and verb_of(verb.norm) in _FORMING and role_of(clause.items[at - 1]) is Role.CONTENT


def named(clause: Clause) -> Stated | None:
    """ "Dr Ahn is the treating physician": a name, and what only one can be."""
    split = clause.split
    if split is None or not 0 < split < len(clause.items) - 2 or role_of(clause.items[split]) is not Role.BE:
        return None
    article = clause.items[split + 1]
    left = [item for item in clause.items[:split] if role_of(item) is not Role.DROPPED]
    if not isinstance(article, Word) or article.norm != "the" or not 0 < len(left) <= 3:
        return None
    names = [item for item in left if isinstance(item, Word) and item.name and item.role is Role.CONTENT]
    if len(names) != len(left) or any(isinstance(item, Word) and item.role is Role.BREAK for item in clause.items):
        return None
    bag = clause.bag(range(split + 1, clause.end(split + 1)), set())
    if not bag.topic:
        return None
    content = Words(frozenset(word.norm for word in names))
    return clause.statement(
        bag, "", Value(Kind.TEXT, " ".join(word.raw for word in names), content, clause.negated), ""
    )


def housed(clause: Clause) -> Stated | None:
    """Where something is, what it is made of, or by what it runs."""
    for at, item in enumerate(clause.items):
        if not isinstance(item, Word) or not (
            item.norm in english.HOUSED or item.norm in _SEATED or stands(clause, at)
        ):
            continue
        if not at and not item.arabic:
            continue
        bag = clause.bag(range(0, at), {at})
        start = at + 1
        if item.norm in _SEATED:
            place = next((i for i in range(at + 1, len(clause.items)) if _places(clause.items[i])), None)
            if place is None or (not at and place < 2):
                return None
            bag = bag if at else clause.bag(range(1, place), set())
            start = place + 1
        end = start
        while (
            end < len(clause.items)
            and isinstance(word := clause.items[end], Word)
            and word.role in {*CONTENT, Role.DROPPED}
        ):
            end += 1
        words = [
            word
            for word in clause.items[start:end]
            if isinstance(word, Word) and (word.role is not Role.DROPPED or word.raw == "A")
        ]
        numbered = _number_of(clause.items, end) if words and words[-1].norm in english.NUMBERED else None
        measured = end < len(clause.items) and isinstance(clause.items[end], Mention) and numbered is None
        if not words or len(words) > 4 or measured:
            return None
        definite = (
            stands(clause, at)
            and item.norm in {"in", "under", "behind"}
            and isinstance(the := clause.items[at + 1], Word)
            and the.norm == "the"
        )
        named = (
            item.norm in english.NAMED_BY
            or definite
            or numbered is not None
            or any(word.name or word.arabic or word.norm in _ORDINALS or word.raw[0] == "/" for word in words)
        )
        if not named:
            return None
        clause.settle(bag)
        if not bag.topic and bag.loose:
            bag.topic, bag.loose = bag.loose, set()
        clause.pronoun(bag)
        if not bag.topic:
            return None
        if clause.indefinite():
            return None
        content = Words(frozenset(word.key for word in words) | ({numbered} if numbered else set()))
        text = " ".join((*(word.raw for word in words), *([numbered] if numbered else [])))
        tense = Tense.PAST if clause.was or item.norm.startswith(("ran", "met")) else Tense.NOW
        if (attribute := english.NAMED_BY.get(item.norm)) is not None:
            bag.topic.add(attribute)
            return clause.statement(bag, "", Value(Kind.TEXT, text, content, clause.negated), "", tense)
        return clause.statement(
            bag,
            item.norm.replace("_", " "),
            Value(Kind.TEXT, text, content, clause.negated),
            marker_of(item.norm),
            tense,
        )
    return None


def _places(item: Item) -> bool:
    return isinstance(item, Word) and (item.role is Role.PLACE or item.norm == "الي")


def stands(clause: Clause, at: int) -> bool:
    """Whether "is" and a place begin at `at`: "is in Oslo"."""
    item, follows = clause.items[at], clause.items[at - 1] if at else None
    if isinstance(item, Word) and item.norm in {"في", "ب"} and clause.split is None and at and len(clause.items) <= 6:
        # Arabic says "the servers in Bahrain" without a verb.
        words = [each for each in clause.items if isinstance(each, Word) and each is not item]
        plain = all(each.role in {Role.CONTENT, Role.LOOSE} and each.state is None for each in words)
        keys = {each.key for each in words}
        named = keys.isdisjoint(english.ATTRIBUTES | wording.TIMES)
        return plain and named and len(words) == len(clause.items) - 1
    return (
        isinstance(item, Word)
        and isinstance(follows, Word)
        and follows.role is Role.BE
        and item.norm in {"in", "on", "at", "في", "under"}
    )


def attributed(clause: Clause) -> Stated | None:
    """ "The default branch is main": one of the attributes of which a thing has one."""
    if clause.split is None:
        return None
    joint = clause.items[clause.split]
    assert isinstance(joint, Word)
    if joint.role is not Role.BE:
        return None
    left, right = clause.items[: clause.split], clause.items[clause.split + 1 :]
    words = [word for word in right if isinstance(word, Word) and word.role in CONTENT]
    heads = [
        word
        for word in left
        if isinstance(word, Word)
        and (word.norm in english.ATTRIBUTES or word.key in english.ATTRIBUTES or word.key in roles.ATTRIBUTES_ARABIC)
    ]
    steps = next((at for at, word in enumerate(right) if not isinstance(word, Word) or word.role in STEPS), len(right))
    words = [
        word
        for at, word in enumerate(right[:steps])
        if isinstance(word, Word) and (word.role in CONTENT or (word.raw == "A" and at + 1 < steps))
    ]
    if (
        words
        and words[-1].norm.endswith("ed")
        and steps < len(right)
        and role_of(right[steps]) in STEPS - {Role.AND, Role.COMMA}
    ):
        return None  # "Passwords are hashed with bcrypt" tells how, not what they are.
    named = (
        bool(words)
        and len(words) <= 2
        and all(word.name for word in words)
        and len(clause.bag(range(0, clause.split), set()).topic) > 1
    )
    if (
        not (heads or named)
        or clause.indefinite()
        or not words
        or len(words) > 4
        or (steps < len(right) and not isinstance(right[steps], Word))
    ):
        return None
    bag = clause.bag(range(0, clause.split), set())
    bag.loose -= {word.key for word in heads}
    bag.topic |= {word.key for word in heads}
    clause.adjuncts(bag, clause.split + 1 + steps, len(clause.items))
    clause.settle(bag)
    many = steps < len(right) and (
        role_of(right[steps]) is Role.AND
        or (role_of(right[steps]) is Role.COMMA and Role.AND in map(role_of, right[steps : steps + 8]))
    )
    content = Words(frozenset(word.key for word in words), many)
    text = " ".join(word.raw for word in words)
    return clause.statement(
        bag, "", Value(Kind.TEXT, text, content, clause.negated), "", Tense.PAST if clause.was else Tense.NOW
    )


def _number_of(items: Sequence[Item], at: int) -> str | None:
    """The number of a room, a floor and the like, as written."""
    item = items[at] if at < len(items) else None
    bare = isinstance(item, Mention) and isinstance(item.value.content, Quantity) and not item.value.content.dimension
    return item.value.text if isinstance(item, Mention) and bare else None


def marker_of(norm: str) -> str:
    """What a phrase of place asks for."""
    if norm.startswith(("written", "implemented", "coded", "مكتوب")):
        return "@written"
    if norm.startswith(("works", "work")):
        return "@work"
    if norm.startswith(("powered", "built")):
        return "@built"
    return PLACE
