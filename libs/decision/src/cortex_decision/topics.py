"""Topics: what a statement is about, as keys that its words share with other forms and words of the same meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from cortex_decision import arabic, english, values
from cortex_decision.clauses import Clause, stem
from cortex_decision.folding import fold


def words_of(text: str) -> frozenset[str]:
    """A list of words, written as one text."""
    return frozenset(text.split())


CHANGES: Final = english.CHANGED | words_of(
    "went slipped slips slid climbed fell shrank halved doubled tripled grown fallen risen put brought became become "
    "taken took over renamed got turned turn switched promoted appointed elected named shortened prolonged rescheduled "
    "adjusted revised reassigned assigned migrated moved transferred handed passed swapped replaced converted "
    "rewritten rewrote ported redone updated raised corrected amended sworn bumped doubled "
    "ارتفع ارتفعت انخفض انخفضت زاد زادت زودنا تغير تغيرت تاجل تاجلت انتقل انتقلت انتقلنا نقل نقلت نقلنا رفع رفعت رفعنا "
    "خفض خفضنا عدل عدلنا غيرنا غيرت غير اصبح اصبحت صار صارت صرت صرنا بقي بقت تولي تولت عين عينت تقدم تم تمت تغيير "
    "تعديل "
    "تعيين تمديد مدد مددنا تاجيل نقل رفع ترقيه رقينا حول حولنا تحول تحولت اجل اجلنا قدم استلم استلمت نزل نزلت طلع "
    "حدثنا تحديث هبط هبطت تراجع تراجعت قفز خلف خلفا"
)
"""Verbs of change: they say that there is a new value, and belong to no thing."""
PAST: Final = frozenset(
    "was were had did went ran took made met got ate saw came won lost paid sold bought left spent wrote read said "
    "told gave found knew held kept stood sent built fell drove flew slept spoke began كان كانت قابلت ذهبت".split()
)
_WITH_PARTICLE: Final = frozenset("took taken over as got".split())
"""They tell of a change only together: "took over", "got raised"."""
STRONG_ENDS: Final = words_of(
    "cancelled canceled scrapped discontinued abolished dissolved axed dismantled disbanded decommissioned abandoned "
    "الغي الغيت الغينا لغينا الغاء لغي اتلغي اتلغت حل حلت"
)
"""After these nothing is left of what they are said of."""
ENDS: Final = STRONG_ENDS | words_of(
    "stopped ended quit ceased dropped removed disabled deactivated revoked deleted withdrawn withdrew retired "
    "sold left lost gone expired lapsed finished terminated divorced dumped ditched died shut closed resigned "
    "dismissed fired sacked undone uninstalled unsubscribed history "
    "وقف وقفت توقف توقفت توقفنا اوقف اوقفت اوقفنا ايقاف وقفنا انتهي انتهت انهينا انهاء حذف حذفنا حذفت ازال ازلنا "
    "ازيل ازاله ترك "
    "تركت تركنا ساب سابت سبت باع باعت بعت بعنا بيع اغلق اغلقت اغلقنا اغلاق تخلي تخلت تخلينا عطل عطلنا تعطيل استقال "
    "استقالت استقلت بطل بطلت بطلنا قفل قفلت قفلنا مات ماتت توفي فسخ فسخت سحب سحبنا طلقت طلق خلص خلصت"
)
"""Verbs that say that something is not any more, and the particles that go with them."""
MARKS: Final = re.compile(
    r"\b(?:now|nowadays|currently|these days|from now on|as of|since|correction|actually|my mistake|typo|scratch that|"
    r"instead|any ?more|any longer|no longer|again|turns out|turned out|meanwhile|by now|already|new)\b|"
    r"الآن|الان|حاليا|صار|أصبح|اصبح|تصحيح|بدل|من جديد|مجددا|الحين|دلوقتي|هلا|هلأ|بقى|بقت|لم يعد|لم تعد|لم نعد|لم أعد",
    re.IGNORECASE,
)
"""Words that say that something has changed."""
CASES: Final = words_of("for in on at during within under per with without of by when while في عند خلال ل مع على علي")
PARTICLES: Final = words_of("over back down up forward out off away on in through")
"""What follows a verb of change and belongs to it."""
TIMED: Final = {
    "extended": words_of("end expire run last valid"),
    "prolonged": words_of("end expire run last valid"),
    "shortened": words_of("end expire run last valid"),
} | {
    verb: words_of("start begin due open end finish take")
    for verb in words_of("postponed delayed pushed moved shifted rescheduled brought put set changed")
}
"""Which of the verbs that say of what a time is the time each of these may stand for."""
BENIGN: Final = words_of(
    "favour favor now currently finally just already officially meanwhile newly instead here nowadays good everyone "
    "everybody "
    "everywhere everything whole member part completely entirely fully altogether well actually anymore longer "
    "correction mistake typo "
    "time date day total "
    "الان حاليا موخرا مجددا اخيرا رسميا الحين دلوقتي هلا جديد تماما نهاييا نهايي كليا خالص خلاص الحمد لله كامل كلها كله"
)
EMPTY: Final = words_of(
    "is was were am are be been being have had do did done get gets go goes to from a an and or the it 's that this "
    "these those there then than so as of in on at by for with into onto via per up out until till upon within after "
    "before about every each all any our we i them us me he she they who which no not but if s "
    "take place happen occur very much many more most one "
    "في علي الي من عن هو هي هم كل لدي لدينا عندي عندنا عند قد ان و ب ل ثم او اي هذا هذه ذلك الذي التي يكون تكون بعد "
    "قبل "
    "لم يعد تعد هناك به بها له لها فيه فيها لاي اللي ما لا وليس وليست بل ولا ولم ال لل بال يوم بدل بدلا مكان عوضا still"
)
"""Words that say how, not what it is about."""
_ONE: Final = {
    word: words.split()[0]
    for words in (
        "cost price priced pricing fee",
        "last duration long lasting",
        "allow limit maximum max allowed permitted capped cap ceiling",
        "keep retention retained retain kept stored store storage live lie sit held sat",
        "use usage used using rely relies run running",
        "due deadline",
        "call called name named title spell spelled",
        "lead led leader head headed",
        "start begin begins starting started beginning",
        "end expire expiry finish",
        "own owner owned belongs",
        "host hosted hosting",
        "answer respond reply response replies answers",
        "application app",
        "repository repo",
        "database db",
        "documentation doc docs document",
        "configuration config",
        "production prod",
        "employee staff headcount",
        "apartment flat",
        "require need minimum min",
        "report manager boss",
        "built build written wrote implemented developed coded",
        "pay salary wage earn",
        "drive car",
        "weekly week",
        "daily day",
        "hourly hour",
        "monthly month",
        "yearly annual annually year",
        "program programme",
        "center centre",
        "sign-up signup signups sign-ups",
        "favourite favorite prefer preferred",
        "plan planned scheduled schedule",
        "سعر تكلفه كلفه ثمن كلف",
        "مدير مديره",
        "يسمح تسمح مسموح مسموحه",
        "مسوول مسووليه مسووله",
        "رييس رييسه",
    )
    for word in words.split()
}
"""Words that mean one attribute, each by the first of its line."""


@lru_cache(maxsize=16_384)
def key(word: str) -> str:
    """What the forms of a word, and words for the same attribute, have in common, roughly."""
    if not word.isascii():
        return _arabic(fold(word))
    if not word.isalpha():
        return word
    if (one := _ONE.get(word)) is not None:
        return _plain(one)
    return _plain(_ONE.get(_plain(word), word))


def _plain(word: str) -> str:
    base = stem(word)
    for ending, least in (("ment", 5), ("ation", 5), ("ion", 6), ("ance", 6), ("ly", 5)):
        if base.endswith(ending) and len(base) >= len(ending) + least - 1:
            base = base[: -len(ending)]
            break
    return base[:-1] + "i" if base.endswith("y") and len(base) > 4 else base


_NOUNS: Final = frozenset(arabic.DEVERBAL.values())
_DEVERBAL: Final = {noun.removeprefix("ال"): verb for noun, verb in arabic.DEVERBAL.items()}


def _arabic(word: str) -> str:
    if (one := _ONE.get(word)) is not None:
        word = one
    for start in ("وال", "بال", "كال", "فال", "لل", "ال"):
        if word.startswith(start) and len(word) > len(start) + 2:
            word = word[len(start) :]
            break
    else:
        if word[1:] in arabic.STATIVES | _NOUNS and word[0] in "يتنا":
            return word[1:]
        if len(word) > 4 and word[0] in "بل" and word[1:2] != "ا":
            word = word[1:]
    word = _DEVERBAL.get(word, _ONE.get(word, word))
    for end in ("ات", "ون", "ين", "ه", "ا"):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word[: -len(end)]
    return word


def measured(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the measured values of some words are, the longest at each place."""
    found, at = [], 0
    while at < len(words):
        size = next((n for n in (3, 2, 1) if at + n <= len(words) and values.kind(words[at : at + n])), 0)
        if size:
            found.append((at, at + size))
        at += size or 1
    return found


def tells_change(words: Sequence[str]) -> bool:
    """Whether one of the words is a verb of change."""
    alone = set(words) & CHANGES - _WITH_PARTICLE
    return bool(alone) or any(one in {"took", "taken"} and other == "over" for one, other in pairwise(words))


def is_past(clause: Clause) -> bool:
    """Whether a clause tells of something that happened."""
    words = clause.words
    return any(
        (word in PAST and (not at or _active(words, at)))
        or (word.endswith("ed") and len(word) > 4 and word not in CHANGES and _active(words, at))
        for at, word in enumerate(words)
    )


def _active(words: Sequence[str], at: int) -> bool:
    return at > 0 and words[at - 1] not in {"is", "be", "been", "get"}
