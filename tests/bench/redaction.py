"""Redaction measured: megabytes per second on ordinary text, and growth on hostile text.

    python tests/bench/redaction.py [--json FILE]

Ordinary text is the harmless lines of the unit tests, repeated. Hostile texts are what backtracking is afraid of, at
100,000 and 200,000 characters: a growth near 2 is linear, near 4 quadratic.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from cortex_redaction import redact

HARMLESS = Path(__file__).parents[1] / "unit" / "redaction" / "harmless.txt"
HOSTILE = [
    "<private",
    "<private>",
    "</private>",
    "< private ",
    "<private x",
    "`",
    "` ",
    "``` \n",
    "```\n<private>\n",
    "<pri",
    "`<private>` ",
    "<cortex-memory>",
    "<cortex-memory></cortex-memory>",
    "<system-reminder> `</system-reminder>` ",
    "&amp;",
    "&lt;",
    "\\",
    "<\u200b",
    "\u0301",
    "eyJ",
    "eyJa.",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nAAAA",
    "password",
    "password=",
    "password is ",
    'password: "',
    "--password ",
    "token_",
    "secret-",
    "a://",
    "a://b:",
    "postgres://a:b",
    "curl ",
    "curl -u ",
    "bearer ",
    "Authorization: bearer ",
    "sk-",
    "ghp_",
    "AKIA",
    "A",
    "a",
    " ",
    "\n",
    "=",
    ":",
    "كلمة السر ",
    "> ",
    "x `<private>y ` </private> ` z ",
]


def seconds(text: str) -> float:
    """The best of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        redact(text)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    lines = [line for line in HARMLESS.read_text(encoding="utf-8").splitlines() if "BEGIN" not in line]
    report: dict[str, object] = {}
    for name, some in (
        ("English and code", [line for line in lines if line.isascii()]),
        ("Arabic", [line for line in lines if not line.isascii()]),
        ("English prose without marks", ["The sourdough rises overnight and is baked at noon on a hot stone."]),
    ):
        text = ("\n".join(some) + "\n") * (200_000 // len("\n".join(some)))
        report[name] = len(text.encode()) / 1e6 / seconds(text)
        print(f"{name:30} {report[name]:8.2f} MB/s")
    print(f"\n{'hostile':42} {'100k s':>8} {'200k s':>8} growth")
    for unit in HOSTILE:
        half, whole = (seconds((unit * (size // len(unit) + 1))[:size]) for size in (100_000, 200_000))
        report[unit] = {"half_s": half, "whole_s": whole}
        print(f"{unit!r:42} {half:8.3f} {whole:8.3f} {whole / half:6.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
