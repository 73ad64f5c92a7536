"""Section 11 of the contract: the script of `make acceptance`, against the system of these tests."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(360)]

SCRIPT = Path(__file__).parents[2] / "acceptance" / "brain.py"


def says(sentence: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("sentence", [sentence], indirect=True)


async def script(brain: Any, *only: str) -> tuple[int | None, dict[str, str]]:
    """The exit code of the script, and what it said of each test."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        SCRIPT,
        *("--url", brain.system.url("gateway"), "--webhook-url", brain.system.url("webhook")),
        *("--token", brain.system.installation.home.token()),
        *(part for number in only for part in ("--only", number)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    lines = [line.split(maxsplit=2) for line in out.decode().splitlines() if line[:4] in ("PASS", "FAIL", "SKIP")]
    return process.returncode, {number: f"{end} {told}" for end, number, told in lines}


async def passes(brain: Any, number: str) -> None:
    code, told = await script(brain, number)
    assert code == 0, told
    assert list(told) == [number]
    assert told[number].startswith("PASS")


@says("11.1-sync-then-numbers")
async def test_after_a_sync_the_numbers_are_there(brain: Any) -> None:
    await passes(brain, "1")


@says("11.2-founders")
async def test_the_founders_are_found(brain: Any) -> None:
    await passes(brain, "2")
    found = await brain.slugs("/query", q="who founded Mill Pond Research")
    assert {"pete-shimshock", "ada-weir"} & set(found[:2])


@says("11.3-round-trip")
async def test_what_is_put_is_got_found_and_deleted(brain: Any) -> None:
    await passes(brain, "3")


@says("11.4-error-paths")
async def test_the_error_paths_are_as_they_are_written(brain: Any) -> None:
    await passes(brain, "4")


@says("11.6-degradation")
async def test_without_the_pages_a_chat_still_answers(brain: Any) -> None:
    await passes(brain, "6")


async def test_what_fails_is_said_and_ends_with_1(brain: Any) -> None:
    brain.system.kill("ingest")
    try:
        code, told = await script(brain, "3", "4")
        assert code == 1
        assert told["3"].startswith("FAIL round trip: PUT /api/v1/brain/pages/test-roundtrip: expected 200, got 503")
    finally:
        await brain.system.restore()
