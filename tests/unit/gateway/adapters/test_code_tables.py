"""cbm's tables and nodes, from each of its forms."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_gateway.adapters import code_graph, code_tables
from cortex_gateway.adapters.tool_answer import ToolAnswer

TREE = """\
total: 12
results: 3  (rows: name label lines in out signature; qn = group prefix + "." + name)
shop.cmd.server (cmd/server/main.go):
  HandleOrder Function 10-22 3 1,"func HandleOrder(w, r) error"
  __file__ File  0 0
- (a b.go):
  main Function 1-2 0 0
has_more: false
hint: "a, b"
"""
TOON = """\
total: 2
search_mode: bm25
results[2]{qn,label,file,lines,rank}:
  shop.app.Brain.put,Method,app.py,7-9,-12.5
  shop.app.Brain,Class,"my app.py","",-3
has_more: true
"""
SPACED = """\
results: 1 (cols: qn label file lines in out)
 shop.app.put Function app.py 7-9 3 1
total: 1
"""


def of_text(text: str) -> code_tables.CodeTables:
    return code_tables.read(ToolAnswer(None, text))


def of_json(data: object) -> code_tables.CodeTables:
    return code_tables.read(ToolAnswer(data, json.dumps(data)))  # type: ignore[arg-type]


def test_a_tree_of_groups_is_rows_with_qualified_names() -> None:
    tables = of_text(TREE)
    assert tables.scalars == {"total": "12", "has_more": "false", "hint": "a, b"}
    assert [(row["qn"], row["file"], row["lines"]) for row in tables.results] == [
        ("shop.cmd.server.HandleOrder", "cmd/server/main.go", "10-22"),
        ("shop.cmd.server.__file__", "cmd/server/main.go", ""),
        ("main", "a b.go", "1-2"),
    ]
    assert tables.results[0]["signature"] == "func HandleOrder(w, r) error"


def test_a_table_of_commas_keeps_quoted_and_empty_cells_in_their_places() -> None:
    assert [dict(row) for row in of_text(TOON).results] == [
        {"qn": "shop.app.Brain.put", "label": "Method", "file": "app.py", "lines": "7-9", "rank": "-12.5"},
        {"qn": "shop.app.Brain", "label": "Class", "file": "my app.py", "lines": "", "rank": "-3"},
    ]


def test_a_table_of_spaces_is_read_as_well() -> None:
    tables = of_text(SPACED)
    assert tables.results[0]["file"] == "app.py"
    assert tables.scalars == {"total": "1"}


@pytest.mark.parametrize(
    "data",
    [
        {"groups": [{"qn_prefix": "shop.app", "file": "app.py", "rows": [["put", "7-9"]]}], "cols": ["name", "lines"]},
        {"cols": ["qn", "file", "lines"], "rows": [["shop.app.put", "app.py", "7-9"]], "search_mode": "bm25"},
        {"results": [{"qualified_name": "shop.app.put", "file_path": "app.py", "start_line": 7, "end_line": 9}]},
        {"semantic": {"cols": ["qn", "file", "lines"], "rows": [["shop.app.put", "app.py", "7-9"]]}},
        {"semantic_results": [{"qualified_name": "shop.app.put", "file_path": "app.py", "lines": "7-9"}]},
        [{"qn": "shop.app.put", "file": "app.py", "lines": "7-9"}],
    ],
)
def test_results_are_read_from_every_shape_of_json(data: object) -> None:
    [row] = of_json(data).results
    assert (row["qn"], row["file"], code_tables.lines(row)) == ("shop.app.put", "app.py", (7, 9))


def test_named_sections_and_scalars_of_json_are_kept() -> None:
    groups = [{"qn_prefix": "demo.main", "rows": [["compute", 1], ["main", 2]]}]
    tables = of_json({"function": "add", "callers_total": 2, "callers": {"cols": ["name", "hop"], "groups": groups}})
    assert tables.scalars == {"function": "add", "callers_total": "2"}
    assert [row["qn"] for row in tables.tables["callers"]] == ["demo.main.compute", "demo.main.main"]


@pytest.mark.parametrize(
    ("qualified", "file", "symbol"),
    [
        ("shop.cmd.server.HandleOrder", "cmd/server/main.go", "HandleOrder"),  # Go: the folder is the package
        ("shop.app.Brain.put", "app.py", "Brain/put"),
        ("shop.store.brain.brain", "store/brain.py", "brain"),
        ("shop.src.Foo.Foo.bar", "src/Foo.java", "Foo/bar"),
        ("elsewhere.put", "app.py", "elsewhere/put"),
        ("put", "", "put"),
    ],
)
def test_a_symbol_is_what_is_left_of_its_qualified_name(qualified: str, file: str, symbol: str) -> None:
    assert code_graph.symbol_of(qualified, "shop", file) == symbol


def test_a_node_says_where_it_is_and_what_is_linked_to_it() -> None:
    row = {
        "qn": "shop.app.put",
        "label": "Function",
        "file": "app.py",
        "lines": "7-9",
        "in": "3",
        "out": "1",
        "rank": "-2",
    }
    node = code_graph.node(row, "shop")
    assert node is not None
    assert (node.symbol.name, node.symbol.first, node.symbol.last) == ("put", 7, 9)
    assert (node.rank, node.links, node.callable) == (-2.0, " (3 links to it, 1 from it)", True)
    file = code_graph.node({"qn": "shop.app.__file__", "label": "File", "file": "app.py"}, "shop")
    assert file is not None
    assert (file.symbol.name, file.callable) == ("", False)
    assert code_graph.node({}, "shop") is None


def test_an_overview_is_told_in_sentences_and_bounded() -> None:
    rows = [[f"package{number}", number] for number in range(50)]
    said = code_graph.overview(
        of_json({"total_nodes": 9, "total_edges": 4, "packages": {"cols": ["name", "nodes"], "rows": rows}}), "shop"
    )
    assert said.splitlines() == [
        "The code of shop is a graph of 9 nodes and 4 edges.",
        "Packages: " + "; ".join(f"package{n} (nodes {n})" for n in range(8)) + " and 42 more.",
    ]
    assert code_graph.overview(of_text("nothing"), "shop") == ""


@pytest.mark.parametrize(("words", "aspects"), [(("routes", "layers"), ("routes", "layers")), (("architecture",), ())])
def test_aspects_are_those_that_the_question_names(words: tuple[str, ...], aspects: tuple[str, ...]) -> None:
    assert code_graph.aspects(words) == aspects


@settings(deadline=None, max_examples=200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["cols", "rows", "groups", "qn_prefix", "file", "results", "qn", "lines", "rank"])
                | st.text(max_size=6),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    ),
    st.text(max_size=200)
    | st.lists(st.sampled_from([*'ab "\\,-:()[]{}\n', "results: 1  (rows: name in)\n", "r[1]{qn,file}:\n"])).map(
        "".join
    ),
)
def test_any_answer_is_read_without_an_error(data: object, text: str) -> None:
    for answer in (ToolAnswer(data, text), ToolAnswer(None, text)):  # type: ignore[arg-type]
        tables = code_tables.read(answer)
        for row in tables.results:
            code_tables.lines(row)
            code_graph.node(row, "shop")
        assert len(code_graph.overview(tables, "shop")) <= code_graph.OVERVIEW_LENGTH + 2
