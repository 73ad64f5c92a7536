"""Answers and what their sentences stand on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cortex_contracts.rpc.ask import Receipt
from cortex_gateway.scoring import ScoredHit


@dataclass(frozen=True, slots=True)
class Answer:
    """Prose, one sentence a line, and the receipts it cites."""

    text: str
    receipts: tuple[Receipt, ...]


@dataclass(slots=True)
class Citations:
    """Receipts in the order in which they are first cited: r1, r2, …"""

    cited: list[ScoredHit] = field(default_factory=list)

    def cite(self, hit: ScoredHit) -> str:
        """What a sentence that stands on `hit` ends in."""
        if hit not in self.cited:
            self.cited.append(hit)
        return f"[r{self.cited.index(hit) + 1}]"

    def line(self, text: str, hits: Iterable[ScoredHit]) -> str:
        """A sentence with the receipts of the hits that it stands on."""
        return f"{text} {''.join(dict.fromkeys(self.cite(hit) for hit in hits))}"

    def receipts(self) -> tuple[Receipt, ...]:
        """A receipt for every hit that is cited."""
        return tuple(
            Receipt(
                id=f"r{number}",
                source=hit.hit.engine,
                title=hit.hit.title,
                path=hit.hit.path,
                last_seen=hit.hit.last_seen,
                confidence=hit.hit.confidence,
                snippet=hit.hit.snippet,
                corroborated_by=hit.corroborated_by,
            )
            for number, hit in enumerate(self.cited, 1)
        )
