"""The English words that the rules know: a closed, small vocabulary; what is not here leads to ADD."""

from __future__ import annotations

from typing import Final

CONTRACTIONS: Final = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "let's": "let us",
}  # fmt: skip
ENDINGS: Final = {"n't": " not", "'m": " is", "'re": " is", "'ve": " have", "'ll": " will", "'d": " would"}

DROPPED: Final = frozenset("the a an now currently presently nowadays today's".split())
"""Words without which a statement says the same."""

COPULAS: Final = frozenset("is are am".split())

HEDGES: Final = frozenset(
    "might could would should maybe perhaps probably possibly apparently supposedly allegedly reportedly if unless "
    "whether think thinks thought believe believes guess hope hopes hoping want wants wanted plan plans planned "
    "planning consider considers considering suggest suggests suggested propose proposes proposed heard hear says said "
    "say claims claimed claim told rumor rumour imagine suppose let going will shall wish wishes trying tries intend "
    "intends expect expects expected when whenever once seem seems likely unlikely about tomorrow next soon almost "
    "wonder wondering doubt doubts assume assuming pretend dream dreams eventually someday used ought must "
    "what why how who which did temporarily temporary momentarily briefly interim acting nearly haha lol lmao jk todo "
    "fixme".split()
)
"""A statement with one of these is a plan, a question, a condition, hearsay, a joke or a story, or holds for a while
only: it retires nothing."""

OPEN_SUBJECTS: Final = frozenset(
    "some another most many any other he she it they this that these those there someone somebody everyone nobody "
    "nothing something what here her his their "
    "its today yesterday tonight".split()
)
"""A subject that begins so is not named: it may be anybody's."""

ADDRESSED: Final = frozenset("you your yours u".split())
INTERVALS: Final = frozenset("from between until till during before after since".split())

NUMBERS: Final = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | {
    word: str(value * 10)
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety hundred".split(), start=2)
}
TIMES: Final = {"once": "1 time", "twice": "2 time", "thrice": "3 time"}

DAYS: Final = frozenset("monday tuesday wednesday thursday friday saturday sunday weekday weekend".split())
MONTHS: Final = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec".split()
)
STATIVES: Final = frozenset(
    "is have retry tick run take last cost listen start end begin close open expire hold keep allow use need require "
    "contain wait weigh charge accept return serve store support sleep poll fire refresh rotate sync send deploy wake "
    "arrive leave finish consume occupy measure limit expose answer serve back scale handle process repeat fail stop "
    "pay earn sell work meet publish release ship live read write cover include reach range".split()
)
"""Verbs (as `lemma` gives them) of how something is or regularly does, in the present."""

IMPLICIT: Final = frozenset(
    "works lives uses retries runs listens supports joined left moved relocated quit stopped switched migrated "
    "replaced".split()
)
"""A note may begin with one of these and leave out its subject."""
STATES: Final = frozenset(
    "active inactive running up down online offline healthy unhealthy degraded paused enabled disabled".split()
)
"""What a note may say of something without a verb: "Hermes active"."""

ROLES: Final = frozenset(
    "lead leader manager head chief ceo cto cfo captain maintainer owner director president chair chairman boss "
    "supervisor coach principal mayor editor landlord tenant dentist doctor husband wife spouse mentor host assignee "
    "administrator approver treasurer secretary minister accountant lawyer".split()
)
ATTRIBUTES: Final = frozenset(
    "name color colour language branch region status state address email mail number phone version database deadline "
    "date location city capital password currency timezone headquarters hostname url domain theme mode level priority "
    "engine framework provider strategy format policy editor shell default size salary price owner nickname".split()
)
DISTINGUISHING: Final = frozenset("default primary main current preferred official".split())
VAGUE: Final = frozenset(
    "good bad great nice important unchanged same unknown wrong right fine ok okay new old ready big "
    "small high low fast slow easy hard short long fun cool amazing awesome clear full empty "
    "different similar public secret valid invalid correct strong weak not so too very really still "
    "always also often never up down on off in out at for to with case both all none".split()
)
"""Words that are no value of an attribute, though they may follow "is"."""

CHANGED: Final = frozenset(
    "changed moved raised increased lowered reduced decreased set reset updated renamed bumped "
    "extended postponed delayed shifted rescheduled pushed upgraded downgraded switched cut "
    "dropped rose grew transferred relocated migrated".split()
)
"""Verbs of a change whose outcome follows after "to"."""
LATER: Final = (
    r"(?: (?:yesterday|today|recently|already|(?:last|this) \w+|in (?:\d{4}|"
    + "|".join(sorted(MONTHS))
    + r")(?: \d{4})?|on (?:"
    + "|".join(sorted(DAYS))
    + r")|(?:\d+|few) \w+ ago))?"
)
"""When a change happened, at the end of its sentence."""

CIRCLES: Final = frozenset(
    "club gym class group team choir band league church course society association toastmasters committee board army "
    "navy force party union discord slack facebook instagram twitter reddit linkedin tiktok zoom call meeting chat "
    "community program programme workshop webinar telegram whatsapp signal mastodon teams netflix spotify github "
    "gitlab channel thread server session conference webcast standup lunch dinner room queue waitlist".split()
)
"""What one joins without changing one's work."""
PRONOUNS: Final = frozenset("his her their our my its".split())
SCOPES: Final = frozenset("on in during when while until at under per without within unless except for by".split())
"""What follows is a case, time or place of its own."""
