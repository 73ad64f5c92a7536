"""Loopback ports of an installation."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex_infra.errors import PortTaken
from cortex_infra.ports import LOOPBACK, Ports, choose, is_free


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server((LOOPBACK, 0)) as server:
        yield server.getsockname()[1]


def test_a_port_is_remembered_over_a_restart(tmp_path: Path) -> None:
    first = Ports(tmp_path / "ports.json")
    port = first.take("nats")
    first.save()
    assert Ports(tmp_path / "ports.json").take("nats") == port


def test_a_remembered_port_that_is_taken_is_replaced(tmp_path: Path, taken: int) -> None:
    (tmp_path / "ports.json").write_text(f'{{"nats": {taken}}}')
    assert Ports(tmp_path / "ports.json").take("nats") != taken


def test_the_default_is_used_if_it_is_free_and_never_twice(tmp_path: Path) -> None:
    default = choose()
    ports = Ports(tmp_path / "ports.json")
    assert ports.take("gateway", default=default) == default
    assert ports.take("webhook", default=default) != default


def test_a_taken_default_gives_another_port(tmp_path: Path, taken: int) -> None:
    port = Ports(tmp_path / "ports.json").take("gateway", default=taken)
    assert port != taken
    assert is_free(port)


def test_an_explicit_port_is_used_or_refused(tmp_path: Path, taken: int) -> None:
    ports = Ports(tmp_path / "ports.json")
    wish = choose()
    assert ports.take("gateway", explicit=wish) == wish
    with pytest.raises(PortTaken, match=f"port {taken} for webhook is already in use"):
        ports.take("webhook", explicit=taken)


def test_a_broken_file_only_loses_the_memory(tmp_path: Path) -> None:
    (tmp_path / "ports.json").write_text("nonsense")
    assert Ports(tmp_path / "ports.json").take("nats") > 0
