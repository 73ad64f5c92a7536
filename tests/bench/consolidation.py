"""What sleep makes of conversations: how many memories become how many facts, and of which.

    python tests/bench/consolidation.py --locomo dev.json [--show 40] [--json out.json]

Every turn is retained as one memory through the real services (`quality_data`), the sleep service consolidates each
conversation, twice. `--show` prints facts with the number of their sources, to be read: would who reads one alone be
misled about who said it, when, about whom?
"""

from __future__ import annotations

import argparse
import asyncio
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import consolidating
from deployment import Deployment, open_cluster, open_deployment
from quality import ME, retain
from quality_data import Bank, read_locomo

from cortex_testkit import provider


async def run(deployment: Deployment, banks: list[Bank], show: int) -> dict[str, Any]:
    """The whole report."""
    names = [bank.namespace for bank in banks]
    async with (
        deployment.running("ingest", CORTEX_HOME=str(deployment.folder)),
        deployment.running("sleep", **consolidating.settings(deployment)),
        deployment.caller() as bus,
    ):
        known, _ = await retain(bus, banks)
        await consolidating.settled(deployment)
        first = await consolidating.consolidate(bus, ME, names)
        made = await consolidating.facts(deployment)
        second = await consolidating.consolidate(bus, ME, names)
        again = await consolidating.facts(deployment)
    rows = []
    for name in names:
        quoted = {str(source) for fact in made[name] for source in fact["sources"]}
        assert quoted <= known[name].keys(), "a source is a memory that was retained"
        rows.append(
            {
                "namespace": name,
                "episodics": len(known[name]),
                "statements": first[name].counts["statements"],
                "facts": len(made[name]),
                "quoted": len(quoted),
                "fewest_sources": min(len(fact["sources"]) for fact in made[name]),
                "summaries": first[name].counts["summaries"],
                "seconds": round(first[name].seconds, 2),
                "second_run": {key: count for key, count in second[name].counts.items() if count},
                "same": made[name] == again[name],
            }
        )
    for fact in [fact for name in names for fact in made[name]][:show]:
        print(f"\n[{len(fact['sources'])} sources, {fact['valid_at']:%Y-%m-%d}]\n{fact['content']}")
    return {"rows": rows}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        postgres, _ = open_cluster(stack, stack.enter_context(provider.folder()) / "postgres", durable=False)
        asyncio.run(postgres.prepare("consolidation"))
        deployment = open_deployment(stack, postgres, "consolidation")
        report = asyncio.run(run(deployment, read_locomo(options.locomo), options.show))
    for row in report["rows"]:
        print(
            f"{row['namespace']}: {row['episodics']} episodics, {row['statements']} state something; {row['quoted']} "
            f"of them in {row['facts']} facts (each of {row['fewest_sources']} or more), {row['summaries']} entities "
            f"summed up, {row['seconds']} s; second run: {row['second_run'] or 'nothing'}, same facts: {row['same']}"
        )
    if options.json:
        options.json.write_text(json.dumps(report, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
