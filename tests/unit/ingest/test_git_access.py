"""What git is told to get into a private repository, and where the token never is."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from cortex_ingest.git_access import HELPER, Access
from cortex_runtime.settings_vaults import VaultSource

TOKEN = "ghp_it's a $word `token`"


def test_the_token_is_for_the_server_of_the_repository_only_and_other_helpers_are_not_asked() -> None:
    configuration = Access(TOKEN).configuration("https://user@git.example.org:8443/a/notes.git")
    server = "credential.https://git.example.org:8443.helper"
    assert configuration == (("credential.helper", ""), (server, ""), (server, HELPER))
    assert TOKEN not in str(configuration)


@pytest.mark.parametrize("repository", ["/srv/notes", "git@example.org:a.git", "ssh://git@example.org/a", "file:///a"])
def test_a_repository_that_is_not_read_over_http_gets_no_token(repository: str) -> None:
    assert Access(TOKEN).configuration(repository) == ()


def test_without_a_token_git_is_configured_as_ever() -> None:
    assert Access().configuration("https://example.org/a.git") == ()
    assert Access().variables() == {}


def test_the_helper_gives_the_token_of_the_environment_as_it_is() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{HELPER.removeprefix('!')} get"], env=Access(TOKEN).variables(), capture_output=True, check=True
    )
    assert done.stdout.decode() == f"username=x-access-token\npassword={TOKEN}\n"
    stored = subprocess.run(
        ["sh", "-c", f"{HELPER.removeprefix('!')} store"],
        env=Access(TOKEN).variables(),
        capture_output=True,
        check=False,
    )
    assert stored.stdout == b""


def test_the_token_is_never_shown() -> None:
    access = Access(TOKEN)
    assert TOKEN not in repr(access)
    assert access.redacted(f"fatal: {TOKEN} refused") == "fatal: … refused"
    assert Access().redacted("fatal") == "fatal"


def test_a_key_is_the_only_one_that_is_tried_and_a_server_is_trusted_when_it_is_first_seen() -> None:
    command = Access(ssh_key=Path('/keys/the "100 %" key')).ssh_command(Path("/mirrors/notes.known_hosts"))
    assert shlex.split(command) == [
        "ssh",
        *("-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "IdentitiesOnly=yes"),
        *("-o", 'IdentityFile="/keys/the \\"100 %%\\" key"'),
        *("-o", "StrictHostKeyChecking=accept-new", "-o", 'UserKnownHostsFile="/mirrors/notes.known_hosts"'),
    ]


def test_with_known_hosts_no_other_server_is_trusted() -> None:
    command = Access(known_hosts=Path("/etc/hosts.of.git")).ssh_command(Path("/mirrors/notes.known_hosts"))
    assert "StrictHostKeyChecking=yes" in command
    assert "/etc/hosts.of.git" in command
    assert "IdentityFile" not in command


def test_without_either_ssh_is_what_the_account_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_SSH_COMMAND", raising=False)
    assert Access().ssh_command(Path("/x")) == "ssh -o BatchMode=yes -o ConnectTimeout=10"
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -p 2222")
    assert Access().ssh_command(Path("/x")) == "ssh -p 2222"


def test_a_vault_never_shows_its_token_and_takes_none_of_several_lines() -> None:
    source = VaultSource.model_validate({"name": "notes", "repository": "https://x.org/a", "token": f" {TOKEN}\n"})
    assert source.token.get_secret_value() == TOKEN
    assert TOKEN not in f"{source!r} {source} {source.model_dump()} {source.model_dump_json()}"
    with pytest.raises(ValueError, match="printable ASCII") as caught:
        VaultSource.model_validate({"name": "notes", "repository": "https://x.org/a", "token": "two\nlines"})
    assert "two" not in str(caught.value)
