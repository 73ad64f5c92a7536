"""`python -m cortex_contracts write | check | release`: the committed files that are made from the contracts.

write    regenerate libs/contracts/schemas and docs/asyncapi.json
check    exit 1 when they differ from what the models say, or break what is released
release  make the current schemas the ones that later changes are compared with
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from cortex_contracts import asyncapi, schemas, subjects
from cortex_contracts.compatibility import Breaking, compare_all

CONTRACTS = Path("libs/contracts")
SCHEMAS = CONTRACTS / "schemas" / subjects.VERSION
RELEASED = CONTRACTS / "released" / subjects.VERSION
ASYNCAPI = Path("docs/asyncapi.json")
_DIFF_LINES = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit code is 0 when all is well."""
    parser = argparse.ArgumentParser(
        prog="python -m cortex_contracts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = {"write": write, "check": check, "release": release}
    parser.add_argument("command", choices=commands)
    parser.add_argument(
        "--root", type=Path, default=Path(), metavar="DIR", help="root of the repository (default: here)"
    )
    given = parser.parse_args(arguments)
    if not (given.root / CONTRACTS).is_dir():
        parser.error(
            f"expected {CONTRACTS} in {given.root.resolve()}: start it in the root of the repository or give --root"
        )
    return commands[given.command](given.root)


def write(root: Path) -> int:
    """Write the generated files, and take away schemas of models that are no more."""
    wanted = _generated()
    for path in _present(root) - wanted.keys():
        (root / path).unlink()
    _write(root, wanted)
    return 0


def check(root: Path) -> int:
    """Say what differs from the generated files and what breaks the released set."""
    wanted, failures = _generated(), 0
    for path in sorted(_present(root) | wanted.keys()):
        before = (root / path).read_text(encoding="utf-8") if (root / path).is_file() else ""
        after = wanted.get(path, "")
        if before != after:
            failures += 1
            lines = difflib.unified_diff(
                before.splitlines(), after.splitlines(), f"{path}", "generated now", "", "", 2, ""
            )
            print("\n".join(islice(lines, _DIFF_LINES)), file=sys.stderr)
    if failures:
        print(
            f"{failures} file(s) differ from the models: run `make contracts` and commit them",
            file=sys.stderr,
        )
    return 1 if _report(breaking(root)) or failures else 0


def release(root: Path) -> int:
    """Make the current schemas the released ones, unless that breaks somebody."""
    if _report(breaking(root)):
        return 1
    _write(
        root,
        {RELEASED / f"{name}.json": schemas.render(schema) for name, schema in schemas.json_schemas().items()},
    )
    return 0


def breaking(root: Path) -> tuple[Breaking, ...]:
    """What the models changed since the released schemas of this version token and must not."""
    released: Mapping[str, Any] = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((root / RELEASED).glob("*.json"))
    }
    return compare_all(released, schemas.json_schemas(), schemas.roles())


def _generated() -> dict[Path, str]:
    files = {SCHEMAS / f"{name}.json": schemas.render(schema) for name, schema in schemas.json_schemas().items()}
    return {**files, ASYNCAPI: schemas.render(asyncapi.document())}


def _present(root: Path) -> set[Path]:
    return {path.relative_to(root) for path in (root / SCHEMAS).glob("*.json")}


def _write(root: Path, files: Mapping[Path, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def _report(found: Sequence[Breaking]) -> bool:
    for one in found:
        print(f"breaking: {one}", file=sys.stderr)
    if found:
        print(
            f"{len(found)} change(s) break {subjects.PREFIX}: undo them, or give the message a new version token",
            file=sys.stderr,
        )
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
