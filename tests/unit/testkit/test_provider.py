"""Where a test server comes from: in this order, or one sentence that says what to do."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from docker.errors import DockerException

from cortex_infra.errors import ServerError
from cortex_testkit.eventually import eventually
from cortex_testkit.provider import NoServer, find


def works(name: str):
    return lambda _: name


def missing(error: Exception):
    def fail(_: ExitStack) -> str:
        raise error

    return fail


NO_BINARY = missing(ServerError("expected the program nats-server"))
NO_ENGINE = missing(DockerException("cannot connect"))


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CORTEX_TEST_PROVIDER", "CORTEX_TEST_NATS_URL"):
        monkeypatch.delenv(name, raising=False)


def found(embedded=works("embedded"), container=works("container")) -> str:  # noqa: B008
    with ExitStack() as stack:
        return find("nats", lambda address: f"external {address}", embedded, container, stack)


def test_an_address_wins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CORTEX_TEST_NATS_URL", "nats://:pw@host:4222")
    assert found() == "external nats://:pw@host:4222"


def test_the_embedded_binary_is_next_and_then_a_container():
    assert found() == "embedded"
    assert found(embedded=NO_BINARY) == "container"


def test_a_pinned_provider_is_the_only_one_tried(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CORTEX_TEST_PROVIDER", "containers")
    assert found() == "container"
    monkeypatch.setenv("CORTEX_TEST_PROVIDER", "embedded")
    with pytest.raises(NoServer):
        found(embedded=NO_BINARY)
    monkeypatch.setenv("CORTEX_TEST_PROVIDER", "anything")
    with pytest.raises(NoServer, match="CORTEX_TEST_PROVIDER must be embedded or containers"):
        found()


def test_without_any_the_failure_says_what_to_do():
    with pytest.raises(NoServer, match="no nats server for the tests: set CORTEX_TEST_NATS_URL, run `make setup`"):
        found(embedded=NO_BINARY, container=NO_ENGINE)


async def test_waiting_ends_as_soon_as_it_is_so_and_tells_what_was_seen_last():
    answers = iter([1, 2, 3])

    async def ask() -> int:
        return next(answers)

    assert await eventually(ask, lambda number: number == 2) == 2

    async def never() -> str:
        return "not yet"

    with pytest.raises(AssertionError, match="last seen: 'not yet'"):
        await eventually(never, lambda _: False, within_s=0.01)
