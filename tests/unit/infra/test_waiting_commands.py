"""`python -m cortex_infra --wait`: only a server that does not answer is waited for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import pytest

from cortex_contracts.errors import Unavailable
from cortex_infra import __main__ as commands
from cortex_infra.errors import MigrationError, ProvisionError

Command = Callable[[Mapping[str, str]], Awaitable[str]]


def failing(*errors: Exception) -> Command:
    remaining = list(errors)

    async def command(_: Mapping[str, str]) -> str:
        if remaining:
            raise remaining.pop(0)
        return "done"

    return command


def away(cause: Exception) -> ProvisionError:
    error = ProvisionError("NATS does not answer")
    error.__cause__ = cause
    return error


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "RETRY_S", 0.0)


async def test_it_goes_on_until_the_server_answers() -> None:
    errors = (ConnectionRefusedError(), away(OSError()), away(Unavailable("NATS does not answer")))
    assert await commands.run(failing(*errors), {}, 5.0) == "done"


async def test_without_waiting_the_first_failure_is_the_last() -> None:
    with pytest.raises(ConnectionRefusedError):
        await commands.run(failing(ConnectionRefusedError(), ConnectionRefusedError()), {}, 0.0)


async def test_a_server_that_refuses_is_not_waited_for() -> None:
    for error in (MigrationError("foreign"), ProvisionError("refused")):
        with pytest.raises(type(error)):
            await commands.run(failing(error), {}, 5.0)
