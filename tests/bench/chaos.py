"""Every memory ever acknowledged, counted after a day of random crashes in fast motion.

    python tests/bench/chaos.py --minutes 10 [--seed N] [--namespaces N] [--folder-store DIR] [--json F]

See `cortex_testkit.chaos` and README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from cortex_testkit.chaos.day import Day, live


def main() -> None:
    """Live the day and count; exit code 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description="Count every acknowledged memory after many crashes.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--namespaces", type=int, default=2)
    parser.add_argument("--sample", type=int, default=40, help="memories looked for at the end, of each tier")
    parser.add_argument("--folder-store", type=Path, help="cold store in this folder instead of the embedded S3")
    parser.add_argument("--evidence", type=Path, help="folder for the logs and all that was found")
    parser.add_argument("--json", type=Path, help="where to write the report")
    options = parser.parse_args()
    settings = {}
    if options.folder_store:
        settings["CORTEX_COLD_STORE_WAREHOUSE"] = str(options.folder_store.absolute())
    began = time.monotonic()

    def told(what: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {what}", file=sys.stderr, flush=True)

    day = Day(options.minutes * 60, options.seed, options.namespaces, sample=options.sample)
    report = asyncio.run(live(day, settings, told=told, evidence=options.evidence))
    written = json.dumps(report, indent=1, ensure_ascii=False)
    print(written)
    if options.json:
        options.json.write_text(written + "\n", encoding="utf-8")
    if report["faults"]:
        sys.exit("something is wrong: " + ", ".join(report["faults"]))


if __name__ == "__main__":
    main()
