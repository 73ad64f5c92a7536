"""Every kind of engine can be made of its configuration alone, without anything being reached."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from cortex_gateway.adapters import kinds
from cortex_gateway.adapters.result_fields import ResultFields
from cortex_gateway.adapters.settings import EngineKind, EngineSource

DOCUMENT = Path(__file__).parents[4] / "docs" / "engines.md"


@pytest.mark.parametrize("kind", list(EngineKind))
async def test_every_kind_has_an_engine(kind: EngineKind):
    more = {"tool": "find"} if kind is EngineKind.MCP else {}
    source = EngineSource.model_validate({"key": "one", "kind": kind, "url": "http://127.0.0.1:9/x", **more})
    engine = kinds.engine(source)
    await engine.close()


def test_kinds_are_the_ones_that_can_be_configured():
    assert set(kinds.FACTORIES) == set(EngineKind)


def test_the_examples_of_the_document_are_accepted():
    *full, fields = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    entries = [entry for text in full for entry in yaml.safe_load(text.replace("…", "x"))["engines"]]
    assert [EngineSource.model_validate(entry).key for entry in entries] == [
        "serena",
        "cbm",
        "memgraph",
        "tickets",
        "graph",
        "history",
    ]
    assert ResultFields.model_validate(yaml.safe_load(fields)["fields"]).measure is not None
