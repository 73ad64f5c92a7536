"""A connection of an HTTP port, which ends when its client does not take what it asked for.

Whoever reads nothing of an answer and stays would keep its memory, and what works on it, for as long as it likes:
neither TCP nor uvicorn ends such a connection.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

STALLED_S: Final = 30.0
"""A client that takes nothing for as long is gone; one that is slow takes some of it. As long as a body may take."""


class Connection(H11Protocol):
    """One connection: broken off when more waits to be sent than the transport takes and nothing of it leaves."""

    _watch: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """The client takes less than it is sent."""
        super().pause_writing()
        self._watch_on()

    def resume_writing(self) -> None:
        """The client has taken it."""
        super().resume_writing()
        self._watch_off()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left, or was left."""
        self._watch_off()
        super().connection_lost(exc)

    def _watch_on(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._watch = self.loop.call_later(STALLED_S, self._look, waiting)

    def _watch_off(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _look(self, waited: int) -> None:
        # More may have been written meanwhile, by what does not wait for the client: then the next look tells.
        if self.transport.get_write_buffer_size() == waited:
            self.transport.abort()
        else:
            self._watch_on()
