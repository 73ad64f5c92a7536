"""Retellings: a change that is told in other words than the older statement, and what only resembles one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_decision import Statement, contradiction
from cortex_decision.clauses import Clause, read
from cortex_decision.leftovers import Leftovers, parts_of
from cortex_decision.moments import undated
from cortex_decision.outcomes import contradicts
from cortex_decision.phrasing import plain
from cortex_decision.topics import key

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def retired(old: str, new: str, speaker: str | None = "Zaid") -> bool:
    sides = [
        Statement(UUID(int=day), text, BEGAN + timedelta(days=day), speaker) for day, text in enumerate((old, new))
    ]
    return contradiction(sides[1], sides[0]) is not None


def clause(text: str) -> Clause:
    (found,) = read(text, speaker=None, session=None).clauses
    return found


def beside(new: str, old: str) -> Leftovers:
    older = clause(old)
    return Leftovers(list(parts_of(new, older, dated=False)), older, own=False, marked=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The quota of the mailbox is 5 GB.", "The admin raised the quota of the mailbox to 9 GB."),
        ("The fee is 20 euros.", "The treasurer upped the fee to 30 euros."),
        ("The lease ends in May.", "The lease was extended to October."),
        ("The lease ends in May.", "The lease was extended until October."),
        ("The talk is planned for Friday.", "The talk was pushed back to Tuesday."),
        ("The heater is broken.", "The plumber repaired the heater."),
        ("The proposal is pending.", "The proposal was approved yesterday."),
        ("The gate is locked.", "The gate was unlocked this morning."),
        ("Issue 31 is open.", "Issue 31 was fixed in the last release."),
        ("Rosa is engaged.", "Rosa got married in June."),
        ("The fair takes place in Linz.", "The fair was called off."),
        ("The newsletter goes out every week.", "The newsletter was discontinued."),
        ("The shop offers gift cards.", "The shop no longer offers gift cards."),
        ("Nora is learning Greek.", "Nora gave up on Greek."),
        ("The queue is RabbitMQ.", "The queue is NATS now."),
        ("Our wiki runs on Confluence.", "The wiki is on BookStack now, we cancelled Confluence."),
        ("We use Sentry for errors.", "We dropped Sentry for GlitchTip."),
        ("Olga leads the red team.", "Olga handed the red team over to Petra."),
        ("The mayor of Linz is Ruth Page.", "Colin Dray was elected as mayor of Linz."),
        ("The passports are at the embassy.", "The passports came back from the embassy."),
        ("The function is named get_dir.", "get_dir was renamed to current_dir."),
        ("The form has not been sent.", "The form was sent an hour ago."),
        ("The frontend is built with webpack.", "build: migrate frontend from webpack to vite"),
        ("The demo is on Thursday.", "الـ demo صار يوم الأحد."),
        ("المصعد معطل.", "تم إصلاح المصعد."),
        ("العقد ينتهي في يونيو.", "تم تمديد العقد إلى ديسمبر."),
        ("الطلب قيد المراجعة.", "تمت الموافقة على الطلب."),
        ("رنا مخطوبة.", "تزوجت رنا الشهر الماضي."),
    ],
)
def test_a_change_in_other_words_is_found(old: str, new: str) -> None:
    assert retired(old, new)
    assert not retired(new, old) or retired(old, new), "whatever the other direction says"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The fee is 20 euros.", "The treasurer compared the fee to 30 euros."),
        ("The fee is 20 euros.", "Acme raised its fee to 30 euros."),
        ("The fee is 20 euros.", "My neighbour's fee went up to 30 euros."),
        ("The lease ends in May.", "The lease of the car was extended to October."),
        ("The talk is on Friday.", "The talk on Friday was moved to room 4."),
        ("The heater is broken.", "The handle of the heater was repaired."),
        ("The build is broken.", "Karim fixed a typo in the build script."),
        ("The server is up.", "The server was down this morning."),
        ("The ticket is open.", "The ticket window is closed now."),
        ("Rosa is engaged.", "Rosa's cousin got married."),
        ("Lea is pregnant.", "Lea's sister gave birth to a boy."),
        ("The gym is open.", "The gym stopped selling water."),
        ("The gym costs 40 euros.", "The gym stopped the music."),
        ("I drink tea.", "I dropped my tea."),
        ("Omar works at Zain.", "Omar left Zain's lobby at noon."),
        ("Mona lives in Dubai.", "Mona travelled from Dubai to Cairo."),
        ("Mona works at Statnet.", "Mona moved to Bergen."),
        ("The file is in S3.", "We copied the file from S3 to disk."),
        ("The key is with Freya.", "Jonas got a key from Freya."),
        ("The docs are in Notion.", "A copy of the docs moved to GitBook."),
        ("The app is available in German.", "The app is now available in French."),
        ("The default branch is protected.", "The default branch was renamed to main."),
        ("We deploy on Mondays.", "We don't deploy on Fridays anymore."),
        ("We use React.", "The shop team moved from React to Vue."),
        ("The demo is on Thursday.", "الـ demo يوم الخميس."),
        ("المصعد معطل.", "تم إصلاح باب المصعد."),
        ("رنا مخطوبة.", "تزوجت أخت رنا."),
        ("سعر التذكرة 50 ريالا.", "رفعوا سعر التذكرة للأجانب إلى 90 ريالا."),
    ],
)
def test_what_only_resembles_a_change_ends_nothing(old: str, new: str) -> None:
    assert not retired(old, new)
    assert not retired(old, new, None)


def test_leftovers_are_what_the_other_does_not_name() -> None:
    left = beside("The mobile limit was raised to 20.", "The daily limit is 10.")
    assert [left.older.words[at] for at in left.gone] == ["daily"]
    assert [span.words for span in left.come] == [("mobile",)]
    assert left.changes
    assert left.figures == ([("10",)], [("20",)])


def test_who_changed_it_is_nothing_that_came() -> None:
    assert beside("The board cut the budget to 20.", "The budget is 10.").come == []
    assert beside("The board cut its coffee budget to 20.", "The budget is 10.").come != []


def test_when_it_happened_is_left_out() -> None:
    for text in ("closed last week", "closed yesterday", "closed two days ago", "closed in May 2025"):
        said = clause(f"The shop {text}.")
        assert undated(said.words, said.spelled) == ("shop", "closed"), text
    recurring = clause("The shop is closed on Fridays.")
    assert undated(recurring.words, recurring.spelled) == recurring.words


def test_a_sentence_in_plain_words() -> None:
    assert plain("The trip was postponed until May.") == "The trip was postponed to May."
    assert plain("The trip was called off.") == "The trip was cancelled."
    assert plain("chore: rename the tool to sieve") == "We renamed the tool to sieve"
    assert plain("There is no trial plan any more.") == "The trial plan is no longer there."


def test_forms_of_a_word_have_one_key() -> None:
    for words in (("deploy", "deployment"), ("price", "cost"), ("مدير", "المديرة"), ("يقدم", "تقديم")):
        assert len(set(map(key, words))) == 1, words
    assert key("port") != key("report")


def test_an_outcome_ends_what_it_contradicts() -> None:
    assert contradicts(["open"], ["was", "merged"]) == {"merged"}
    assert contradicts(["open"], ["is", "open"]) is None
    assert contradicts(["blue"], ["was", "merged"]) is None


_WORDS = st.sampled_from(
    "the Atlas limit is was 5 20 now moved to from closed open not no longer in staging Berlin Tuesday new "
    "cancelled we my صار المصعد معطل إلى".split()
)
_SENTENCES = st.lists(_WORDS, min_size=1, max_size=9).map(" ".join)


@given(_SENTENCES)
def test_whoever_says_the_same_again_changes_nothing(text: str) -> None:
    assert not retired(text, text)


@given(_SENTENCES, _SENTENCES)
def test_what_shares_no_word_ends_nothing(text: str, more: str) -> None:
    assert not retired("Gudrun collects porcelain owls.", f"{text}, {more}")
