"""Endings: something stopped, was cancelled or is not done any more, said with a verb of its own."""

from __future__ import annotations

from cortex_decision import arabic, values
from cortex_decision.clauses import Clause, stem
from cortex_decision.findings import Effect, Finding, tail


def stopped(newer: Clause, older: Clause) -> Finding | None:
    """Something stopped, was cancelled or is not done any more, said with a verb of its own."""
    words, old = newer.words, older.words
    if older.bounded:
        return None
    body = tuple(word for word in words if word not in {"have", "was", "been"})
    if newer.arabic:
        return _arabic(newer, older)
    if len(body) >= 2 and body[-1] in {"stopped", "crashed", "died", "halted"}:
        subject = tuple(word for word in body[:-1] if word != "is")
        state = old[len(subject) :]
        running = state[:1] == ("is",) and len(state) == 2 and state[1] in values.RUNNING | {"working"}
        if old[: len(subject)] == subject and (running or state in {("run",), ("work",)}):
            return Finding(Effect.ENDED, older.spelling(len(old) - 1, len(old)))
    for at, word in enumerate(body):
        if word in {"cancelled", "canceled"} and at == len(body) - 1:
            subject = tuple(item for item in body[:at] if item != "is")
            return _called_off(subject, older)
        if word in {"cancelled", "canceled"} and 0 < at < len(body) - 1 and "have" in old:
            thing = tuple(item for item in body[at + 1 :] if item not in {"his", "her", "their"})
            if old == (*body[:at], "have", *thing):
                return Finding(Effect.ENDED, tail(older))
        if word in {"stopped", "quit", "ceased"} and 0 < at < len(body) - 1 and body[at + 1].endswith("ing"):
            said = (*body[:at], stem(body[at + 1]), *body[at + 2 :])
            if said == tuple(stem(item) if i == at else item for i, item in enumerate(old))[: len(said)]:
                return Finding(Effect.ENDED, tail(older))
        if (
            body[at : at + 3] == ("dropped", "support", "for")
            and at > 0
            and old == (*body[:at], "support", *body[at + 3 :])
        ):
            return Finding(Effect.ENDED, tail(older))
    return None


def _called_off(subject: tuple[str, ...], older: Clause) -> Finding | None:
    rest = older.words[len(subject) :]
    if not subject or older.words[: len(subject)] != subject or not rest:
        return None
    if rest[0] == "is" and (
        rest[1:2] in {("confirmed",), ("scheduled",), ("planned",)} or set(rest[1:2]) <= {"on", "at", "in"}
    ):
        return Finding(Effect.ENDED, tail(older))
    return Finding(Effect.ENDED, tail(older)) if rest[:2] == ("take", "place") else None


def _arabic(newer: Clause, older: Clause) -> Finding | None:
    """Arabic puts the verb first, and what was stopped after "from" as a verbal noun."""
    words, old = newer.words, older.words
    first, rest = words[0], words[1:]
    if first in {"الغي", "الغيت"} or words[:2] in {("تم", "الغاء"), ("جري", "الغاء")}:
        subject = rest if first in {"الغي", "الغيت"} else words[2:]
        said = old[len(subject) :]
        planned = said and (
            said[0] in {"موكد", "موكده", "مقرر", "مقرره"} or (said[0] in {"في", "يوم"} and len(said) <= 3)
        )
        return Finding(Effect.ENDED, tail(older)) if subject and old[: len(subject)] == subject and planned else None
    if first in {"توقف", "توقفت"} and rest and "عن" not in rest:
        ran = old[: len(rest)] == rest and len(old) == len(rest) + 1 and values.state(old[-1:]) in values.RUNNING
        return Finding(Effect.ENDED, old[-1]) if ran else None
    if first in {"توقف", "توقفت", "توقفنا"} and "عن" in rest:
        at = rest.index("عن")
        subject, done = rest[:at], rest[at + 1 :]
        verb = arabic.DEVERBAL.get(done[0]) if done else None
        if verb is None or not (subject or first != "توقف"):
            return None
        prefix = {"توقفنا": "ن", "توقفت": "ا"}.get(first, "") if not subject else ""
        for place, word in enumerate(old):
            if word[1:] == verb and word[0] in "يتنا" and (not prefix or word[0] == prefix):
                left = (*old[:place], *old[place + 1 :])
                spoken = tuple(item for item in left if item != older.me)
                if spoken == (*subject, *done[1:]) and (subject or newer.me == older.me):
                    return Finding(Effect.ENDED, tail(older))
    return None
