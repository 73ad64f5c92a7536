"""What a question costs beside its engines: gateway, bus and reconciliation, and where that goes.

    python tests/bench/ask.py [--engines 1 7 20] [--callers 1 8 50] [--asks 300] [--engine-ms 20] [--json FILE]

Runs a NATS server, a gateway process over HTTP and a process that plays the engines, each answering twelve hits with
texts that nobody has seen before. The callers are coroutines of this process, on the same processors. `engines`: the
longest that any engine held the question; `ours`: all the rest of what the caller waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import ask_timed
import numpy as np
import psutil
from ask_client import Asked, ask
from brain_phases import plural, row
from played_engines import Answered, PlayedEngines

from cortex_contracts.rpc.engine import BUILT_IN_ENGINES
from cortex_infra.servers.process import ServerProcess
from cortex_infra.servers.running import RunningServer
from cortex_testkit import provider
from cortex_testkit.nats_server import NatsServer, open_nats
from cortex_testkit.process import service_process

TOKEN: Final = "the-token-of-the-bench"
WARM: Final = 50
ROUNDS_PER_CALLER: Final = 8
"""At least so many questions of each caller."""
LOG_LINES: Final = 30
"""Of the gateway's log, shown when a question is not answered."""
ALONE: Final = 7
"""Engines of the row that has an aim, at one caller."""
AIM_MS: Final = 10.0
"""Our part at that row: its p95 (issue 5, point 8)."""
HTTP_IN, FRONT, OUT, BUS_OUT, ENGINES, BACK, REPLY, HTTP_OUT = (
    "HTTP: to the gateway",
    "auth, limits, validation",
    "requests: encode",
    "requests: bus",
    "engines",
    "replies: bus, decode, validate",
    "reply: build",
    "reply: encode, HTTP",
)


def engine_keys(number: int) -> tuple[str, ...]:
    """The engines of a row: those of recall, and others that nobody has configured an adapter for."""
    return (*BUILT_IN_ENGINES, *(f"played{at:02}" for at in range(len(BUILT_IN_ENGINES), number)))[:number]


def held_ms(answered: Sequence[Answered]) -> dict[int, tuple[float, float, float]]:
    """Of each round: when the last question came to an engine, when the last reply left one, and the longest time that
    one held it."""
    found: dict[int, tuple[float, float, float]] = {}
    for one in answered:
        came, left, held = found.get(one.round, (0.0, 0.0, 0.0))
        found[one.round] = (max(came, one.received), max(left, one.replied), max(held, one.replied - one.received))
    return found


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median, p95 and mean, in milliseconds."""
    each = np.asarray(seconds) * 1000
    return {
        "p50": round(float(np.percentile(each, 50)), 2),
        "p95": round(float(np.percentile(each, 95)), 2),
        "mean": round(float(each.mean()), 2),
    }


class Bench:
    """The servers, and what was measured with them."""

    def __init__(self, nats: NatsServer, engines: PlayedEngines, keys: Sequence[str], folder: Path) -> None:
        self._nats = nats
        self._engines = engines
        self._keys = keys
        self._folder = folder
        self._numbers = count(1)

    def process(self) -> ServerProcess:
        """The gateway, without limits of requests."""
        return service_process(
            "gateway",
            CORTEX_HOME=str(self._folder),
            CORTEX_NATS_URL=self._nats.url("gateway"),
            CORTEX_HTTP_TOKEN=TOKEN,
            CORTEX_GATEWAY_SSE_PORT="0",
            CORTEX_GATEWAY_ENGINES=json.dumps(self._keys),
            CORTEX_LOG_LEVEL="WARNING",
            CORTEX_RATE_REQUESTS="0",
        )

    def asked(self, gateway: RunningServer, keys: Sequence[str], callers: int, asks: int) -> list[tuple[Asked, Any]]:
        """Ask so many questions after some that do not count; each with what its engines did."""
        warm, rounds = (self._rounds(keys, number) for number in (min(WARM, asks), asks))
        try:
            asyncio.run(ask(gateway.process.url, TOKEN, keys, warm, callers))
            asked = asyncio.run(ask(gateway.process.url, TOKEN, keys, rounds, callers))
        except RuntimeError as error:
            log = gateway.log.read_text(encoding="utf-8").splitlines()[-LOG_LINES:]
            raise SystemExit("\n".join((str(error), *log))) from None
        held = held_ms(self._engines.answered())
        return [(one, held[one.round]) for one in asked]

    def _rounds(self, keys: Sequence[str], number: int) -> range:
        first = next(self._numbers)
        rounds = range(first, first + number)
        self._numbers = count(rounds.stop)
        self._engines.prepare(keys, rounds)
        return rounds

    def walls(self, gateway: RunningServer, engines: int, callers: int, asks: int) -> dict[str, Any]:
        """What callers wait, by whom."""
        keys = engine_keys(engines)
        before = psutil.Process(gateway.pid).cpu_times()
        each = self.asked(gateway, keys, callers, asks)
        after = psutil.Process(gateway.pid).cpu_times()
        seconds = max(one.received for one, _ in each) - min(one.sent for one, _ in each)
        figures = {
            "whole": percentiles([one.received - one.sent for one, _ in each]),
            "engines": percentiles([held for _, (_, _, held) in each]),
            "ours": percentiles([one.received - one.sent - held for one, (_, _, held) in each]),
            "per_s": round(len(each) / seconds, 1),
            "gateway_cpu_ms": round(1000 * sum(after[:2] - np.asarray(before[:2])) / (len(each) + min(WARM, asks)), 2),
            "engines_down": sum(one.down for one, _ in each),
        }
        row(
            f"{engines} engine{'s' if engines > 1 else ''}, {plural(callers)}",
            {part: f"{figures[part]['p50']:.1f}/{figures[part]['p95']:.1f}" for part in ("whole", "engines", "ours")}
            | {"per s": figures["per_s"], "gateway CPU ms": figures["gateway_cpu_ms"]}
            | ({"ENGINES DOWN": figures["engines_down"]} if figures["engines_down"] else {}),
        )
        return figures

    def parts(self, engines: int, asks: int) -> dict[str, Any]:
        """Where one caller's time goes, by a gateway with timers; the parts of a question add up to the whole."""
        file = self._folder / f"timers_{engines}.json"
        product = self.process()
        command = (sys.executable, ask_timed.__file__, str(file))
        with RunningServer(replace(product, command=command), self._folder / "timed") as gateway:
            asyncio.run(gateway.wait_ready())
            each = self.asked(gateway, engine_keys(engines), 1, asks)
        questions = {one["round"]: one for one in json.loads(file.read_text(encoding="utf-8"))}
        found: dict[str, list[float]] = {}
        for one, engine_times in each:
            for name, seconds in segments(one, engine_times, questions[one.round]):
                found.setdefault(name, []).append(seconds)
        return {name: percentiles(seconds) for name, seconds in found.items()}


def segments(
    asked: Asked, engine_times: tuple[float, float, float], timed: Mapping[str, Any]
) -> Iterator[tuple[str, float]]:
    """The parts of one question in their order, then what is inside of them and what is all of ours."""
    came, left, held = engine_times
    spans: Mapping[str, tuple[float, float]] = timed["spans"]
    spent: Mapping[str, float] = timed["spent"]
    (request_from, _), (ask_from, ask_to), (_, fan_to) = spans["request"], spans["ask"], spans["fan-out"]
    ranking = [(name, spent[name]) for name, _, _ in ask_timed.RANKING]
    yield HTTP_IN, request_from - asked.sent
    yield FRONT, ask_from - request_from
    yield OUT, spent[ask_timed.ENCODE]
    yield BUS_OUT, came - ask_from - spent[ask_timed.ENCODE]
    yield ENGINES, left - came
    yield BACK, fan_to - left
    yield from ranking
    yield REPLY, ask_to - fan_to - sum(seconds for _, seconds in ranking)
    yield HTTP_OUT, asked.received - ask_to
    yield "ours", asked.received - asked.sent - held
    yield f"({ask_timed.DECODE}, also while others wait)", spent[ask_timed.DECODE]


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Start everything, measure, stop it."""
    keys = engine_keys(max(arguments.engines))
    report: dict[str, Any] = {"engine_ms": arguments.engine_ms, "walls": {}, "parts": {}}
    with ExitStack() as stack:
        folder = stack.enter_context(provider.folder())
        nats = open_nats(stack)
        asyncio.run(nats.reset())
        urls = {key: nats.url("recall" if key in BUILT_IN_ENGINES else "engines") for key in keys}
        engines = stack.enter_context(PlayedEngines(urls, arguments.engine_ms / 1000))
        bench = Bench(nats, engines, keys, folder)
        print("  p50/p95, ms")
        with RunningServer(bench.process(), folder / "services") as gateway:
            asyncio.run(gateway.wait_ready())
            for number in arguments.engines:
                for callers in arguments.callers:
                    asks = max(arguments.asks, ROUNDS_PER_CALLER * callers)
                    report["walls"][f"{number}/{callers}"] = bench.walls(gateway, number, callers, asks)
        for number in arguments.engines:
            report["parts"][number] = bench.parts(number, arguments.asks)
            show(number, report["parts"][number])
    return report


def show(engines: int, parts: Mapping[str, Mapping[str, float]]) -> None:
    """Print where one caller's time goes."""
    ours = parts["ours"]["mean"]
    title = f"{engines} engine{'s' if engines > 1 else ''}, 1 caller: ms"
    print(f"\n  {title:<44}{'p50':>8}{'p95':>8}{'mean':>8}{'of ours':>9}")
    for name, figures in parts.items():
        share = "" if name == ENGINES or name.startswith("(") else f"{figures['mean'] / ours:>9.0%}"
        print(f"  {name:<44}{figures['p50']:>8.2f}{figures['p95']:>8.2f}{figures['mean']:>8.2f}{share}")


def main() -> None:
    """Measure and print; write JSON when asked."""
    parser = argparse.ArgumentParser(description="Measure what a question costs beside its engines.")
    parser.add_argument("--engines", type=int, nargs="+", default=[1, 7, 20])
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 8, 50])
    parser.add_argument("--asks", type=int, default=300, help="questions of each row")
    parser.add_argument("--engine-ms", type=float, default=20.0, help="how long each engine holds a question")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("CORTEX_") and name != "CORTEX_TEST_NATS_URL"]:
        del os.environ[name]  # the settings of another system
    machine = {"processors": os.cpu_count(), "load before": [round(one, 2) for one in psutil.getloadavg()]}
    row("machine", machine)
    report = run(arguments) | {"machine": machine}
    if aimed := report["walls"].get(f"{ALONE}/1"):
        print(f"\n  ours, {ALONE} engines, 1 caller: p95 {aimed['ours']['p95']:.1f} ms; the aim is {AIM_MS:.0f} ms")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
