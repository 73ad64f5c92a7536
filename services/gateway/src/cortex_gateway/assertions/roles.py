"""Roles: who owns, maintains, leads or answers for a thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_gateway.assertions import arabic, english
from cortex_gateway.assertions.numbers import Item, Mention
from cortex_gateway.assertions.values import Words
from cortex_gateway.assertions.words import Role, Word

ATTRIBUTES_ARABIC: Final = arabic.ATTRIBUTES | {word.removesuffix("ه") for word in arabic.ATTRIBUTES if len(word) > 4}
MAX_NAME: Final = 5
_GROUPS: Final = frozenset("team squad group department crew guild".split())
_CONTENT: Final = frozenset({Role.CONTENT, Role.LOOSE, Role.VERB})
_STOPS: Final = frozenset({Role.PLACE, Role.PREPOSITION, Role.CAUSE, Role.END, Role.BREAK, Role.BE})

Holder = tuple[Words, str]


def role_of(item: Item) -> str | None:
    """The role that a word names."""
    if not isinstance(item, Word) or item.state is not None:
        return None
    if item.norm in english.ROLES:
        return english.ROLES[item.norm]
    base = item.norm.removeprefix("ال") if item.arabic else item.norm
    if item.arabic:
        return english.ROLES.get(base) or english.ROLES.get(base.removesuffix("ه"))
    return english.ROLES.get(item.key)


def holder(items: Sequence[Item], split: int | None) -> tuple[str, Holder | None, range] | None:
    """(role, holder, where the thing is named) if the words tell who holds a role."""
    for at, item in enumerate(items):
        if not isinstance(item, Word) or (role := role_of(item)) is None:
            continue
        norm = item.norm
        if norm in english.HELD:
            return _checked(role, holder_of(items[at + 1 :]), range(0, at))
        if norm in english.HOLDING or norm in english.FOR:
            if item.arabic and at == 0:
                # The verb stands first: "owns Sami the project".
                cut = next(
                    (
                        i
                        for i in range(1, len(items))
                        if isinstance(word := items[i], Word) and (word.definite or word.norm in {"علي", "عن"})
                    ),
                    None,
                )
                return (
                    None if cut is None or cut < 2 else _checked(role, holder_of(items[1:cut]), range(cut, len(items)))
                )
            follows = items[at + 1] if at + 1 < len(items) else None
            if isinstance(follows, Word) and follows.norm in {"a", "an"}:
                return None
            return _checked(role, holder_of(items[:at]), range(at + 1, _stop(items, at + 1)))
        if split is None:
            if item.arabic and at == 0:
                return _nominal(items, role)
            continue
        if at < split:
            if _role(items[split]) not in {Role.BE, Role.BREAK} or (
                at + 1 < split and _role(items[at + 1]) is Role.CONTENT and not item.arabic
            ):
                continue
            thing = [i for i in range(split) if role_of(items[i]) is None]
            names = holder_of(items[split + 1 :], listed=_role(items[split]) is Role.BREAK or len(items) == split + 2)
            return _result(role, names, thing)
        between = {_role(each) for each in items[split + 1 : at]}
        if _role(items[split]) is Role.BE and at > split and between <= {*_CONTENT, Role.DROPPED}:
            thing = [i for i in range(split + 1, len(items)) if role_of(items[i]) is None]
            names = holder_of(items[:split])
            return _result(role, names, thing)
    return None


def _checked(role: str, names: Holder | None, thing: range) -> tuple[str, Holder | None, range] | None:
    return (role, names, thing) if names is not None and len(thing) else None


def _result(role: str, names: Holder | None, thing: Sequence[int]) -> tuple[str, Holder | None, range] | None:
    return (role, names, thing) if names is not None else None  # type: ignore[return-value]


def _nominal(items: Sequence[Item], role: str) -> tuple[str, Holder | None, range] | None:
    """ "The manager of the branch Noura": the thing is definite, or ends where a title or a name begins."""
    at = 1
    while at < len(items):
        word = items[at]
        if not isinstance(word, Word) or word.norm in english.HONORIFICS:
            break
        if at > 1 and not word.definite and word.role is Role.CONTENT:
            break
        at += 1
    if at >= len(items) or at < 2:
        return None
    return _checked(role, holder_of(items[at:]), range(1, at))


def _stop(items: Sequence[Item], at: int) -> int:
    while at < len(items) and _role(items[at]) not in {Role.CAUSE, Role.END}:
        at += 1
    return at


def holder_of(items: Sequence[Item], *, listed: bool = False) -> Holder | None:
    """The names at the start of `items`; none when they are none."""
    words: list[Word] = []
    many = False
    for item in items:
        if isinstance(item, Mention):
            if words:
                break
            return None
        if item.role in _STOPS:
            if words:
                break
            if item.role in {Role.PLACE, Role.PREPOSITION}:
                continue
            return None
        if item.role is Role.AND or (item.raw in {",", "،"} and words):
            many = True
            continue
        if item.role in _CONTENT and item.norm not in english.HONORIFICS:
            words.append(item)
    words = [word for word in words if role_of(word) is None]
    if not words or len(words) > MAX_NAME + 3 * many:
        return None
    if not listed and not any(word.name or word.arabic or word.norm in _GROUPS for word in words):
        return None
    kept = [word.norm for word in words if word.role is not Role.LOOSE] or [word.norm for word in words]
    return Words(frozenset(kept), many), " ".join(word.raw for word in words)


def _role(item: Item) -> Role | None:
    return item.role if isinstance(item, Word) else None
