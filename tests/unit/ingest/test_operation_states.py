"""The states of an operation, move by move and in every order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.errors import ErrorBody, ErrorCode, Permanent
from cortex_contracts.rpc.operations import OperationStatus
from cortex_ingest.operation_states import ENDS, cancel, finish, retry
from cortex_store.operations import Operation

NOW = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)
TOTAL = 3
BROKEN = ErrorBody(code=ErrorCode.INTERNAL, message="an unexpected error happened", retryable=False)


def operation(status: OperationStatus = OperationStatus.QUEUED, **fields: object) -> Operation:
    start = Operation(
        id=UUID(int=1),
        kind="retain_batch",
        status=OperationStatus.QUEUED,
        done=0,
        failed=0,
        total=TOTAL,
        cancel_requested=False,
        error=None,
        created_at=NOW,
        started_at=None,
        finished_at=None,
    )
    return replace(start, status=status, **fields)  # type: ignore[arg-type]


def running(**fields: object) -> Operation:
    return operation(OperationStatus.RUNNING, started_at=NOW, **fields)


def test_a_cancel_ends_what_waits_and_asks_what_runs() -> None:
    ended = cancel(operation(), NOW)
    assert (ended.status, ended.finished_at) == (OperationStatus.CANCELLED, NOW)
    asked = cancel(running(), NOW)
    assert (asked.status, asked.cancel_requested, asked.finished_at) == (OperationStatus.RUNNING, True, None)


@pytest.mark.parametrize("end", [OperationStatus.SUCCEEDED, OperationStatus.FAILED])
def test_what_has_ended_is_not_cancelled(end: OperationStatus) -> None:
    with pytest.raises(Permanent, match=f"has {end.value} already") as refusal:
        cancel(operation(end, finished_at=NOW), NOW)
    assert refusal.value.code is ErrorCode.CONFLICT


def test_it_succeeds_with_some_failed_items_and_fails_with_nothing_else() -> None:
    assert finish(running(done=3, failed=2), NOW).status is OperationStatus.SUCCEEDED
    nothing = finish(running(done=3, failed=3), NOW)
    assert nothing.status is OperationStatus.FAILED
    assert nothing.error is not None
    assert "none of the 3 items" in nothing.error.message
    broken = finish(running(done=1), NOW, error=BROKEN)
    assert (broken.status, broken.error) == (OperationStatus.FAILED, BROKEN)


def test_a_success_has_done_all_there_was() -> None:
    assert finish(running(done=2), NOW).total == 2
    assert finish(running(done=2), NOW, stopped=True).total == TOTAL


def test_a_success_is_retried_only_for_items_that_failed() -> None:
    with pytest.raises(Permanent, match="has succeeded already"):
        retry(operation(OperationStatus.SUCCEEDED, done=3, finished_at=NOW))
    again = retry(operation(OperationStatus.SUCCEEDED, done=1, finished_at=NOW))
    assert (again.status, again.done, again.finished_at) == (OperationStatus.QUEUED, 1, None)


def test_what_is_being_cancelled_is_not_retried() -> None:
    with pytest.raises(Permanent, match="being cancelled"):
        retry(running(cancel_requested=True))
    assert retry(running(done=2)) == running(done=2)


MOVES = st.sampled_from(["lease", "item", "failed item", "cancel", "retry", "hand back", "finish", "break"])


@settings(deadline=None, max_examples=200)
@given(st.lists(MOVES, max_size=25))
def test_no_order_of_moves_leads_to_a_state_that_makes_no_sense(moves: list[str]) -> None:
    state = operation()
    now = NOW
    for move in moves:
        now += timedelta(seconds=1)
        before = state
        refused = False
        try:
            state = after(move, state, now)
        except Permanent:
            refused = True
        assert not refused or before.status in ENDS or before.cancel_requested
        assert 0 <= state.failed <= state.done <= (state.total or 0)
        assert (state.finished_at is not None) == (state.status in ENDS)
        assert (state.error is not None) == (state.status is OperationStatus.FAILED)
        assert not (state.cancel_requested and state.status in (OperationStatus.SUCCEEDED, OperationStatus.FAILED))
        # Nothing that succeeded is ever counted off.
        assert state.done - state.failed >= before.done - before.failed
        if move == "cancel" and state != before:
            assert cancel(state, now) == state, "to cancel twice is to cancel once"


def after(move: str, state: Operation, now: datetime) -> Operation:
    """The state after what a worker or a user does; what cannot be done in a state changes nothing."""
    runs = state.status is OperationStatus.RUNNING
    left = state.total is not None and state.done < state.total
    match move:
        case "cancel":
            return cancel(state, now)
        case "retry":
            if state.status in ENDS:
                state = replace(state, done=state.done - state.failed, failed=0)
            return retry(state)
        case "lease" if state.status is OperationStatus.QUEUED:
            return replace(state, status=OperationStatus.RUNNING)
        case "hand back" if runs:
            return replace(state, status=OperationStatus.QUEUED)
        case "item" if runs and left and not state.cancel_requested:
            return replace(state, done=state.done + 1)
        case "failed item" if runs and left:
            return replace(state, done=state.done + 1, failed=state.failed + 1)
        case "finish" if runs and (state.cancel_requested or not left):
            return finish(state, now, stopped=state.cancel_requested)
        case "break" if runs:
            return finish(state, now, error=BROKEN)
    return state
