"""The contracts can be used by a bare NATS client: nothing but pydantic is imported, and importing does nothing."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import cortex_contracts

PROBE = """
import importlib, socket, sys
refused = {"faststream", "nats", "asyncpg", "redis", "httpx", "fastapi", "starlette", "uvicorn"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in refused:
            raise ImportError(f"contracts must not import {name}")
sys.meta_path.insert(0, Refuse())
def audit(event, arguments):
    if event in ("socket.connect", "socket.bind", "subprocess.Popen") or event == "open" and "w" in str(arguments[1]):
        raise RuntimeError(f"I/O at import: {event}")
sys.addaudithook(audit)
for name in sys.argv[1:]:
    importlib.import_module(name)
own = {"__main__", "sitecustomize", "usercustomize"}  # the last two are the machine's
foreign = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - own
print(" ".join(sorted(foreign)))
"""
PYDANTIC = {
    "annotated_types",
    "cortex_contracts",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
}


def test_every_module_imports_without_a_framework_and_without_io() -> None:
    found = pkgutil.walk_packages(cortex_contracts.__path__, "cortex_contracts.")
    modules = [module.name for module in found]
    assert "cortex_contracts.rpc.recall" in modules
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROBE, *modules], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    imported = {name for name in done.stdout.split() if not name.startswith("_")}
    assert imported <= PYDANTIC
