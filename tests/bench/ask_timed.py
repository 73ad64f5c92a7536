"""The gateway with timers, as a process: `python tests/bench/ask_timed.py FILE`, its settings as the product's.

What each question of `POST /ask` took is written to FILE when the process ends. Parts of one question at a time are
told apart, so it is for one caller. A part that is never reached is an error of this file: the code has moved.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from cortex_contracts.rpc.contract import Envelope
from cortex_contracts.rpc.engine import EngineAskReply, EngineAskRequest
from cortex_gateway import ask, duplicates, transport
from cortex_gateway.app import build
from cortex_gateway.config import GatewaySettings
from cortex_gateway.fan_out import FanOut
from cortex_gateway.scoring import Scoring
from cortex_runtime.service import main

REPLY: Final = Envelope[EngineAskReply]
"""Kept: a generic model that nobody holds may be made anew, without the timer."""
ENCODE, DECODE = "encode requests", "decode replies"
RANKING: Final = (
    ("duplicates", duplicates, "things"),
    ("score", Scoring, "rank"),
    ("reconcile", ask, "reconcile"),
    ("merge", ask, "merge"),
)
"""Parts after the fan-out, each without those that it calls: functions by the name under which they are found."""
SPANS: Final = (("request", transport.Trace, "__call__"), ("ask", ask.Asker, "ask"), ("fan-out", FanOut, "ask"))
"""Parts that wait: when each began and ended is kept."""


class Timers:
    """The parts of the question at hand, and those of all questions before."""

    def __init__(self) -> None:
        self.questions: list[dict[str, Any]] = []
        self._spent: dict[str, float] = {}
        self._inner = 0.0
        self._spans: dict[str, tuple[float, float]] = {}
        self._round = -1

    def install(self) -> None:
        """Put a timer around each part."""
        for name, owner, attribute in RANKING:
            self._time(name, owner, attribute)
        self._time(ENCODE, EngineAskRequest, "model_dump_json")
        self._time(DECODE, REPLY, "model_validate_json")
        for name, owner, attribute in SPANS:
            self._span(name, owner, attribute)

    def _time(self, name: str, owner: Any, attribute: str) -> None:
        original: Callable[..., Any] = getattr(owner, attribute)

        def timed(*arguments: Any, **named: Any) -> Any:
            outer, self._inner = self._inner, 0.0
            started = time.perf_counter()
            try:
                return original(*arguments, **named)
            finally:
                took = time.perf_counter() - started
                self._spent[name] = self._spent.get(name, 0.0) + took - self._inner
                self._inner = outer + took

        # What is bound to its class already must not be bound again.
        setattr(owner, attribute, staticmethod(timed) if hasattr(original, "__self__") else timed)

    def _span(self, name: str, owner: Any, attribute: str) -> None:
        original: Callable[..., Awaitable[Any]] = getattr(owner, attribute)

        async def spanned(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            if name == "fan-out":
                found = re.search(r"round (\d+)", arguments[2])
                self._round = int(found[1]) if found else -1
            try:
                return await original(*arguments, **named)
            finally:
                self._spans[name] = (started, time.perf_counter())
                if name == "request":
                    self._end()

        setattr(owner, attribute, spanned)

    def _end(self) -> None:
        if "ask" in self._spans:  # the others ask for the gateway's health
            self.questions.append({"round": self._round, "spans": self._spans, "spent": self._spent})
        self._spans, self._spent = {}, {}


if __name__ == "__main__":
    timers = Timers()
    timers.install()
    try:
        main(GatewaySettings, build)
    finally:
        Path(sys.argv[1]).write_text(json.dumps(timers.questions), encoding="utf-8")
