"""W3C trace context through every hop: HTTP request, message, RPC, log line.

The OpenTelemetry SDK makes the ids; without an exporter configured in code nothing leaves the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_PROPAGATOR = TraceContextTextMapPropagator()
# It finds its provider when that is set; asking for a tracer costs more than a span.
_TRACER = trace.get_tracer("cortex")


def configure(service: str, version: str) -> None:
    """Make this process's spans carry real ids under the service's name. Call once at start."""
    trace.set_tracer_provider(
        TracerProvider(resource=Resource.create({"service.name": f"cortex-{service}", "service.version": version}))
    )


@contextmanager
def span(name: str, carrier: Mapping[str, str] | None = None, kind: SpanKind = SpanKind.INTERNAL) -> Iterator[None]:
    """Run a block as one span: a child of what `carrier` holds, else of the current span, else a new trace."""
    context = _PROPAGATOR.extract(carrier) if carrier else None
    with _TRACER.start_as_current_span(name, context=context, kind=kind):
        yield


def headers() -> dict[str, str]:
    """The headers that carry the current trace to the next hop; empty outside a span."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier


def trace_id() -> str | None:
    """The current trace id in hex, for logs and error references."""
    context = trace.get_current_span().get_span_context()
    return format(context.trace_id, "032x") if context.is_valid else None
