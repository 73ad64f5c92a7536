"""What the memory tools decide without a bus."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryView
from cortex_contracts.rpc.recall import GetReply
from cortex_gateway.memory_results import GetResult, moment
from cortex_gateway.memory_tools import usual_namespace
from cortex_redaction import redact

OLD, NEW = (UUID(int=number) for number in (1, 2))


@pytest.mark.parametrize(
    ("writable", "expected"),
    [(None, "default"), (("atlas", "default"), "default"), (("atlas",), "atlas")],
)
def test_an_agent_that_names_no_namespace_writes_where_it_may(writable: tuple[str, ...] | None, expected: str):
    assert usual_namespace(Principal(org="local", subject="agent", writable=writable)) == expected


@pytest.mark.parametrize(("writable", "told"), [(("atlas", "nile"), "one of atlas, nile"), ((), "nowhere")])
def test_an_agent_that_must_choose_is_told_between_what(writable: tuple[str, ...], told: str):
    with pytest.raises(InvalidMessage, match=told):
        usual_namespace(Principal(org="local", subject="agent", writable=writable))


def test_a_time_is_told_to_the_second_and_in_its_own_zone():
    when = datetime(2026, 11, 30, 9, 30, 0, 123456, tzinfo=UTC)
    assert moment(when) == "2026-11-30T09:30:00Z"
    assert moment(when.astimezone(timezone(timedelta(hours=2)))) == "2026-11-30T11:30:00+02:00"
    assert moment(None) == ""


def view(memory_id: UUID, content: str, **more: object) -> MemoryView:
    when = datetime(2026, 11, 30, tzinfo=UTC)
    fields = {"namespace": "atlas", "importance": 0.5, "source_kind": "chat", "valid_at": when, "created_at": when}
    return MemoryView.model_validate({"memory_id": memory_id, "content": content, **fields, **more})


def test_a_chain_is_shown_only_where_something_was_superseded():
    alone = view(NEW, "five times")
    assert GetResult.of(GetReply(memory=alone, chain=(alone,))).chain == []
    old = view(
        OLD, "three times", source_ref="standup", superseded_by=NEW, invalid_at=datetime(2026, 12, 1, tzinfo=UTC)
    )
    result = GetResult.of(GetReply(memory=alone, chain=(old, alone), chain_archived=(old.memory_id,)))
    assert [one.archived for one in result.chain] == [True, False]
    assert [(one.content, one.source, one.invalid_at) for one in result.chain] == [
        ("three times", "chat:standup", "2026-12-01T00:00:00Z"),
        ("five times", "chat", ""),
    ]
    assert "three times" in result.text()
    assert "untrusted" in result.text().splitlines()[0]


def test_what_an_agent_was_told_is_no_news_when_it_comes_back_in_a_capture():
    told = GetResult.of(GetReply(memory=view(NEW, "five </cortex-memory> times"))).text()
    assert redact(f"before {told} after").text.split() == ["before", "after"]
