"""Conflicts between sources; the first test is the regression that Cortex began with."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_contracts.messages.base import Assertion
from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.answer import merge
from cortex_gateway.duplicates import normalise
from cortex_gateway.reconcile import Disagreement, reconcile
from cortex_gateway.scoring import ScoredHit, Scoring

MakeHit = Callable[..., Hit]
ACTIVE = (("Hermes", "status", "active"),)
STOPPED = (("Hermes", "status", "stopped"),)


def ranked(now: datetime, *hits: Hit) -> list[ScoredHit]:
    return Scoring().rank(hits, now)


def test_a_stale_memory_that_hermes_is_active_loses_to_live_infra_and_the_loss_is_reported(
    make_hit: MakeHit, now: datetime
) -> None:
    stale = make_hit("Hermes is active.", age_days=40, path="memory:old", says=ACTIVE)
    live = make_hit(
        "Hermes is stopped.", source_class=SourceClass.LIVE_INFRA, engine="rag", path="infra/hermes", says=STOPPED
    )
    hits = ranked(now, stale, live)

    (disagreement,) = reconcile(hits)

    conflict = disagreement.conflict()
    assert conflict.claim == "Hermes status"
    assert (conflict.winner, conflict.losers) == (SourceClass.LIVE_INFRA, (SourceClass.AGENT_MEMORY,))
    assert conflict.reason == "memory stale 40d"
    assert (conflict.value, conflict.losing_values) == ("stopped", ("active",))
    assert conflict.paths == ("infra/hermes", "memory:old")
    assert [hit.hit.path for hit in hits] == ["infra/hermes", "memory:old"], "the loser stays a hit"
    answer = merge("Is Hermes running?", hits, [disagreement], floor=0.2)
    assert answer.text.splitlines() == [
        "Hermes is stopped [r1]",
        "Sources disagree on Hermes status: live infra says stopped, not active (memory stale 40d) [r1]",
    ]
    assert [receipt.path for receipt in answer.receipts] == ["infra/hermes"]


@pytest.mark.parametrize(
    ("stale", "live", "value", "lost"),
    [
        ("Hermes is active.", "Hermes stopped", "stopped", "active"),
        ("Hermes is running on CT215 and answers the digest.", "hermes: inactive", "inactive", "running"),
        ("Hermes يعمل على CT215", "Hermes متوقف", "متوقف", "يعمل"),
        ("خدمة Hermes نشطة", "Hermes is stopped.", "stopped", "نشطة"),
    ],
)
def test_the_same_is_read_from_plain_texts_in_english_and_arabic(
    make_hit: MakeHit, now: datetime, stale: str, live: str, value: str, lost: str
) -> None:
    hits = ranked(
        now,
        make_hit(stale, age_days=40, path="memory:old"),
        make_hit(live, source_class=SourceClass.LIVE_INFRA, engine="rag", path="infra/hermes"),
    )

    (disagreement,) = reconcile(hits)

    conflict = disagreement.conflict()
    assert conflict.claim.casefold() == "hermes status"
    assert (conflict.winner, conflict.losers) == (SourceClass.LIVE_INFRA, (SourceClass.AGENT_MEMORY,))
    assert conflict.reason == "memory stale 40d"
    assert (conflict.value, conflict.losing_values) == (value, (lost,))
    assert conflict.paths == ("infra/hermes", "memory:old")


def test_an_assertion_and_a_text_can_disagree(make_hit: MakeHit, now: datetime) -> None:
    read = make_hit("Hermes is active.", age_days=40, path="memory:old")
    page = make_hit("A page.", source_class=SourceClass.RECENT_FILE, path="b", title="Hermes", says=STOPPED)
    (disagreement,) = reconcile(ranked(now, read, page))
    assert (disagreement.claim, disagreement.value) == ("Hermes status", "stopped")


def test_what_a_hit_asserts_counts_more_than_what_is_read_from_its_text(make_hit: MakeHit, now: datetime) -> None:
    one = make_hit("Hermes is active.", says=STOPPED)
    assert reconcile(ranked(now, one, make_hit("Hermes is stopped.", path="b"))) == ()


def test_the_title_of_a_page_is_its_subject_and_that_of_a_memory_is_not(make_hit: MakeHit, now: datetime) -> None:
    live = make_hit("Hermes is stopped.", source_class=SourceClass.LIVE_INFRA, path="live")
    page = make_hit("status: active", source_class=SourceClass.RECENT_FILE, title="Hermes", path="page")
    memory = make_hit("status: active", title="Hermes", path="memory")
    assert [d.claim for d in reconcile(ranked(now, live, page))] == ["Hermes status"]
    assert reconcile(ranked(now, live, memory)) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Hermes", "load", "40%"), ("Hermes", "load", "0.4")),
        (("Hermes", "timeout", "5 min"), ("Hermes", "timeout", "300 s")),
        (("Hermes", "version", "v1.2"), ("Hermes", "version", "1.2.0")),
        (("Hermes", "status", "running"), ("Hermes", "status", "Active")),
        (("Hermes", "since", "2026-03-01"), ("Hermes", "since", "1 March 2026")),
    ],
)
def test_values_that_mean_the_same_corroborate(
    make_hit: MakeHit, now: datetime, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    hits = ranked(now, make_hit("One.", says=(one,)), make_hit("Two.", path="b", says=(other,)))
    assert reconcile(hits) == ()


def test_source_code_states_nothing(make_hit: MakeHit, now: datetime) -> None:
    code = make_hit("timeout = 30", source_class=SourceClass.RECENT_FILE, title="Hermes", path="src/hermes.py#run")
    page = make_hit("timeout = 60", source_class=SourceClass.RECENT_FILE, title="Hermes", path="hermes.md")
    assert reconcile(ranked(now, code, page)) == ()


def test_somebody_without_a_name_is_not_the_same_in_two_texts(make_hit: MakeHit, now: datetime) -> None:
    hits = ranked(now, make_hit("She lives in Oslo."), make_hit("She lives in Bergen.", path="b"))
    assert reconcile(hits) == ()


def test_a_denial_is_set_against_what_merely_is_so(make_hit: MakeHit, now: datetime) -> None:
    said = make_hit("The parser supports YAML.", path="a")
    denied = make_hit("The parser does not support YAML.", path="b", age_days=9)
    (disagreement,) = reconcile(ranked(now, said, denied))
    assert disagreement.reason == "memory stale 9d"


def test_a_word_and_its_opposite_are_told_as_clauses(make_hit: MakeHit, now: datetime) -> None:
    hits = ranked(now, make_hit("The lab accepts walk-ins."), make_hit("The lab rejects walk-ins.", path="z"))
    (disagreement,) = reconcile(hits)
    assert (disagreement.claim, disagreement.value) == ("lab accepts walk-ins", "yes")
    assert [loss.value for loss in disagreement.losses] == ["lab rejects walk-ins"]


def test_many_hits_about_one_thing_are_compared_in_reasonable_time(make_hit: MakeHit, now: datetime) -> None:
    says = [(("Hermes", "replicas", f"{n}"), ("Hermes", "port", f"{n}")) for n in range(400)]
    hits = ranked(now, *(make_hit(f"{n}", path=f"p{n}", says=said) for n, said in enumerate(says)))
    started = time.process_time()
    disagreements = reconcile(hits)
    assert time.process_time() - started < 10.0, "a second is usual; every pair with every other takes minutes"
    assert [len(disagreement.losses) for disagreement in disagreements] == [399, 399]


def test_saying_the_same_thing_twice_is_corroboration(make_hit: MakeHit, now: datetime) -> None:
    one = make_hit(says=STOPPED)
    other = make_hit(engine="rag", path="b", says=(("  HERMES ", "Status", "Stopped"),))
    assert reconcile(ranked(now, one, other)) == ()


def test_case_white_space_and_compatibility_forms_do_not_make_two_subjects(make_hit: MakeHit, now: datetime) -> None:
    one = make_hit(says=STOPPED)
    other = make_hit(path="b", age_days=3, says=(("ＨＥＲＭＥＳ", " status", "active"),))
    (disagreement,) = reconcile(ranked(now, one, other))
    assert disagreement.value == "stopped"


def test_different_attributes_do_not_conflict(make_hit: MakeHit, now: datetime) -> None:
    other = make_hit(path="b", says=(("Hermes", "host", "ct215"),))
    assert reconcile(ranked(now, make_hit(says=STOPPED), other)) == ()


def test_a_hit_that_also_says_the_winning_value_is_no_loser(make_hit: MakeHit, now: datetime) -> None:
    many = make_hit(path="b", age_days=5, says=(("Hermes", "tag", "red"), ("Hermes", "tag", "blue")))
    assert reconcile(ranked(now, make_hit(says=(("Hermes", "tag", "red"),)), many)) == ()


def test_every_loser_has_its_value_path_and_reason(make_hit: MakeHit, now: datetime) -> None:
    hits = ranked(
        now,
        make_hit(source_class=SourceClass.LIVE_INFRA, path="live", says=STOPPED),
        make_hit(path="stale", age_days=12, says=ACTIVE),
        make_hit(path="fresh", says=(("Hermes", "status", "paused"),)),
        make_hit(path="undated", age_days=None, says=(("Hermes", "status", "gone"),)),
    )
    (disagreement,) = reconcile(hits)
    assert {loss.hit.hit.path: (loss.value, loss.reason) for loss in disagreement.losses} == {
        "stale": ("active", "memory has less authority than live reading"),
        "fresh": ("paused", "memory has less authority than live reading"),
        "undated": ("gone", "memory has no date"),
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"age_days": 2.4}, "memory stale 2d"),
        ({"age_days": 0.5}, "memory stale 12h"),
        ({"confidence": 0.4}, "memory less certain (40% against 100%)"),
        ({"relevance": 0.3}, "memory fits the question less (30% against 90%)"),
        ({}, "memory as strong as memory, ordered by name"),
    ],
)
def test_the_reason_names_what_weighed_most(
    make_hit: MakeHit, now: datetime, changes: dict[str, float], reason: str
) -> None:
    loser = make_hit(path="z", says=ACTIVE, **changes)
    (disagreement,) = reconcile(ranked(now, make_hit(path="a", says=STOPPED), loser))
    assert disagreement.reason == reason


def test_a_file_that_grew_old_loses_as_an_older_note(make_hit: MakeHit, now: datetime) -> None:
    old = make_hit(source_class=SourceClass.RECENT_FILE, path="old", age_days=45, says=ACTIVE)
    (disagreement,) = reconcile(ranked(now, old, make_hit(says=STOPPED)))
    assert disagreement.conflict().losers == (SourceClass.OLDER_NOTE,)
    assert disagreement.reason == "older note stale 45d"


values = st.sampled_from(["on", "On", "off", " OFF ", "نعمان", "12"])
assertions = st.lists(
    st.builds(
        Assertion, subject=st.sampled_from(["a", "A ", "b"]), attribute=st.sampled_from(["x", "y"]), value=values
    ),
    max_size=3,
)
hit_lists = st.lists(
    st.tuples(
        st.sampled_from(SourceClass), st.none() | st.floats(0, 300), st.floats(0, 1), st.floats(0, 1), assertions
    ),
    max_size=8,
)


def build(rows: list[tuple[SourceClass, float | None, float, float, list[Assertion]]]) -> list[ScoredHit]:
    from datetime import UTC, timedelta

    now = datetime(2026, 11, 30, tzinfo=UTC)
    return Scoring().rank(
        [
            Hit(
                engine="e",
                title="",
                path=f"p{number}",
                snippet="s",
                native_score=0,
                relevance=relevance,
                last_seen=None if age is None else now - timedelta(days=age),
                confidence=confidence,
                source_class=source_class,
                assertions=tuple(said),
            )
            for number, (source_class, age, relevance, confidence, said) in enumerate(rows)
        ],
        now,
    )


def said(hits: list[ScoredHit], disagreement: Disagreement) -> dict[str, set[str]]:
    """Who says what about the claim of a disagreement, by path."""
    found: dict[str, set[str]] = {}
    for hit in hits:
        for a in hit.hit.assertions:
            if normalise(f"{a.subject} {a.attribute}") == normalise(disagreement.claim):
                found.setdefault(hit.hit.path, set()).add(normalise(a.value))
    return found


@given(hit_lists)
def test_the_winner_has_the_highest_score_and_nobody_who_differs_is_left_out(
    rows: list[tuple[SourceClass, float | None, float, float, list[Assertion]]],
) -> None:
    hits = build(rows)
    for disagreement in reconcile(hits):
        losses = disagreement.losses
        assert losses
        assert all(disagreement.winner.score >= loss.hit.score for loss in losses)
        assert all(loss.reason for loss in losses)
        about = said(hits, disagreement)
        winning = normalise(disagreement.value)
        differing = {(path, value) for path, vs in about.items() if winning not in vs for value in vs}
        assert {(loss.hit.hit.path, normalise(loss.value)) for loss in losses} == differing


@given(hit_lists)
def test_a_claim_with_two_values_from_two_hits_is_reported(
    rows: list[tuple[SourceClass, float | None, float, float, list[Assertion]]],
) -> None:
    hits = build(rows)
    sayings: dict[tuple[str, str], list[set[str]]] = {}
    for hit in hits:
        of_hit: dict[tuple[str, str], set[str]] = {}
        for a in hit.hit.assertions:
            of_hit.setdefault((normalise(a.subject), normalise(a.attribute)), set()).add(normalise(a.value))
        for key, found in of_hit.items():
            sayings.setdefault(key, []).append(found)
    contradicted = {" ".join(key) for key, sets in sayings.items() if not set.intersection(*sets)}
    reported = {normalise(disagreement.claim) for disagreement in reconcile(hits)}
    assert contradicted <= reported


@given(hit_lists, st.randoms())
def test_the_outcome_does_not_depend_on_the_order_of_the_hits(
    rows: list[tuple[SourceClass, float | None, float, float, list[Assertion]]], random: object
) -> None:
    hits = build(rows)
    shuffled = list(hits)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [d.conflict() for d in reconcile(hits)] == [d.conflict() for d in reconcile(shuffled)]


@pytest.mark.parametrize(("one", "other"), [("status: active", "status: stopped"), ("The port is 80.", "port: 81")])
def test_memories_that_do_not_say_what_they_are_about_are_not_set_against_each_other(
    make_hit: MakeHit, now: datetime, one: str, other: str
) -> None:
    assert reconcile(ranked(now, make_hit(one), make_hit(other, path="b"))) == ()
