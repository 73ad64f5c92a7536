"""How a question to cbm becomes calls, whatever is said to them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.errors import Unavailable
from cortex_gateway.adapters.cbm import CbmDialect
from cortex_gateway.adapters.dialect import ToolFailed
from cortex_gateway.adapters.settings import EngineKind, EngineSource
from cortex_gateway.adapters.tool_answer import ToolAnswer

SOURCE = EngineSource(key="cbm", kind=EngineKind.CBM, url="http://localhost/mcp", project="shop")
ACCEPTED = {
    "search": frozenset({"project", "query", "name_pattern", "qn_pattern", "file_pattern", "limit", "format"}),
    "architecture": frozenset({"project", "aspects"}),
    "projects": frozenset[str](),
    "trace": frozenset({"function_name", "project", "direction", "depth", "limit", "format"}),
    "source": frozenset({"qualified_name", "project"}),
}
FOUND = {
    "cols": ["name", "label", "lines", "in", "out"],
    "groups": [{"qn_prefix": "shop.app.Brain", "file": "app.py", "rows": [["put", "Method", "7-9", 1, 0]]}],
}


async def test_older_servers_are_read_as_well(scripted: Any) -> None:
    old = {"results": [{"name": "put", "qualified_name": "shop.app.put", "label": "Function", "file_path": "app.py"}]}
    callers = {"callers": [{"name": "main", "qualified_name": "shop.app.main"}]}
    tools = scripted({"search": lambda _: old, "trace": lambda _: callers}, ACCEPTED)
    hits = await CbmDialect(SOURCE).search(tools, "who calls `put`?", 5)
    assert (hits[0].path, hits[0].snippet) == ("app/main", "app.main calls put.")  # nobody says in which file
    assert hits[1].path == "app.py#put"


async def test_a_tool_that_fails_leaves_the_others(scripted: Any) -> None:
    failing = ToolFailed("function not found")
    tools = scripted({"search": lambda _: FOUND, "trace": lambda _: failing, "source": lambda _: failing}, ACCEPTED)
    [hit] = await CbmDialect(SOURCE).search(tools, "who calls `put`?", 5)
    assert hit.path == "app.py#Brain/put"
    assert hit.snippet == "Method Brain.put is defined in app.py, lines 7-9 (1 links to it, 0 from it)."
    with pytest.raises(ToolFailed, match="not found"):
        await CbmDialect(SOURCE).search(scripted({"search": lambda _: failing}, ACCEPTED), "`put`", 5)


async def test_an_error_inside_a_success_is_a_failure(scripted: Any) -> None:
    tools = scripted({"search": lambda _: {"error": "project not found or not indexed"}}, ACCEPTED)
    with pytest.raises(ToolFailed, match="not indexed"):
        await CbmDialect(SOURCE).search(tools, "`put`", 5)


async def test_an_engine_that_is_gone_is_said_to_be_gone(scripted: Any) -> None:
    tools = scripted({"search": lambda _: Unavailable("gone")}, ACCEPTED)
    with pytest.raises(Unavailable, match="gone"):
        await CbmDialect(SOURCE).search(tools, "`put`", 5)


async def test_later_rounds_that_take_too_long_do_not_lose_what_was_found(scripted: Any) -> None:
    tools = scripted({"search": lambda _: FOUND}, ACCEPTED, hanging=("trace", "source"))
    hurried = SOURCE.model_copy(update={"limit_s": 0.05})
    async with asyncio.timeout(10):
        hits = await CbmDialect(hurried).search(tools, "who calls `put`?", 5)
    assert [hit.path for hit in hits] == ["app.py#Brain/put"]


async def test_no_question_makes_many_calls(scripted: Any) -> None:
    many = " ".join(f"`Name_{number}` file_{number}.py word{number}" for number in range(50))
    rows = [[f"Name_{number}", "Method", "1-2", 1, 1] for number in range(50)]
    found = {**FOUND, "groups": [{"qn_prefix": "shop", "file": "a.py", "rows": rows}]}
    tools = scripted({"search": lambda _: found}, ACCEPTED)
    assert len(await CbmDialect(SOURCE).search(tools, f"who calls {many} in the architecture?", 100)) <= 100
    assert len(tools.calls) <= 16


def test_the_allow_list_holds_nothing_that_writes() -> None:
    words = ("index_repository", "delete", "manage", "ingest")
    names = [name for names in CbmDialect.purposes.values() for name in names]
    assert not [name for name in names if any(word in name for word in words)]


@settings(deadline=None, max_examples=80)
@given(
    st.text(max_size=40),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cols", "rows", "groups", "qn", "name", "file", "projects", "callers", "source"])
                | st.text(max_size=6),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
    st.text(max_size=80),
    st.booleans(),
)
async def test_any_answer_to_any_question_is_hits_or_a_refusal(
    scripted: Any, question: str, said: Any, text: str, configured: bool
) -> None:
    answer: Any = lambda _: ToolAnswer(said, text)  # noqa: E731
    source = SOURCE if configured else SOURCE.model_copy(update={"project": ""})
    tools = scripted(dict.fromkeys(ACCEPTED, answer), ACCEPTED)
    try:
        hits = await CbmDialect(source).search(tools, f"who calls `put` in app.py of the architecture {question}", 7)
    except ToolFailed:
        return
    assert len(hits) <= 7
    assert [hit.relevance for hit in hits] == sorted((hit.relevance for hit in hits), reverse=True)
