"""Where the running installation answers, read from its home; environment variables win for a remote one."""

from __future__ import annotations

import json
import os

from nats.aio.client import Client

from cortex_cli.failure import NotRunning
from cortex_contracts.errors import Unavailable
from cortex_contracts.permissions import OPERATOR
from cortex_infra import installation
from cortex_infra.home import Home
from cortex_infra.status import MANIFEST
from cortex_runtime.connection import connect_once


def gateway_url() -> str:
    """`CORTEX_URL`, else what the last start of this home wrote down.

    Raises:
        NotRunning: this home was never started.
    """
    return os.environ.get("CORTEX_URL") or service_url("gateway")


def service_url(name: str) -> str:
    """Address of a service of this home.

    Raises:
        NotRunning: this home was never started.
    """
    home = Home.from_environment()
    try:
        known = json.loads((home.run / MANIFEST).read_text(encoding="utf-8"))["services"]
    except FileNotFoundError:
        raise NotRunning(f"nothing was started in {home.path}; run `cortex start`") from None
    return next(str(entry["url"]) for entry in known if entry["name"] == name)


def token() -> str:
    """`CORTEX_HTTP_TOKEN`, else the token file of this home.

    Raises:
        NotRunning: there is none.
    """
    if given := os.environ.get("CORTEX_HTTP_TOKEN"):
        return given
    file = Home.from_environment().token_file
    try:
        return file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise NotRunning(f"there is no token in {file}; run `cortex start`") from None


async def connect(user: str = OPERATOR) -> Client:
    """A NATS connection as one of the users of this home, or of `CORTEX_NATS_URL`.

    Raises:
        NotRunning: NATS does not answer.
    """
    url = os.environ.get("CORTEX_NATS_URL") or installation.nats_url(Home.from_environment(), user)
    try:
        return await connect_once(url)
    except Unavailable as error:
        raise NotRunning(f"{error.message}; run `cortex start`") from None
