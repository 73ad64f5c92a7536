"""What was said against what is there: every fault by kind, with examples. Pure functions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from cortex_contracts.messages.memory import Visibility, WriteDecision
from cortex_extraction import entities
from cortex_testkit.chaos.census import Census, Found
from cortex_testkit.chaos.ledger import Ledger
from cortex_testkit.chaos.sayings import Saying

Faults: TypeAlias = Iterator[tuple[str, str]]
"""Kind and example."""

FACT: Final = "sleep"
"""Source of what sleep made."""
_QUOTATION: Final = re.compile(r"(?P<speaker>.+?) \((?P<day>\d{4}-\d\d-\d\d)\): “(?P<text>.+)”")
_VALUE: Final = re.compile(r"The retry limit of pump (\S+) is \d+\.")


@dataclass(frozen=True)
class There:
    """What counts as being there: hot rows, and cold rows of batches that are done."""

    by_id: Mapping[UUID, list[Found]]
    said_in: Mapping[str, list[Found]]
    """Memories by the ref of the saying that made them."""
    said_again_in: Mapping[str, list[Found]]
    """Memories by the refs of their occurrences."""

    @classmethod
    def of(cls, census: Census) -> There:
        """Index it."""
        by_id, said_in, again = defaultdict(list), defaultdict(list), defaultdict(list)
        for row in (*census.hot, *census.cold):
            if row.batch is not None and census.batches.get(row.batch, ("", 0))[0] != "done":
                continue
            by_id[row.id].append(row)
            if row.source_ref is not None and row.document is None:
                said_in[row.source_ref].append(row)
            for one in row.occurrences:
                again[one.ref or ""].append(row)
        return cls(by_id, said_in, again)

    def rows(self) -> Iterator[Found]:
        """All of them."""
        for rows in self.by_id.values():
            yield from rows


def faults(ledger: Ledger, census: Census) -> dict[str, list[str]]:
    """Every fault by kind; nothing of a kind: it did not happen. Waiting work counts as one."""
    there = There.of(census)
    found: dict[str, list[str]] = defaultdict(list)
    for kind, example in (
        *_lost(ledger, there),
        *_doubled(ledger, there),
        *_changed(ledger, there),
        *_invented(ledger, there),
        *_ended(ledger, there),
        *_facts(there),
        *_batches(census),
        *_unfindable(there),
        *_events(ledger, there, census),
    ):
        found[kind].append(example)
    for kind, examples in ledger.examples.items():
        found[kind] += examples
    return dict(found)


def figures(ledger: Ledger, census: Census) -> dict[str, object]:
    """What there was."""
    rows = list(There.of(census).rows())
    facts = [row for row in rows if row.source_kind == FACT]
    return {
        "said": len(ledger.said),
        "acknowledged": len(ledger.acknowledged),
        "hot": len(census.hot),
        "cold": len(census.cold),
        "cold, still true": sum(row.invalid_at is None for row in rows if row.batch),
        "occurrences": sum(len(row.occurrences) for row in rows),
        "private": sum(row.visibility == Visibility.PRIVATE for row in rows),
        "ended": sum(row.invalid_at is not None for row in rows),
        "superseded": sum(row.superseded_by is not None for row in rows),
        "facts": len(facts),
        "facts that are true": sum(row.invalid_at is None for row in facts),
        "facts with a cold source": sum(
            any(there.batch is not None for source in row.sources for there in There.of(census).by_id.get(source, ()))
            for row in facts
        ),
        "batches": dict(Counter(state for state, _ in census.batches.values())),
    }


def _lost(ledger: Ledger, there: There) -> Faults:
    for ref in sorted(ledger.acknowledged):
        retained = ledger.retained.get(ref)
        if ref not in there.said_in and ref not in there.said_again_in:
            yield "lost", f"{ref}: {ledger.said[ref].content}"
        elif retained is not None and retained.memory_id not in there.by_id:
            yield "lost", f"{ref}: {retained.memory_id}"


def _doubled(ledger: Ledger, there: There) -> Faults:
    for memory, rows in there.by_id.items():
        if len(rows) > 1:
            yield "twice", f"{memory}: {[str(row.batch or 'hot') for row in rows]}"
    for ref in ledger.said:
        made, again = there.said_in.get(ref, ()), there.said_again_in.get(ref, ())
        if len({row.id for row in made}) > 1:
            yield "twice", f"{ref} made {[str(row.id) for row in made]}"
        # What sleep merged keeps what it was made of; of the memories that know of a saying one counts.
        counting = [row.id for row in (*made, *again) if row.superseded_by is None]
        if len(counting) > 1:
            yield "counted twice", f"{ref} in {[str(one) for one in counting]}"


def _changed(ledger: Ledger, there: There) -> Faults:
    for ref, said in ledger.said.items():
        for row in there.said_in.get(ref, ()):
            if differing := [name for name, value in _expected(said).items() if getattr(row, name) != value]:
                yield "changed", f"{ref} ({'cold' if row.batch else 'hot'}): {differing}"
            wanted = {(one.key, str(one.role)) for one in entities.extract(said.content, speaker=said.speaker)}
            if wanted != row.entities:
                yield "entities differ", f"{ref}: {sorted(wanted ^ row.entities)}"
        for row in there.said_again_in.get(ref, ()):
            for one in row.occurrences:
                if one.ref == ref and (one.at, one.speaker) != (said.at, said.speaker):
                    yield "occurrences changed", ref
            if row.namespace != said.namespace or (row.visibility == Visibility.PRIVATE and row.owner != said.subject):
                yield "said to others", f"{ref}: {row.id}"


def _expected(said: Saying) -> Mapping[str, object]:
    return {
        "namespace": said.namespace,
        "content": said.content,
        "owner": said.subject,
        "visibility": said.visibility,
        "source_kind": said.source_kind,
        "session": said.session,
        "turn": said.turn,
        "speaker": said.speaker,
        "valid_at": said.at,
    }


def _invented(ledger: Ledger, there: There) -> Faults:
    for row in there.rows():
        if row.source_kind != FACT and row.document is None and row.source_ref not in ledger.said:
            yield "never said", f"{row.id} ({row.source_kind}): {row.content[:80]}"
        for one in row.occurrences:
            if one.ref not in ledger.said:
                yield "never said", f"{one.ref}, said again in {row.id}"


def _ended(ledger: Ledger, there: There) -> Faults:
    for memory in ledger.wishes:
        for row in there.by_id.get(memory, ()):
            is_live = row.invalid_at is None
            if row.superseded_by is None and is_live not in ledger.may_live(memory):
                yield "not as wished", f"{memory}: {ledger.wishes[memory]}, {'live' if is_live else 'ended'}"
    for ref, retained in ledger.retained.items():
        for old in retained.superseded:
            for row in there.by_id.get(old, ()):
                if row.invalid_at is None or row.superseded_by is None:
                    yield "corrected and still true", f"{row.id} by {ref}"
    for row in there.rows():
        if row.source_kind == FACT or row.document is not None or row.invalid_at is None:
            continue
        if row.superseded_by is None:
            if row.id not in ledger.wishes:
                yield "ended by nobody", f"{row.id}: {row.content}"
            continue
        successors = there.by_id.get(row.superseded_by, ())
        if not successors:
            yield "superseded by nothing", f"{row.id} by {row.superseded_by}"
        for other in successors:
            values = _VALUE.fullmatch(row.content), _VALUE.fullmatch(other.content)
            is_correction = values[0] and values[1] and values[0][1] == values[1][1]
            if row.content != other.content and not is_correction:
                yield "true and retired", f"{row.content} <- {other.content} ({other.decision_reason})"
            if other.visibility != row.visibility or (
                row.visibility == Visibility.PRIVATE and other.owner != row.owner
            ):
                yield "superseded for others", f"{row.id} by {other.id}"


def _facts(there: There) -> Faults:
    for fact in there.rows():
        if fact.source_kind != FACT:
            continue
        missing = [source for source in fact.sources if source not in there.by_id]
        if missing or not fact.sources:
            yield "facts without their sources", f"{fact.id}: {[str(one) for one in missing]}"
            continue
        sources = [there.by_id[source][0] for source in fact.sources]
        readers = {(row.visibility, row.owner if row.visibility == Visibility.PRIVATE else None) for row in sources}
        if readers != {(fact.visibility, fact.owner if fact.visibility == Visibility.PRIVATE else None)}:
            yield "facts for others than their sources", str(fact.id)
        if fact.invalid_at is None and (ended := [row for row in sources if row.invalid_at is not None]):
            yield "facts that are not true any more", f"{fact.id}: {ended[0].content}, ended {ended[0].invalid_at}"
        for line in fact.content.splitlines():
            if not _is_quoted(line, sources):
                yield "facts that nobody said", f"{fact.id}: {line}"


def _is_quoted(line: str, sources: list[Found]) -> bool:
    quoted = _QUOTATION.fullmatch(line)
    return quoted is not None and any(
        quoted["text"] in row.content
        and quoted["day"] == row.valid_at.date().isoformat()
        and row.speaker == quoted["speaker"]
        for row in sources
    )


def _batches(census: Census) -> Faults:
    brought = Counter(row.batch for row in census.cold)
    for batch, (state, rows) in census.batches.items():
        if state not in ("done", "dropped"):
            yield "batches left open", f"{batch}: {state}"
        elif state == "dropped" and brought[batch]:
            yield "rows of batches that were given up", f"{batch}: {brought[batch]}"
        elif state == "done" and brought[batch] != rows:
            yield "batches of another size", f"{batch}: {brought[batch]} rows instead of {rows}"
    for unknown in brought.keys() - census.batches.keys():
        yield "rows of batches that nobody knows", str(unknown)
    for what, number in census.waiting.items():
        if number:
            yield "work left over", f"{number} {what}"


def _unfindable(there: There) -> Faults:
    for row in there.rows():
        if row.batch is None and row.invalid_at is not None:
            continue
        where = "hot" if row.batch is None else "cold"
        if not row.has_words:
            yield f"{where} without words", str(row.id)
        if not row.has_vector:
            yield f"{where} without a vector", str(row.id)


def _events(ledger: Ledger, there: There, census: Census) -> Faults:
    for row in there.rows():
        if row.source_ref in ledger.said and census.retained.get(row.id) != 1:
            yield "not told once", f"{row.id}: {census.retained.get(row.id, 0)} events"
    for ref, retained in ledger.retained.items():
        if retained.decision is not WriteDecision.NOOP and ref not in there.said_in:
            yield "not what was answered", f"{ref}: {retained.decision}"
