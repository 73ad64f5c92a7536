"""The reading of drafts: what they name and how it is related, by the engine, or if it must be by the built-in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cortex_contracts.errors import CortexError, Unavailable
from cortex_providers.engine import BuiltinEngine, Engine, EngineText, Extraction
from cortex_runtime import logs
from cortex_store import indexed_text
from cortex_writing.patience import Patience

READ_S: Final = 12.0
"""For the texts of one write, all attempts together: `retain` has 30 s, and a classifier wants as long."""

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says; `note` tells why the built-in engine read it, if another one was to."""

    extraction: Extraction
    note: str = ""


class Reader:
    """Reads by an engine. It is asked outside of any transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._patience = Patience("the engine", READ_S)

    async def read(self, said: Sequence[indexed_text.Utterance], *, limit_s: float = READ_S) -> list[Reading]:
        """The readings of `said` in their order, by the built-in engine if it must be."""
        note = ""
        try:
            found = await self.extract(said, limit_s=limit_s)
        except CortexError as error:
            log.warning("the engine did not read, the built-in one did", reason=error.message)
            found, note = await BuiltinEngine().extract(_texts(said)), f"built-in engine: {error.message}"
        return [Reading(one, note) for one in found]

    async def extract(self, said: Sequence[indexed_text.Utterance], *, limit_s: float = READ_S) -> list[Extraction]:
        """What the engine finds in each of `said`, within `limit_s` for all of them.

        Raises:
            Unavailable: it is away, slow, or did not read every text.
            Permanent: it refused the texts.
        """
        texts = _texts(said)
        if self._engine.local:
            return await self._engine.extract(texts)
        found = await self._patience.wait(lambda: self._engine.extract(texts), limit_s=limit_s) if texts else []
        if len(found) != len(texts):
            raise Unavailable("the engine did not read every text")
        return found


def _texts(said: Sequence[indexed_text.Utterance]) -> list[EngineText]:
    return [EngineText(one.content, one.speaker) for one in said]
