"""The figures of the documentation are those of the functions."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_figures_of_the_documentation_are_up_to_date() -> None:
    figures = runpy.run_path(str(ROOT / "tests" / "bench" / "decay_plots.py"))["figures"]()
    assert {name: (ROOT / "docs" / "images" / name).read_text(encoding="utf-8") for name in figures} == figures
