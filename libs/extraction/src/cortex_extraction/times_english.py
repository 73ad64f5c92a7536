"""English time expressions.

Words that are also something else (may, march, sun, second, fall, April the person) count only where a preposition, a
capital letter, a day or a year beside them shows that a time is meant. A bare year needs a preposition: a port, a room,
an error code or a title is none. 3/4/2025 is left alone: half of the world reads it as March.
"""

from __future__ import annotations

import re
from typing import Final

from cortex_extraction.spans import Mode, Part, Unit
from cortex_extraction.times_grammar import (
    DIGITS,
    LEFT,
    RIGHT,
    YEAR,
    Bound,
    Grammar,
    Vocabulary,
    after,
    alternatives,
    always,
    both,
    capitalised,
    either,
    expression,
    unless_after,
)

_MONTHS = "january february march april may june july august september october november december".split()
_DOUBTFUL = {"may": 5, "march": 3, "mar": 3}
_NAMES = {**_DOUBTFUL, "april": 4, "june": 6, "august": 8}
_FULL = {name: number for number, name in enumerate(_MONTHS, start=1)}
_ALL = {**_FULL, **{name[:3]: number for name, number in _FULL.items()}, "sept": 9}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SHORT_DAYS = {name[:3]: day for day, name in enumerate(_DAYS)} | {"tues": 1, "thurs": 3}
_WEEKDAYS = {name: day for day, name in enumerate(_DAYS)}
_UNITS = {unit.value: unit for unit in Unit if unit is not Unit.WEEKEND}
_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split()
_PAIR, _FEW, _SEVERAL = (2, 3), (2, 5), (3, 7)

VOCABULARY: Final = Vocabulary(
    months=_ALL,
    weekdays=_WEEKDAYS | _SHORT_DAYS,
    seasons={"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12},
    units=_UNITS
    | {f"{word}s": unit for word, unit in _UNITS.items()}
    | {"weekend": Unit.WEEKEND, "weekends": Unit.WEEKEND},
    counts={word: (number, number) for number, word in enumerate(_NUMBERS) if number}
    | {word: (number, number) for word, number in [("thirty", 30), ("sixty", 60), ("ninety", 90), ("a", 1), ("an", 1)]}
    | {"a couple of": _PAIR, "couple of": _PAIR, "couple": _PAIR, "a couple": _PAIR, "a few": _FEW, "few": _FEW}
    | {"several": _SEVERAL, "the": (1, 1)},
    ordinals={word: number for number, word in enumerate(_ORDINALS, start=1)} | {"last": 4},
    directions={
        "last": -1,
        "previous": -1,
        "the previous": -1,
        "past": -1,
        "this past": -1,
        "this": 0,
        "current": 0,
        "the": 0,
    }
    | {"next": 1, "coming": 1, "this coming": 1},
    offsets={"today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0}
    | {"yesterday": -1, "last night": -1, "the day before yesterday": -2, "day before yesterday": -2}
    | {"tomorrow": 1, "the day after tomorrow": 2, "day after tomorrow": 2},
    parts={"early": Part.EARLY, "mid": Part.MIDDLE, "late": Part.LATE}
    | {f"{word} of": Part.EARLY for word in ("beginning", "start", "early part")}
    | {"middle of": Part.MIDDLE, "end of": Part.LATE, "earlier": Part.ELAPSED, "later": Part.REMAINING}
    | {"first half of": Part.FIRST_HALF, "second half of": Part.SECOND_HALF, "earlier in": Part.ELAPSED},
)
_V = VOCABULARY
_START = r"(?<![\w.#/:@'-])"
_END = r"(?![\w]|[./:@]\w|-\w)"
_WEEKDAY_BEFORE = rf"(?:(?:{alternatives(_V.weekdays)})\.?,?\s+(?:the\s+)?)?"
_NTH = r"(?:st|nd|rd|th)?"
_DAY = (
    rf"(?P<day>\d{{1,2}}){_NTH}"
    rf"(?:\s?(?:-|–|to|and|through|until)\s?(?:the\s+)?(?P<last_day>\d{{1,2}}){_NTH})?"
)
_YEAR_WORD = r"(?P<year_direction>last|this|next|the\s+previous)\s+year(?:'s)?"
_OF_YEAR = rf"(?:,?\s+(?:of\s+|in\s+)?{YEAR}|\s+(?:of\s+)?{_YEAR_WORD})"
_PART = rf"(?:(?P<part>{alternatives(_V.parts)})[\s-]+)"
_DIRECTION = r"(?P<direction>last|previous|this\s+past|past|this\s+coming|this|coming|current|next)"
_COUNT = rf"(?P<count>\d{{1,4}}|{alternatives([word for word in _V.counts if word != 'the'])})"
_UNIT = rf"(?P<unit>{alternatives(_V.units)})"
_NAMED_UNIT = r"(?P<unit>week|weekend|month|quarter|year|decade)"
_SEASON = rf"(?P<season>{alternatives(_V.seasons)})"
_BARE = r"in|since|before|(?<!named )(?<!look )after|until|till|through|during|throughout|month of|prior to"
_YEAR_BEFORE = _BARE.replace("month of", "the year|year|by|as of|around|circa")
_DAY_BEFORE = "on|since|before|after|until|till|by|the|through|of|from|between|to|around"
_COUNTED = (
    r"(?!\s+(?:words|lines|files|tokens|rows|users|people|ms|seconds|minutes|hours|days|weeks|times|steps|pages|"
    r"requests|items|rooms|chunks|bytes|dollars|euros|calories|meters|metres|miles|records|memories|of\b))"
)
_RECURRING = r"every|each|any|a|an|good|black|bloody|ash|casual|cyber|super|giving|per|some"


def _month(words: dict[str, int]) -> str:
    return rf"(?P<month>{alternatives(words)})(?:\.(?=\s))?"


_SURE_MONTHS = {word: number for word, number in _ALL.items() if word not in _DOUBTFUL}
_LONE_MONTHS = {word: number for word, number in _FULL.items() if word not in _NAMES}
_DATE_CONTEXT = either(capitalised, after(_DAY_BEFORE))

_DATES = tuple(
    expression(LEFT + _WEEKDAY_BEFORE + form + RIGHT, accepts)
    for months, tail, accepts in (
        (_ALL, _OF_YEAR, always),
        (_SURE_MONTHS, "", always),
        (_DOUBTFUL, "", _DATE_CONTEXT),
    )
    for form in (
        rf"{_DAY}\s+(?:of\s+)?{_month(months)}{tail}",
        rf"{_month(months)}\s+(?:the\s+)?{_DAY}{tail}",
        rf"(?P<day>{alternatives(_ORDINALS)})\s+of\s+{_month(months)}{tail}",
    )
)
_SLASHED = (
    expression(rf"{LEFT}(?P<month>0?[1-9]|1[0-2])/(?P<day>1[3-9]|2\d|3[01])/{YEAR}{RIGHT}"),
    expression(rf"{LEFT}(?P<day>1[3-9]|2\d|3[01])/(?P<month>0?[1-9]|1[0-2])/{YEAR}{RIGHT}"),
    expression(rf"{LEFT}(?P<day>0?[1-9]|1[0-2])/(?P<month>(?P=day))/{YEAR}{RIGHT}"),
)
EXPRESSIONS: Final = (
    *DIGITS,
    *_SLASHED,
    *_DATES,
    expression(rf"{LEFT}{YEAR}-(?P<month>0[1-9]|1[0-2]){RIGHT}", after(_YEAR_BEFORE)),
    expression(rf"{LEFT}{YEAR}\s?[-–/]\s?(?P<last_year>(?:19|20)\d\d){RIGHT}", after(f"{_YEAR_BEFORE}|from|between")),
    expression(rf"{LEFT}week\s+(?P<week>\d{{1,2}})(?:,\s*|\s+(?:of\s+|in\s+)?){YEAR}{RIGHT}"),
    # Months.
    expression(rf"{_START}{_PART}?{_month(_ALL)}{_OF_YEAR}{RIGHT}"),
    expression(rf"{_START}{_PART}?{_YEAR_WORD}\s+(?:in\s+)?{_month(_FULL)}{_END}"),
    expression(rf"{_START}{_PART}{_month(_FULL)}{_END}"),
    expression(rf"{_START}(?:the\s+month\s+of\s+)?{_month(_LONE_MONTHS)}{_END}"),
    expression(rf"{_START}{_month(_NAMES)}(?!'s|\s+day\b){_END}", after(_BARE)),
    expression(rf"{_START}{_month(_ALL)}{_END}", both(capitalised, after(_BARE))),
    expression(rf"{_START}{_PART}?{_DIRECTION.replace('this|', '')}\s+{_month(_FULL)}{_END}"),
    expression(rf"{_START}(?P<direction>this)\s+{_month(_FULL)}{_END}", capitalised),
    # Years.
    expression(rf"{LEFT}{YEAR}{RIGHT}{_COUNTED}", after(_YEAR_BEFORE)),
    expression(rf"{_START}{_PART}(?:the\s+year\s+)?{YEAR}{RIGHT}{_COUNTED}"),
    expression(rf"{_START}{_PART}?(?:the\s+)?(?P<decade>(?:19|20)\d0)'?s{_END}"),
    # Quarters, halves and seasons.
    expression(
        rf"{_START}(?:q(?P<quarter>[1-4])|h(?P<half>[12]))(?:[\s/-]?(?:of\s+)?{YEAR}|\s+(?:of\s+)?{_YEAR_WORD}){RIGHT}"
    ),
    expression(rf"{_START}(?P<quarter>first|second|third|fourth|last)\s+quarter{_OF_YEAR}{RIGHT}"),
    expression(rf"{_START}q(?P<quarter>[1-4]){_END}", after(f"{_BARE}|by")),
    expression(rf"{_START}{_PART}?{_SEASON}{_OF_YEAR}{RIGHT}"),
    expression(rf"{_START}{_PART}?{_YEAR_WORD}\s+{_SEASON}{_END}"),
    expression(rf"{_START}{_PART}?{_DIRECTION}\s+{_SEASON}{_END}"),
    # Weekdays.
    expression(rf"{_START}(?P<weekday>{alternatives(_WEEKDAYS)}){_END}", unless_after(_RECURRING)),
    expression(
        rf"{_START}(?P<weekday>{alternatives(_WEEKDAYS)})\s+(?:of\s+)?(?P<week_direction>last|this|next|the\s+previous)"
        rf"\s+week{_END}"
    ),
    expression(
        rf"{_START}(?P<week_direction>last|this|next)\s+week(?:'s|\s+on)?\s+(?P<weekday>{alternatives(_WEEKDAYS)}){_END}"
    ),
    expression(rf"{_START}{_DIRECTION}\s+(?P<weekday>{alternatives(_WEEKDAYS)}){_END}"),
    expression(
        rf"{_START}(?P<weekday>{alternatives(_SHORT_DAYS)})(?:\.(?=\s))?{_END}",
        both(capitalised, after("on|since|before|after|until|till|by|last|this|next|from")),
    ),
    # Counted from now.
    expression(rf"{_START}(?P<day_offset>{alternatives(_V.offsets)}){_END}"),
    expression(rf"{_START}{_COUNT}\s+{_UNIT}\s+ago{_END}", mode=Mode.AGO),
    expression(rf"{_START}{_COUNT}\s+{_UNIT}\s+from\s+(?:now|today){_END}", mode=Mode.AHEAD),
    expression(rf"{_START}(?:the\s+)?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}(?!\s+of\b){_END}", mode=Mode.PAST),
    expression(rf"{_START}(?:the\s+)?(?:next|coming)\s+{_COUNT}\s+{_UNIT}{_END}", mode=Mode.COMING),
    expression(
        rf"{_START}the\s+(?:past|last)\s+(?P<unit>day|week|month|quarter|year|decade)(?!\s+of\b){_END}", mode=Mode.PAST
    ),
    expression(rf"{_START}(?:the\s+)?(?:last|past)\s+(?P<unit>hour)(?!\s+of\b){_END}", mode=Mode.PAST),
    expression(rf"{_START}{_PART}?{_DIRECTION}\s+{_NAMED_UNIT}(?!\s+of\b){_END}"),
    expression(rf"{_START}{_PART}(?P<direction>the)\s+{_NAMED_UNIT}(?!\s+of\b){_END}"),
    expression(rf"{_START}(?:the\s+)?{_NAMED_UNIT}\s+before\s+last{_END}", direction=-2),
    expression(rf"{_START}(?:the\s+)?{_NAMED_UNIT}\s+after\s+next{_END}", direction=2),
)

_BOUNDS = {
    "since": Bound.SINCE,
    "starting": Bound.SINCE,
    "after": Bound.AFTER,
    "later than": Bound.AFTER,
    "before": Bound.BEFORE,
    "prior to": Bound.BEFORE,
    "earlier than": Bound.BEFORE,
    "until": Bound.UNTIL,
    "till": Bound.UNTIL,
    "up to": Bound.UNTIL,
    "by": Bound.UNTIL,
}
ENGLISH: Final = Grammar(
    vocabulary=VOCABULARY,
    expressions=EXPRESSIONS,
    bound=re.compile(
        rf"(?<![\w'-])(?<!look )(?<!looks )(?<!looked )(?<!looking )"
        r"(?<!name )(?<!named )(?<!take )(?<!takes )(?<!took )"
        rf"(?:(?P<count>\d{{1,3}}|{alternatives(_V.counts)})\s+(?P<unit>{alternatives(_V.units)})\s+(?=before|after))?"
        rf"(?P<bound>{alternatives(_BOUNDS)})\s+"
        r"(?P<event>(?!(?:about|that|this|to|for|with|and|when|or)\s)(?:(?!-\s)[^\s,;:.?!()–—]+\s+){0,6}?)"
        r"(?:(?:on|in|at|from|during|around|the|of|about)\s+){0,2}$"
    ),
    bounds=_BOUNDS,
    opening=re.compile(r"(?<![\w'-])(?P<opening>between|from)\s+(?:the\s+)?$"),
    joining=re.compile(r"\s+(?:and|to|till|until|through|thru)\s+(?:the\s+)?"),
    dash=re.compile(r"\s?[–—]\s?|\s-\s|\s+(?:to|through)\s+"),
    onwards=re.compile(r"\s+(?:on|onwards?|forward)\b"),
)
