"""The relations that a text can state between two of its names, and the words that state them: closed lists.

Both languages are read after folding (`folding.fold`). In the patterns `A` is the subject of the relation and `B` its
object, each a name or several; what stands between them must be there word for word, save a few adverbs.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Predicate(StrEnum):
    """How the subject stands to the object; a text that says it the other way round is turned ("B is owned by A")."""

    WORKS_AT = "works_at"
    JOINED = "joined"
    LEFT = "left"
    LIVES_IN = "lives_in"
    MOVED_TO = "moved_to"
    LOCATED_IN = "located_in"
    MANAGES = "manages"
    OWNS = "owns"
    FOUNDED = "founded"
    MEMBER_OF = "member_of"
    DEPENDS_ON = "depends_on"
    USES = "uses"
    REPLACED_BY = "replaced_by"
    PART_OF = "part_of"
    MARRIED_TO = "married_to"
    MENTIONS = "mentions"


ENGLISH_VERBS: Final = {
    Predicate.WORKS_AT: r"works? (?:at|for)|(?:is|am) employed (?:at|by|with)|(?:is|am) working (?:at|for)",
    Predicate.JOINED: r"joined",
    Predicate.LEFT: r"left|quit|resigned from|no longer works? (?:at|for)",
    Predicate.LIVES_IN: r"(?:lives?|resides?) in|(?:is|am) (?:living|based) in",
    Predicate.MOVED_TO: r"(?:moved|relocated)(?: back)?(?: from N)? to",
    Predicate.LOCATED_IN: r"is located in",
    Predicate.MANAGES: r"manages?|leads",
    Predicate.OWNS: r"owns?|maintains?",
    Predicate.FOUNDED: r"(?:co-)?founded",
    Predicate.DEPENDS_ON: r"depends? on|relies on|requires",
    Predicate.USES: r"uses?|is using|runs on|is built (?:on|with)|is written in",
    Predicate.REPLACED_BY: r"(?:was|is|has been|got) (?:replaced|superseded) (?:by|with)",
    Predicate.PART_OF: r"is (?:a )?part of|belongs to",
    Predicate.MARRIED_TO: r"(?:(?:is|am|got) )?married(?: to)?",
}
"""Between subject and object, in this order; `N` is any name."""
ENGLISH_TURNED: Final = {
    Predicate.MANAGES: r"reports? to|is (?:managed|led) by",
    Predicate.OWNS: r"is (?:owned|maintained) by",
    Predicate.FOUNDED: r"was (?:co-)?founded by",
    Predicate.USES: r"is used by",
    Predicate.REPLACED_BY: r"replaced|replaces|supersedes",
}
"""Between object and subject: "Atlas is owned by Lina"."""
ENGLISH_ROLES: Final = {
    Predicate.MANAGES: r"manager|head|lead|leader|director|boss|ceo|cto",
    Predicate.OWNS: r"owner|maintainer",
    Predicate.FOUNDED: r"(?:co-)?founder",
    Predicate.MEMBER_OF: r"member",
    Predicate.MARRIED_TO: r"husband|wife|spouse",
}
"""What the subject is to the object: "A is the manager of B", "A, the manager of B", "B's manager is A"."""
ENGLISH_ADVERBS: Final = "also now currently recently just finally still has have already officially then".split()

ARABIC: Final = tuple(
    (predicate, pattern)
    for predicate, patterns in {
        Predicate.WORKS_AT: (r"[يت](?:عمل|شتغل) A (?:في|لدي|عند) B", r"A [يت](?:عمل|شتغل) (?:في|لدي|عند) B"),
        Predicate.JOINED: (r"(?:انضم|التحق)ت? A (?:الي|ب|ل) B", r"A (?:انضم|التحق)ت? (?:الي|ب|ل) B"),
        Predicate.LEFT: (
            r"(?:ترك|غادر)ت? A B",
            r"A (?:ترك|غادر)ت? B",
            r"استقالت? A من B",
            r"A استقالت? من B",
        ),
        Predicate.LIVES_IN: (r"[يت](?:سكن|عيش|قيم) A في B", r"A [يت](?:سكن|عيش|قيم) في B"),
        Predicate.MOVED_TO: (r"انتقلت? A (?:للعيش |للسكن )?الي B", r"A انتقلت? (?:للعيش |للسكن )?الي B"),
        Predicate.LOCATED_IN: (r"[يت]قع A في B", r"A [يت]قع في B"),
        Predicate.MANAGES: (
            r"[يت]دير A B",
            r"A [يت]دير B",
            r"A (?:هو |هي )?(?:مديره?|رئيسه?|مسؤوله?|قائده?) B",
            r"(?:مديره?|رئيسه?|مسؤوله?|قائده?) B (?:هو|هي) A",
        ),
        Predicate.OWNS: (
            r"[يت]م(?:ت)?لك A B",
            r"A [يت]م(?:ت)?لك B",
            r"A (?:هو |هي )?(?:مالكه?|صاحبه?) B",
            r"(?:مالكه?|صاحبه?) B (?:هو|هي) A",
        ),
        Predicate.FOUNDED: (r"(?:اسس|اسست) A B", r"A (?:اسس|اسست|مؤسسه?) B"),
        Predicate.MEMBER_OF: (r"A (?:هو |هي )?عضوه? في B",),
        Predicate.DEPENDS_ON: (r"[يت]عتمد A علي B", r"A [يت]عتمد علي B"),
        Predicate.USES: (r"[يت](?:ستخدم|ستعمل) A B", r"A [يت](?:ستخدم|ستعمل) B"),
        Predicate.REPLACED_BY: (
            r"حلت? B محل A",
            r"B حلت? محل A",
            r"استبدل(?:ت|نا|وا)? A ب B",
            r"تم استبدال A ب B",
        ),
        Predicate.PART_OF: (r"A (?:هو |هي )?جزء من B", r"A [يت]تبع ل B"),
        Predicate.MARRIED_TO: (r"تزوجت? A (?:من |ب )?B", r"A (?:تزوجت?|متزوجه?) (?:من |ب )?B", r"A زوجه? B"),
    }.items()
    for pattern in patterns
)
"""Verb first and subject first. A kind or title before a name ("شركة", "المهندس") is skipped by the reader."""
ARABIC_FIRST_PERSON: Final = (
    (Predicate.WORKS_AT, r"(?:اعمل|اشتغل) (?:في|لدي|عند) B"),
    (Predicate.JOINED, r"(?:انضممت|التحقت) (?:الي|ب|ل) B"),
    (Predicate.LEFT, r"استقلت من B"),
    (Predicate.LIVES_IN, r"(?:اسكن|اعيش|اقيم) في B"),
)
"""The verb alone says "I"; "تركت" may also say "she" and is not here."""

DOUBTFUL: Final = frozenset(
    "if unless whether would could should might maybe perhaps probably possibly apparently allegedly supposedly "
    "imagine suppose pretend wish hope hopes rumour rumor not never nobody doubt doubts denied denies cannot "
    "هل لو اذا ربما لعل ليت سوف قد لن لم لا ليس ليست ما اظن".split()
)
"""What stands behind one of these in its sentence is no statement: a condition, a guess, a denial."""
BEFORE_NO_SUBJECT: Final = frozenset(
    "of with by for to at from in on like than or nor about via between without through unlike after before into 's "
    "من في علي الي عن مع بين او مثل".split()
)
"""A name behind one of these belongs to what stands before it: "the manager of Omar works at …" is not about Omar."""
GOES_ON: Final = frozenset(
    "in on at for since as with to from by during until last this , and while but because when after before again now "
    "too instead where who which that via today yesterday recently في منذ مع و".split()
)
"""What may follow an object. Before any other word it is an adjective ("Turkish forces"), or the last of a list already
begins another statement ("Atlas uses Redis and Omar knows it")."""
NOT_NAMES: Final = frozenset(
    "everyone everybody someone somebody anyone anybody nobody nothing everything something people folks others "
    "management nothing half success life work time dad mom mum grandma grandpa".split()
)
"""What may open a sentence before such a verb with a capital and is no name."""
