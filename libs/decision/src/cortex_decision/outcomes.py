"""Outcomes: what happened to something, and the states that it cannot be in after that."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from cortex_decision.topics import key

_TABLE: Final = """
fixed repaired restored recovered resolved solved patched mended work works working / broken down failing red flaky
  leak leaky faulty order fail crash offline unhealthy degraded defective stuck buggy
back up / down offline
green passing passed / red failing broken
healthy / unhealthy degraded down
approved rejected declined accepted granted denied signed merged published shipped delivered sent paid finished
  completed done submitted answered decided settled live released filed closed confirmed / pending open waiting wait
  draft progress review unpaid unsigned outstanding undecided unanswered underway unresolved blocked awaiting
  unconfirmed provisional look
merged closed resolved fixed solved filled filed answered finished / open
started resumed running run back restarted unpaused reopened live on / paused stopped suspended off down hold halted
  frozen
reopened opened open / closed shut
closed shut / open
enabled activated on live / off disabled inactive
disabled deactivated off removed / on enabled active available live reachable
unlocked unblocked lifted cleared clear open free / locked blocked banned frozen closed
found returned back turned came / missing lost gone away absent vacation leave sick holiday
lost stolen missing / found
married wed / single engaged unmarried
divorced separated / married
born birth boy girl baby son daughter / pregnant
hired filled / vacant
lifted repealed / effect force
separated divorced / together
healed recovered / broken injured sick ill
arrived came delivered received here / wait waiting ordered awaiting pending
love like enjoy / hate dislike detest
hate dislike detest / love like enjoy
sold / sale
emptied / full
filled / empty
automated automatic automatically / hand manual manually
manual manually / automated automatic automatically
finished completed / ongoing planned
healthy recovered well / sick ill
public published / private internal
private / public
صلح صلحنا اصلح اصلحنا اصلاح اتصلح تصليح عاد عادت العمل الخدمه رجع رجعت يعمل تعمل شغال استعاد / فاصل معطل معطله عطلان
  مكسور متعطل متوقف متوقفه خربان تعطل منقطع مقطوع
وافق وافقت الموافقه قبول رفض اعتمد اعتماد صدر انجز انجاز اكتمل اكتملت انتهي انتهت دمج سلم تسليم دفع وقع توقيع نشر
  ارسل ارسال / قيد المراجعه الانتظار معلق معلقه انتظار ينتظر تنتظر متوقف متوقفه مفتوح مسوده جار جاريه
فتح فتحت افتتح اعيد / مغلق مغلقه مقفل مسدود
اغلق اغلقت اغلاق قفل / مفتوح مفتوحه
تزوج تزوجت / اعزب عزباء مخطوب مخطوبه خاطب
ولدت انجبت ولد بنت طفل / حامل
طلق طلقت انفصل / متزوج متزوجه
عثر وجد عاد عادت رجع رجعت / مفقود ضايع غايب اجازه
تفعيل فعل فعلنا شغلنا / معطل متوقف
شغل شغلت / شاغر شاغره
تعطيل عطلنا اوقفنا ايقاف / مفعل مفعله شغال نشط
"""
"""What happened, a stroke, and what is not so any more; an indented line goes on. Compiled for this project from
general knowledge of both languages."""


def _read() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    lines = [line.split("/") for line in _TABLE.replace("\n  ", " ").strip().splitlines()]
    return tuple((frozenset(what.split()), frozenset(map(key, was.split()))) for what, was in lines)


_OUTCOMES: Final = _read()
EVENTS: Final = frozenset(word for events, _ in _OUTCOMES for word in events)


def contradicts(state: Collection[str], told: Sequence[str]) -> frozenset[str] | None:
    """The words of what happened, if something that was in this state is in it no longer; else none."""
    found: set[str] = set()
    for events, states in _OUTCOMES:
        happened = events & set(told) - set(state)
        if happened and any(key(word) in states for word in state):
            found |= happened
    return frozenset(found) or None
