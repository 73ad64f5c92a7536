"""No sentence of the contract is without a test, and no test names a sentence that there is not."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def sentences() -> dict[str, dict[str, object]]:
    return tomllib.loads((HERE / "sentences.toml").read_text(encoding="utf-8"))


def functions(file: Path) -> dict[str, ast.AsyncFunctionDef | ast.FunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef))
    return {node.name: node for node in found if node.name.startswith("test_")}


def said() -> list[str]:
    """The sentences that the tests of this folder name."""
    return [
        ast.literal_eval(decorator.args[0])
        for file in HERE.glob("test_*.py")
        for function in functions(file).values()
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "says"
    ]


def test_each_sentence_has_a_test_and_each_test_its_own_sentence() -> None:
    here = sorted(name for name, entry in sentences().items() if "elsewhere" not in entry)
    assert sorted(said()) == here


def test_each_section_is_there_and_each_sentence_is_said_once() -> None:
    table = sentences()
    assert all(re.fullmatch(r"(3|3\.[1-6]|4|5|6|11\.[1-6])-[a-z0-9-]+", name) for name in table)
    sections = {re.match(r"3\.[1-6]|\d+", name).group() for name in table}  # type: ignore[union-attr]
    assert sections == {"3", *(f"3.{n}" for n in range(1, 7)), "4", "5", "6", "11"}
    texts = [entry["says"] for entry in table.values()]
    assert len(set(texts)) == len(texts)


def test_what_is_shown_elsewhere_is_there() -> None:
    for entry in sentences().values():
        places = entry.get("elsewhere", [])
        assert isinstance(places, list)
        for place in places:
            file, _, name = place.partition("::")
            assert (ROOT / file).is_file(), place
            assert not name or name in functions(ROOT / file), place
