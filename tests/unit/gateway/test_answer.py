from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.answer import NOTHING_KNOWN, SENTENCE_LENGTH, SENTENCES, merge, plain
from cortex_gateway.reconcile import reconcile
from cortex_gateway.scoring import Scoring

MakeHit = Callable[..., Hit]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FLOOR = 0.2
RECEIPT = re.compile(r"\[r(\d+)\]")


def answer(query: str, *hits: Hit, silent: tuple[str, ...] = ()) -> tuple[str, tuple[str, ...]]:
    ranked = Scoring().rank(hits, NOW)
    merged = merge(query, ranked, reconcile(ranked), FLOOR, silent)
    return merged.text, tuple(receipt.path for receipt in merged.receipts)


def test_a_page_answers_with_its_title_and_the_sentence_that_fits_the_question(make_hit: MakeHit) -> None:
    page = make_hit(
        "# Decision\n\nWe met. **PostgreSQL** replaces [[mongodb|MongoDB]] as the [store](adr/7). It was long.",
        source_class=SourceClass.RECENT_FILE,
        title="Database of Nile",
        path="pages:decisions/postgres",
    )
    text, paths = answer("Which store replaces MongoDB?", page)
    assert text == "Database of Nile: PostgreSQL replaces MongoDB as the store [r1]"
    assert paths == ("pages:decisions/postgres",)


def test_the_same_sentence_from_two_places_is_said_once_with_both_receipts(make_hit: MakeHit) -> None:
    text, paths = answer("Hermes?", make_hit(), make_hit(engine="rag", path="b"))
    assert text == "Hermes is stopped [r1][r2]"
    assert len(paths) == 2


@pytest.mark.parametrize("hits", [[], [{"relevance": 0.1}], [{"confidence": 0.1}], [{"relevance": 0.0}]])
def test_without_a_hit_above_the_floor_nothing_is_known(make_hit: MakeHit, hits: list[dict[str, float]]) -> None:
    assert answer("Hermes?", *(make_hit(**changes) for changes in hits)) == (NOTHING_KNOWN, ())


def test_nothing_known_says_who_did_not_answer() -> None:
    assert answer("Hermes?", silent=("rag", "cbm"))[0] == "Nothing is known about this; no answer from rag, cbm."


def test_an_old_page_that_nobody_contradicts_is_still_the_answer(make_hit: MakeHit) -> None:
    old = make_hit("Nile uses PostgreSQL.", source_class=SourceClass.OLDER_NOTE, age_days=900)
    assert answer("Nile?", old)[0].endswith("Nile uses PostgreSQL [r1]")


def test_a_hit_cannot_forge_a_receipt_or_a_line(make_hit: MakeHit) -> None:
    text, _ = answer("Hermes?", make_hit("Hermes is fine [r7] and [ R1 ] and [[[r2]]]\u202e\x00 now"))
    assert text == "Hermes is fine (r7) and ( R1 ) and (r2) now [r1]"


def test_a_conflict_is_told_only_when_its_winner_is_worth_telling(make_hit: MakeHit) -> None:
    stopped, active = (("Hermes", "status", "stopped"),), (("Hermes", "status", "active"),)
    hits = (make_hit(relevance=0.1, says=stopped), make_hit(relevance=0.1, age_days=9, path="b", says=active))
    assert answer("Hermes?", *hits) == (NOTHING_KNOWN, ())


def test_a_fresh_hit_about_something_else_does_not_come_before_the_old_one_that_fits(make_hit: MakeHit) -> None:
    fits = make_hit("Nile uses PostgreSQL.", age_days=200, path="fits", relevance=0.9)
    fresh = make_hit("Lunch is at noon.", path="fresh", relevance=0.3)
    assert answer("Nile?", fits, fresh) == ("Nile uses PostgreSQL [r1]", ("fits",))


def test_a_conflict_that_only_relevance_decided_is_told_with_both_sides(make_hit: MakeHit) -> None:
    stopped, active = (("Hermes", "status", "stopped"),), (("Hermes", "status", "active"),)
    live = make_hit(source_class=SourceClass.LIVE_INFRA, path="live", relevance=0.01, says=stopped)
    stale = make_hit("Hermes runs the mail.", age_days=60, path="stale", says=active)
    text, paths = answer("Who runs the mail?", live, stale)
    assert text.splitlines() == [
        "Hermes runs the mail [r1]",
        "Sources disagree on Hermes status: agent memory says active, but live infra says stopped [r1][r2]",
    ]
    assert paths == ("stale", "live")


def test_a_conflict_is_told_when_only_its_loser_fits_the_question(make_hit: MakeHit) -> None:
    stopped, active = (("Hermes", "status", "stopped"),), (("Hermes", "status", "active"),)
    live = make_hit(source_class=SourceClass.LIVE_INFRA, path="live", relevance=0.15, says=stopped)
    stale = make_hit("Hermes is active.", age_days=90, path="stale", says=active)
    text, paths = answer("Hermes?", live, stale)
    assert text == "Sources disagree on Hermes status: live infra says stopped, not active (memory stale 90d) [r1]"
    assert paths == ("live",)


texts = st.lists(
    st.sampled_from(
        [
            "Hermes",
            "is",
            "stopped.",
            "[r1]",
            "[[r2]]",
            "# ",
            "- ",
            "\n",
            "هرمز",
            "متوقف؟",
            "`x`",
            "[a](b)",
            "ok!",
            "\x07",
        ]
    )
    | st.text(max_size=12),
    max_size=60,
).map(" ".join)


@given(st.lists(st.tuples(texts, st.floats(0, 1), st.sampled_from(SourceClass), texts), max_size=9), texts)
@example([("[r1][r2]", 1.0, SourceClass.RECENT_FILE, "[r3")], "[r9]")
def test_every_line_ends_in_receipts_that_exist_and_every_receipt_is_cited(
    rows: list[tuple[str, float, SourceClass, str]], query: str
) -> None:
    hits = [
        Hit(
            engine="e",
            title=title,
            path=f"p{number}",
            snippet=snippet,
            native_score=0,
            relevance=relevance,
            last_seen=NOW,
            source_class=source_class,
        )
        for number, (snippet, relevance, source_class, title) in enumerate(rows)
    ]
    ranked = Scoring().rank(hits, NOW)
    merged = merge(query, ranked, reconcile(ranked), FLOOR)
    ids = [receipt.id for receipt in merged.receipts]
    assert ids == [f"r{number}" for number in range(1, len(ids) + 1)]
    if not ids:
        assert merged.text == NOTHING_KNOWN
        return
    lines = merged.text.split("\n")
    assert len(lines) <= SENTENCES
    cited = []
    for line in lines:
        matched = re.fullmatch(r"(.+?) ((?:\[r\d+\])+)", line)
        assert matched
        assert not RECEIPT.search(matched[1]), "only the end of a sentence holds receipts"
        assert len(matched[1]) <= SENTENCE_LENGTH
        cited += RECEIPT.findall(matched[2])
    assert {f"r{number}" for number in cited} == set(ids)


@given(st.lists(st.text(alphabet="abcdefghij", min_size=1, max_size=30), min_size=1, max_size=80))
def test_a_sentence_is_cut_at_whole_words(words: list[str]) -> None:
    snippet = " ".join(words)
    hit = Hit(
        engine="e",
        title="",
        path="p",
        snippet=snippet,
        native_score=0,
        relevance=1,
        last_seen=NOW,
        source_class=SourceClass.AGENT_MEMORY,
    )
    text, _ = answer("?", hit)
    said = text.removesuffix(" [r1]").removesuffix(" …").split()
    assert said == words[: len(said)]
    assert len(said) == len(words) or text.endswith("… [r1]")


@given(texts)
def test_plain_text_is_one_line_and_stays_plain(text: str) -> None:
    line = plain(text)
    assert "\n" not in line
    assert not RECEIPT.search(line)
