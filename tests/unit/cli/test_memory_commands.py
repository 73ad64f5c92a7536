"""What the memory commands take and how they show what they got."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
import typer
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

from cortex_cli import memory, moment, recall, retain
from cortex_cli.main import app
from cortex_contracts.messages.memory import MemoryView, RedactionCounts, Retained, WriteDecision
from cortex_contracts.rpc.recall import (
    Dropped,
    Explanation,
    GetReply,
    HistoryEntry,
    Occurrence,
    RecalledMemory,
    RecallReply,
    TimeWindow,
)

RUNNER = CliRunner()
ID, OLD = (UUID(f"01a22a77-34f3-7137-a93d-ab686d822c6{number}") for number in (0, 1))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ARABIC = "اختار فريق النيل PostgreSQL لأن النسخ الاحتياطي مجرب."
WIDTH = 60


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment, "told", lambda when: f"{when:%Y-%m-%d %H:%M}" if when else "")
    monkeypatch.setattr(moment, "day", lambda when: f"{when:%Y-%m-%d}")


def shown(show: Any, reply: object, width: int = 200) -> str:
    out = StringIO()
    show(reply, Console(file=out, width=width, emoji=False, highlight=False))
    return out.getvalue()


def recalled(content: str, **more: object) -> RecalledMemory:
    fields = {
        "memory_id": ID,
        "namespace": "atlas",
        "score": 0.834,
        "importance": 0.5,
        "source_kind": "chat",
        "source_ref": None,
        "speaker": "Salma",
        "session": "standup",
        "assertions": (),
        "valid_at": NOON,
        "created_at": NOON,
    }
    return RecalledMemory.model_validate({"content": content, **fields, **more})


def view(content: str, **more: object) -> MemoryView:
    fields = {
        "memory_id": ID,
        "namespace": "atlas",
        "importance": 0.5,
        "source_kind": "chat",
        "valid_at": NOON,
        "created_at": NOON,
    }
    return MemoryView.model_validate({"content": content, **fields, **more})


def test_a_recalled_memory_has_its_columns_on_one_line_and_its_text_below():
    told = shown(recall.show, RecallReply(memories=(recalled("We ship on Thursdays."),), took_ms=12)).splitlines()
    assert told == [
        f"0.83  2026-11-30  atlas  {ID}  chat, standup, Salma",
        "      We ship on Thursdays.",
        "1 memory, 12 ms",
    ]


def test_long_and_arabic_text_is_wrapped_to_the_terminal_on_lines_of_its_own():
    text = " ".join([ARABIC] * 4)
    lines = shown(recall.show, RecallReply(memories=(recalled(text),), took_ms=1), WIDTH).splitlines()
    body = lines[1:-1]
    assert len(body) > 2
    assert all(line.startswith("      ") and cell_len(line.rstrip()) <= WIDTH for line in body)
    assert " ".join(line.strip() for line in body) == text
    # The columns are not broken, however narrow the terminal is: an id is copied whole.
    assert str(ID) in lines[0]


def test_a_very_long_text_is_cut_in_a_list_and_whole_when_it_is_asked_for():
    text = "word " * 500
    assert len(shown(recall.show, RecallReply(memories=(recalled(text),), took_ms=1))) < 1_000
    assert shown(memory.show, GetReply(memory=view(text))).count("word") == 500


def test_nothing_found_is_said_with_what_was_dropped_and_what_did_not_take_part():
    reply = RecallReply(
        memories=(),
        took_ms=3,
        dropped=Dropped(below_floor=4, beyond_k=2, over_budget=1),
        floor=0.31,
        degraded=("vectors",),
        time=TimeWindow(since=NOON, until=None, text="since Monday"),
    )
    assert shown(recall.show, reply).splitlines() == [
        "Nothing is remembered about this.",
        "0 memories, 3 ms; 4 below 0.31; 2 more than -k; 1 over the budget; without vectors; "
        "“since Monday” read as 2026-11-30 12:00 to …",
    ]


def test_an_explanation_the_neighbours_and_the_end_of_a_memory_are_shown_where_there_are_any():
    found = recalled(
        "three times",
        invalid_at=NOON,
        neighbours=(view("How often?", turn=3, speaker="Omar"),),
        explanation=Explanation(
            lexical=4.2, lexical_rank=1, cosine=0.5, cosine_rank=2, contributions={"salience": 0.1}, reranked=0.9
        ),
    )
    told = shown(recall.show, RecallReply(memories=(found,), took_ms=1, stages_ms={"sql": 2.04}))
    assert "until 2026-11-30 12:00" in told
    assert "3 Omar: How often?" in told
    assert "bm25 4.20 (#1), cosine 0.500 (#2), salience +0.100, reranked 0.900" in told
    assert told.splitlines()[-1] == "1 memory, 1 ms; sql 2.0 ms"


def test_text_of_others_is_no_markup_and_commands_no_terminal():
    evil = "[red]x[/red]\x1b[2J\u202eabc"
    reply = RecallReply(memories=(recalled(evil, speaker=evil),), took_ms=1)
    for told in (
        shown(recall.show, reply),
        shown(memory.show, GetReply(memory=view(evil, speaker=evil), entities=(evil,))),
        shown(retain.show, Retained(memory_id=ID, decision="add", importance=1, reason=evil)),
    ):
        assert "[red]x[/red]" in told
        assert "\x1b[2J" not in told
        assert "\u202e" not in told


def test_a_memory_is_shown_with_its_provenance_chain_repeats_and_history():
    current = view(
        ARABIC,
        turn=4,
        session="standup",
        speaker="Salma",
        decision=WriteDecision.UPDATE,
        decision_reason="value changed",
    )
    old = view("the old value", memory_id=OLD, superseded_by=ID, invalid_at=NOON)
    reply = GetReply(
        memory=current,
        chain=(old, current),
        chain_archived=(OLD,),
        chain_complete=False,
        occurrences=(Occurrence(source_kind="slack", speaker="Omar", occurred_at=NOON),),
        entities=("Nile", "PostgreSQL"),
        history=(HistoryEntry(op="retain", agent="owner", occurred_at=NOON),),
        access_count=3,
        last_accessed_at=NOON,
    )
    told = shown(memory.show, reply)
    assert told.splitlines()[0] == ARABIC
    for expected in (
        f"id          {ID}",
        "source      chat, standup, turn 4, Salma",
        "true        since 2026-11-30 12:00",
        "decision    update, value changed",
        "entities    Nile, PostgreSQL",
        "recalled    3 times, last 2026-11-30 12:00",
        f"  2026-11-30 12:00  {OLD} cold",
        "    the old value",
        "What of its chain is in the cold tier cannot be asked now.",
        "  2026-11-30 12:00  slack, Omar",
        "  2026-11-30 12:00  retain  owner",
    ):
        assert expected in told, told
    assert "owner       " not in told
    assert "true        2026-11-30 12:00 to 2026-11-30 12:00\n" in shown(memory.show, GetReply(memory=old))


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (WriteDecision.ADD, f"remembered as {ID}"),
        (WriteDecision.UPDATE, f"remembered, as the new value, as {ID}"),
        (WriteDecision.INVALIDATE, f"remembered, as the end of a state, as {ID}"),
        (WriteDecision.NOOP, f"known already as {ID}"),
    ],
)
def test_what_became_of_a_statement_is_said_in_one_line(decision: WriteDecision, told: str):
    assert shown(retain.show, Retained(memory_id=ID, decision=decision, importance=0.9)).strip() == told


def test_what_was_cut_out_replaced_or_is_not_embedded_yet_is_said():
    retained = Retained(
        memory_id=ID,
        decision=WriteDecision.UPDATE,
        superseded=(OLD,),
        importance=0.9,
        redactions=RedactionCounts(private=1, credentials=2),
        embedded=False,
    )
    told = shown(retain.show, retained)
    assert f"supersedes {OLD}" in told
    assert "cut out 1 private span, 2 credentials" in told
    assert "found by its words only" in told


@pytest.mark.parametrize(
    "command",
    [
        ["get", "not-an-id"],
        ["forget", ""],
        ["recall", "x", "-k", "0"],
        ["recall", "x", "--since", "last week"],
        ["recall", "x", "--as-of", "2026"],
        ["retain", "x", "--at", "99999-01-01"],
        ["retain", "x", "--turn", "-1"],
        ["retain", "x", "--message-id", "one", "--private"],
        ["share", "atlas", "agent-7", "--write", "--revoke"],
        ["share", "atlas", "--write"],
    ],
)
def test_wrong_use_is_told_apart_from_failure(command: list[str]):
    assert RUNNER.invoke(app, command).exit_code == 2


def test_a_time_without_an_offset_is_local_and_one_with_an_offset_is_itself():
    assert moment.parse("2026-11-30T12:00+00:00") == NOON
    assert moment.parse("2026-11-30") == datetime(2026, 11, 30).astimezone()
    assert moment.parse("2026-11-30").tzinfo is not None
    with pytest.raises(typer.BadParameter, match="expected a date or time"):
        moment.parse("Monday")


@pytest.mark.parametrize(
    ("name", "zone"), [("Africa/Cairo", "Africa/Cairo"), (":Europe/Lisbon", "Europe/Lisbon"), ("No/Where", "UTC")]
)
def test_the_zone_of_the_reader_is_the_one_of_its_environment(monkeypatch: pytest.MonkeyPatch, name: str, zone: str):
    monkeypatch.setenv("TZ", name)
    assert moment.zone() == zone
