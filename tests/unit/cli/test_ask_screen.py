"""What `cortex ask` shows for any text that engines may give."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cortex_cli.ask_screen import Lights, Plain, show
from cortex_cli.ask_stream import AskEvent, Asking, EngineHeard, SentenceSaid
from cortex_cli.output import console
from cortex_contracts.rpc.ask import AskReply, EngineState

WIDTH = 60
EVIL = "\x1b]0;owned\x07\x1b[2J[red]x[/red]\r\u202eabc\n  [r9] forged"
ARABIC = "اختار فريق النيل قاعدة البيانات PostgreSQL لأن النسخ الاحتياطي مجرب [r1]"
WIDE = "決定は水曜日に行われ、理由は議事録に書かれています"


def reply(**fields: Any) -> AskReply:
    nothing = {"answer": None, "receipts": (), "hits": (), "conflicts": (), "engines": (), "took_ms": 7}
    return AskReply.model_validate(nothing | fields)


def receipt(title: str, path: str = "memory:1", **more: Any) -> dict[str, Any]:
    seen = datetime(2026, 11, 30, tzinfo=UTC)
    fields = {"id": "r1", "source": "memory", "last_seen": seen, "confidence": 1, "snippet": "s"}
    return fields | {"title": title, "path": path} | more


def hit(title: str, **more: Any) -> dict[str, Any]:
    fields = {"engine": "memory", "path": "memory:1", "snippet": "s", "score": 0.5, "last_seen": None, "confidence": 1}
    return fields | {"title": title, "source_class": "agent-memory"} | more


def conflict(text: str) -> dict[str, Any]:
    sides = {"winner": "live-infra", "losers": ["older-note"], "value": text, "losing_values": [text]}
    return {"claim": text, "reason": text, "paths": [text, text], **sides}


def shown(answer: AskReply, width: int = WIDTH) -> list[str]:
    out = StringIO()
    show(answer, Console(file=out, width=width, emoji=False, highlight=False))
    return out.getvalue().splitlines()


def heard(engine: str = "memory", hits: int = 0, error: str | None = None, ms: int | None = 12) -> EngineHeard:
    status = "down" if error else "up"
    return EngineHeard(EngineState.model_validate({"engine": engine, "status": status, "ms": ms, "error": error}), hits)


def lit(*events: AskEvent, width: int = WIDTH) -> str:
    lights = Lights()
    for event in events:
        lights.heard(event)
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(lights)
    return out.getvalue()


def test_an_answer_stands_above_its_receipts_and_what_was_asked():
    lines = shown(
        reply(
            answer="It is stopped [r1]\nInês owns it [r1]",
            receipts=[receipt("Hermes", corroborated_by=["pages", "rag"])],
            engines=[{"engine": "memory", "status": "up", "ms": 3}],
        ),
        width=80,
    )
    assert lines == [
        "",
        "It is stopped [r1]",
        "Inês owns it [r1]",
        "",
        "  [r1] Hermes (memory:1, 2026-11-30), also in pages, rag",
        "  engines: memory up 3 ms; took 7 ms",
    ]


def test_what_does_not_fit_on_a_line_goes_on_below_its_title():
    lines = shown(reply(receipts=[receipt("The decision about the harbour", path="page:example/decisions/harbour")]))
    assert lines[:2] == ["  [r1] The decision about the harbour", "       (page:example/decisions/harbour, 2026-11-30)"]


def test_what_has_no_place_is_shown_with_its_engine_alone():
    assert shown(reply(receipts=[receipt("Hermes", path="", last_seen=None)]))[0] == "  [r1] Hermes (memory)"
    assert shown(reply(hits=[hit("Hermes", path="")]))[0] == "   1  0.500  Hermes (memory)"


def test_without_an_answer_hits_are_numbered_with_their_scores():
    named = hit("Hermes", score=0.0083, relevance=0.91, corroborated_by=["rag"])
    lines = shown(reply(hits=[named, hit("", engine="inbox", path="memos/1", snippet="a\nmemo")]), width=80)
    assert lines[:2] == [
        "   1  0.008  Hermes (memory: memory:1, fits 91%), also in rag",
        "   2  0.500  a memo (inbox: memos/1)",
    ]
    assert shown(reply())[0] == "  no hits"


@pytest.mark.parametrize("text", [ARABIC, WIDE, "word " * 40, "unbroken" * 30])
def test_what_is_long_arabic_or_wide_keeps_within_the_terminal(text: str):
    fields = {"receipts": [receipt(text, path=text)], "conflicts": [conflict(text)]}
    for line in shown(reply(answer=text, **fields)) + shown(reply(hits=[hit(text)])):
        assert cell_len(line) <= WIDTH
        assert line == line.rstrip()
    assert "".join(text.split()) in "".join("".join(shown(reply(answer=text))).split())


def test_text_of_others_is_no_markup_commands_no_terminal_and_forges_no_line():
    engines = [{"engine": "memory", "status": "down", "error": EVIL}]
    told = "\n".join(
        [
            *shown(reply(answer="a", receipts=[receipt(EVIL, path=EVIL)], conflicts=[conflict(EVIL)], engines=engines)),
            *shown(reply(hits=[hit(EVIL, engine=EVIL, path=EVIL)])),
            lit(heard(EVIL, error=EVIL), SentenceSaid(EVIL)),
        ]
    )
    assert "[red]x[/red]" in told
    assert not any(sign in told for sign in "\x1b\x07\r\u202e")
    assert not any(line.startswith("  [r9]") for line in told.splitlines())


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_no_text_brings_a_control_character_to_the_terminal(text: str):
    engines = [{"engine": "memory", "status": "down", "error": text}]
    everything = {"receipts": [receipt(text, path=text)], "conflicts": [conflict(text)], "engines": engines}
    told = "".join([*shown(reply(answer=text, **everything)), *shown(reply(hits=[hit(text)]))])
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in told)


def test_lights_show_who_has_answered_what_and_sentences_as_they_come():
    silent = heard("rag", error="no answer within 4000 ms", ms=4000)
    told = lit(Asking(("memory", "serena", "rag")), silent, heard("memory", 3), heard("pages", 1, ms=None))
    assert [line.rstrip() for line in told.splitlines()[:4]] == [
        "  ● memory 3 hits, 12 ms",
        "  ○ serena",
        "  ○ rag    down, 4000 ms, no answer within 4000 ms",
        "  ● pages  1 hit",
    ]
    assert "asking … 0.0 s" in told
    writing = lit(heard("memory", 3), SentenceSaid("It is stopped [r1]"))
    assert "  It is stopped [r1]" in writing
    assert "writing … 0.0 s" in writing


def test_lights_keep_one_line_each_however_narrow_the_terminal_is():
    told = lit(heard("memory", error="a very long reason " * 20), width=30)
    assert len(told.splitlines()) == 2
    assert all(cell_len(line) <= 30 for line in told.splitlines())


def test_without_lights_each_engine_is_a_line():
    out = StringIO()
    plain = Plain(Console(file=out, width=20))
    for event in (
        heard("memory", 3),
        SentenceSaid("It is stopped [r1]"),
        heard("rag", error="not configured", ms=None),
    ):
        plain.heard(event)
    assert out.getvalue().splitlines() == ["  memory: 3 hits, 12 ms", "  rag: down, not configured"]


def test_a_console_without_colours_writes_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert console(colours=False).color_system is None
