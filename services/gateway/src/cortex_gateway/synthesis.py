"""Synthesis: a language model words the answer, held to what the hits say; without one the merge answers.

What a text can make a model say is limited here, not by the prompt: sentences that do not stand on the sources they
cite are cut (`synthesis_check`), receipts are made from hits and not from what the model writes, hits that lost a
disagreement are not shown, and disagreements are told by rules. Whatever goes wrong, the answer is merged.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import prometheus_client

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_gateway.answer import conflicts_told, usable
from cortex_gateway.citations import Answer, Citations
from cortex_gateway.question_fit import Question, coverage, read
from cortex_gateway.reconcile import Disagreement
from cortex_gateway.scoring import ScoredHit
from cortex_gateway.sentences import units
from cortex_gateway.synthesis_backend import Backend
from cortex_gateway.synthesis_check import Checker, Verdict
from cortex_gateway.synthesis_prompt import MAX_SOURCES, prompt, sources_of
from cortex_gateway.synthesis_reader import SentenceReader
from cortex_gateway.synthesis_routing import Model, difficulty, route
from cortex_gateway.usage import SYNTHESES, Purpose, Usage
from cortex_providers.prose import Ending, Prompt, Prose, Refused
from cortex_runtime import logs

CANDIDATES: Final = 2 * MAX_SOURCES
"""Hits that are looked at: some have no text that may be shown."""
SENTENCES: Final = 6
"""Of an answer; what comes after them is not read."""
MAX_WRITTEN: Final = 12_000
"""Characters that are read of one answer."""
MAX_REPEATED: Final = 3
"""Repeated sentences; then the model goes in circles."""
TO_THE_POINT: Final = 0.4
"""Share of the question's words in the best source that an answer has, too; one with less is about something else,
whatever made the model write it. Half, and a little less for an answer in other words."""
LEAST_S: Final = 0.05
"""With less time left nothing is asked."""
BYTES_PER_TOKEN: Final = 4
"""Where a server tells no tokens (see `chat_events`)."""
ANSWERED: Final = ("written", "cut_off")
"""What may become of an answer that is one."""
PURPOSES: Final = {Model.OLLAMA: Purpose.SYNTHESIS, Model.CLAUDE: Purpose.SYNTHESIS_PAID}
ANSWERS: Final = prometheus_client.Counter(
    "cortex_synthesis_total", "Answers that a model was asked to word, by what became of them", ["model", "outcome"]
)
WRITTEN: Final = prometheus_client.Counter(
    "cortex_synthesis_sentences_total", "Sentences that models wrote, by verdict", ["verdict"]
)

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class SynthesisLimits:
    """Seconds and tokens of an answer, and tokens of a principal in a day (0: any number)."""

    answer_s: float
    max_tokens: int
    daily_tokens: int


@dataclass(slots=True)
class _Draft:
    """The answer while it is written."""

    checker: Checker
    said: Callable[[str], None]
    question: Question
    needed: float
    """Coverage of the question from which on the answer is about it; what was accepted before is held back."""
    reader: SentenceReader = field(default_factory=SentenceReader)
    citations: Citations = field(default_factory=Citations)
    lines: list[str] = field(default_factory=list)
    told: int = 0
    written: int = 0
    repeated: int = 0

    @property
    def to_the_point(self) -> bool:
        """Whether it has enough of the question."""
        return bool(self.lines) and coverage(self.question, " ".join(self.lines)) >= self.needed

    @property
    def full(self) -> bool:
        """Whether nothing more is to be read."""
        return len(self.lines) >= SENTENCES or self.written > MAX_WRITTEN or self.repeated >= MAX_REPEATED

    def read(self, piece: str) -> None:
        """Take in what the model wrote."""
        self.written += len(piece)
        self._take(self.reader.feed(piece))

    def finish(self) -> None:
        """Take in the last sentence, which the model ended by itself."""
        self._take(self.reader.finish())

    def say(self, text: str, hits: Iterable[ScoredHit]) -> None:
        """Add a sentence."""
        self.lines.append(self.citations.line(text, hits))
        if self.to_the_point:
            for line in self.lines[self.told :]:
                self.said(line)
            self.told = len(self.lines)

    def _take(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            if self.full:
                return
            checked = self.checker.check(sentence)
            WRITTEN.labels(checked.verdict.value).inc()
            self.repeated += checked.verdict is Verdict.REPEATED
            if checked.verdict is Verdict.ACCEPTED:
                self.say(checked.text, (source.hit for source in checked.sources))


class Synthesis:
    """Words answers with the models that are there."""

    def __init__(self, usage: Usage, backends: Sequence[Backend], limits: SynthesisLimits, floor: float) -> None:
        """`floor`: least worth of a hit that an answer may use, as for the merge."""
        self._usage = usage
        self._backends = {backend.model: backend for backend in backends}
        self._limits = limits
        self._floor = floor
        self._reserved: Counter[tuple[str, str]] = Counter()
        """Tokens that answers which are being written may take, by principal."""

    @property
    def configured(self) -> bool:
        """Whether there is a model that may be asked at all."""
        return bool(self._backends)

    @property
    def limit_s(self) -> float:
        """What an answer may take; 0 when there is no model."""
        return self._limits.answer_s if self._backends else 0.0

    async def write(
        self,
        principal: Principal,
        query: str,
        hits: Sequence[ScoredHit],
        disagreements: Sequence[Disagreement],
        limit_s: float,
        said: Callable[[str], None],
    ) -> Answer | None:
        """The answer to `query` in at most `limit_s` seconds; none: use the merge.

        `said` gets each line as it stands in the answer when it is certain that it stays. None after that means that
        the model failed in the middle: what was said is then replaced. Raises nothing but CancelledError.
        """
        there = frozenset(model for model, backend in self._backends.items() if backend.available)
        if not there:
            return None
        try:
            told, floor = usable(hits, disagreements, self._floor, CANDIDATES)
            sources = sources_of(told)
            asked = prompt(query, sources, self._limits.max_tokens)
            models = route(difficulty(query, [source.support for source in sources]), there) if sources else ()
            ends_at = time.monotonic() + min(limit_s, self._limits.answer_s)
            question = read(query)
            texts = [unit.text for source in sources for unit in units(source.text)]
            needed = TO_THE_POINT * max((coverage(question, text) for text in texts), default=0.0)
            for model in models:
                draft = _Draft(Checker(query, sources), said, question, needed)
                if await self._written(principal, self._backends[model], asked, draft, ends_at):
                    for text, sides in conflicts_told(disagreements, floor):
                        draft.say(text, sides)
                    return Answer("\n".join(draft.lines), draft.citations.receipts())
                if draft.told:
                    return None
        except Exception as error:  # edge: no failure of a model may end a question
            log.error("unexpected failure", place="synthesis", exc_info=error)
        return None

    async def _written(
        self, principal: Principal, backend: Backend, asked: Prompt, draft: _Draft, ends_at: float
    ) -> bool:
        """Whether `draft` holds an answer now."""
        with self._reserving(principal, asked):
            if not await self._affordable(principal):
                outcome = "over_budget"
            elif (limit_s := ends_at - time.monotonic()) < LEAST_S:
                outcome = "late"
            else:
                outcome = await self._asked(principal, backend, asked, draft, limit_s)
        ANSWERS.labels(backend.model.value, outcome).inc()
        if outcome not in ANSWERED:
            log.info("an answer is merged", model=backend.model.value, reason=outcome)
        return outcome in ANSWERED

    async def _asked(self, principal: Principal, backend: Backend, asked: Prompt, draft: _Draft, limit_s: float) -> str:
        """What became of the answer. One that was cut off at a limit, of tokens or time, has the sentences that were
        whole; one that broke off or failed has none, for what it was to say is not known."""
        started = time.monotonic()
        prose: Prose | None = None
        try:
            async with asyncio.timeout(limit_s), backend.writer.write(asked, limit_s) as prose:
                async for piece in prose.pieces:
                    draft.read(piece)
                    if draft.full:
                        break
                if prose.ending is Ending.DONE:
                    draft.finish()
                outcome = "cut_off" if prose.ending is Ending.LENGTH else "written"
                backend.succeeded()
        except Refused:
            outcome = "refused"
        except TimeoutError:
            if not draft.written:
                backend.late(whole=limit_s > 0.9 * self._limits.answer_s)
            outcome = "cut_off" if draft.written else "late"
        except CortexError as error:
            backend.failed(error.message)
            outcome = "failed"
        finally:
            self._count(principal, backend.model, asked, draft, prose, time.monotonic() - started)
        if outcome in ANSWERED and not draft.to_the_point:
            outcome = "off_topic" if draft.lines else "empty"
        return outcome

    def _count(
        self, principal: Principal, model: Model, asked: Prompt, draft: _Draft, prose: Prose | None, took_s: float
    ) -> None:
        """Add what an answer took, as the server says, else by its length; what never began took nothing."""
        given = written = 0
        if prose is not None:
            told = prose.input_tokens
            given = _tokens(asked.system + asked.user) if told is None else told
            # What is told before the end is not all.
            written = prose.output_tokens or 0
            if prose.ending is None or prose.output_tokens is None:
                written = max(written, -(-draft.written // BYTES_PER_TOKEN))
        self._usage.count(
            principal, PURPOSES[model], input_tokens=given, output_tokens=written, model_ms=round(took_s * 1000)
        )

    @contextmanager
    def _reserving(self, principal: Principal, asked: Prompt) -> Iterator[None]:
        """Hold the tokens that an answer may take, so that many at one time cannot go beyond the day's together."""
        key, most = (principal.org, principal.subject), _tokens(asked.system + asked.user) + asked.max_tokens
        self._reserved[key] += most
        try:
            yield
        finally:
            self._reserved[key] -= most
            if self._reserved[key] <= 0:
                del self._reserved[key]

    async def _affordable(self, principal: Principal) -> bool:
        limit = self._limits.daily_tokens
        if not limit:
            return True
        spent = await self._usage.tokens_today(principal, SYNTHESES)
        return spent + self._reserved[principal.org, principal.subject] <= limit


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // BYTES_PER_TOKEN)
