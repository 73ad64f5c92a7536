"""Vectors of passages that somebody waits for: they are not embedded behind those of a sync."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import numpy as np

from cortex_providers.embedder import TextKind, Vectors
from cortex_writing.ports import PassageEmbedder

AT_ONCE: Final = 4
MAX_APART: Final = 64
"""Passages of a longer page are embedded as a load: nobody expects it at once, and apart they would keep the short
pages of others waiting."""


class AwaitedPassages:
    """An embedder that asks for every passage apart, a few at a time.

    The bundled model takes passages that come alone before those that come many at once, whoever sends these. Measured
    for three passages of 70 words while a vault was synced, on a busy machine: 5.5 s together, 0.5 s apart.
    """

    def __init__(self, embedder: PassageEmbedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._embedder.model

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Embed `texts` in order (see `PassageEmbedder.embed`); what fails for one fails for all."""
        if not 1 < len(texts) <= MAX_APART:
            return await self._embedder.embed(texts, kind)
        turn = asyncio.Semaphore(AT_ONCE)

        async def apart(text: str) -> Vectors:
            async with turn:
                return await self._embedder.embed([text], kind)

        tasks = [asyncio.create_task(apart(text)) for text in texts]
        try:
            return np.concatenate(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
