"""Displacements: an old value that a statement names to say that it is one no longer.

"B instead of A" says of what it is about that A was there. If that, and A, are what an older statement consists of, it
is not true any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cortex_decision import arabic, english
from cortex_decision.clauses import Clause, read, stem
from cortex_decision.findings import Effect, Finding
from cortex_decision.folding import fold
from cortex_decision.topics import CHANGES

_END: Final = r"(?= (?:for|as|in|on|with|by|to|and|but|because|since|بسبب|في|الي|الى|إلى|ب|ل|بل|و)\b| و\w|[.,;،؛!:]|$)"
_NAME: Final = rf"(?:the |our |my |a |an )?(\S+(?: \S+){{0,3}}?){_END}"
_HELD: Final = r"(?:the |our |my )?(\S+(?: \S+){0,2}?)"
_AT: Final = r"(?:in |on |at |with |by |by a )?"
_WAS: Final = r"(?:was|were|is|has been|have been|got)"
_TAKEN: Final = (
    rf"\b(?!copied|exported|imported|downloaded|synced|derived|translated|compared|cloned|duplicated|mirrored|"
    rf"restored|backed|walked|travelled|traveled|called|texted)\w+ed\b(?! an? )"
    rf"(?P<o>(?: \S+){{0,5}}?) from {_NAME}(?= to\b)",
    rf"\b(?:came|got|took|taken|picked|brought|arrived|returned|fetched|removed|moved|back|out)\b(?! an? )"
    rf"(?P<o>(?: \S+){{0,4}}?) (?:from|out of) {_NAME}",
    rf"(?:خرج|رجع|طلع|شال|شلنا|نقل|جاب|اخذ|أخذ|سحب|غادر)\w* (?P<o>(?:\S+ ){{0,4}}?)من {_NAME}",
)
"""Something is not any more where it was; of people it says little of where they live."""
_LEFT: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:instead of|rather than|in place of) {_AT}{_NAME}",
        rf"\b(?:moved|switched|migrated|changed|upgraded|relocated|converted|ported)"
        rf"(?P<o>(?: \S+){{0,6}}?) from {_NAME}",
        rf"\b(?:replaced|swapped|exchanged|abandoned|dropped|ditched|sold|scrapped|removed|retired|"
        rf"cancelled|canceled|discontinued|stopped using) {_NAME}",
        rf"\b(?:gave up|given up) {_NAME}",
        rf"\b(?:got rid of|moved out of|moved off|moved away from|migrated off|gone off) {_NAME}",
        rf"\b(?:we|i|they)(?: have)? left {_NAME}",
        rf"\b(?:superseded|replaces|supersedes|has replaced) {_NAME}",
        rf"^{_HELD} {_WAS} (?:replaced|superseded|removed|dropped|scrapped)\b",
        rf"(?:,|;|\band) (?:and )?{_HELD} {_WAS} (?:gone|history|out|replaced|removed)\b",
        rf"^{_HELD} (?:handed|passed|transferred)\b(?P<o>.*?)(?: over)? to\b",
        rf"(?:^|[,;] |\band ){_HELD} (?:has |have )?(?:stepped down|stepped back|resigned|retired|passed away|died)\b",
        rf"^{_HELD} (?:(?:was|got|has been) renamed|is (?:now )?called)\b",
        rf"(?:^|[,;] |\band ){_HELD} (?:was|is|are|has been|got) "
        rf"(?:gone|history|dead|out|retired|phased out|shut down)\b",
        *_TAKEN,
        rf"(?:بدلا من|بدلًا من|بدلاً من|بدلا عن|عوضا عن|عوضًا عن|بدل|مكان) {_NAME}",
        rf"(?:انتقل|تحول|هاجر)\w* (?:\S+ ){{0,5}}?من {_NAME}",
        rf"(?:نقل|غيّر|غير|حوّل|حول)\w* (?P<o>(?:\S+ ){{0,5}}?)من {_NAME}",
        rf"(?:استبدل|استغنينا عن|تخلينا عن|تخليت عن|توقفنا عن|هجرنا|ألغينا|الغينا)\w* {_NAME}",
        rf"(?:محل) {_NAME}",
        rf"(?:بعت|بعنا|باع|باعت) {_NAME}",
    )
)
"""Each names an old value: what was left, given up, or has something in its place. A negation undoes it."""
_DENIED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bno longer {_AT}{_NAME}",
        rf"(?:,|\band) (?:and )?not {_AT}(?:the )?{_NAME}",
        rf"\b(?:not|n't) (?:\S+ by )?{_AT}{_NAME} but\b",
        rf"\b(?:was|were) never {_AT}{_NAME}",
        rf"(?:وليس|وليست|لا) (?:في |علي |على )?{_NAME}(?= بل)",
        rf"(?:وليس|وليست|ولا) (?:في |علي |على )?{_NAME}",
        rf"(?:لم يعد|لم تعد|لم نعد|لم أعد) {_NAME}",
    )
)
"""Each denies an old value."""
_FOLLOWED: Final = re.compile(
    rf"\b(?:took over from|taken over from|succeeded|succeeds) {_NAME}|خلف(?:ا|ًا|اً) ل{_NAME}|"
    rf"(?:استلم|تسلم|تولى)\w* .*?من {_NAME}",
    re.IGNORECASE,
)
"""Who had something before."""
GENERIC: Final = frozenset(
    stem(word)
    for word in "is are was use used using run runs running host hosted hosts power powered by with on in at of for to "
    "the a an do done make made live work keep kept store stored have has drive own prefer like love enjoy take and "
    "our my we i listen build built manage managed write written deploy deployed called located based send sent serve "
    "as served process handle handled track tracked play eat drink go get sit powered implemented developed it".split()
) | frozenset(
    "ال في علي الي من عن هو هي محفوظ محفوظه موجود موجوده مستضاف يوم ساعه استخدم نستخدم يستخدم تستخدم اقود سياره "
    "يفضل اسم "
    "اسمه".split()
)
"""Words of a statement that say how, not what it is about."""
_GIVEN_UP: Final = tuple(pattern for pattern in _LEFT if re.search("sold|بعت| left ", pattern.pattern))
_AT_HOME: Final = frozenset("live work study reside عمل سكن عيش قيم درس شتغل".split())
HABITS: Final = frozenset("drink eat play like love enjoy watch read listen work live meet travel talk".split())
"""A cup that is dropped, a guitar that is sold and a colleague that is stood in for end no habit and no company."""
_SWITCHED: Final = frozenset("switched moved migrated changed".split())
_ORDERS: Final = frozenset("use please make write put set change switch move replace add try remember".split())
REASONS: Final = frozenset("because since بسبب لان".split())
PURPOSES: Final = frozenset("for as".split())
_PLACING: Final = frozenset("for in on at during within under per when while في عند خلال ل".split())
_TIMES: Final = english.DAYS | english.MONTHS | frozenset("last this week month year today favour favor".split())


def displaced(sentence: str, newer: Clause, older: Clause) -> Finding | None:
    """What `newer`, the reading of `sentence`, says is there no longer, if `older` says that it is."""
    if ((newer.own or older.own) and newer.me != older.me) or newer.bounded or asks(newer):
        return None
    # What "we" do, nobody else changes.
    if older.own and not _of_self(newer):
        return None
    if of_others(newer, older):
        return None
    known = {form(word) for word in older.words}
    said = {form(word) for word in newer.words}
    for named, holder in left_values(sentence, older, denied=newer.negated):
        gone = {form(word) for word in named} - GENERIC
        rest = known - gone - GENERIC - {form(older.me), form(older.us)}
        if not gone or not gone <= known or (holder and form(older.words[0]) not in gone):
            continue
        # What it is about is said in the words of the older one; who is known to tell it of themselves need not say it.
        about = rest <= said and (rest or (older.own and older.me)) and is_value(older, gone)
        if not (about or _whole_subject(newer, known, older, gone)):
            continue
        if not (_narrowed(newer, known | gone) or _another(newer, known - GENERIC, gone)):
            return Finding(Effect.ENDED, older.spelling_of(_written(older, gone)))
    return None


_OURSELVES: Final = frozenset("team company department group firm office organisation organization family".split())


def of_others(newer: Clause, older: Clause) -> bool:
    """Whether somebody of ours did it, and the older statement is about ourselves: "our client switched"."""
    holder, *rest = newer.words
    ours = holder[0] == "@" and holder.endswith("'s") and older.words[0] == holder.removesuffix("'s")
    return ours and rest[:1] != [] and rest[0] not in _OURSELVES and rest[0] not in older.words


def tells_of_old(sentence: str) -> bool:
    """Whether a sentence names something that is not there any more."""
    return any(pattern.search(sentence) for pattern in (*_LEFT, _FOLLOWED, *_DENIED))


def left_values(sentence: str, older: Clause, *, denied: bool) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The words of each old value that the sentence names, and whether it is one that held something; of a sentence
    that denies something what it denies."""
    known = {form(word) for word in older.words}
    for pattern in (*(() if denied else (*_LEFT, _FOLLOWED)), *_DENIED):
        for found in pattern.finditer(sentence):
            if pattern in _GIVEN_UP and set(older.words[1:]) & HABITS:
                continue
            # Who travels from where they live comes back.
            if pattern.pattern in _TAKEN and _AT_HOME & {part for word in older.words for part in (word, word[1:])}:
                continue
            # One does not switch or change from a home, one moves.
            if older.words[1:2] == ("live",) and (_SWITCHED - {"moved"}) & set(found[0].lower().split()[:1]):
                continue
            # Who moves something from A to B is not moved: that is what the older statement has to be about.
            if not _keys(found.groupdict().get("o") or "") - GENERIC - _MOVED_TOO <= known:
                continue
            name = next(
                group
                for number, group in enumerate(found.groups(), 1)
                if group and number != found.re.groupindex.get("o")
            )
            reading = read(name, speaker=None, session=None)
            if len(reading.clauses) == 1:
                yield reading.clauses[0].words, pattern is _FOLLOWED


def _keys(text: str) -> set[str]:
    return {form(word) for clause in read(text, speaker=None, session=None).clauses for word in clause.words}


def form(word: str) -> str:
    """What forms of a word have in common, roughly."""
    if word.isascii():
        return stem(word)
    bare = fold(word)
    for start in ("وال", "بال", "كال", "لل", "ال"):
        if bare.startswith(start) and len(bare) > len(start) + 2:
            bare = bare[len(start) :]
            break
    return bare[:-1] if bare.endswith(("ه", "ا")) and len(bare) > 3 else bare


_MOVED_TOO: Final = frozenset(
    form(word)
    for word in (
        "with together back out away over completely fully finally just recently all entirely everything everyone it "
        "them whole entire job provider supplier vendor tool platform service system stack كل كله كلها جميع جميعا كليا "
        "بالكامل تماما موخرا اخيرا مزود خدمه"
    ).split()
)
"""What may stand between a verb of moving and "from", beside what moves."""


def is_value(older: Clause, gone: set[str]) -> bool:
    """Whether the older statement ends with what is gone, or begins with it: its value or its holder."""
    end = next((at for at, word in enumerate(older.words) if at and word in REASONS | PURPOSES), len(older.words))
    keys = [form(word) for word in older.words[:end]]
    places = [at for at, word in enumerate(keys) if word in gone]
    return bool(places) and (places[-1] == len(keys) - 1 or (places[0] == 0 and len(places) == places[-1] + 1))


def _another(newer: Clause, known: set[str], gone: set[str]) -> bool:
    """Whether the newer statement is about something else by a word more: "Mona's brother", "the gateway of the
    partner", "the second team"."""
    words, keys = newer.words, [form(word) for word in newer.words]
    for at, (word, key) in enumerate(zip(words, keys, strict=True)):
        if key in known or key in GENERIC or word in CHANGES or not word[0].isalpha():
            continue
        before, after = keys[at - 1] if at else "", keys[at + 1] if at + 1 < len(keys) else ""
        owned = at > 1 and words[at - 1] in {"'s", "of"} and keys[at - 2] in known - gone
        owner = after == "'s" and keys[at + 2 : at + 3] and keys[at + 2] in known
        part = after == "of" and keys[at + 2 : at + 3] and keys[at + 2] in known - gone
        verb = word.endswith(("ing", "ed")) or word in english.STATIVES
        first = after in known - gone and not verb and not newer.arabic
        second = newer.arabic and word.startswith("ال") and before in known - gone
        if owned or owner or part or first or second:
            return True
    return False


def _narrowed(newer: Clause, known: set[str]) -> bool:
    """Whether the newer statement is about a case that the older one does not name."""
    words = newer.words
    for at, word in enumerate(words[:-1]):
        if word in _PLACING:
            after = words[at + 1]
            if form(after) not in known and after not in _TIMES and not after[0].isdigit() and word not in known:
                return True
    return False


def asks(newer: Clause) -> bool:
    """Whether the sentence is an order, or speaks to somebody: it says how things shall be."""
    first = newer.words[0]
    return first in english.STATIVES | _ORDERS or bool(set(newer.words) & (english.ADDRESSED | arabic.ADDRESSED))


def _of_self(clause: Clause) -> bool:
    """Whether somebody tells of themselves; in Arabic a verb of the past may be enough of a sign."""
    return clause.own or (clause.arabic and clause.words[0].endswith(("ت", "نا")))


def _whole_subject(newer: Clause, known: set[str], older: Clause, gone: set[str]) -> bool:
    """ "The repository switched from A to B" against "checking is done with A in the repository": all that switched is
    in the older statement, and A is what something is done with there."""
    words = newer.words
    at = next((at for at, word in enumerate(words) if word in _SWITCHED), 0)
    subject = {form(word) for word in words[:at] if word not in {"have", "been", "was"}} - GENERIC
    places = [place for place, word in enumerate(older.words) if form(word) in gone]
    with_it = places[0] > 0 and older.words[places[0] - 1] in {"with", "by", "on", "via", "use", "through"}
    return bool(subject) and subject <= known and not any(word[0] == "@" for word in words[:at]) and with_it


def _written(older: Clause, gone: set[str]) -> tuple[str, ...]:
    return tuple(word for word in older.words if form(word) in gone)
