"""Changes that are told as such: "moved from A to B", "not A but B", "B instead of A", "no longer A", "صار B بدل A".

The write decision wants two sentences of the same build. People tell a change in other words, and then they mostly name
what it changes: the old value, or that something was raised, moved, finished. So this asks for more evidence than the
same build would give: whoever tells the change says what it is about in the words of the older statement, and names no
case, place or time that the older one does not name ("for trial accounts", "in staging"). A statement that is doubtful
in any part ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from cortex_decision import arabic, english, values
from cortex_decision.clauses import Clause, Reading, read, sentences, stem
from cortex_decision.comparison import compare, same_number
from cortex_decision.displacements import displaced
from cortex_decision.findings import Effect, Finding, tail
from cortex_decision.folding import fold
from cortex_decision.slots import CHANGES, exchanged

_SAID_FIRST: Final = (
    "actually|correction|update|fyi|btw|by the way|sorry|my mistake|oops|scratch that|to be exact|heads[- ]up|no|yes|"
    "for the record|in fact|as of now|right now|note that|it turned out that|it turns out that|turns out|تصحيح|عفوا|"
    "معذرة|للعلم|بالمناسبه|بالمناسبة|في الحقيقة|في الواقع|تحديث|الصحيح أن|الصحيح ان"
)
_LEAD: Final = re.compile(
    rf"^\s*(?:(?:{_SAID_FIRST})\s*[:,،–—-]?\s+|(?:since|as of|from|منذ) (?:v?\d[\w.]*|[A-Z][a-z]+(?: \d{{4}})?),? )",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"[,;،؛]?\s+(?:since|because|thanks to|due to|these days|at the moment|from now on|as of|منذ|بسبب|لأن|لان|بناء على)"
    r"\b.*$|[,،]\s+(?:so|and so|which|لذلك|لذا)\b.*$",
    re.IGNORECASE,
)
"""Why and since when: it narrows nothing."""
_AFTER: Final = re.compile(r"\s+بعد\b.*$")
_LATER: Final = re.compile(rf"{english.LATER}[.!]?$".replace(")?[", ")["), re.IGNORECASE)
_MARK: Final = re.compile(
    r"\b(?:now|nowadays|currently|these days|from now on|as of|since|correction|actually|my mistake|instead|any ?more|"
    r"again|back)\b|الآن|الان|حاليا|صار|أصبح|اصبح|تصحيح|بدل|من جديد|مجددا",
    re.IGNORECASE,
)
"""Words that say that something has changed."""
_PART: Final = re.compile(r"\s*[,،;؛]\s+|\s+[–—-]\s+")
_RESERVED: Final = (
    (english.HEDGES | arabic.HEDGES) - {"about", "how", "who", "which", "what", "did", "when", "going", "هناك", "اليوم"}
) | frozenset(
    "except exception only unless also too both some most part partly sometimes usually test trial experiment example "
    "else fools joke kidding used formerly until till ago sandbox according gossip tried tested testing evaluated "
    "evaluating compared pilot prototype mock بعض فقط ايضا كذلك مثلا تجربه عدا "
    "باستثناء سابقا غالبا احيانا حتي".split()
)
"""Words of doubt, of exception and of something else beside: with one of them nothing is told for certain."""
_PASSING: Final = re.compile(
    r"\b(?:for (?:this|the|a|one|two|\d+) (?:\w+ )?(?:hours?|days?|weeks?|months?|sprint|release|while|moment|"
    r"holidays?)|(?:this|today|tonight) only|only (?:this|today|tonight)|just (?:this|today|tonight)|"
    r"(?:after|before|besides|beyond|of|like|than) (?:that|this|it)|by (?:default|mistake|accident|hand|itself)|"
    r"هذا الأسبوع فقط)\b",
    re.IGNORECASE,
)
"""How long something holds that is otherwise, and that it is otherwise in some respect only."""
_BECAME: Final = re.compile(r"^(?:و?(?:صار|صارت|اصبح|اصبحت|بات|باتت|صرت|صرنا|اصبحت|أصبح|أصبحت)) ")
_FILLERS: Final = frozenset("of 's for in on at the".split())
_ENDS: Final = frozenset(
    "merged closed finished completed resolved fixed filled published released shipped delivered done solved approved "
    "rejected signed answered lifted".split()
)
_TRACKED: Final = frozenset(
    "issue ticket request pr mr bug task case position vacancy incident thread poll round application tender".split()
)
_AUXILIARIES: Final = frozenset("was were been have is got".split())
_GONE: Final = frozenset("discontinued decommissioned abolished scrapped dissolved dismantled".split())
_OPEN: Final = frozenset(
    "wait waiting open blocked pending vacant paused running progress review unresolved draft".split()
)
_OFF: Final = frozenset(
    "off decommissioned removed deleted shut discontinued retired dismantled disabled deprecated".split()
)
_THERE: Final = frozenset("reachable available enabled on active running supported live up online deployed".split())


def told(text: str, speaker: str | None, session: str | None, other: Reading) -> Finding | None:
    """What a later statement tells of a change of an earlier one, which `other` is the reading of; none when it tells
    of none, or not for certain."""
    if not other.complete or len(other.clauses) != 1:
        return None
    older = other.clauses[0]
    if older.doubtful or older.ended or older.bounded or older.negated:
        return None
    if any(_reserved(sentence) or _PASSING.search(sentence) for sentence in sentences(text)):
        return None
    for sentence in sentences(text):
        whole = read(sentence, speaker=speaker, session=session)
        for variant in _variants(sentence):
            for clause in read(variant, speaker=speaker, session=session).clauses:
                marked = _MARK.search(sentence) is not None
                found = _told(clause, older, marked=marked)
                if found is not None and not (variant != sentence and _still_named(found, sentence)):
                    return found
        for clause in whole.clauses:
            if (found := displaced(sentence, clause, older)) is not None:
                return found
    return None


def _told(clause: Clause, older: Clause, *, marked: bool) -> Finding | None:
    if clause.doubtful or clause.arabic != older.arabic or ((clause.own or older.own) and clause.me != older.me):
        return None
    if not same_number(clause, older):
        return None
    for newer in (clause, _any_as_all(clause), _verb_first(clause, older), *_aligned(clause, older)):
        if newer is not None and (found := compare(newer, older)) is not None:
            return found
    return (
        _moved_to(clause, older)
        or _over(clause, older)
        or _renamed(clause, older)
        or exchanged(clause, older, marked=marked)
    )


def _still_named(found: Finding, sentence: str) -> bool:
    """Whether the rest of the sentence names the old value, and not as what was left: "Neukölln, Berlin"."""
    words = set(re.findall(r"[\w'./-]+", fold(sentence)))
    told = words & _LEAVING_WORDS or _MARK.search(sentence)
    return found.effect is Effect.REPLACED and set(fold(found.old).split()) <= words and not told


_LEAVING_WORDS: Final = frozenset("not no from instead than never longer n't was were من ليس بدل لا".split())


def _reserved(sentence: str) -> bool:
    plain = re.sub(r"['’]ll\b", " will", re.sub(r"['’]d\b", " would", sentence))
    words = set(re.findall(r"[\w'][\w'./-]*", fold(plain)))
    words |= {word.strip(".'/-") for word in words}
    return bool(words & _RESERVED) or "?" in sentence or "؟" in sentence


def _variants(sentence: str) -> Iterator[str]:
    """The sentence without what leads up to it and what follows from it, and its parts that can stand alone."""
    seen: set[str] = set()
    whole = _LEAD.sub("", sentence)
    if _MARK.search(sentence):
        whole = _AFTER.sub("", whole)
    parts = [part for part in _PART.split(whole) if part]
    alone = [part for part in parts if len(part.split()) >= 3 and _harmless([one for one in parts if one is not part])]
    for text in (whole, *(alone if len(parts) > 1 else ())):
        for variant in (text, _TAIL.sub("", text)):
            bare = _BECAME.sub("", _LEAD.sub("", variant)).strip()
            told = _LATER.sub("", bare) if set(bare.casefold().split()) & CHANGES else bare
            for one in (variant, bare, told, re.sub(r"\b(?:at all|for everyone|for all|still)\b", "", bare)):
                if len(one.split()) >= 2 and one not in seen:
                    seen.add(one)
                    yield one


_SCOPE: Final = re.compile(
    r"^(?:for|in|on|at|with|without|within|during|under|per|but|and only|or|لـ|ل|في|عند|خلال|مع|بدون|لكن|أو|او)\b",
    re.IGNORECASE,
)


def _harmless(parts: Sequence[str]) -> bool:
    """Whether the other parts of a sentence narrow nothing."""
    return not any(_SCOPE.match(part) for part in parts)


def _any_as_all(clause: Clause) -> Clause | None:
    """ "No longer for any tenant" ends "for all tenants"."""
    if not clause.ended:
        return None
    swapped = tuple("all" if word == "any" else word for word in clause.words)
    return replace(clause, words=swapped) if swapped != clause.words else None


def _verb_first(newer: Clause, older: Clause) -> Clause | None:
    """An Arabic sentence with its verb where the older one has it."""
    if not newer.arabic or newer.words[:2] != older.words[1::-1]:
        return None
    words, spelled = newer.words, newer.spelled
    return replace(newer, words=(words[1], words[0], *words[2:]), spelled=(spelled[1], spelled[0], *spelled[2:]))


def _aligned(newer: Clause, older: Clause) -> Iterator[Clause]:
    """The newer clause with its subject in the words of the older one, where both name the same things."""
    for clause in (newer, _announced(newer)):
        if clause is None:
            continue
        at, old_at = _predicate(clause), _predicate(older)
        if at is None or old_at is None:
            continue
        if _things(clause.words[:at]) == _things(older.words[:old_at]) and clause.words[:at] != older.words[:old_at]:
            words = (*older.words[:old_at], *clause.words[at:])
            spelled = (*older.spelled[:old_at], *clause.spelled[at:])
            yield replace(clause, words=words, spelled=spelled)
        elif clause is not newer and clause.words[:at] == older.words[:old_at]:
            yield clause


def _predicate(clause: Clause) -> int | None:
    for at, word in enumerate(clause.words):
        if at and (word in english.STATIVES or word in {"=", ":"}):
            return at
    return None


def _things(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        sorted(
            stem(word) if word.isascii() else word
            for word in words
            if word not in _FILLERS and not word.startswith("@we")
        )
    )


def _announced(clause: Clause) -> Clause | None:
    """ "The board cut the budget to 10" and "the limit was raised to 10" as "the budget is 10", "the limit is 10"."""
    words = clause.words
    for at, word in enumerate(words):
        if at and word in english.CHANGED and "to" in words[at + 1 :]:
            to = len(words) - 1 - words[::-1].index("to")
            passive = words[at - 1] in {"was", "been", "is", "were"}
            last = words.index("from", at) if "from" in words[at:to] else to
            things = words[:at] if passive or at + 1 == last else words[at + 1 : last]
            thing = tuple(one for one in things if one not in {"was", "been", "have", "is", "were"})
            if thing and 0 < len(words) - to - 1 <= 4:
                value = clause.spelled[to + 1 :]
                return replace(
                    clause,
                    words=(*thing, "is", *words[to + 1 :]),
                    spelled=(*("" for _ in thing), "", *value),
                    changed=True,
                )
    return None


_WHEN: Final = frozenset("at on in take place happen start begin is".split())


def _moved_to(newer: Clause, older: Clause) -> Finding | None:
    """ "The retro was moved to Tuesday" against "the retro takes place on Thursday": values of one kind, whatever verb
    holds the older one."""
    clause = _announced(newer)
    at, old_at = (None, None) if clause is None else (_predicate(clause), _predicate(older))
    if clause is None or at is None or old_at is None:
        return None
    if _things(clause.words[:at]) != _things(older.words[:old_at]):
        return None
    new = clause.words[at + 1 :]
    old = tuple(word for word in older.words[old_at:] if word not in _WHEN)
    size = len(new)
    days = set(new) <= _day_names() and set(old) <= _day_names()
    same_kind = values.comparable(old[:size], new) or (days and old != new)
    if not old or old[:size] == new or not same_kind or len(old) > size + 2:
        return None
    return Finding(Effect.REPLACED, older.spelling_of(old), clause.spelling(at + 1, len(clause.words)))


def _day_names() -> frozenset[str]:
    return english.DAYS | arabic.DAYS


def _over(newer: Clause, older: Clause) -> Finding | None:
    """ "The request was merged" against "the request is waiting for review", "it was switched off" against "it is
    reachable"."""
    words = newer.words
    old_at = _predicate(older)
    was = next((at for at, word in enumerate(words) if at and word in _AUXILIARIES), None)
    if newer.negated or was is None or old_at is None:
        return None
    subject = words[:was]
    done = tuple(word for word in words[was + 1 :] if word not in _AUXILIARIES)
    state = set(older.words[old_at:])
    if not done or _things(subject) != _things(older.words[:old_at]):
        return None
    if len(done) == 1 and done[0] in _GONE and not older.own:
        return Finding(Effect.ENDED, tail(older))
    if older.words[old_at] not in {"is", "wait"}:
        return None
    # "The gym was closed" may tell of yesterday, "the issue was closed" of what became of it.
    became = done[0] != "closed" or bool(set(subject) & _TRACKED) or words[was] != "was"
    ended = done[0] in _ENDS and len(done) == 1 and state & _OPEN and became
    there = state & _THERE - {"on", "up"} or older.words[-1] in {"on", "up"}
    gone = done[-1] in _OFF and len(done) <= 2 and there
    return Finding(Effect.ENDED, tail(older)) if ended or gone else None


_CALLED: Final = (("is", "called"), ("is", "named"), ("اسمه",), ("اسمها",))


def _renamed(newer: Clause, older: Clause) -> Finding | None:
    """ "The manager is called Martin Hale", then Marvin Hale: a whole name, though a part of it is the same."""
    for called in _CALLED:
        for end in range(len(called) + 1, len(older.words)):
            one, other = older.words[end:], newer.words[end:]
            if older.words[end - len(called) : end] == called and newer.words[:end] == older.words[:end]:
                whole = 0 < len(one) <= 3 and len(one) == len(other) and set(one) & set(other)
                proper = newer.proper(end) and older.proper(end)
                if whole and one != other and proper and not newer.negated:
                    return Finding(
                        Effect.REPLACED, older.spelling(end, len(older.words)), newer.spelling(end, len(newer.words))
                    )
    return None
