"""The judgement on a draft: the built-in rules, and a classifier of another kind where they find nothing (ADR 0015).

A classifier that needs I/O is asked before the transaction that writes and is shown no more than the rules leave open.
Inside, where nothing can change any more, the rules decide first; its verdict is followed only if the neighbours are
still those that it saw, and the rules do not veto it. Whenever it was to be asked and could not be followed, the reason
of the verdict says so.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from cortex_contracts.errors import CortexError
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.memory import MemoryDraft
from cortex_decision import Decision, Neighbour, Statement, Verdict, candidates, decide, veto
from cortex_ingest.intake import said_at
from cortex_providers.classifier import Classifier
from cortex_runtime import logs
from cortex_store import memory_index
from cortex_writing import neighbourhood
from cortex_writing.neighbourhood import Neighbourhood, Vector
from cortex_writing.patience import Patience
from cortex_writing.ports import Transactions

CLASSIFY_S: Final = 12.0
"""For one answer, all attempts together: `retain` has 30 s and a capture is delivered again after 30 s."""
MAX_REASON: Final = 200
"""Characters, as the reply limits them."""

log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a classifier said outside of the transaction; `note` says why it did not, if it was to be asked."""

    verdict: Verdict | None = None
    offered: tuple[Neighbour, ...] = ()
    seen: frozenset[tuple[UUID | None, bool]] = frozenset()
    note: str = ""


NO_OPINION: Final = Opinion()


class Judgement:
    """Decides what a draft does."""

    def __init__(self, database: Transactions, classifier: Classifier) -> None:
        self._database = database
        self._classifier = classifier
        self._patience = Patience("the classifier", CLASSIFY_S)

    async def ask(
        self,
        principal: Principal,
        draft: MemoryDraft,
        document: memory_index.Document,
        vector: Vector,
        *,
        until: float = math.inf,
    ) -> Opinion:
        """What the classifier says, where it is to be asked, before the loop's time `until`. Where it is local this
        costs nothing."""
        if self._classifier.local:
            return NO_OPINION
        statement = _statement(draft, principal.subject)
        async with self._database.transaction(principal) as connection:
            near = await neighbourhood.find(connection, draft, document, vector, owner=principal.subject)
        if decide(statement, near.neighbours) != Verdict(Decision.ADD):
            return NO_OPINION
        offered = candidates(statement, near.neighbours)
        if not offered:
            return NO_OPINION
        left_s = until - asyncio.get_running_loop().time()
        if left_s <= 0:
            return Opinion(note="built-in rules: the time for the classifier is over")
        try:
            verdict = await self._patience.wait(
                lambda: self._classifier.classify(statement, offered), limit_s=min(CLASSIFY_S, left_s)
            )
        except CortexError as error:
            log.warning("the classifier did not decide, the rules did", reason=error.message)
            return Opinion(note=f"built-in rules: {error.message}")
        return Opinion(verdict, offered, _state(near))

    async def verdict(self, subject: str, draft: MemoryDraft, near: Neighbourhood, opinion: Opinion) -> Verdict:
        """What the draft of `subject` does to its neighbours. Call it inside of the transaction that found them."""
        statement = _statement(draft, subject)
        if self._classifier.local:
            return await self._classifier.classify(statement, near.neighbours)
        rules = decide(statement, near.neighbours)
        if rules != Verdict(Decision.ADD):
            return rules
        if opinion.verdict is None:
            return noted(rules, opinion.note)
        if _state(near) != opinion.seen:
            return noted(rules, "built-in rules: what is near changed while the classifier was asked")
        if why := veto(statement, opinion.offered, opinion.verdict):
            log.warning("the classifier was not followed", reason=why)
            return noted(rules, f"built-in rules: the classifier was not followed, {why}")
        return opinion.verdict


def noted(verdict: Verdict, note: str) -> Verdict:
    """The verdict with a note behind its reason, cut where a reply has no room for it."""
    reason = f"{verdict.reason}; {note}" if note else verdict.reason
    return replace(verdict, reason=reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 1]}…")


def _statement(draft: MemoryDraft, subject: str) -> Statement:
    """A draft of `subject` as the decision sees it."""
    speaker, session = neighbourhood.voice(draft.speaker, draft.session, subject)
    return Statement(
        id=None,
        text=draft.content,
        valid_at=said_at(draft),
        speaker=speaker,
        session=session,
        assertions=draft.assertions,
        source_kind=draft.source_kind,
        explicit=draft.explicit,
    )


def _state(near: Neighbourhood) -> frozenset[tuple[UUID | None, bool]]:
    """The neighbours, and which of them are live."""
    return frozenset((one.statement.id, one.invalid_at is None) for one in near.neighbours)
