"""`cortex retain`: publish one capture, as any other service would."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from typing import Annotated

import typer
from pydantic import ValidationError

from cortex_cli import running
from cortex_cli.failure import reported
from cortex_contracts import subjects
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.commands import Capture
from cortex_contracts.permissions import publisher_user
from cortex_infra.installation import DEFAULT_ORG
from cortex_runtime.publishing import publish
from cortex_runtime.settle import describe


def retain(
    content: Annotated[str, typer.Argument(help="What to remember; - reads standard input.")],
    namespace: Annotated[str, typer.Option(help="Project it belongs to.")] = "default",
    source_kind: Annotated[str, typer.Option(help="Kind of source.")] = "manual",
    message_id: Annotated[str | None, typer.Option(help="Identity: the same id is retained once.")] = None,
) -> None:
    """Remember a sentence."""
    text = sys.stdin.read() if content == "-" else content
    with reported():
        try:
            capture = Capture(namespace=namespace, content=text, explicit=True)
            subject = subjects.capture(os.environ.get("CORTEX_ORG") or DEFAULT_ORG, source_kind)
        except ValidationError as error:
            raise InvalidMessage(describe(error)) from None
        except ValueError as error:
            raise InvalidMessage(str(error)) from None
        print(asyncio.run(_publish(subject, capture, message_id or str(uuid.uuid4()))))


async def _publish(subject: str, capture: Capture, message_id: str) -> str:
    client = await running.connect(publisher_user(os.environ.get("CORTEX_ORG") or DEFAULT_ORG))
    try:
        done = await publish(client, subject, capture.model_dump_json().encode(), message_id=message_id, more={})
    finally:
        await client.close()
    return f"{'already accepted' if done.duplicate else 'accepted'} as {message_id} ({done.stream} {done.sequence})"
