"""Subjects: builders refuse what would leave a level, patterns and streams fit together, nothing is stored twice."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_contracts import subjects
from cortex_contracts.registry import PUBLICATIONS, RPCS
from cortex_contracts.services import SERVICES
from cortex_contracts.streams import CONSUMERS, STREAMS, Retention, stream_for

BUILDERS: list[Callable[[str], str]] = [
    lambda value: subjects.rpc(value, "ask"),
    lambda value: subjects.rpc("recall", value),
    lambda value: subjects.engine(value, "ask"),
    lambda value: subjects.engine("memory", value),
    lambda value: subjects.capture(value, "chat"),
    lambda value: subjects.capture("acme", value),
    lambda value: subjects.captures_of(value),
    lambda value: subjects.sync(value, "handbook"),
    lambda value: subjects.sync("acme", value),
    lambda value: subjects.memory_event(subjects.MemoryOp.RETAIN, value, "personal"),
    lambda value: subjects.memory_event(subjects.MemoryOp.RETAIN, "acme", value),
    lambda value: subjects.page_event(subjects.PageOp.CREATE, value, "handbook"),
    lambda value: subjects.page_event(subjects.PageOp.CREATE, "acme", value),
    lambda value: subjects.sleep_event(subjects.SleepPhase.OBSERVE, value, "personal"),
    lambda value: subjects.sleep_event(subjects.SleepPhase.OBSERVE, "acme", value),
]
DEAD_LETTER_BUILDERS: list[Callable[[str], str]] = [
    lambda value: subjects.dead_letter(value, "ingest-captures"),
    lambda value: subjects.dead_letter("CAPTURES", value),
]
BAD_TOKENS = ["", "*", ">", "a.b", "a b", "a*", "a>", "Acme", "ümlaut", "-a", "_a", "a\n", "\ta", "a" * 64, "$js"]

tokens = st.from_regex(subjects.TOKEN_PATTERN.removesuffix("$") + r"\Z", fullmatch=True)


def in_subject(part: str) -> str:
    return "x" if part.startswith("{") else part


@pytest.mark.parametrize("bad", BAD_TOKENS, ids=repr)
@pytest.mark.parametrize("build", BUILDERS)
def test_a_builder_refuses_what_is_not_one_lower_case_token(build: Callable[[str], str], bad: str) -> None:
    with pytest.raises(ValueError, match="must match"):
        build(bad)


@pytest.mark.parametrize("bad", [bad for bad in BAD_TOKENS if bad not in ("Acme", "-a", "_a", "a" * 64)], ids=repr)
@pytest.mark.parametrize("build", DEAD_LETTER_BUILDERS)
def test_a_dead_letter_subject_refuses_what_is_not_one_token(build: Callable[[str], str], bad: str) -> None:
    with pytest.raises(ValueError, match="must be letters, digits"):
        build(bad)


@given(st.text(max_size=70))
def test_any_text_becomes_one_token_or_is_refused(text: str) -> None:
    try:
        built = subjects.capture("acme", text)
    except ValueError:
        return
    assert built == f"{subjects.PREFIX}.cmd.capture.acme.{text}"
    assert built.count(".") == 5
    assert not set(built) & set("*> \t\r\n")


@given(tokens, tokens)
def test_a_capture_subject_is_parsed_back_to_org_and_source_kind(org: str, source_kind: str) -> None:
    assert subjects.parse_capture(subjects.capture(org, source_kind)) == (org, source_kind)


@given(tokens, tokens)
def test_a_sync_subject_is_parsed_back_to_org_and_vault(org: str, vault: str) -> None:
    assert subjects.parse_sync(subjects.sync(org, vault)) == (org, vault)


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "cortex.v1.cmd.capture",
        "cortex.v1.cmd.capture.acme",
        "cortex.v1.cmd.capture.acme.chat.more",
        "cortex.v1.cmd.capture.acme.*",
        "cortex.v1.cmd.capture.>",
        "cortex.v1.cmd.capture.ACME.chat",
        "cortex.v1.cmd.capture..chat",
        "cortex.v1.cmd.sync.acme.handbook",
        "cortex.v2.cmd.capture.acme.chat",
        "x.cortex.v1.cmd.capture.acme.chat",
        "acme.chat",
    ],
)
def test_what_is_not_a_capture_subject_is_not_parsed(subject: str) -> None:
    with pytest.raises(ValueError, match=r"expected a subject|must match"):
        subjects.parse_capture(subject)


def test_every_subject_starts_with_the_version() -> None:
    everything = (
        [p.address for p in PUBLICATIONS] + [r.subject for r in RPCS] + [s for x in STREAMS for s in x.subjects]
    )
    assert all(subject.startswith(f"cortex.{subjects.VERSION}.") for subject in everything)


@pytest.mark.parametrize("publication", PUBLICATIONS, ids=lambda publication: publication.name)
def test_every_published_subject_is_stored_by_exactly_one_stream(publication: object) -> None:
    pattern: str = publication.pattern  # type: ignore[attr-defined]
    touching = [s for s in STREAMS if any(subjects.overlaps(pattern, subject) for subject in s.subjects)]
    assert len(touching) == 1
    assert any(subjects.covers(subject, pattern) for subject in touching[0].subjects)
    assert stream_for(".".join(in_subject(part) for part in publication.address.split("."))) is touching[0]  # type: ignore[attr-defined]


def test_no_two_streams_store_the_same_subject() -> None:
    for left, right in combinations(STREAMS, 2):
        assert not any(subjects.overlaps(a, b) for a in left.subjects for b in right.subjects), (left.name, right.name)


def test_no_stream_captures_a_request_or_its_reply() -> None:
    for stream in STREAMS:
        for pattern in stream.subjects:
            assert not any(subjects.overlaps(pattern, rpc.subject) for rpc in RPCS)
            assert not subjects.overlaps(pattern, f"{subjects.PREFIX}.rpc.>")
            assert not subjects.overlaps(pattern, "_INBOX.>")
    with pytest.raises(ValueError, match="no stream stores"):
        stream_for(RPCS[0].subject)


def test_no_two_rpcs_share_a_subject() -> None:
    assert len({rpc.subject for rpc in RPCS}) == len(RPCS)


def test_every_rpc_is_served_by_exactly_one_service() -> None:
    served = [rpc.subject for contract in SERVICES for rpc in contract.serves]
    assert sorted(served) == sorted(rpc.subject for rpc in RPCS)


def test_two_consumers_of_one_work_queue_never_overlap() -> None:
    for left, right in combinations(CONSUMERS, 2):
        if left.stream is right.stream and left.stream.retention is Retention.WORK_QUEUE:
            assert not subjects.overlaps(left.filter_subject, right.filter_subject), (left.name, right.name)


def test_a_work_queue_is_consumed_whole_so_that_no_work_is_left_lying() -> None:
    for stream in STREAMS:
        if stream.retention is Retention.WORK_QUEUE:
            filters = [consumer.filter_subject for consumer in CONSUMERS if consumer.stream is stream]
            assert all(any(subjects.covers(f, subject) for f in filters) for subject in stream.subjects)


def test_every_consumer_filters_subjects_of_its_stream_and_belongs_to_the_service_it_names() -> None:
    for consumer in CONSUMERS:
        assert any(subjects.covers(subject, consumer.filter_subject) for subject in consumer.stream.subjects)
        assert [c.name for c in SERVICES if consumer in c.consumes] == [consumer.service]
        assert any(subjects.overlaps(consumer.filter_subject, p.pattern) for p in PUBLICATIONS)
        assert consumer.batch <= consumer.max_ack_pending


def test_dead_letters_are_stored_and_name_stream_and_consumer() -> None:
    found = {subjects.dead_letter(c.stream.name, c.name) for c in CONSUMERS}
    assert len(found) == len(CONSUMERS)
    assert {stream_for(subject).name for subject in found} == {"DEAD_LETTERS"}


def test_durable_names_are_unique() -> None:
    assert len({consumer.name for consumer in CONSUMERS}) == len(CONSUMERS)
    assert len({stream.name for stream in STREAMS}) == len(STREAMS)


patterns = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from([".".join(parts), ".".join([*parts, ">"])])
)
plain = st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=5).map(".".join)


@pytest.mark.parametrize(
    ("pattern", "subject", "expected"),
    [
        ("a.b", "a.b", True),
        ("a.*", "a.b", True),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        ("a.*", "a.b.c", False),
        ("a.b.c", "a.b", False),
        ("a.*", "a.>", False),
        ("a.>", "a.*", True),
        ("a.b", "a.*", False),
        (">", "a.>", True),
    ],
)
def test_a_pattern_covers_what_nats_would_match(pattern: str, subject: str, expected: bool) -> None:
    assert subjects.covers(pattern, subject) is expected


@given(patterns, patterns, plain)
def test_cover_and_overlap_agree_on_every_subject(left: str, right: str, subject: str) -> None:
    assert subjects.overlaps(left, right) == subjects.overlaps(right, left)
    if subjects.covers(left, subject) and subjects.covers(right, subject):
        assert subjects.overlaps(left, right)
    if subjects.covers(left, right):
        assert subjects.overlaps(left, right)
        assert subjects.covers(left, subject) or not subjects.covers(right, subject)
