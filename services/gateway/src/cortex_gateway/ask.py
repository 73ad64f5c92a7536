"""Ask: fan out, reconcile, answer with receipts."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import ASK, AskHit, AskMode, AskReply, AskRequest, Question
from cortex_contracts.rpc.engine import EngineStatus
from cortex_gateway.answer import concerns, merge
from cortex_gateway.engines import Engines
from cortex_gateway.reconcile import reconcile
from cortex_gateway.scoring import ScoredHit, Scoring

MARGIN_S = 0.2
"""Kept back from the caller's deadline for what comes after the engines."""


class Asker:
    """Answers questions, for REST, MCP and the bus alike."""

    def __init__(self, engines: Engines, scoring: Scoring, floor: float) -> None:
        self._engines = engines
        self._scoring = scoring
        self._floor = floor

    async def ask(self, principal: Principal, question: Question, deadline_s: float = ASK.timeout_s) -> AskReply:
        """The reply to `question`, as far as `principal` may know, in less than `deadline_s`.

        Raises:
            UnknownEngine: the scope names an engine that is not configured.
        """
        started = time.perf_counter()
        answers = await self._engines.ask(principal, question.query, question.k, question.scope, deadline_s - MARGIN_S)
        ranked = self._scoring.rank((hit for answer in answers for hit in answer.hits), datetime.now(UTC))
        # Engines fill up to k: two hits about something else may disagree, too, and that is nobody's question.
        disagreements = [one for one in reconcile(ranked) if concerns(one, self._floor)]
        answer = None
        if question.mode is not AskMode.SEARCH:
            silent = [a.state.engine for a in answers if a.state.status is EngineStatus.DOWN]
            answer = merge(question.query, ranked, disagreements, self._floor, silent)
        return AskReply(
            answer=answer.text if answer else None,
            receipts=answer.receipts if answer else (),
            hits=() if question.mode is AskMode.CHAT else tuple(_hit(hit) for hit in ranked),
            conflicts=tuple(disagreement.conflict() for disagreement in disagreements),
            engines=tuple(answer.state for answer in answers),
            took_ms=round((time.perf_counter() - started) * 1000),
        )

    async def serve(self, request: AskRequest) -> AskReply:
        """`cortex.v1.rpc.gateway.ask`: the caller has authenticated the principal it sends."""
        return await self.ask(request.principal, request.question)


def _hit(scored: ScoredHit) -> AskHit:
    hit = scored.hit
    return AskHit(
        engine=hit.engine,
        title=hit.title,
        path=hit.path,
        snippet=hit.snippet,
        score=scored.score,
        last_seen=hit.last_seen,
        confidence=hit.confidence,
        source_class=scored.source_class,
    )
