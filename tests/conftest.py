"""The fixtures of the suite come from the test kit; what a machine or a shell has set must not reach a test."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

from cortex_infra import ports

pytest_plugins = ["cortex_testkit.plugin"]

for _name in [name for name in os.environ if name.startswith("CORTEX_") and not name.startswith("CORTEX_TEST_")]:
    del os.environ[_name]

# The same examples in every run, and a busy machine is no finding: a change breaks a property, not the dice.
settings.register_profile("suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# A shell without job control starts what it puts into the background deaf to Ctrl-C, and so would be its children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Each worker takes ports of its own: a port that two chose at once was free for both of them.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
ports.CANDIDATES = ports.CANDIDATES[_worker :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))]
