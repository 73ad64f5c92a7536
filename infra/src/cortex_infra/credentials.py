"""Generated secrets of the embedded servers, kept in one private file."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from cortex_infra.errors import HomeError
from cortex_infra.home import write_private


class Credentials:
    """Secrets by name, made at first use: letters, digits, '-' and '_' only, safe in URLs and configuration."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._secrets: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            self._secrets = {}
        except ValueError as error:
            # Making new ones would lock the user out of data that still has the old ones.
            raise HomeError(f"expected JSON in {file}: restore it from a backup") from error
        self._changed = False

    def get(self, name: str) -> str:
        """The secret called `name`."""
        if name not in self._secrets:
            self._secrets[name] = secrets.token_urlsafe(24)
            self._changed = True
        return self._secrets[name]

    def save(self) -> None:
        """Write new secrets to the file; without new ones nothing happens."""
        if self._changed:
            write_private(self._file, json.dumps(self._secrets, indent=2, sort_keys=True) + "\n")
            self._changed = False
