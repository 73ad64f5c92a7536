"""Frames: the few relations whose ends and successions language has words for: work, home, membership, use.

"joined B" ends "works at A"; "left A", "moved to B", "replaced A with B" likewise, in English and Arabic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from cortex_decision import arabic, english
from cortex_decision.clauses import Clause
from cortex_decision.places import habitable


@dataclass(frozen=True, slots=True)
class Span:
    """Words `start` to `end` of a clause."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One reading of a clause: `subject` stands in `relation` to `value`, or passes from `source` to `value`."""

    relation: str
    act: str
    subject: str
    value: Span | None = None
    source: Span | None = None
    moved: str = ""
    """What the subject moved, if not itself: "the team" of "moved the team from A to B"."""


_BY: Final = r"(?: (?:also|recently|finally|just|officially|have|then))*"
_AND: Final = r"(?:for|to join|and(?: then)? joined|and(?: now)? work (?:at|for)|and(?: have)? started(?: work)? at)"
_JOB: Final = (
    r"(?!customer|speaker|volunteer|member|player|outsider|visitor|donor|investor|borrower|subscriber|newcomer|regular|"
    r"reader|prisoner|never|together|late|parent|patient|client|debtor|creditor|competitor|buyer|seller|supplier|partner)"
    r"(?:\w+(?:er|or|ist|ian|yst|tect|tant)|nurse|chef|clerk|lead|head|intern|ceo|cto|cfo|coo|agent|assistant|consul)"
)
"""What somebody is by trade, by its ending: a guest and a student at a place may work elsewhere."""
_ENGLISH: Final = tuple(
    (relation, act, re.compile(f"^(?P<s>.+?){_BY} {pattern}$"))
    for relation, act, pattern in (
        ("work", "is", r"(?:work (?:at|for)|is employed (?:at|for|by|with)) (?P<v>.+?)"),
        ("work", "is", rf"is (?:\w+ )?{_JOB} at (?P<v>\S+)"),
        ("home", "is", r"(?:live|reside|is based|is living) in (?P<v>.+?)"),
        ("member", "is", r"is (?:member|part) of (?P<v>.+?)"),
        ("member", "is", r"(?:study|teach|volunteer) at (?P<v>.+?)"),
        ("member", "is", r"play for (?P<v>.+?)"),
        ("use", "is", r"use (?P<v>\S+)(?: for .+| as .+)?"),
        ("use", "is", r"(?:switched|migrated|moved) from \S+ to (?P<v>\S+)"),
        ("work", "to", rf"(?:left|quit|leaved) (?P<a>.+?) {_AND} (?P<v>.+?){english.LATER}"),
        ("work", "to", rf"joined (?P<v>.+?){english.LATER}"),
        ("work", "to", rf"(?:started|got)(?: new)?(?: job| work| working) (?:at|for|with) (?P<v>.+?){english.LATER}"),
        ("home", "to", rf"(?:moved|relocated)(?: from (?P<a>.+?))? to (?P<v>.+?){english.LATER}"),
        (
            "use",
            "to",
            rf"(?:migrated|switched|moved|changed)(?: (?P<o>.+?))? from (?P<a>.+?) to (?P<v>.+?){english.LATER}",
        ),
        ("use", "to", rf"replaced (?P<a>.+?) (?:with|by) (?P<v>.+?){english.LATER}"),
        (
            "work",
            "end",
            r"(?:left|quit|(?:resigned|retired|was fired|was laid off|was dismissed) from|parted way with)"
            rf"(?: (?:his|her|their|\S+'s) (?:job|position|post) at)? (?P<v>.+?){english.LATER}",
        ),
    )
)

_BEFORE: Final = r"(?P<s>(?:\S+ ){0,4}?)"
_WHEN: Final = r"(?: (?:امس|مؤخرا|موخر|(?:الشهر|الاسبوع|العام) الماضي|السنه الماضيه|هذا (?:الشهر|العام|الاسبوع)))?"
_ARABIC: Final = tuple(
    (relation, act, re.compile(f"^{pattern}$"))
    for relation, act, pattern in (
        ("work", "is", rf"(?P<p>[يتنا])عمل {_BEFORE}(?:في|لدي|عند) (?P<v>.+?)"),
        ("work", "is", r"(?P<s>(?:\S+ ){0,3}?\S+ |)(?P<p>[يتنا])عمل (?:في|لدي|عند) (?P<v>.+?)"),
        ("home", "is", rf"(?P<p>[يتنا])(?:سكن|عيش|قيم) {_BEFORE}في (?P<v>.+?)"),
        ("home", "is", r"(?P<s>(?:\S+ ){0,3}?\S+ |)(?P<p>[يتنا])(?:سكن|عيش|قيم) في (?P<v>.+?)"),
        ("member", "is", r"(?P<s>(?:\S+ ){1,4}?)(?:عضو|عضوه) في (?P<v>.+?)"),
        ("member", "is", rf"(?P<p>[يتنا])درس {_BEFORE}في (?P<v>.+?)"),
        ("use", "is", r"(?P<p>[نا])(?:ستخدم|ستعمل) (?P<v>\S+)(?: ل\S+.*)?"),
        ("work", "to", rf"(?:انضمم|انضم|التحق)(?P<p>ت|نا|) {_BEFORE}(?:الي |ب ?)(?P<v>.+?){_WHEN}"),
        ("work", "to", rf"(?P<s>(?:\S+ ){{1,3}}?)(?:انضم|التحق)ت? الي (?P<v>.+?){_WHEN}"),
        (
            "home",
            "to",
            rf"انتقل(?P<p>ت|نا|) {_BEFORE}(?:(?:للعيش|للسكن|للاقامه) )?(?:من (?P<a>.+?) )?(?:الي|في) "
            rf"(?P<v>.+?)(?: للعيش| للسكن)?{_WHEN}",
        ),
        ("home", "to", rf"(?P<s>(?:\S+ ){{1,3}}?)انتقلت? (?:للعيش |للسكن )?(?:من (?P<a>.+?) )?الي (?P<v>.+?){_WHEN}"),
        ("use", "to", rf"(?:انتقل|تحول)(?P<p>نا|ت) {_BEFORE}من (?P<a>.+?) الي (?P<v>.+?){_WHEN}"),
        ("use", "to", rf"استبدل(?P<p>نا|ت) (?P<s>)(?P<a>.+?) ب ?(?P<v>.+?){_WHEN}"),
        ("work", "left", rf"(?:ترك|غادر)(?P<p>ت|نا|) (?P<v>.+?) و(?:انضم|التحق)ت? (?:الي|ب) ?(?P<b>.+?){_WHEN}"),
        ("work", "left", rf"(?:ترك|غادر)(?P<p>ت|نا|) (?P<v>.+?){_WHEN}"),
        ("work", "end", rf"استقال(?P<p>ت|) {_BEFORE}من (?:(?:عمله|عملها|وظيفته|وظيفتها) في )?(?P<v>.+?){_WHEN}"),
        ("work", "end", rf"(?P<s>(?:\S+ ){{1,3}}?)(?:استقالت?|تقاعدت?) من (?P<v>.+?){_WHEN}"),
    )
)


def frames(clause: Clause) -> tuple[Frame, ...]:
    """Every reading of `clause` as a relation or its change; usually none."""
    patterns = _ARABIC if clause.arabic else _ENGLISH
    text = clause.text
    return tuple(
        _frame(clause, relation, act, found) for relation, act, pattern in patterns if (found := pattern.match(text))
    )


def _frame(clause: Clause, relation: str, act: str, found: re.Match[str]) -> Frame:
    groups = found.groupdict()
    subject = (groups.get("s") or "").strip()
    if not subject and groups.get("p"):
        subject = {"ا": clause.me, "ن": clause.us, "ت": clause.me, "نا": clause.us}.get(groups["p"], "")
    value, source = _span(found, "v"), _span(found, "a")
    if act == "left":
        return Frame(relation, act, "", _span(found, "b"), value)
    if act == "end":
        return Frame(relation, act, subject, None, value)
    return Frame(relation, act, subject, value, source, groups.get("o") or "")


def _span(found: re.Match[str], group: str) -> Span | None:
    if group not in found.re.groupindex or found.start(group) < 0:
        return None
    text = found[group].strip()
    start = found.string[: found.start(group)].count(" ")
    return Span(start, start + len(text.split()), text) if text else None


def credible(relation: str, clause: Clause, span: Span) -> bool:
    """Whether the words can name a workplace or a home, as far as spelling and a few lists tell."""
    words = span.text.split()
    if (
        len(words) > 5
        or set(words) & {"for", "from"}
        or "and" in words
        or "'s" in words
        or (relation == "home" and not habitable(words))
    ):
        return False
    if not clause.arabic:
        return clause.proper(span.start) and not set(words) & english.CIRCLES
    if words[0].isascii():
        return True
    if relation == "home":
        named = not words[0].startswith("ال") or words[0] in arabic.PLACES
        return len(words) <= 2 and named and words[0] not in arabic.NO_PLACE
    if relation == "work":
        return words[0] in arabic.WORKPLACES or (
            words[0] not in arabic.NO_WORKPLACE | arabic.PLATFORMS | arabic.MONTHS
            and (not words[0].startswith("ال") or words[0][2:] in arabic.WORKPLACES)
            and len(words) <= 3
        )
    return True
