"""Generated requests to every route of the OpenAPI document: no 5xx, and no answer that it does not have."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(360)]

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
SEED = "20261130"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
)


def bearer_only(document: dict[str, Any]) -> dict[str, Any]:
    """The document without keys of agents: a made-up key beside the token would end every request with 401."""
    schemes = document["components"]["securitySchemes"]
    keys = {name for name, scheme in schemes.items() if scheme["type"] == "apiKey"}
    assert keys
    for name in keys:
        del schemes[name]
    for operation in (one for item in document["paths"].values() for one in item.values()):
        if "security" in operation:
            operation["security"] = [one for one in operation["security"] if not keys & one.keys()]
    return document


@pytest.mark.parametrize(
    "extent",
    [
        ("--phases", "examples,fuzzing", "--max-examples", "3"),
        ("--phases", "coverage", "--include-path-regex", "^/api/v1/brain/"),
    ],
    ids=["every route", "brain to its limits"],
)
async def test_generated_requests_meet_only_what_the_document_says(
    brain: Any, tmp_path: Path, extent: tuple[str, ...]
) -> None:
    url = brain.system.url("gateway")
    response = await brain.http.get(f"{url}/openapi.json")
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(bearer_only(response.json())), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        SCHEMATHESIS,
        *("run", document, "--url", url),
        *("--header", f"Authorization: {brain.system.headers['Authorization']}"),
        *("--checks", ",".join(CHECKS), "--seed", SEED, "--warnings", "off", "--continue-on-failure"),
        *extent,
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await process.communicate()
    assert process.returncode == 0, told.decode()
