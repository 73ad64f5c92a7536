"""Ask: fan out, reconcile, answer with receipts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol, TypeAlias

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ask import ASK, AskHit, AskMode, AskReply, AskRequest, Question
from cortex_contracts.rpc.engine import EngineStatus
from cortex_gateway.answer import Answer, concerns, merge
from cortex_gateway.ask_events import Asking, EngineHeard, Heard, SentenceSaid
from cortex_gateway.fan_out import EngineAnswer, FanOut
from cortex_gateway.reconcile import Disagreement, reconcile
from cortex_gateway.scoring import ScoredHit, Scoring
from cortex_gateway.turns import Turns

MARGIN_S: Final = 0.2
"""Kept back from the caller's deadline for what is no waiting: ranking, reconciling, sending the reply."""
MANY_HITS: Final = 250
"""Hits from which on they are read in a thread. Twenty engines' twelve take some 20 ms, less than what handing them
over may cost a question; their 2,000 take 60 to 90 ms (measured: processor time, 2,000 characters in each)."""

_Found: TypeAlias = tuple[list[ScoredHit], list[Disagreement], Answer | None]
"""The hits, best first; where those that concern the question disagree; and the merged answer, where one is wanted."""


class Writer(Protocol):
    """Writes the answer with a language model (`Synthesis`)."""

    @property
    def limit_s(self) -> float:
        """What a question may take longer because of it; 0 when no model is configured."""
        ...

    async def write(
        self,
        principal: Principal,
        query: str,
        hits: Sequence[ScoredHit],
        disagreements: Sequence[Disagreement],
        limit_s: float,
        said: Callable[[str], None],
    ) -> Answer | None:
        """The answer within `limit_s`, `said` hearing each sentence; none: the merge is the answer. Never raises."""
        ...


class Asker:
    """Answers questions, for REST, MCP and the bus alike."""

    def __init__(
        self,
        fan_out: FanOut,
        scoring: Scoring,
        floor: float,
        synthesis: Writer | None = None,
        turns: Turns | None = None,
    ) -> None:
        self._fan_out = fan_out
        self._scoring = scoring
        self._floor = floor
        self._writer = synthesis if synthesis and synthesis.limit_s > 0 else None
        self._turns = turns or Turns()

    def check(self, question: Question) -> tuple[str, ...]:
        """The engines that a question goes to.

        Raises:
            UnknownEngine: the scope names something that is no engine.
        """
        return self._fan_out.select(question.scope)

    async def ask(
        self, principal: Principal, question: Question, deadline_s: float | None = None, heard: Heard | None = None
    ) -> AskReply:
        """The reply to `question`, as far as `principal` may know, in less than `deadline_s`; without one, in less than
        the RPC's time and, where a model writes, its limit.

        The engines have their limit, as far as the RPC's time allows it; a model that writes has what is left. `heard`
        is told what happens on the way. Whoever cancels this cancels what engines and model do.

        Raises:
            UnknownEngine: see `check`.
            Busy: others are being answered, for half of the engines' time.
        """
        tell = heard or (lambda _: None)
        started = time.perf_counter()
        writer = self._writer if question.synthesize and question.mode is not AskMode.SEARCH else None
        if deadline_s is None:
            deadline_s = ASK.timeout_s + (writer.limit_s if writer else 0.0)
        engines = self.check(question)
        tell(Asking(engines))
        for_engines_s = min(deadline_s, ASK.timeout_s) - MARGIN_S
        async with self._turns.taken(len(engines) * question.k, for_engines_s / 2) as waited_s:
            answers = await self._fan_out.ask(
                principal,
                question.query,
                question.k,
                question.scope,
                for_engines_s - waited_s,
                lambda answer: tell(EngineHeard(answer.state, len(answer.hits))),
            )
            ranked, disagreements, answer = await self._read(question, answers)
        # Where nothing is good enough to be cited there is nothing to write about.
        left_s = started + deadline_s - MARGIN_S - time.perf_counter()
        if writer and answer and answer.receipts and left_s > 0:
            written = await writer.write(
                principal, question.query, ranked, disagreements, left_s, lambda text: tell(SentenceSaid(text))
            )
            answer = written or answer
        return AskReply(
            answer=answer.text if answer else None,
            receipts=answer.receipts if answer else (),
            hits=() if question.mode is AskMode.CHAT else tuple(map(_hit, ranked)),
            conflicts=tuple(disagreement.conflict() for disagreement in disagreements),
            engines=tuple(answer.state for answer in answers),
            took_ms=round((time.perf_counter() - started) * 1000),
        )

    async def _read(self, question: Question, answers: Sequence[EngineAnswer]) -> _Found:
        """What was found; beside the event loop where there is much to read, so that nobody else waits for it."""
        hits = [hit for answer in answers for hit in answer.hits]

        def read() -> _Found:
            ranked = self._scoring.rank(hits, datetime.now(UTC))
            # Engines fill up to k: two hits about something else may disagree, too, and that is nobody's question.
            disagreements = [one for one in reconcile(ranked, question.query) if concerns(one, self._floor)]
            if question.mode is AskMode.SEARCH:
                return ranked, disagreements, None
            return ranked, disagreements, merge(question.query, ranked, disagreements, self._floor, _silent(answers))

        return await asyncio.to_thread(read) if len(hits) > MANY_HITS else read()

    async def serve(self, request: AskRequest) -> AskReply:
        """`cortex.v1.rpc.gateway.ask`: the caller has authenticated the principal it sends."""
        return await self.ask(request.principal, request.question, ASK.timeout_s)


def _silent(answers: Sequence[EngineAnswer]) -> list[str]:
    return [answer.state.engine for answer in answers if answer.state.status is EngineStatus.DOWN]


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
        relevance=hit.relevance,
        corroborated_by=scored.corroborated_by,
    )
