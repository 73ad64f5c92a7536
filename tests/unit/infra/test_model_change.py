"""The model of an embedded installation is one line of its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_infra.home import Home
from cortex_infra.model_change import keep


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "embedder_model: new\n"),
        ("", "embedder_model: new\n"),
        ("# mine\norg: acme", "# mine\norg: acme\nembedder_model: new\n"),
        ("embedder_model: old\n# mine\n", "embedder_model: new\n# mine\n"),
    ],
)
def test_the_model_is_kept_and_every_other_line_stays(tmp_path: Path, before: str | None, after: str) -> None:
    file = tmp_path / "cortex.yaml"
    if before is not None:
        file.write_text(before, encoding="utf-8")
    keep(Home(tmp_path), "new", {})
    keep(Home(tmp_path), "new", {})
    assert file.read_text(encoding="utf-8") == after
