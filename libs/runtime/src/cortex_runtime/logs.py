"""Logs: one line per event, JSON or for people, with the trace id; ids and counts, never memory text or secrets."""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from cortex_runtime import tracing

# These libraries log each connection, request or reconnect attempt: noise beside the service's own lines.
QUIET = {
    "nats": logging.CRITICAL,
    "faststream": logging.WARNING,
    "httpx": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx2": logging.WARNING,
    "httpcore2": logging.WARNING,
    "uvicorn": logging.WARNING,
    "mcp": logging.WARNING,
    # Its client tells every fault of a server's with a traceback; whoever asked is told in a sentence.
    "mcp.client": logging.CRITICAL,
    "asyncio": logging.WARNING,
}


def configure(service: str, level: str, style: Literal["json", "console"]) -> None:
    """Send the standard library's and structlog's records to stderr in one format. Call once at start."""

    def add_context(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        event["service"] = service
        if trace := tracing.trace_id():
            event["trace_id"] = trace
        return event

    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_context,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, where_it_failed, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name, quiet in QUIET.items():
        logging.getLogger(name).setLevel(quiet)


def where_it_failed(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace an exception by its class and the places it passed: its text may hold anything, memory text included."""
    error = event.pop("exc_info", None)
    if isinstance(error, tuple):
        error = error[1]
    elif error is True:
        error = sys.exception()
    if isinstance(error, BaseException):
        frames = traceback.extract_tb(error.__traceback__)
        event["error"] = type(error).__qualname__
        event["at"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    return event


def get(name: str) -> structlog.stdlib.BoundLogger:
    """The logger of one module."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger
