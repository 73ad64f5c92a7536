"""The fixtures of the suite come from the test kit; settings of the machine must not reach a test."""

from __future__ import annotations

import os

pytest_plugins = ["cortex_testkit.plugin"]

for _name in [name for name in os.environ if name.startswith("CORTEX_") and not name.startswith("CORTEX_TEST_")]:
    del os.environ[_name]
