"""Ask: one question to every engine, one answer with receipts and conflicts.

The shapes are those of the gateway contract, section 2; fields beyond it are additions that its readers ignore.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from cortex_contracts.messages.base import Message, Principal, Score, ShortText, Timestamp, Token
from cortex_contracts.rpc.contract import Rpc
from cortex_contracts.rpc.engine import EngineHealth, EngineStatus, SourceClass
from cortex_contracts.rpc.recall import Query

CORROBORATED_BY: Final = "keys of the other engines that found the same"


class AskMode(StrEnum):
    """What a caller wants back: prose, ranked hits, or both."""

    CHAT = "chat"
    SEARCH = "search"
    BOTH = "both"


class Question(Message):
    """The body of `POST /ask` and the arguments of `darwin_ask`."""

    query: Query
    mode: AskMode = AskMode.BOTH
    scope: tuple[Token, ...] | None = Field(default=None, max_length=32, description="engine keys; none: all")
    k: int = Field(default=12, ge=1, le=100, description="most hits per engine")
    synthesize: bool = Field(default=True, description="use a language model for the prose where one is configured")


class AskRequest(Message):
    """A question on behalf of a principal, as it travels on the bus."""

    principal: Principal
    question: Question


class Receipt(Message):
    """What a sentence of the answer stands on; `[r1]` in the answer is `id` r1 here."""

    id: Annotated[str, StringConstraints(pattern=r"^r[0-9]+$")]
    source: ShortText = Field(description="engine key")
    title: str
    path: str
    last_seen: Timestamp | None
    confidence: Score
    snippet: str
    corroborated_by: tuple[ShortText, ...] = Field(default=(), description=CORROBORATED_BY)


class AskHit(Message):
    """One ranked result: `score` is authority × recency × confidence × relevance."""

    engine: ShortText
    title: str
    path: str
    snippet: str
    score: Score
    last_seen: Timestamp | None
    confidence: Score
    source_class: SourceClass
    relevance: Score | None = Field(default=None, description="for the question; comparable across engines")
    corroborated_by: tuple[ShortText, ...] = Field(default=(), description=CORROBORATED_BY)


class Conflict(Message):
    """Where sources disagree: who won, who lost and why, in words."""

    claim: str
    winner: SourceClass
    losers: tuple[SourceClass, ...]
    reason: str
    value: str = Field(description="what the winner says")
    losing_values: tuple[str, ...] = Field(description="what the losers say, in the order of `losers`")
    paths: tuple[str, ...] = Field(description="path of the winning hit, then of each losing one")


class EngineState(Message):
    """Whether an engine took part in this answer, and how long it took."""

    engine: ShortText
    status: EngineStatus
    ms: int | None = Field(default=None, ge=0)
    error: str | None = None


class AskReply(Message):
    """The answer: prose that cites its receipts, the hits, the conflicts and the state of every engine."""

    answer: str | None
    receipts: tuple[Receipt, ...]
    hits: tuple[AskHit, ...]
    conflicts: tuple[Conflict, ...]
    engines: tuple[EngineState, ...]
    took_ms: int = Field(ge=0)


class GatewayHealth(Message):
    """The body of `GET /health`: every engine, up or down."""

    engines: tuple[EngineHealth, ...]
    ok: bool


ASK = Rpc(
    "gateway",
    "ask",
    AskRequest,
    AskReply,
    6.0,
    "One question to every engine, one answer with receipts.",
    cancellable=True,
)
