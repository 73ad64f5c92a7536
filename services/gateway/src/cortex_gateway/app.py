"""The composition root of the gateway."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import ASK
from cortex_gateway import mcp_server
from cortex_gateway.ask import Asker
from cortex_gateway.auth import OPEN_PATHS, Authenticate, StaticBearer, Verifier
from cortex_gateway.config import GatewaySettings, is_loopback
from cortex_gateway.engines import Engines
from cortex_gateway.long_documents import BODY_LIMIT_BYTES, LongDocuments
from cortex_gateway.memory import Memory
from cortex_gateway.memory_rest import PREFIX
from cortex_gateway.operations import Operations
from cortex_gateway.rest import rest_app
from cortex_gateway.scoring import Scoring
from cortex_gateway.transport import Drain, LimitBody, Trace
from cortex_runtime.service import Service

ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - names the binds that are no host name


def build(settings: GatewaySettings) -> Service:
    """The gateway, ready to run."""
    service = Service(settings)
    own = Principal(org=settings.org, subject="gateway", role="service", authenticated_by="service")
    engines = Engines(service.bus, settings.gateway_engines, settings.gateway_engine_limit_s, own)
    asker = Asker(engines, Scoring(settings.authority, settings.gateway_half_life_days), settings.gateway_floor)
    memory = Memory(service.bus)
    service.bus.serve(ASK, asker.serve)

    verifiers = _verifiers(settings)
    mcp = mcp_server.mcp_server(asker, memory)
    allowed = mcp_server.security(_hosts(settings))
    drain = service.use("streams", Drain())
    rest = rest_app(asker, engines, memory, Operations(service.bus), LongDocuments(service.bus))
    main = _beside(mcp_server.http_app(mcp, allowed), rest)
    service.use("mcp", mcp_server.McpSessions(mcp.session_manager))
    service.mount(_face(drain.wrap(main), verifiers, OPEN_PATHS))
    sse = drain.wrap(mcp_server.sse_app(mcp, allowed))
    service.listen(settings.host, settings.gateway_sse_port, _face(sse, verifiers))
    return service


def _beside(mcp: ASGIApp, rest: ASGIApp) -> ASGIApp:
    """MCP at its one path, REST everywhere else."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "http" and scope["path"] == mcp_server.MCP_PATH
        await (mcp if is_mcp else rest)(scope, receive, send)

    return choose


def _face(app: ASGIApp, verifiers: list[Verifier], open_paths: frozenset[str] = frozenset()) -> ASGIApp:
    limited = LimitBody(app, longer={f"{PREFIX}/documents/": BODY_LIMIT_BYTES})
    return Trace(Authenticate(limited, verifiers, open_paths))


def _verifiers(settings: GatewaySettings) -> list[Verifier]:
    token = settings.http_token.get_secret_value()
    return [StaticBearer(token, settings.org)] if token else []


def _hosts(settings: GatewaySettings) -> list[str]:
    bound = [] if settings.host in ANYWHERE or is_loopback(settings.host) else [settings.host]
    return [*settings.gateway_allowed_hosts, *bound]
