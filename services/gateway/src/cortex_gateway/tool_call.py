"""What every MCP tool has around it: the principal of its HTTP request, a span, and errors that a model can read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from starlette.requests import Request

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_gateway import audit
from cortex_gateway.auth import principal_of
from cortex_gateway.transport import TRACE_STATE
from cortex_runtime import tracing
from cortex_runtime.rpc import error_body


@contextmanager
def called(ctx: Context, name: str, changes: Mapping[str, object] | None = None) -> Iterator[Principal]:
    """Run the body of the tool `name` for the principal that calls it. `changes`: the ids, by what they are, of what a
    tool changes, for the audit log; none: it only reads.

    Raises:
        ToolError: the body failed; with the sentence of a known error, or the trace id of a bug.
    """
    request = ctx.request_context.request
    if not isinstance(request, Request):
        raise ToolError("expected an HTTP request with credentials")
    try:
        with tracing.span(f"mcp {name}", request.scope["state"].get(TRACE_STATE)):
            principal = principal_of(request)
            with _audited(principal, name, changes):
                yield principal
    except CortexError as error:
        raise ToolError(error.message) from None
    except Exception as error:  # edge: an agent gets a sentence and a trace id, the log gets the rest
        raise ToolError(error_body(error, name).message) from None


@contextmanager
def _audited(principal: Principal, name: str, changes: Mapping[str, object] | None) -> Iterator[None]:
    status = ErrorCode.INTERNAL.value
    try:
        yield
        status = "ok"
    except CortexError as error:
        status = error.code.value
        raise
    finally:
        if changes is not None:
            ids = {what: one for what, one in changes.items() if one is not None}
            audit.record(principal, f"mcp {name}", ids, status)


def tool(
    run: Callable[..., Awaitable[Any]],
    title: str,
    description: str,
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = True,
) -> Tool:
    """A tool named like its function. No tool reaches beyond Cortex."""
    made = Tool.from_function(
        run,
        title=title,
        description=description,
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=read_only,
            destructive_hint=destructive,
            idempotent_hint=idempotent,
            open_world_hint=False,
        ),
    )
    # The SDK answers wrong arguments with pydantic's text, which repeats them: they may hold what is private.
    arguments = made.fn_metadata.arg_model
    arguments.model_config["hide_input_in_errors"] = True
    arguments.model_rebuild(force=True)
    return made
