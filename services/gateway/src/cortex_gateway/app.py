"""The composition root of the gateway."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_contracts import subjects
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import KeyEvent
from cortex_contracts.rpc.ask import ASK
from cortex_contracts.rpc.engine import ON_REQUEST_ENGINES
from cortex_contracts.rpc.keys import RESOLVE_KEY
from cortex_gateway import (
    brain_pages_rest,
    brain_rest,
    chat_rest,
    long_documents,
    mcp_server,
    memory_rest,
    synthesis_app,
)
from cortex_gateway.adapters import app as adapters
from cortex_gateway.adapters.settings import SHORTCUTS
from cortex_gateway.ask import Asker
from cortex_gateway.auth import OPEN_PATHS, StaticBearer, Verifier
from cortex_gateway.auth_jwks import Issuer, Jwks
from cortex_gateway.auth_jwt import Rules, SignedTokens
from cortex_gateway.auth_keys import AgentKeys
from cortex_gateway.brain import Brain
from cortex_gateway.brain_health import BrainHealth
from cortex_gateway.chat import Chat, ChatLimits
from cortex_gateway.chat_upstream import Upstream
from cortex_gateway.config import GatewaySettings, is_loopback
from cortex_gateway.face import Face
from cortex_gateway.fan_out import FanOut
from cortex_gateway.keys import KeyRing
from cortex_gateway.keys_rest import keys_router
from cortex_gateway.long_documents import LongDocuments
from cortex_gateway.memory import Memory
from cortex_gateway.operations import Operations
from cortex_gateway.rest import rest_app
from cortex_gateway.scoring import Scoring
from cortex_gateway.sleep import BackgroundWork
from cortex_gateway.sleep_rest import sleep_router
from cortex_gateway.transport import Drain
from cortex_gateway.turns import Turns
from cortex_gateway.usage import Prices, Purpose, Usage
from cortex_runtime.service import Service

LONGER_BODIES = {
    f"{memory_rest.PREFIX}/documents/": long_documents.BODY_LIMIT_BYTES,
    f"{brain_rest.PREFIX}/pages/": brain_pages_rest.BODY_LIMIT_BYTES,
    chat_rest.PATH: chat_rest.BODY_LIMIT_BYTES,
}
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - names the binds that are no host name


def build(settings: GatewaySettings) -> Service:
    """The gateway, ready to run."""
    service = Service(settings)
    own = Principal(org=settings.org, subject="gateway", role="service", authenticated_by="service")
    fan_out = FanOut(
        service.bus, settings.engine_keys, settings.gateway_engine_limit_s, own, SHORTCUTS, ON_REQUEST_ENGINES
    )
    usage = Usage(service.bus, prices=_prices(settings))
    service.background("usage", usage.run)
    scoring = Scoring(settings.authority, settings.gateway_half_life_days)
    synthesis = synthesis_app.synthesis(service, settings, usage, settings.gateway_floor)
    asker = Asker(fan_out, scoring, settings.gateway_floor, synthesis, Turns(settings.gateway_hits_at_once))
    memory = Memory(service.bus)
    service.bus.serve(ASK, asker.serve)
    if settings.gateway_adapters and settings.engine_sources:
        service.background("engines", adapters.responders(service.bus, settings, settings.org).run)

    agent_keys = AgentKeys(lambda request: service.bus.request(RESOLVE_KEY, request))
    service.bus.watch(subjects.KEY_EVENT_PATTERN, KeyEvent, agent_keys.heard)
    verifiers = [*_static(settings), agent_keys, *_signed(settings, service)]
    mcp = mcp_server.mcp_server(asker, memory)
    allowed = mcp_server.security(_hosts(settings))
    drain = service.use("streams", Drain())
    chat = _chat(service, settings, usage)  # closed before the streams, which then say that they broke off
    brain = Brain(service.bus)
    rest = rest_app(
        asker,
        fan_out,
        memory,
        Operations(service.bus),
        LongDocuments(service.bus),
        brain,
        BrainHealth(brain, own),
        usage,
        chat,
    )
    rest.include_router(keys_router(KeyRing(service.bus, agent_keys)))
    rest.include_router(sleep_router(BackgroundWork(service.bus)))
    face = Face(settings, verifiers, usage, LONGER_BODIES)
    main = _beside(mcp_server.http_app(mcp, allowed), rest)
    service.use("mcp", mcp_server.McpSessions(mcp.session_manager))
    service.mount(face(drain.wrap(main), mcp_server.MCP_PATH, OPEN_PATHS | {brain_rest.HEALTH_PATH}))
    sse = drain.wrap(mcp_server.sse_app(mcp, allowed))
    service.listen(settings.host, settings.gateway_sse_port, face(sse, mcp_server.SSE_PATH))
    return service


def _beside(mcp: ASGIApp, rest: ASGIApp) -> ASGIApp:
    """MCP at its one path, REST everywhere else."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "http" and scope["path"] == mcp_server.MCP_PATH
        await (mcp if is_mcp else rest)(scope, receive, send)

    return choose


def _chat(service: Service, settings: GatewaySettings, usage: Usage) -> Chat:
    upstream = None
    if settings.chat_upstream_url:
        key = settings.chat_upstream_api_key.get_secret_value()
        upstream = service.use(
            "chat_upstream",
            Upstream(settings.chat_upstream_url, settings.chat_upstream_model, key, settings.chat_timeout_s),
        )
    limits = ChatLimits(settings.chat_query_limit_s, settings.chat_min_score, settings.chat_daily_tokens)
    return Chat(service.bus, usage, upstream, settings.chat_models, limits)


def _prices(settings: GatewaySettings) -> dict[Purpose, Prices]:
    priced = {
        Purpose.CHAT: (settings.chat_price_per_mtok_input, settings.chat_price_per_mtok_output),
        Purpose.SYNTHESIS_PAID: (settings.synthesis_price_per_mtok_input, settings.synthesis_price_per_mtok_output),
    }
    return {
        purpose: Prices(of_input or 0.0, of_output or 0.0)
        for purpose, (of_input, of_output) in priced.items()
        if of_input is not None or of_output is not None
    }


def _static(settings: GatewaySettings) -> list[Verifier]:
    token = settings.http_token.get_secret_value()
    return [StaticBearer(token, settings.org)] if token else []


def _signed(settings: GatewaySettings, service: Service) -> list[Verifier]:
    secret = settings.jwt_secret.get_secret_value()
    if not secret and not settings.jwt_jwks_url:
        return []
    rules = Rules(settings.jwt_audience, settings.jwt_issuer, settings.jwt_leeway_s, settings.jwt_org_claim)
    keys = None
    if settings.jwt_jwks_url:
        keys = Jwks(service.use("issuer", Issuer(settings.jwt_jwks_url), required=False).fetch)
    return [SignedTokens(rules, secret, keys)]


def _hosts(settings: GatewaySettings) -> list[str]:
    bound = [] if settings.host in ANYWHERE or is_loopback(settings.host) else [settings.host]
    return [*settings.gateway_allowed_hosts, *bound]
