"""The configuration of nats-server."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_contracts.permissions import USERS, publisher_user
from cortex_infra.natsconf import NatsSettings, render

PASSWORDS = {name: f"password-of-{name}" for name in (*USERS, publisher_user("acme"))}


def settings(**changes: object) -> NatsSettings:
    values: dict[str, object] = {"host": "127.0.0.1", "port": 4222, "store": Path("/srv/js"), "passwords": PASSWORDS}
    return NatsSettings(**(values | changes))  # type: ignore[arg-type]


def test_every_user_of_the_contracts_gets_a_password_and_an_allow_list() -> None:
    text = render(settings())
    for user, granted in USERS.items():
        assert f'user: "{user}", password: "password-of-{user}"' in text
        for subject in (*granted.publish, *granted.subscribe):
            assert f'"{subject}"' in text


def test_a_publisher_may_only_send_captures_of_its_org() -> None:
    text = render(settings(publishers=("acme",)))
    block = text[text.index("publisher-acme") :]
    assert 'publish: { allow: ["cortex.v1.cmd.capture.acme.>"] }' in block
    assert 'subscribe: { allow: ["_INBOX_publisher-acme.>"] }' in block


def test_what_a_user_is_denied_is_written_down() -> None:
    text = render(settings())
    block = text[text.index('user: "engines"') :]
    denied = ", ".join(f'"cortex.v1.rpc.engine.{key}.>"' for key in ("memory", "pages", "archive"))
    assert f"deny: [{denied}]" in block.split("}\n    {")[0]
    block = text[text.index('user: "recall"') :]
    assert "deny" not in block.split("}\n    {")[0]


def test_a_user_without_a_password_is_an_error() -> None:
    with pytest.raises(KeyError):
        render(settings(passwords={}))


def test_the_monitor_port_is_off_unless_wanted() -> None:
    assert "http:" not in render(settings())
    assert 'http: "127.0.0.1:8222"' in render(settings(monitor_port=8222))


def test_paths_are_quoted() -> None:
    assert r'store_dir: "/srv/a \"b\" c"' in render(settings(store=Path('/srv/a "b" c')))
