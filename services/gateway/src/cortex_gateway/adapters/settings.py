"""Which external engines there are: one address for a known one, `CORTEX_ENGINES` for everything else.

An engine without an address does not exist. A wrong entry stops the start with a sentence that names the variable and
the entry, and never shows a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Self
from urllib.parse import urlsplit

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from cortex_contracts.messages.base import Message, Score, Token
from cortex_contracts.rpc.engine import BUILT_IN_ENGINES, ENGINE_LIMIT_S, ON_REQUEST_ENGINES, SourceClass
from cortex_gateway.adapters.result_fields import ResultFields
from cortex_runtime.settings_models import CogneeSettings
from cortex_runtime.settings_part import setting

LONGEST_LIMIT_S: Final = 60.0
"""The longest deadline that a request may carry (`EngineAskRequest.deadline_ms`)."""

SECRET_LENGTH: Final = 8

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OF_THE_TRANSPORT: Final = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "accept", "accept-encoding", "content-type")
)


class EngineKind(StrEnum):
    """The engines that are known by name, and `mcp`: any other MCP server."""

    RAG = "rag"
    CBM = "cbm"
    SERENA = "serena"
    MEMGRAPH = "memgraph"
    INBOX = "inbox"
    COGNEE = "cognee"
    MCP = "mcp"


KNOWN: Final = tuple(kind for kind in EngineKind if kind is not EngineKind.MCP)
OVER_HTTP_ALONE: Final = (EngineKind.INBOX, EngineKind.COGNEE)
"""Engines with an HTTP interface of their own; the others speak MCP."""

SHORTCUTS: Final[Mapping[str, str]] = {
    EngineKind.RAG: "CORTEX_RAG_URL",
    EngineKind.CBM: "CORTEX_CBM_URL",
    EngineKind.SERENA: "CORTEX_SERENA_URL",
    EngineKind.MEMGRAPH: "CORTEX_MEMGRAPH_URL",
    EngineKind.INBOX: "CORTEX_INBOX_URL",
    EngineKind.COGNEE: "CORTEX_COGNEE_API_URL",
}
"""The variable that switches a known engine on, by its key."""


class Transport(StrEnum):
    """How an MCP server is reached."""

    AUTO = "auto"
    SSE = "sse"
    HTTP = "http"
    STDIO = "stdio"


_OF_KINDS: Final[Mapping[str, tuple[EngineKind, ...]]] = {
    "project": (EngineKind.CBM,),
    "datasets": (EngineKind.COGNEE,),
    "arguments": (EngineKind.MCP,),
    "fields": (EngineKind.MCP, EngineKind.RAG),
}
"""The fields that mean something to some kinds alone."""
_EXPECTED: Final = {
    "tuple_type": "expected a list",
    "dict_type": "expected names with values",
    "model_type": "expected names with values",
    "string_type": "expected text, in quotes where it looks like a number",
    "string_pattern_mismatch": "expected small letters, digits, - and _, 63 at most",
    "extra_forbidden": "there is no such field",
}
"""pydantic's words for what is no Python, by its types of errors."""


class EngineSource(Message):
    """One external engine, as configured."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    key: Token
    kind: EngineKind = EngineKind.MCP
    url: str = Field(default="", repr=False)
    transport: Transport = Transport.AUTO
    command: tuple[str, ...] = Field(default=(), repr=False)
    """Program and arguments of a server that is spoken to over its standard input and output."""
    env: dict[str, SecretStr] = Field(default_factory=dict)
    """Variables for `command`, beside the few that every program needs; nothing else of ours is passed on."""
    token: SecretStr = SecretStr("")
    """Sent as `Authorization: Bearer`."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    limit_s: float = ENGINE_LIMIT_S
    confidence: Score | None = None
    """None: what the adapter says."""
    source_class: SourceClass | None = None
    """None: what the adapter says."""
    namespace: Token | None = None
    """Only principals that may read it are answered; none: everybody of the installation's org."""
    root: str = ""
    """Taken off the front of paths, so that one file has one name."""
    project: str = ""
    datasets: tuple[str, ...] = ()
    tool: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    fields: ResultFields = ResultFields()

    @model_validator(mode="before")
    @classmethod
    def _known_by_its_key(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and "kind" not in given and given.get("key") in list(KNOWN):
            return {**given, "kind": given["key"]}
        return given

    @property
    def way(self) -> Transport:
        """The transport that is meant: a command is spoken to over its pipes, an address that ends in /sse over SSE,
        any other over streamable HTTP."""
        if self.transport is not Transport.AUTO:
            return self.transport
        if self.command:
            return Transport.STDIO
        return Transport.SSE if urlsplit(self.url).path.rstrip("/").endswith("/sse") else Transport.HTTP

    @property
    def sent_headers(self) -> dict[str, str]:
        """What every request to the engine carries: `headers`, and `token` as a bearer token."""
        sent = {name: value.get_secret_value() for name, value in self.headers.items()}
        if token := self.token.get_secret_value():
            sent["Authorization"] = f"Bearer {token}"
        return sent

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is told to the engine and to nobody else. Short values say nothing, and are parts of other words."""
        given = (self.token, *self.headers.values(), *self.env.values())
        return tuple(text for secret in given if len(text := secret.get_secret_value()) >= SECRET_LENGTH)

    @field_validator("key")
    @classmethod
    def _of_its_own(cls, value: str) -> str:
        if value in (*BUILT_IN_ENGINES, *ON_REQUEST_ENGINES):
            raise ValueError("expected another key: this one is built in")
        return value

    @field_validator("url")
    @classmethod
    def _reachable(cls, value: str) -> str:
        return address(value)

    @field_validator("token")
    @classmethod
    def _of_one_line(cls, value: SecretStr) -> SecretStr:
        return one_line(value)

    @field_validator("headers")
    @classmethod
    def _sendable(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name in value:
            if not _HEADER_NAME.fullmatch(name):
                raise ValueError("expected names of HTTP headers")
            if name.lower() in _OF_THE_TRANSPORT:
                raise ValueError(f"expected no {name}: the transport sets it")
        return {name: one_line(text) for name, text in value.items()}

    @field_validator("env")
    @classmethod
    def _passable(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        if any(not name or "=" in name or "\0" in name + text.get_secret_value() for name, text in value.items()):
            raise ValueError("expected names without = and values without NUL")
        return value

    @field_validator("command")
    @classmethod
    def _runnable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if value and (not value[0] or any("\0" in part for part in value)):
            raise ValueError("expected a program and its arguments, without NUL")
        return value

    @field_validator("limit_s")
    @classmethod
    def _seconds(cls, value: float) -> float:
        if not 0.001 <= value <= LONGEST_LIMIT_S:
            raise ValueError(f"expected between 0.001 and {LONGEST_LIMIT_S:g} seconds")
        return value

    @model_validator(mode="after")
    def _of_a_piece(self) -> Self:
        if bool(self.url) == bool(self.command):
            raise ValueError("expected either url or command")
        if (self.way is Transport.STDIO) != bool(self.command):
            raise ValueError("expected transport stdio with command, and sse or http with url")
        if self.command and self.kind in OVER_HTTP_ALONE:
            raise ValueError(f"expected url: {self.kind} has no command")
        if self.kind in OVER_HTTP_ALONE and self.transport not in (Transport.AUTO, Transport.HTTP):
            raise ValueError(f"expected transport http: {self.kind} has no other")
        if self.command and (self.headers or self.token.get_secret_value()):
            raise ValueError("expected env: a command is sent no headers and no token")
        if self.env and not self.command:
            raise ValueError("expected command: env is for one")
        if (self.kind is EngineKind.MCP) != bool(self.tool):
            raise ValueError("expected tool for the kind mcp, and for no other")
        for name, kinds in _OF_KINDS.items():
            if getattr(self, name) and name in self.model_fields_set and self.kind not in kinds:
                raise ValueError(f"expected no {name}: it is for {' and '.join(kinds)}, this engine is {self.kind}")
        return self


def address(value: str) -> str:
    """An HTTP address, or nothing. Raises ValueError, which does not show it."""
    value = value.strip()
    if not value:
        return ""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise ValueError("expected an address like http://host:port/path") from None
    printable = value.isascii() and value.isprintable() and " " not in value
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not printable:
        raise ValueError("expected an address like http://host:port/path")
    if parts.username is not None or parts.fragment:
        raise ValueError("expected an address without user and fragment: credentials go into token or headers")
    return value


def one_line(value: SecretStr) -> SecretStr:
    """A credential as a header can carry it. Raises ValueError, which does not show it."""
    text = value.get_secret_value().strip()
    if not text.isascii() or not text.isprintable():
        raise ValueError("expected printable ASCII characters")
    return SecretStr(text)


def _entries(value: object) -> object:
    """Reads the entries one by one, so that the sentence of a wrong one names it."""
    if not isinstance(value, list | tuple):
        raise ValueError("expected a list of engines")
    sources: list[EngineSource] = []
    for number, entry in enumerate(value, 1):
        key = entry.get("key") if isinstance(entry, Mapping) else None
        name = f"entry {number}" + (f" ({key})" if isinstance(key, str) and re.fullmatch(r"[\w-]{1,64}", key) else "")
        try:
            source = EngineSource.model_validate(entry)
        except ValidationError as error:
            raise ValueError(f"{name}: " + "; ".join(sorted(_problem(*_place(e)) for e in error.errors()))) from None
        if any(other.key == source.key for other in sources):
            raise ValueError(f"{name}: expected every key once")
        sources.append(source)
    return tuple(sources)


def _place(error: Any) -> tuple[str, str]:
    message = _EXPECTED.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return ".".join(str(part) for part in error["loc"][:2]), message


def _problem(place: str, message: str) -> str:
    sentence = message[:1].lower() + message[1:]
    return f"{place}: {sentence}" if place else sentence


class AdapterSettings(CogneeSettings):
    """The external engines; without any of these there are none."""

    rag_url: str = setting("RAG_URL", default="")
    cbm_url: str = setting("CBM_URL", default="")
    serena_url: str = setting("SERENA_URL", default="")
    memgraph_url: str = setting("MEMGRAPH_URL", default="")
    inbox_url: str = setting("INBOX_URL", default="")
    inbox_token: SecretStr = setting("INBOX_TOKEN", default=SecretStr(""))
    engines: Annotated[tuple[EngineSource, ...], BeforeValidator(_entries)] = setting("ENGINES", default=())
    """Any engine, in full; an entry counts instead of the address above that has its key."""
    gateway_engine_limit_s: float = setting("GATEWAY_ENGINE_LIMIT_S", default=ENGINE_LIMIT_S)
    """The longest that the gateway waits for an engine, whatever the engine's own limit is."""

    @field_validator("gateway_engine_limit_s")
    @classmethod
    def _limit(cls, value: float) -> float:
        if not 0.001 <= value <= LONGEST_LIMIT_S:
            raise ValueError(f"expected between 0.001 and {LONGEST_LIMIT_S:g} seconds")
        return value

    @field_validator("rag_url", "cbm_url", "serena_url", "memgraph_url", "inbox_url", "cognee_api_url")
    @classmethod
    def _reachable(cls, value: str) -> str:
        return address(value)

    @field_validator("inbox_token", "cognee_api_token")
    @classmethod
    def _of_one_line(cls, value: SecretStr) -> SecretStr:
        return one_line(value)

    @property
    def engine_sources(self) -> tuple[EngineSource, ...]:
        """Every configured external engine: the known ones in the order of `EngineKind`, then the others."""
        found: dict[str, EngineSource] = {
            kind: EngineSource(key=kind, kind=kind, url=url, token=token)
            for kind, url, token in (
                (EngineKind.RAG, self.rag_url, SecretStr("")),
                (EngineKind.CBM, self.cbm_url, SecretStr("")),
                (EngineKind.SERENA, self.serena_url, SecretStr("")),
                (EngineKind.MEMGRAPH, self.memgraph_url, SecretStr("")),
                (EngineKind.INBOX, self.inbox_url, self.inbox_token),
                (EngineKind.COGNEE, self.cognee_api_url, self.cognee_api_token),
            )
            if url
        }
        return tuple({**found, **{source.key: source for source in self.engines}}.values())
