"""How git gets into private repositories: a token over HTTPS, or a key over SSH.

Both reach git in its environment, which is private to the account: neither a command line nor a file holds the token.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

TOKEN: Final = "CORTEX_GIT_TOKEN"  # noqa: S105 - the name of a variable
# `printf` is built into the shell: what it prints is no argument of a process.
HELPER: Final = f"""!f() {{ test "$1" = get && printf 'username=x-access-token\\npassword=%s\\n' "${TOKEN}"; }}; f"""


@dataclass(frozen=True, slots=True)
class Access:
    """A token for HTTPS, or the file of a private key for SSH.

    Without `known_hosts` the key of a server is trusted when it is first seen, and only that one from then on.
    """

    token: str = field(default="", repr=False)
    ssh_key: Path | None = None
    known_hosts: Path | None = None

    def variables(self) -> Mapping[str, str]:
        """What the environment of git holds beyond its configuration."""
        return {TOKEN: self.token} if self.token else {}

    def configuration(self, repository: str) -> Sequence[tuple[str, str]]:
        """Configuration of git that gives the token to the server of `repository`."""
        address = urlsplit(repository)
        if not self.token or address.scheme not in ("https", "http"):
            return ()
        # For this server only, so that one to which it redirects is not told. The empty values take out the helpers
        # of the account, which might store the token.
        server = f"credential.{address.scheme}://{address.netloc.rpartition('@')[2]}.helper"
        return (("credential.helper", ""), (server, ""), (server, HELPER))

    def ssh_command(self, seen_hosts: Path) -> str:
        """The command line of ssh, for a shell; `seen_hosts` is the file of the servers that were trusted."""
        options = ["BatchMode=yes", "ConnectTimeout=10"]
        if self.ssh_key is None and self.known_hosts is None:
            return os.environ.get("GIT_SSH_COMMAND") or _command(options)
        if self.ssh_key is not None:
            options += ["IdentitiesOnly=yes", f"IdentityFile={_quoted(self.ssh_key)}"]
        strictness = "accept-new" if self.known_hosts is None else "yes"
        options += [
            f"StrictHostKeyChecking={strictness}",
            f"UserKnownHostsFile={_quoted(self.known_hosts or seen_hosts)}",
        ]
        return _command(options)

    def redacted(self, text: str) -> str:
        """`text` without the token."""
        return text.replace(self.token, "…") if self.token else text


def _command(options: Sequence[str]) -> str:
    return shlex.join(["ssh", *(part for option in options for part in ("-o", option))])


def _quoted(path: Path) -> str:
    """A path as ssh reads it in an option: spaces part, and `%` begins a placeholder."""
    escaped = str(path.expanduser().absolute()).replace("%", "%%").replace('"', '\\"')
    return f'"{escaped}"'
