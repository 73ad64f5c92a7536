"""How a question to Serena becomes lookups: few, side by side, and none the worse for a tool that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.errors import Unavailable
from cortex_gateway.adapters import code_hits
from cortex_gateway.adapters.dialect import ToolFailed, ToolsChanged
from cortex_gateway.adapters.serena import SerenaDialect
from cortex_gateway.adapters.settings import EngineKind, EngineSource
from cortex_gateway.adapters.tool_answer import ToolAnswer

SOURCE = EngineSource(key="serena", kind=EngineKind.SERENA, url="http://localhost/sse")
SCHEMAS: dict[str, frozenset[str]] = {
    "find": frozenset(
        {"name_path_pattern", "relative_path", "include_body", "substring_matching", "max_matches", "max_answer_chars"}
    ),
    "references": frozenset({"name_path", "relative_path", "max_answer_chars"}),
    "overview": frozenset({"relative_path", "depth", "max_answer_chars"}),
    "pattern": frozenset(
        {"substring_pattern", "context_lines_before", "context_lines_after", "max_answer_chars",
         "restrict_search_to_code_files"}
    ),
    "files": frozenset({"file_mask", "relative_path"}),
}  # fmt: skip
PUT = {
    "name_path": "Brain/put",
    "kind": "Method",
    "relative_path": "app.py",
    "body_location": {"start_line": 4, "end_line": 6},
    "body": "def put(self, slug):\n    ...",
}
MAIN = {
    "name_path": "main",
    "body_location": {"start_line": 8, "end_line": 11},
    "content_around_reference": "...   9:    b = Brain()\n  >  10:    b.put()\n...  11:    return b",
}


def find(*symbols: Mapping[str, Any]) -> Any:
    """Finds symbols by the end of their name path."""

    def answer(given: Mapping[str, Any]) -> object:
        wanted = str(given.get("name_path_pattern", given.get("name_path", "")))
        return [one for one in symbols if str(one["name_path"]).endswith(wanted)]

    return answer


async def test_a_name_is_read_in_the_file_that_declares_it(scripted: Any) -> None:
    declared = {
        "b.py": ["  >   1:def PUT():"],
        "app.py": ["  >   4:    def put(self, slug):"],
        "c.py": ["  >  1:# put"],
    }
    server = scripted({"find": find(PUT), "pattern": lambda _: declared}, SCHEMAS)
    [hit] = await SerenaDialect(SOURCE).search(server, "What is `Brain.put`?", 5)
    assert [purpose for purpose, _ in server.calls] == ["pattern", "find", "find"]
    looked_up = [(given["name_path_pattern"], given["relative_path"]) for given in server.called("find")]
    assert looked_up == [("put", "app.py"), ("PUT", "b.py")]  # as it is written goes first
    assert hit.path == "app.py#Brain/put"
    assert hit.snippet.startswith("Method Brain.put is defined in app.py, lines 5-7.\n\n```\ndef put")


async def test_a_name_that_no_declaration_shows_is_read_in_the_files_that_have_it(scripted: Any) -> None:
    def mentioned(given: Mapping[str, Any]) -> object:
        return {"app.java": ["  >   4:    void put() {"]} if given["substring_pattern"] == "(?i)(?:put)" else {}

    java = {**PUT, "relative_path": "app.java"}
    server = scripted({"find": find(java), "pattern": mentioned}, SCHEMAS)
    hits = await SerenaDialect(SOURCE).search(server, "What is `put`?", 5)
    assert [given["relative_path"] for given in server.called("find")] == ["app.java"]
    assert hits[0].path == "app.java#Brain/put"


async def test_older_names_of_arguments_are_used_where_the_schema_has_them(scripted: Any) -> None:
    schemas = {**SCHEMAS, "find": frozenset({"name_path", "include_body", "within_relative_path"})}
    declared = {"app.py": ["  >   4:    def put(self, slug):"]}
    server = scripted({"find": find(PUT), "pattern": lambda _: declared}, schemas)
    [hit] = await SerenaDialect(SOURCE).search(server, "how do I put something?", 5)
    assert server.called("find") == [{"name_path": "put", "include_body": True, "within_relative_path": "app.py"}]
    assert hit.path == "app.py#Brain/put"


async def test_bodies_that_are_too_long_are_asked_for_again_without_them(scripted: Any) -> None:
    def answer(given: Mapping[str, Any]) -> object:
        if given["include_body"]:
            return ToolAnswer(None, 'The answer is too long (99 characters).\nShortened result:\n{"app.py": ["Brain"]}')
        return [{**PUT, "body": None}]

    server = scripted({"find": answer}, SCHEMAS)
    hits = await SerenaDialect(SOURCE).search(server, "`put`", 5)
    assert [given["include_body"] for given in server.called("find")] == [True, False]
    assert [hit.snippet for hit in hits] == ["Method Brain.put is defined in app.py, lines 5-7."]


async def test_an_answer_that_stays_too_long_gives_at_least_its_names(scripted: Any) -> None:
    prose = 'The answer is too long (99 characters).\nShortened result:\n{"app.py": ["Brain/put", "Store/put"]}'
    server = scripted({"find": lambda _: ToolAnswer(None, prose)}, SCHEMAS)
    hits = await SerenaDialect(SOURCE).search(server, "`put`", 5)
    assert [hit.path for hit in hits] == ["app.py#Brain/put", "app.py#Store/put"]


async def test_who_calls_asks_for_references_to_what_was_found(scripted: Any) -> None:
    server = scripted({"find": find(PUT), "references": lambda _: {"app.py": {"Function": [MAIN]}}}, SCHEMAS)
    hits = await SerenaDialect(SOURCE).search(server, "Who calls Brain.put?", 5)
    assert server.called("references")[0]["name_path"] == "Brain/put"
    assert [hit.path for hit in hits] == ["app.py#main", "app.py#Brain/put"]
    assert hits[0].title == "Function main uses Brain.put in app.py, line 11"
    assert hits[0].relevance > hits[1].relevance


async def test_without_references_lines_of_text_say_who_calls(scripted: Any) -> None:
    text = {"other.py": ["  >   2: thing.put(1)"]}
    server = scripted({"find": find(PUT), "references": lambda _: {}, "pattern": lambda _: text}, SCHEMAS)
    hits = await SerenaDialect(SOURCE).search(server, "Who calls Brain.put?", 5)
    assert {hit.path for hit in hits} == {"other.py", "app.py#Brain/put"}


async def test_what_a_file_imports_is_not_defined_there(scripted: Any) -> None:
    imported = {**PUT, "name_path": "put", "relative_path": "b.py", "body": "from app import put"}
    server = scripted({"find": find(imported, PUT)}, SCHEMAS)
    assert [hit.path for hit in await SerenaDialect(SOURCE).search(server, "`put`", 5)] == ["app.py#Brain/put"]


async def test_a_name_that_is_nowhere_is_looked_for_by_its_part_and_as_text(scripted: Any) -> None:
    server = scripted({}, SCHEMAS)
    assert await SerenaDialect(SOURCE).search(server, "`Brain.putt`", 5) == ()
    assert server.called("find")[-1]["name_path_pattern"] == "putt"
    assert server.called("find")[-1]["substring_matching"] is True
    assert server.called("pattern")[-1]["substring_pattern"] == "(?i)(?:putt)"


async def test_a_language_server_that_is_missing_leaves_the_text(scripted: Any) -> None:
    missing = ToolFailed("language server manager is not initialized")
    server = scripted(
        {"find": lambda _: missing, "pattern": lambda _: {"app.py": ["  >   4: def put(self):"]}}, SCHEMAS
    )
    for question in ("Who calls `Brain.put`?", "how do I put something?"):
        [hit] = await SerenaDialect(SOURCE).search(server, question, 5)
        assert (hit.path, hit.title, hit.snippet) == ("app.py", "app.py, line 5", "app.py, line 5: def put(self):")
    with pytest.raises(ToolFailed, match="language server"):
        await SerenaDialect(SOURCE).search(scripted({"find": lambda _: missing}, SCHEMAS), "`put`", 5)


async def test_an_error_inside_a_success_is_a_failure(scripted: Any) -> None:
    server = scripted({"find": lambda _: {"error": "no active project"}}, SCHEMAS)
    with pytest.raises(ToolFailed, match="no active project"):
        await SerenaDialect(SOURCE).search(server, "`put`", 5)


async def test_an_engine_that_is_gone_is_said_to_be_gone(scripted: Any) -> None:
    server = scripted({"find": lambda _: Unavailable("gone"), "pattern": lambda _: {"app.py": [" > 1: put"]}}, SCHEMAS)
    with pytest.raises(Unavailable, match="gone"):
        await SerenaDialect(SOURCE).search(server, "`put`", 5)


async def test_only_the_tools_that_are_there_are_used(scripted: Any) -> None:
    server = scripted({"pattern": lambda _: {"app.py": ["  >   4: def put(self):"]}}, {"pattern": SCHEMAS["pattern"]})
    [hit] = await SerenaDialect(SOURCE).search(server, "how do I put something?", 5)
    assert hit.path == "app.py"
    only_find = scripted({"find": find(PUT)}, {"find": SCHEMAS["find"]})
    [hit] = await SerenaDialect(SOURCE).search(only_find, "who calls `put` in app.py?", 5)
    assert hit.path == "app.py#Brain/put"
    assert await SerenaDialect(SOURCE).search(only_find, "who calls `nothing_of_the_kind`?", 5) == ()


async def test_without_a_search_for_text_words_are_tried_as_parts_of_names(scripted: Any) -> None:
    server = scripted({"find": find(PUT)}, {"find": SCHEMAS["find"]})
    [hit] = await SerenaDialect(SOURCE).search(server, "how is it put?", 5)
    tried = [(given["name_path_pattern"], given["substring_matching"]) for given in server.called("find")]
    assert tried == [("put", True), ("Put", True)]
    assert hit.path == "app.py#Brain/put"


async def test_a_tool_that_is_not_there_any_more_makes_the_tools_be_listed_again(scripted: Any) -> None:
    server = scripted(
        {"find": lambda _: ToolsChanged("unknown tool"), "pattern": lambda _: {"app.py": [" > 1: put"]}}, SCHEMAS
    )
    with pytest.raises(ToolsChanged):
        await SerenaDialect(SOURCE).search(server, "`put`", 5)


async def test_a_tool_with_arguments_of_its_own_leaves_the_others(scripted: Any) -> None:
    schemas = {**SCHEMAS, "find": frozenset({"symbol_query"})}
    server = scripted({"pattern": lambda _: {"app.py": ["  >   4: def put(self):"]}}, schemas)
    [hit] = await SerenaDialect(SOURCE).search(server, "what is `put`?", 5)
    assert hit.path == "app.py"


async def test_later_rounds_that_take_too_long_do_not_lose_what_was_found(scripted: Any) -> None:
    server = scripted({"find": find(PUT)}, SCHEMAS, hanging=("references",))
    hurried = SOURCE.model_copy(update={"limit_s": 0.05})
    async with asyncio.timeout(10):
        hits = await SerenaDialect(hurried).search(server, "who calls `put`?", 5)
    assert [hit.path for hit in hits] == ["app.py#Brain/put"]
    assert hits[0].relevance == code_hits.NAMED


async def test_no_question_makes_many_calls(scripted: Any) -> None:
    many = " ".join(f"`Name_{number}` file_{number}.py word{number}" for number in range(50))
    server = scripted({"files": lambda given: {"files": [given["file_mask"]]}}, SCHEMAS)
    await SerenaDialect(SOURCE).search(server, f"who calls {many}?", 100)
    assert len(server.calls) <= 16


def test_its_default_interface_gets_the_sentence_that_helps() -> None:
    dialect = SerenaDialect(SOURCE)
    listed = frozenset({"activate_project", "initial_instructions", "serena_repl"})
    assert "--agent-interface tools" in dialect.advice(listed)
    assert "find_symbol" in dialect.advice(frozenset({"other"}))


def test_the_allow_list_holds_nothing_that_writes() -> None:
    words = ("write", "edit", "replace", "insert", "rename", "delete", "create", "execute", "activate", "memory")
    names = [name for names in SerenaDialect.purposes.values() for name in names]
    assert not [name for name in names if any(word in name for word in words)]


@settings(deadline=None, max_examples=60)
@given(
    st.text(max_size=40),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
        max_leaves=8,
    ),
    st.text(max_size=60),
)
async def test_any_answer_to_any_question_is_hits_or_a_refusal(
    scripted: Any, question: str, said: Any, text: str
) -> None:
    answer: Any = lambda _: ToolAnswer(said, text)  # noqa: E731
    server = scripted(dict.fromkeys(SCHEMAS, answer), SCHEMAS)
    try:
        hits = await SerenaDialect(SOURCE).search(server, f"who calls `put` in app.py {question}", 7)
    except ToolFailed:
        return
    assert len(hits) <= 7
    assert [hit.relevance for hit in hits] == sorted((hit.relevance for hit in hits), reverse=True)
