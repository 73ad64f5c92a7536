"""Speed of the Brain API over a vault of any size, as `make up` runs it, by HTTP with one static bearer.

    python tests/bench/brain_api.py --pages 10000 [--keep FOLDER] [--json FILE]

Starts a system of its own in a folder of its own, makes a repository of synthetic pages and syncs it over a signed
push, then measures what callers wait, idle and while the whole vault is synced again. The callers are coroutines of
this process, on the same processors. No limit of requests is set. `--keep` keeps the synced system for the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, Final

import psutil
import synthetic_vault as synthetic
from brain_client import GITHUB, VAULT, Api
from brain_phases import NOT_EMBED, Bench, row

from cortex_infra import bringup, installation
from cortex_infra.errors import InfraError
from cortex_infra.home import Home
from cortex_runtime.bus import Bus
from cortex_testkit import provider
from cortex_testkit.system import own_ports

LIMITS: Final = {"query": 400.0, "page": 100.0, "put to found": 5000.0, "webhook": 50.0}
"""p95 in milliseconds: of the contract (section 4), and of the webhook's answer while a sync runs."""


def against(report: Mapping[str, Any]) -> None:
    """Print each p95 beside the contract's limit, and the tenth of it that is the aim."""
    print(f"\n  {'p95, ms':<44}{'measured':>10}{'limit':>10}{'a tenth':>10}")
    rows = [
        (name if name.startswith(kind) else f"{name}: {kind}", waited["p95"], LIMITS[kind])
        for name, kinds in report["walls"].items()
        for kind, waited in kinds.items()
        if kind in LIMITS
    ]
    rows.append(("query on the bus, without the embedder", report["stages_ms"][NOT_EMBED]["p95"], LIMITS["query"]))
    for title, measured, limit in rows:
        print(f"  {title:<44}{measured:>10}{limit:>10.0f}{limit / 10:>10.0f}")


async def run(folder: Path, pages: int) -> dict[str, Any]:
    """Start the system, measure, stop it: at an error and at Ctrl-C too."""
    vault = synthetic.Repository(folder / "vault.git")
    source = {"name": VAULT, "repository": str(vault.folder), "branch": synthetic.BRANCH, "github": GITHUB}
    settings = {
        **own_ports(),
        "CORTEX_VAULTS": json.dumps([source]),
        "CORTEX_RATE_REQUESTS": "0",
        "CORTEX_RATE_BULK": "0",
    }
    home = Home(folder / "home")
    async with AsyncExitStack() as stack:
        system = await stack.enter_async_context(bringup.running(home, settings=settings))
        prepared = system.installation
        api = Api(system.url("gateway"), system.url("webhook"), home.token(), prepared.webhook_secret)
        stack.push_async_callback(api.close)
        bus = Bus(installation.nats_url(home, "gateway"), "gateway", "0.1.0")
        await bus.open()
        stack.push_async_callback(bus.close)
        return await Bench(system, api, bus, vault, pages).measure(folder / f"first_sync_{pages}.json")


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure the speed of the Brain API.")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--keep", type=Path, help="folder of the synced system, for one number of pages")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("CORTEX_")]:
        del os.environ[name]  # the settings of another system
    machine = {"processors": os.cpu_count(), "load before": [round(one, 2) for one in psutil.getloadavg()]}
    row(f"{arguments.pages:,} pages", machine)
    with ExitStack() as outer:
        folder = (arguments.keep or outer.enter_context(provider.folder())).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            report = asyncio.run(run(folder, arguments.pages))
        except InfraError as error:
            raise SystemExit(f"the system did not come up: {error}") from None
        except KeyboardInterrupt:
            raise SystemExit("stopped") from None
    against(report)
    if arguments.json:
        figures = {"pages": arguments.pages, "machine": machine, **report}
        arguments.json.write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
