"""The memory commands as processes against a real gateway, with a played hot tier on real NATS."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable

TEXT = "نجتمع every Monday at 09:30"


async def test_every_verb_for_people(cortex: Any, remembering: Any) -> None:
    told = await cortex("retain", TEXT, "--speaker", "Salma", "--at", "2026-11-30T09:30")
    (memory_id,) = (str(one) for one in remembering.memories)
    assert told.strip() == f"remembered as {memory_id}"
    found = await cortex("recall", "نجتمع")
    assert found.splitlines()[0] == f"0.51  2026-11-30  default  {memory_id}  manual, Salma"
    assert found.splitlines()[1].strip() == TEXT
    shown = await cortex("get", memory_id)
    assert shown.splitlines()[0] == TEXT
    assert "true        since 2026-11-30 09:30" in shown
    assert f"`cortex restore {memory_id}` undoes it" in await cortex("forget", memory_id)
    assert "not true any more since" in await cortex("forget", memory_id)
    assert "Nothing is remembered" in await cortex("recall", "نجتمع")
    assert (await cortex("restore", memory_id)).strip() == "restored"
    assert (await cortex("restore", memory_id)).strip() == "it was not forgotten"
    assert "Nothing is shared" in await cortex("share")
    assert (await cortex("share", "atlas", "agent-7", "--write")).split() == ["atlas", "write", "agent-7"]
    assert (await cortex("share", "atlas")).split() == ["atlas", "write", "agent-7"]
    assert (await cortex("share", "atlas", "agent-7", "--revoke")).split() == ["atlas", "none", "agent-7"]


async def test_every_verb_for_scripts(cortex: Any, remembering: Any) -> None:
    kept = json.loads(await cortex("retain", "-", "--json", stdin=TEXT.encode()))
    memory_id = kept["memory_id"]
    printed = await cortex("recall", "نجتمع", "--json")
    assert TEXT in printed
    assert json.loads(printed)["memories"][0]["memory_id"] == memory_id
    assert json.loads(await cortex("get", memory_id, "--json"))["memory"]["content"] == TEXT
    assert json.loads(await cortex("forget", memory_id, "--json"))["changed"] is True
    assert json.loads(await cortex("recall", "نجتمع", "--json"))["memories"] == []
    assert json.loads(await cortex("restore", memory_id, "--json"))["changed"] is True
    shared = json.loads(await cortex("share", "atlas", "agent-7", "--json"))
    assert shared == {"namespace": "atlas", "agent": "agent-7", "access": "read"}
    assert json.loads(await cortex("share", "--json"))["grants"] == [shared]


async def test_every_option_reaches_its_service(cortex: Any, remembering: Any) -> None:
    retain = "--namespace nile --source chat --session standup --turn 4 --speaker Salma --private --no-explicit"
    await cortex("retain", TEXT, *retain.split(), "--at", "2026-11-30T09:30+02:00")
    recall = "-n nile -n atlas -k 3 --budget 100 --explain --neighbours 2 --as-of 2026-12-01T00:00Z"
    await cortex("recall", "نجتمع", *recall.split(), "--since", "2026-11-01", "--until", "2026-12-31")
    kept, asked = remembering.asked
    memory = kept.memory
    assert (memory.namespace, memory.source_kind, memory.session, memory.turn) == ("nile", "chat", "standup", 4)
    assert (memory.speaker, memory.visibility, memory.explicit) == ("Salma", "private", False)
    assert memory.occurred_at.isoformat() == "2026-11-30T09:30:00+02:00"
    assert (asked.namespaces, asked.k, asked.budget_tokens) == (("nile", "atlas"), 3, 100)
    assert (asked.explain, asked.neighbours, asked.timezone) == (True, 2, "Africa/Cairo")
    assert asked.as_of.isoformat() == "2026-12-01T00:00:00+00:00"
    assert asked.filter.since.isoformat() == "2026-11-01T00:00:00+02:00"
    assert asked.filter.until.isoformat() == "2026-12-31T00:00:00+02:00"
    assert kept.principal.subject == "owner"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Permanent("there is no such memory", code=ErrorCode.NOT_FOUND), 4),
        (Permanent("you may not write nile", code=ErrorCode.FORBIDDEN), 1),
        (Unavailable("the database is away"), 1),
    ],
)
async def test_a_failure_is_a_sentence_and_an_exit_code(
    cortex: Any, remembering: Any, error: Exception, code: int
) -> None:
    remembering.fails = error
    for command in (["get", str(uuid4())], ["forget", str(uuid4())]):
        told = await cortex(*command, code=code)
        assert told.startswith("cortex: ")
        assert str(error) in told
        assert "Traceback" not in told


async def test_a_wrong_token_and_an_address_where_nothing_answers_are_told_apart(cortex: Any) -> None:
    assert "401" in await cortex("recall", "x", code=1, CORTEX_HTTP_TOKEN="wrong")
    assert "run `cortex start`" in await cortex("recall", "x", code=3, CORTEX_URL="http://127.0.0.1:9")
    assert "does not answer" in await cortex("recall", "x", code=3, CORTEX_URL="nonsense")
