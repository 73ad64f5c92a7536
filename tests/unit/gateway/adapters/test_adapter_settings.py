"""Which engines there are, and what a wrong entry says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from cortex_gateway.adapters.app import EnginesSettings
from cortex_gateway.adapters.settings import EngineKind, EngineSource, Transport
from cortex_gateway.config import GatewaySettings
from cortex_runtime.settings import SettingsError, read


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path))
    monkeypatch.setenv("CORTEX_NATS_URL", "nats://gateway:secret@127.0.0.1:4222")


def configured(monkeypatch: pytest.MonkeyPatch, entries: Any) -> GatewaySettings:
    monkeypatch.setenv("CORTEX_ENGINES", entries if isinstance(entries, str) else json.dumps(entries))
    return read(GatewaySettings)


def test_without_settings_there_are_no_external_engines() -> None:
    settings = read(GatewaySettings)
    assert settings.engine_sources == ()
    assert settings.engine_keys == ("memory", "pages")
    assert settings.gateway_adapters


def test_an_address_switches_a_known_engine_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAG_URL", "CBM_URL", "SERENA_URL", "MEMGRAPH_URL", "INBOX_URL", "COGNEE_API_URL"):
        monkeypatch.setenv(f"CORTEX_{name}", f"http://{name.lower().replace('_', '-')}.example:8000/sse")
    monkeypatch.setenv("CORTEX_INBOX_TOKEN", "memos_pat_1")
    settings = read(GatewaySettings)
    keys = ("rag", "cbm", "serena", "memgraph", "inbox", "cognee")
    assert settings.engine_keys == ("memory", "pages", *keys)
    assert tuple(source.kind.value for source in settings.engine_sources) == keys
    assert settings.engine_sources[4].sent_headers == {"Authorization": "Bearer memos_pat_1"}


def test_an_entry_counts_instead_of_the_address_of_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_RAG_URL", "http://old.example/sse")
    settings = configured(monkeypatch, [{"key": "rag", "url": "http://new.example/mcp", "limit_s": 2}])
    [source] = settings.engine_sources
    assert (source.kind, source.url, source.limit_s) == (EngineKind.RAG, "http://new.example/mcp", 2)


def test_named_engines_are_those_that_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_RAG_URL", "http://rag.example/sse")
    monkeypatch.setenv("CORTEX_GATEWAY_ENGINES", '["memory"]')
    settings = read(GatewaySettings)
    assert settings.engine_keys == ("memory",)
    assert [source.key for source in settings.engine_sources] == ["rag"]


def test_the_file_of_settings_may_hold_engines(tmp_path: Path) -> None:
    tmp_path.joinpath("cortex.yaml").write_text(
        "engines:\n  - key: notes\n    command: [notes-server, --stdio]\n    env: {NOTES_KEY: k}\n    tool: search\n"
    )
    [source] = read(GatewaySettings).engine_sources
    assert (source.kind, source.way, source.command) == (EngineKind.MCP, Transport.STDIO, ("notes-server", "--stdio"))
    assert read(EnginesSettings).engine_sources == (source,)


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ({"url": "http://a.example/sse"}, Transport.SSE),
        ({"url": "http://a.example/sse/"}, Transport.SSE),
        ({"url": "http://a.example/sse?key=1"}, Transport.SSE),
        ({"url": "http://a.example/mcp"}, Transport.HTTP),
        ({"url": "http://a.example"}, Transport.HTTP),
        ({"url": "http://a.example/events", "transport": "sse"}, Transport.SSE),
        ({"url": "http://a.example/sse", "transport": "http"}, Transport.HTTP),
        ({"command": ["server"]}, Transport.STDIO),
        ({"command": ["server"], "transport": "stdio"}, Transport.STDIO),
    ],
)
def test_the_transport_is_told_by_the_address(given: dict[str, Any], way: Transport) -> None:
    assert EngineSource.model_validate({"key": "rag", **given}).way is way


NOTES = {"key": "notes", "url": "http://notes.example/mcp", "tool": "search"}


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({**NOTES, "url": "notes.example"}, "entry 1 (notes): url: expected an address like http://host:port/path"),
        ({**NOTES, "url": "ftp://notes.example/s3cret"}, "entry 1 (notes): url: expected an address like http"),
        ({**NOTES, "url": "http://u:s3cret@notes.example/"}, "entry 1 (notes): url: expected an address without user"),
        ({**NOTES, "url": "http://notes.example:99999/"}, "entry 1 (notes): url: expected an address like http"),
        ({**NOTES, "url": "http://notes.example/\ns3cret"}, "entry 1 (notes): url: expected an address like http"),
        ({**NOTES, "limit_s": 0}, "entry 1 (notes): limit_s: expected between 0.001 and 60 seconds"),
        ({**NOTES, "limit_s": 61}, "entry 1 (notes): limit_s: expected between 0.001 and 60 seconds"),
        ({**NOTES, "limit_s": "s3cret"}, "entry 1 (notes): limit_s: input should be a valid number"),
        ({**NOTES, "tokne": "s3cret"}, "entry 1 (notes): tokne: there is no such field"),
        ({**NOTES, "token": "s3cret\nX-Evil: 1"}, "entry 1 (notes): token: expected printable ASCII characters"),
        ({**NOTES, "headers": {"A b": "s3cret"}}, "entry 1 (notes): headers: expected names of HTTP headers"),
        ({**NOTES, "headers": {"Host": "s3cret"}}, "entry 1 (notes): headers: expected no Host: the transport sets it"),
        ({**NOTES, "headers": {"X": "a\r\nb"}}, "entry 1 (notes): headers: expected printable ASCII characters"),
        ({**NOTES, "command": ["x"]}, "entry 1 (notes): expected either url or command"),
        ({"key": "notes", "tool": "search"}, "entry 1 (notes): expected either url or command"),
        ({**NOTES, "transport": "stdio"}, "entry 1 (notes): expected transport stdio with command"),
        ({**NOTES, "transport": "smoke"}, "entry 1 (notes): transport: input should be 'auto', 'sse', 'http' or"),
        ({**NOTES, "env": {"KEY": "s3cret"}}, "entry 1 (notes): expected command: env is for one"),
        ({**NOTES, "tool": ""}, "entry 1 (notes): expected tool for the kind mcp, and for no other"),
        ({**NOTES, "key": "rag"}, "entry 1 (rag): expected tool for the kind mcp, and for no other"),
        ({**NOTES, "key": "memory"}, "entry 1 (memory): key: expected another key: this one is built in"),
        ({**NOTES, "key": "No Token!"}, "entry 1: key: expected small letters, digits, - and _, 63 at most"),
        ({**NOTES, "key": 5}, "entry 1: key: expected text, in quotes where it looks like a number"),
        ({"key": "inbox", "command": ["memos"]}, "entry 1 (inbox): expected url: inbox has no command"),
        ({"key": "inbox", "url": "http://a.example", "transport": "sse"}, "entry 1 (inbox): expected transport http"),
        ({**NOTES, "namespace": "a.b"}, "entry 1 (notes): namespace: expected small letters"),
        ({"key": "notes", "tool": "t", "command": "npx s3cret"}, "entry 1 (notes): command: expected a list"),
        (
            {**NOTES, "datasets": ["s3cret"]},
            "entry 1 (notes): expected no datasets: it is for cognee, this engine is mcp",
        ),
        ({**NOTES, "project": "s3cret"}, "entry 1 (notes): expected no project: it is for cbm, this engine is mcp"),
        (
            {"key": "rag", "url": "http://a/sse", "arguments": {"a": "s3cret"}},
            "entry 1 (rag): expected no arguments: it is for mcp",
        ),
        (
            {"key": "cbm", "url": "http://a/sse", "fields": {"hits": "s3cret"}},
            "entry 1 (cbm): expected no fields: it is for mcp and rag",
        ),
        ("s3cret", "entry 1: expected names with values"),
        (None, "entry 1: expected names with values"),
    ],
)
def test_a_wrong_entry_is_named_and_its_values_are_not_shown(
    monkeypatch: pytest.MonkeyPatch, entry: Any, sentence: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        configured(monkeypatch, [entry])
    assert str(caught.value).startswith(f"CORTEX_ENGINES: {sentence}")
    assert "s3cret" not in str(caught.value)


def test_the_second_entry_is_named_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"CORTEX_ENGINES: entry 2 \(notes\): expected every key once"):
        configured(monkeypatch, [NOTES, NOTES])


@pytest.mark.parametrize("text", ["{not json", "notes", '{"key": "notes"}', "5"])
def test_what_is_no_list_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    with pytest.raises(SettingsError, match=r"^CORTEX_ENGINES: expected (JSON|a list of engines)$"):
        configured(monkeypatch, text)


@pytest.mark.parametrize("name", ["RAG_URL", "INBOX_URL", "COGNEE_API_URL"])
def test_a_wrong_address_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"CORTEX_{name}", "s3cret")
    with pytest.raises(SettingsError, match=f"^CORTEX_{name}: expected an address like http://host:port/path$"):
        read(GatewaySettings)


def test_secrets_are_shown_nowhere() -> None:
    source = EngineSource.model_validate(
        {**NOTES, "token": "s3cret-1234", "headers": {"X-Key": "s3cret-5678"}, "url": "http://a.example/?key=s3cret"}
    )
    shown = repr(source) + str(source)
    assert "s3cret" not in shown
    assert source.secrets == ("s3cret-1234", "s3cret-5678")
    with pytest.raises(ValidationError) as caught:
        EngineSource.model_validate({**NOTES, "token": "s3cret\n", "headers": {"Host": "s3cret"}})
    assert "s3cret" not in str(caught.value)


def test_other_services_take_the_names_for_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_ENGINES", json.dumps([NOTES]))
    monkeypatch.setenv("CORTEX_RAG_URL", "http://rag.example/sse")
    monkeypatch.setenv("CORTEX_INBOX_TOKEN", "x")
    monkeypatch.setenv("CORTEX_ENGINES_PORT", "9897")
    from cortex_webhook.config import WebhookSettings

    monkeypatch.setenv("CORTEX_WEBHOOK_SECRETS", "a-secret-of-enough-length")
    read(WebhookSettings)


def test_a_wrong_entry_stops_the_process_with_its_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cortex_gateway.adapters"],
        env={
            "CORTEX_HOME": str(tmp_path),
            "CORTEX_NATS_URL": "nats://engines:x@127.0.0.1:4222",
            "CORTEX_ENGINES": '[{"key": "notes", "url": "s3cret", "tool": "search"}]',
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "cortex engines: CORTEX_ENGINES: entry 1 (notes): url: expected an address like http://host:port/path\n"
    )
