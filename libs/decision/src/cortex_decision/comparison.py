"""Comparison of two clauses: does the newer end the truth of the older, or put another value in its place?

Three ways to a finding, tried in turn: the newer is the older with a negation or an ending; the two are frames of one
relation (`frames`); they are word for word the same but for one value of the same kind. Anything else is no finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_decision import arabic, english
from cortex_decision.clauses import Clause, present
from cortex_decision.differences import agreed, rewritten
from cortex_decision.endings import stopped
from cortex_decision.findings import Effect, Finding, tail
from cortex_decision.frames import Frame, Span, credible, frames
from cortex_decision.places import excluding


def compare(newer: Clause, older: Clause) -> Finding | None:
    """What `newer` does to `older`; none when both can be true."""
    if newer.doubtful or older.doubtful or older.ended or newer.arabic != older.arabic:
        return None
    if not same_number(newer, older):
        return None
    if newer.arabic and (newer.own or older.own) and newer.me != older.me:
        return None
    if newer.negated == older.negated and sorted(agreed(newer.words)) == sorted(agreed(older.words)):
        return None  # the same words in another order hold no new value
    return _polarity(newer, older) or (
        None
        if newer.negated or older.negated
        else stopped(newer, older) or _related(newer, older) or rewritten(newer, older)
    )


def same_number(newer: Clause, older: Clause) -> bool:
    """Whether both are about one, or both about many: "the tasks are done" and "a task is done" tell nothing of the
    task. Only what stands in front of the predicate counts."""
    if newer.indefinite and not older.indefinite:
        return False
    if newer.words[0] in _EACH and newer.words[0] != older.words[0]:
        return False
    one, other = _subject(newer), _subject(older)
    return not any(_forms(one[word], other[word], word) for word in one.keys() & other.keys())


def _forms(one: str, other: str, word: str) -> bool:
    """Whether a word is written in the singular on one side and in the plural on the other."""
    return one != other and {one, other} <= {word, f"{word}s", f"{word}es", f"{word[:-1]}ies"}


_EACH: Final = frozenset({"every", "each", "all"})


def _subject(clause: Clause) -> dict[str, str]:
    """The words in front of the predicate, as they were written."""
    # A verb that is not known has two forms as well: "eats", "does not eat".
    end = next((at for at, word in enumerate(clause.words) if at and word in english.STATIVES), 1)
    pairs = zip(clause.words[:end], clause.spelled[:end], strict=True)
    return {word: spelled.lower() for word, spelled in pairs if spelled and word.isalpha() and word.isascii()}


def same_words(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two word sequences are one statement: equal, or so after moving one Arabic verb or leading phrase."""
    if tuple(one) == tuple(other):
        return True
    if len(one) != len(other) or len(one) < 3 or sorted(one) != sorted(other):
        return False
    return _verb_moved(one, other) or _verb_moved(other, one) or _fronted(one, other) or _fronted(other, one)


def _verb_moved(one: Sequence[str], other: Sequence[str]) -> bool:
    verb = one[0]
    known = (tail := present(verb)) is not None and (tail in arabic.STATIVES or verb[0] in "يت")
    return (
        known
        and "\u0621" <= verb[0] <= "\u064a"
        and [*one[1:]] == [word for i, word in enumerate(other) if i != other.index(verb)]
    )


def _fronted(one: Sequence[str], other: Sequence[str]) -> bool:
    """ "In Geneva the archive is kept" is "The archive is kept in Geneva"; the verb may follow its phrase at once."""
    if one[0] not in {"in", "on", "at", "every", "since"}:
        return False
    for size in range(2, min(6, len(one) - 1)):
        phrase, rest = [*one[:size]], [*one[size:]]
        if [*rest, *phrase] == [*other]:
            return True
        if rest[0] == "is" and any(
            [*rest[at:], "is", *rest[1:at], *phrase] == [*other] or [*rest[at:], *rest[:at], *phrase] == [*other]
            for at in range(1, len(rest))
        ):
            return True
    return False


def _polarity(newer: Clause, older: Clause) -> Finding | None:
    if newer.negated == older.negated:
        return None
    if not older.bounded and same_words(agreed(newer.words), agreed(older.words)):
        if older.negated:
            return Finding(Effect.REPLACED, "not", newer.spelling(0, len(newer.words))[:60])
        return Finding(Effect.ENDED, tail(older))
    longer = len(newer.words) >= 3 and newer.ended and not older.negated
    if longer and not older.bounded and agreed(older.words)[: len(newer.words)] == agreed(newer.words):
        return Finding(Effect.ENDED, tail(older))
    return None


def _related(newer: Clause, older: Clause) -> Finding | None:
    if older.bounded:
        return None
    states = [frame for frame in frames(older) if frame.act == "is" or (frame.act == "to" and frame.relation != "use")]
    for act in frames(newer):
        for state in states:
            if (finding := _transition(newer, act, older, state)) is not None:
                return finding
    if newer.bounded:
        return None
    return _moved_from(newer, older)


def _transition(newer: Clause, act: Frame, older: Clause, state: Frame) -> Finding | None:
    if state.value is None or not state.subject:
        return None
    held = state.value
    if act.act == "left":
        return _left(newer, act, older, state, held)
    if act.subject != state.subject:
        return None
    if act.act == "end":
        named = act.source is not None and _begins(held.text, act.source.text)
        return Finding(Effect.ENDED, _said(older, held)) if named and state.relation in {"work", "member"} else None
    if act.act == "is":
        if act.relation != state.relation or state.act != "is" or act.relation not in {"work", "home"} or newer.bounded:
            return None
        if not newer.changed and _how(newer.text) != _how(older.text):
            return None  # where somebody lives and where somebody is based may be two places
        if not newer.changed and len(act.value.text.split() if act.value else ()) > 3:
            return None
    if act.value is None or _begins(held.text, act.value.text) or _begins(act.value.text, held.text):
        return None
    if set(held.text.split()) <= set(act.value.text.split()):
        return None  # "Neukölln, Berlin"
    if _narrowed(act.value, older):
        return None
    if act.source is not None:
        if not _begins(held.text, act.source.text) or not _of_itself(act, older):
            return None
        own = "replaced" not in newer.words and act.moved.partition(" ")[0] in _ALONG
        place = act.relation not in {"work", "home"} or credible(act.relation, newer, act.value)
        fits = place and (act.relation == state.relation or (own and state.relation in {"work", "member", "home"}))
        return Finding(Effect.REPLACED, _said(older, held), _said(newer, act.value)) if fits else None
    if (
        act.relation != state.relation
        or act.relation not in {"work", "home"}
        or (act.act == "to" and state.act == "to")
    ):
        return None
    if not credible(act.relation, newer, act.value) or not credible(state.relation, older, held):
        return None
    if act.relation == "home" and act.act == "is" and not excluding(held.text.split(), act.value.text.split()):
        return None
    return Finding(Effect.REPLACED, _said(older, held), _said(newer, act.value))


def _how(text: str) -> str:
    """The verb of a home, and whether somebody works "as" something."""
    return "based" if " is based " in text else "as" if " as " in text else ""


_ALONG: Final = frozenset({"", "with", "together", "back", "out", "away", "over", "job", "home", "house", "company"})
"""What may stand between "moved" and "from": with whom, and what moves together with its owner."""


def _of_itself(act: Frame, older: Clause) -> bool:
    """Whether the subject passed from one value to another, and not something else that it moved."""
    return act.moved.partition(" ")[0] in _ALONG or set(act.moved.split()) - english.PRONOUNS <= set(older.words)


def _narrowed(value: Span, older: Clause) -> bool:
    """Whether a case comes with the value that the older statement does not name: "at B on weekends"."""
    words = value.text.split()
    at = next((at for at, word in enumerate(words) if word in english.SCOPES), len(words))
    return not set(words[at:]) <= set(older.words)


def _left(newer: Clause, act: Frame, older: Clause, state: Frame, held: Span) -> Finding | None:
    """Arabic "left": nothing stands between who left and what, so the older statement tells where the one ends."""
    if state.relation not in {"work", "member"} or act.source is None:
        return None
    subjects = {state.subject} if state.subject != newer.me else {"", state.subject}
    if state.subject == newer.me and not newer.words[0].endswith("ت"):
        return None
    if not any(f"{subject} {held.text}".strip() == act.source.text for subject in subjects):
        return None
    if act.value is not None:
        return Finding(Effect.REPLACED, _said(older, held), _said(newer, act.value))
    return Finding(Effect.ENDED, _said(older, held))


def _moved_from(newer: Clause, older: Clause) -> Finding | None:
    """ "Switched from A to B" against "the package manager is A" of the same subject."""
    for act in frames(newer):
        if act.act == "to" and act.source is not None and act.value is not None and act.relation == "use":
            source = tuple(act.source.text.split())
            subject = tuple(act.subject.split())
            if not _of_itself(act, older) or _narrowed(act.value, older):
                continue
            body = older.words[len(subject) :]
            used = body[:1] == ("use",) and body[1 : 1 + len(source)] == source
            if older.words[: len(subject)] == subject and used:
                return Finding(Effect.REPLACED, _said(newer, act.source), _said(newer, act.value))
    return None


def _begins(text: str, start: str) -> bool:
    return text == start or text.startswith(f"{start} ")


def _said(clause: Clause, span: Span) -> str:
    return clause.spelling(span.start, span.end) or span.text
