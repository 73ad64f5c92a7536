"""Errors cross the bus as code, sentence and retryability, and come back as the class a caller would catch."""

from __future__ import annotations

from itertools import product

import pytest

from cortex_contracts.errors import (
    CortexError,
    ErrorBody,
    ErrorCode,
    InvalidMessage,
    Permanent,
    Retryable,
    Unavailable,
    from_body,
)

PLAIN_CODES = [c for c in ErrorCode if c not in (ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED)]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        *product([Retryable, Unavailable], ErrorCode),
        # By their meaning the two others can be retried, whatever was raised.
        *product([Permanent, InvalidMessage], PLAIN_CODES),
    ],
)
def test_an_error_comes_back_with_its_code_sentence_and_retryability(kind: type[CortexError], code: ErrorCode) -> None:
    sent = kind("the vault 'handbook' is not known", code=code)
    back = from_body(ErrorBody.model_validate_json(sent.body().model_dump_json()))
    assert (back.code, back.message, back.retryable) == (sent.code, sent.message, sent.retryable)
    assert isinstance(back, Retryable if sent.retryable else Permanent)
    assert str(back) == sent.message


@pytest.mark.parametrize("code", [ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED])
def test_nobody_answering_and_answering_too_late_are_unavailable(code: ErrorCode) -> None:
    assert type(from_body(ErrorBody(code=code, message="down", retryable=True))) is Unavailable


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (CortexError("x"), ErrorCode.INTERNAL, False),
        (Retryable("x"), ErrorCode.UNAVAILABLE, True),
        (Unavailable("x"), ErrorCode.UNAVAILABLE, True),
        (Permanent("x"), ErrorCode.INVALID_REQUEST, False),
        (InvalidMessage("x"), ErrorCode.INVALID_REQUEST, False),
    ],
)
def test_each_class_has_its_default_body(error: CortexError, code: ErrorCode, retryable: bool) -> None:
    assert error.body() == ErrorBody(code=code, message="x", retryable=retryable)


def test_a_code_given_to_one_error_does_not_change_its_class() -> None:
    Permanent("x", code=ErrorCode.NOT_FOUND)
    assert Permanent("y").code is ErrorCode.INVALID_REQUEST
