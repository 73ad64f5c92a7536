"""Arabic time expressions, in the folded spelling (`folding`): Levantine, Egyptian and Maghrebi months, any digits.

Arabic has no capitals, so a month that is also a word (مارس practised, آب a father, نيسان a car) and a bare year count
only after a preposition or a word such as شهر and عام. "قبل ثلاثة أسابيع" is three weeks ago, "قبل مارس" is before
March; "منذ أسبوعين" holds both the moment two weeks ago and what followed, so it opens like
"since". The day comes first in 3/4/2025.
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
    Accepts,
    Bound,
    Grammar,
    Vocabulary,
    alternatives,
    expression,
    unless_after,
)


def _numbered(lines: str) -> dict[str, int]:
    """Each line names one number; a word may appear with underscores for spaces."""
    return {
        word.replace("_", " "): number for number, line in enumerate(lines.split("|"), start=1) for word in line.split()
    }


_MONTHS = _numbered(
    "يناير كانون_الثاني جانفي | فبراير شباط فيفري | مارس اذار | ابريل نيسان افريل | مايو ايار | يونيو يونيه حزيران |"
    "يوليو يوليه تموز جويليه يوليوز | اغسطس اب غشت | سبتمبر ايلول شتنبر | اكتوبر تشرين_الاول |"
    "نوفمبر تشرين_الثاني نونبر | ديسمبر كانون_الاول دجنبر"
)
_WEEKDAYS = {
    word: day
    for day, names in enumerate("الاثنين الاتنين|الثلاثاء|الاربعاء|الخميس|الجمعه|السبت|الاحد".split("|"))
    for word in names.split()
}
_ONE = {
    "يوم": Unit.DAY,
    "يوما": Unit.DAY,
    "اسبوع": Unit.WEEK,
    "اسبوعا": Unit.WEEK,
    "شهر": Unit.MONTH,
    "شهرا": Unit.MONTH,
}
_ONE |= {
    "سنه": Unit.YEAR,
    "عام": Unit.YEAR,
    "عاما": Unit.YEAR,
    "ساعه": Unit.HOUR,
    "دقيقه": Unit.MINUTE,
    "عقد": Unit.DECADE,
}
_MANY = {
    "ايام": Unit.DAY,
    "اسابيع": Unit.WEEK,
    "اشهر": Unit.MONTH,
    "شهور": Unit.MONTH,
    "سنوات": Unit.YEAR,
    "سنين": Unit.YEAR,
}
_MANY |= {"اعوام": Unit.YEAR, "ساعات": Unit.HOUR, "دقائق": Unit.MINUTE, "عقود": Unit.DECADE}
_TWO = {
    stem + ending: unit
    for stem, unit in zip(
        "يوم اسبوع شهر سنت عام ساعت".split(),
        (Unit.DAY, Unit.WEEK, Unit.MONTH, Unit.YEAR, Unit.YEAR, Unit.HOUR),
        strict=True,
    )
    for ending in ("ين", "ان")
}
_NAMED = {"الاسبوع": Unit.WEEK, "الشهر": Unit.MONTH, "السنه": Unit.YEAR, "العام": Unit.YEAR, "الربع": Unit.QUARTER}
_NAMED |= {"العقد": Unit.DECADE}
_NUMBERS = _numbered(
    "واحد واحده | اثنين اثنان | ثلاث ثلاثه | اربع اربعه | خمس خمسه | ست سته | سبع سبعه | ثمان ثماني ثمانيه | تسع تسعه |"
    "عشر عشره | احد_عشر احدي_عشره | اثني_عشر اثنتي_عشره | | | خمسه_عشر خمس_عشره"
) | {"عشرين": 20, "ثلاثين": 30, "ستين": 60, "تسعين": 90, "مئه": 100}
_ORDINALS = _numbered(
    "الاول الاولي اول | الثاني الثانيه | الثالث | الرابع | الخامس | السادس | السابع | الثامن | التاسع | العاشر |"
    "الحادي_عشر | الثاني_عشر | الثالث_عشر | الرابع_عشر | الخامس_عشر | السادس_عشر | السابع_عشر | الثامن_عشر |"
    "التاسع_عشر | العشرين"
)
_LAST = tuple(
    stem + ending
    for stem in ("الماضي", "الفائت", "المنصرم", "السابق", "الاخير", "اللي فات")
    for ending in ("", "ه", "ت", "ين", "يين", "تين")
)
_NEXT = tuple(stem + ending for stem in ("القادم", "المقبل", "التالي", "الجاي") for ending in ("", "ه", "ين"))
_PRESENT = ("الحالي", "الحاليه", "الجاري", "الجاريه", "هذا", "هذه")
_FEW = (2, 5)

VOCABULARY: Final = Vocabulary(
    months=_MONTHS,
    weekdays=_WEEKDAYS,
    seasons={"ربيع": 3, "صيف": 6, "خريف": 9, "شتاء": 12, "الربيع": 3, "الصيف": 6, "الخريف": 9, "الشتاء": 12},
    units=_ONE | _MANY | _TWO | _NAMED,
    counts={word: (number, number) for word, number in _NUMBERS.items()}
    | {f"ال{word}": (number, number) for word, number in _NUMBERS.items()}
    | {"بضعه": _FEW, "بضع": _FEW, "عده": _FEW, "كم": _FEW},
    ordinals=_ORDINALS | {"الاخير": 4},
    directions=dict.fromkeys(_LAST, -1) | dict.fromkeys(_PRESENT, 0) | dict.fromkeys(_NEXT, 1),
    offsets={"اليوم": 0, "الليله": 0, "هذا الصباح": 0, "هذا المساء": 0}
    | dict.fromkeys(("امس", "بالامس", "البارحه", "مبارح", "امبارح", "الليله الماضيه"), -1)
    | dict.fromkeys(("اول امس", "اول من امس", "امس الاول", "اول البارحه", "اول امبارح"), -2)
    | dict.fromkeys(("غدا", "بكره"), 1)
    | {"بعد غد": 2, "بعد غدا": 2, "بعد بكره": 2},
    parts=dict.fromkeys(("بدايه", "اوائل", "مطلع", "مستهل"), Part.EARLY)
    | dict.fromkeys(("منتصف", "اواسط", "وسط"), Part.MIDDLE)
    | dict.fromkeys(("نهايه", "اواخر", "اخر"), Part.LATE)
    | {"النصف الاول من": Part.FIRST_HALF, "النصف الثاني من": Part.SECOND_HALF},
)
_V = VOCABULARY
_ATTACHED = r"(?<=(?<!\w)[وفبل])"
"""After a particle that is written together with the word; it stays outside the expression."""
_WORD = rf"(?:(?<![\w.#/:@])|{_ATTACHED})"
_NUMBER = rf"(?:{LEFT}|{_ATTACHED})"
_END = r"(?!\w)"
_CALENDAR = r"(?:\s?م(?!\w))?"
"""The letter of "2025 م": of the common era."""
_MONTH = rf"(?:شهر\s+)?(?P<month>{alternatives(_MONTHS)})"
_DAY = r"(?P<day>\d{1,2})(?:\s?(?:-|–|الي|و)\s?(?P<last_day>\d{1,2}))?"
_YEAR_WORD = r"(?:عام|سنه|العام|السنه)"
_SIDE = rf"(?P<direction>{alternatives([word for word in _V.directions if not word.startswith('هذ')])})"
_OTHER_YEAR = rf"(?:العام|السنه)\s+(?P<year_direction>{alternatives(_LAST + _NEXT + _PRESENT)})"
_OF_YEAR = rf"(?:\s*[،,]?\s*(?:من\s+|في\s+)?(?:{_YEAR_WORD}\s+)?{YEAR}{_CALENDAR}|\s+(?:من\s+|في\s+)?{_OTHER_YEAR})"
_PART = rf"(?:[وف]?(?P<part>{alternatives(_V.parts)})\s+)"
_SEASON = rf"(?P<season>{alternatives(_V.seasons)})"
_NAMED_UNIT = rf"(?P<unit>{alternatives(_NAMED)})"
_WEEKDAY = rf"(?P<weekday>{alternatives(_WEEKDAYS)})"
_COUNT = rf"(?P<count>\d{{1,4}}|{alternatives(_V.counts)})"
_QUANTITY = rf"{_COUNT}\s+(?P<unit>{alternatives(_ONE | _MANY)})"
_PAIR = rf"(?P<unit>{alternatives(_TWO)})"
_SINGLE = rf"(?P<unit>{alternatives(_ONE)})(?!\s+(?:من|{alternatives(_MONTHS)}|{alternatives(_WEEKDAYS)}|\d))"
"""One unit, and not the word that introduces a name: قبل شهر is a month ago, قبل شهر مارس before March."""
_MANY_UNITS = rf"(?P<unit>{alternatives(_MANY)})"
_ADJECTIVE = rf"(?:{alternatives(_LAST)})"
_COMING = rf"(?:{alternatives(_NEXT)})"
_AGO = rf"{_WORD}قبل\s+(?:حوالي\s+|نحو\s+)?"
_SINCE = r"منذ|منذ\s+حوالي|منذ\s+نحو"
_NEAR_MONTH = r"في|منذ|قبل|بعد|حتي|خلال|طوال|طيله|اثناء|لغايه"
_NEAR_YEAR = rf"{_NEAR_MONTH}|من عام|من سنه"


def _after(words: str, *, attached: str = "(?!)") -> Accepts:
    """Accept what follows one of `words`, perhaps with و or ف before them, or the particle `attached` to it."""
    pattern = re.compile(rf"(?<!\w)[وف]?(?:(?:{words})\s+|{attached})$")
    return lambda before, _capital: pattern.search(before) is not None


EXPRESSIONS: Final = (
    *DIGITS,
    # Days.
    expression(rf"{_NUMBER}{_DAY}\s+(?:من\s+)?{_MONTH}{_OF_YEAR}?{_END}"),
    expression(rf"{_WORD}(?P<day>{alternatives(_ORDINALS)})\s+من\s+{_MONTH}{_OF_YEAR}?{_END}"),
    expression(rf"{_NUMBER}(?P<day>\d{{1,2}})[/-](?P<month>\d{{1,2}})[/-]{YEAR}{RIGHT}"),
    # Months.
    expression(rf"{_WORD}{_PART}?{_MONTH}{_OF_YEAR}{_END}"),
    expression(rf"{_WORD}{_PART}?{_MONTH}\s+{_SIDE}{_END}"),
    expression(rf"{_WORD}{_PART}{_MONTH}{_END}"),
    expression(rf"{_WORD}شهر\s+(?P<month>{alternatives(_MONTHS)}){_END}"),
    expression(rf"{_WORD}(?P<month>{alternatives(_MONTHS)}){_END}", _after(_NEAR_MONTH, attached="ب")),
    # Years, quarters, seasons.
    expression(rf"{_NUMBER}{YEAR}{_CALENDAR}{RIGHT}", _after(_NEAR_YEAR)),
    expression(rf"{_WORD}{_PART}?{_YEAR_WORD}\s+{YEAR}{_CALENDAR}{RIGHT}"),
    expression(rf"{_WORD}{_PART}{YEAR}{_CALENDAR}{RIGHT}"),
    expression(rf"{_WORD}الربع\s+(?P<quarter>{alternatives(_V.ordinals)}){_OF_YEAR}{_END}"),
    expression(rf"{_WORD}{_SEASON}{_OF_YEAR}{_END}"),
    expression(rf"{_WORD}{_SEASON}\s+{_SIDE}{_END}"),
    expression(rf"{_WORD}(?P<direction>هذا)\s+{_SEASON}{_END}"),
    # Weekdays.
    expression(rf"{_WORD}يوم\s+{_WEEKDAY}{_END}", unless_after("كل|اي")),
    expression(rf"{_WORD}{_WEEKDAY}{_END}", _after("منذ|قبل|بعد|حتي|في|لغايه")),
    expression(rf"{_WORD}(?:يوم\s+)?{_WEEKDAY}\s+{_SIDE}{_END}"),
    expression(
        rf"{_WORD}(?:يوم\s+)?{_WEEKDAY}\s+(?:من\s+|في\s+)?الاسبوع\s+"
        rf"(?P<week_direction>{alternatives(_LAST + _NEXT + _PRESENT)}){_END}"
    ),
    # Counted from now.
    expression(
        rf"{_WORD}(?P<day_offset>{alternatives(_V.offsets)})(?!\s+ال(?:اول|ثاني|ثالث|تالي|سابق|ذي|عالمي)){_END}",
        unless_after("في|ذلك|نفس"),
    ),
    expression(rf"{_AGO}{_QUANTITY}(?!\s+من\b){_END}", mode=Mode.AGO),
    expression(rf"{_AGO}{_PAIR}(?!\s+من\b){_END}", mode=Mode.AGO, count=(2, 2)),
    expression(rf"{_AGO}{_SINGLE}{_END}", mode=Mode.AGO),
    expression(rf"{_WORD}{_QUANTITY}{_END}", _after(_SINCE), mode=Mode.AGO),
    expression(rf"{_WORD}{_PAIR}{_END}", _after(_SINCE), mode=Mode.AGO, count=(2, 2)),
    expression(rf"{_WORD}{_SINGLE}{_END}", _after(_SINCE), mode=Mode.AGO),
    expression(rf"{_WORD}(?:ال)?اخر\s+{_QUANTITY}{_END}", mode=Mode.PAST),
    expression(rf"{_WORD}(?:ال)?اخر\s+{_PAIR}{_END}", mode=Mode.PAST, count=(2, 2)),
    expression(rf"{_WORD}ال\s?{_QUANTITY}\s+{_ADJECTIVE}(?!\s+من\b){_END}", mode=Mode.PAST),
    expression(rf"{_WORD}ال{_MANY_UNITS}\s+{_COUNT}\s+{_ADJECTIVE}(?!\s+من\b){_END}", mode=Mode.PAST),
    expression(rf"{_WORD}ال{_MANY_UNITS}\s+{_ADJECTIVE}(?!\s+من\b){_END}", mode=Mode.PAST, count=_FEW),
    expression(rf"{_WORD}ال{_PAIR}\s+{_ADJECTIVE}(?!\s+من\b){_END}", mode=Mode.PAST, count=(2, 2)),
    expression(rf"{_WORD}ال{_MANY_UNITS}\s+{_COUNT}\s+{_COMING}{_END}", mode=Mode.COMING),
    expression(rf"{_WORD}{_PART}?{_NAMED_UNIT}\s+{_SIDE}{_END}"),
    expression(rf"{_WORD}{_PART}?(?P<direction>هذا|هذه)\s+{_NAMED_UNIT}{_END}"),
    expression(rf"{_WORD}{_NAMED_UNIT}\s+(?:ما\s+)?قبل\s+(?:الماضي|الماضيه|الاخير|الفائت){_END}", direction=-2),
)

_BOUNDS = {
    "منذ": Bound.SINCE,
    "ابتداء من": Bound.SINCE,
    "اعتبارا من": Bound.SINCE,
    "بعد": Bound.AFTER,
    "قبل": Bound.BEFORE,
    "حتي": Bound.UNTIL,
    "لغايه": Bound.UNTIL,
    "بحلول": Bound.UNTIL,
}
ARABIC: Final = Grammar(
    vocabulary=VOCABULARY,
    expressions=EXPRESSIONS,
    bound=re.compile(
        rf"(?<!\w)[وف]?(?:(?P<count>(?!))(?P<unit>(?!)))?(?P<bound>{alternatives(_BOUNDS)})\s+"
        r"(?P<event>(?:(?!-\s)[^\s,;:.?!()؟،؛–—]+\s+){0,6}?)(?:(?:في|من|يوم|بتاريخ|عام|سنه|شهر|ال)\s+){0,2}$"
    ),
    bounds=_BOUNDS,
    opening=re.compile(r"(?<!\w)[وف]?(?P<opening>بين|من)\s+(?:عامي\s+|شهري\s+|عام\s+|سنه\s+|شهر\s+|يومي\s+|يوم\s+)?$"),
    joining=re.compile(
        r"\s+(?:الي|حتي)\s+(?:عام\s+|سنه\s+|شهر\s+|يوم\s+)?"
        r"|\s+و\s?(?:بين\s+)?(?:عام\s+|سنه\s+|شهر\s+|يوم\s+)?"
    ),
    dash=re.compile(r"\s?[–—]\s?|\s-\s|\s+الي\s+"),
    onwards=re.compile(r"\s+(?:فصاعدا|وصاعدا|فما\s+بعد)(?!\w)"),
)
