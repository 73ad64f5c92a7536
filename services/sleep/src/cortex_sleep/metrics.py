"""Prometheus metrics of the background work: runs, phases with their times, and what they did."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

RUNS: Final = Counter("cortex_sleep_runs_total", "Runs of the background work that ended", ["cause", "outcome"])
RUNNING: Final = Gauge("cortex_sleep_runs_running", "Runs of the background work that this process works on")
PHASES: Final = Counter("cortex_sleep_phases_total", "Phases that ended", ["phase", "outcome"])
PHASE_SECONDS: Final = Histogram(
    "cortex_sleep_phase_seconds",
    "Time of a phase on a namespace",
    ["phase"],
    buckets=(0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14400),
)
THAWED: Final = Counter("cortex_sleep_thawed_total", "Memories that came back from the cold tier")
DONE: Final = Counter(
    "cortex_sleep_done_total", "What phases did, in their own counts; dry runs are not", ["phase", "count"]
)
