"""Documents that are too long to wait for: redacted as one text, cut, staged part by part, left to the background."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Final
from uuid import uuid4

from cortex_contracts.errors import InvalidMessage, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.documents import MAX_DOCUMENT_CHARS, DocumentDraft
from cortex_contracts.messages.memory import RedactionCounts
from cortex_contracts.rpc.operations import (
    PART_CHARS,
    STAGE_DOCUMENT,
    START_DOCUMENT,
    OperationStarted,
    StagedDocument,
    StageDocumentRequest,
    StartDocumentRequest,
)
from cortex_runtime.bus import Bus

LONG_CHARS: Final = 200_000
"""Above it a document is always left to the background: its chunks take longer to embed than a caller waits."""
BODY_LIMIT_BYTES: Final = 16 << 20
"""The longest document in Arabic script, two bytes for each character, without JSON escapes."""
REDACT_S: Final = 120.0
"""Measured: two seconds for a megabyte of a core that others use as well."""


class LongDocuments:
    """Stages documents at ingest."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._turn = asyncio.Lock()

    async def start(self, principal: Principal, document: DocumentDraft) -> OperationStarted:
        """Leave a document to the background; when this has returned, it is not lost any more.

        Raises:
            InvalidMessage: nothing is left of it.
            CortexError: ingest refuses it, or is away.
        """
        text, redactions = await self._redacted(document.content)
        if not text:
            raise InvalidMessage("nothing is left of the content after redaction")
        upload_id = uuid4()
        parts = [text[start : start + PART_CHARS] for start in range(0, len(text), PART_CHARS)]
        for number, part in enumerate(parts):
            await self._bus.request(
                STAGE_DOCUMENT,
                StageDocumentRequest(principal=principal, upload_id=upload_id, part=number, text=part),
            )
        return await self._bus.request(
            START_DOCUMENT,
            StartDocumentRequest(
                principal=principal,
                upload_id=upload_id,
                parts=len(parts),
                document=StagedDocument(**document.model_dump(exclude={"content"})),
                redactions=redactions,
            ),
        )

    async def _redacted(self, text: str) -> tuple[str, RedactionCounts]:
        """The text as it may be stored. In a process of its own: a pass of a regular expression over megabytes lets
        nothing else run. One at a time: each takes a core."""
        async with self._turn:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "cortex_redaction",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                async with asyncio.timeout(REDACT_S):
                    found, _ = await process.communicate(text.encode(errors="replace"))
            except TimeoutError:
                raise Unavailable(f"the document was not redacted within {REDACT_S:g} s") from None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode != 0:
            raise Unavailable("the document could not be redacted now")
        answer = json.loads(found)
        return answer.pop("text")[:MAX_DOCUMENT_CHARS], RedactionCounts(**answer)
