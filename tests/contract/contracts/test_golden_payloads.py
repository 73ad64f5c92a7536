"""One released example of every message: today's models read it, and write what the committed schemas describe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from cortex_contracts import schemas
from cortex_contracts.__main__ import RELEASED, SCHEMAS
from cortex_contracts.rpc.contract import Envelope
from cortex_contracts.rpc.sleep import SleepStatus

MODELS = sorted(schemas.public_models())


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture(params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    """A model."""
    found: str = request.param
    return found


@pytest.fixture
def payload(repository: Path, name: str) -> str:
    """Its released example."""
    return (repository / RELEASED / "payloads" / f"{name}.json").read_text(encoding="utf-8")


@pytest.fixture(params=[SCHEMAS, RELEASED], ids=["current", "released"])
def validator(request: pytest.FixtureRequest, repository: Path, name: str) -> Draft202012Validator:
    """Its schema, as it is and as it was released."""
    schema = load(repository / request.param / f"{name}.json")
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def test_no_payload_is_without_a_model(repository: Path) -> None:
    assert sorted(path.stem for path in (repository / RELEASED / "payloads").glob("*.json")) == MODELS


def test_a_released_payload_is_what_the_schema_describes(payload: str, validator: Draft202012Validator) -> None:
    validator.validate(json.loads(payload))


def test_what_a_model_writes_is_what_the_schema_describes(
    payload: str, name: str, validator: Draft202012Validator
) -> None:
    model = schemas.public_models()[name]
    validator.validate(json.loads(model.model_validate_json(payload).model_dump_json()))


def holds(written: Any, released: Any) -> bool:
    """Whether `written` says everything that `released` does; fields that were added since have their defaults."""
    if isinstance(released, dict):
        return isinstance(written, dict) and all(k in written and holds(written[k], v) for k, v in released.items())
    if isinstance(released, list):
        return len(written) == len(released) and all(map(holds, written, released))
    return bool(written == released)


def test_everything_in_a_released_payload_survives_reading_and_writing(payload: str, name: str) -> None:
    model = schemas.public_models()[name]
    assert holds(json.loads(model.model_validate_json(payload).model_dump_json()), json.loads(payload))


def test_a_payload_with_unknown_fields_is_read_as_if_they_were_not_there(payload: str, name: str) -> None:
    model = schemas.public_models()[name]
    newer = {**json.loads(payload), "from_a_newer_version": {"deep": [1]}}
    assert model.model_validate(newer) == model.model_validate_json(payload)


def test_model_and_schema_refuse_the_same_payload_without_a_required_field(
    payload: str, name: str, validator: Draft202012Validator
) -> None:
    model = schemas.public_models()[name]
    for field in schemas.json_schema(model).get("required", ()):
        broken = {key: value for key, value in json.loads(payload).items() if key != field}
        assert not validator.is_valid(broken)
        with pytest.raises(ValidationError, match=field):
            model.model_validate(broken)


def test_an_envelope_carries_a_result_of_its_reply_type(repository: Path) -> None:
    status = load(repository / RELEASED / "payloads" / "SleepStatus.json")
    schema = load(repository / SCHEMAS / "Envelope.json")
    written = Envelope[SleepStatus](result=SleepStatus.model_validate(status)).model_dump_json()
    parts = json.loads(written)
    assert parts["error"] is None
    assert parts["result"].items() >= status.items()
    Draft202012Validator(schema).validate(json.loads(written))
    assert Envelope[SleepStatus].model_validate_json(written).result == SleepStatus.model_validate(status)


@pytest.mark.parametrize("both", [True, False])
def test_an_envelope_carries_exactly_one_of_result_and_error(repository: Path, both: bool) -> None:
    payloads = repository / RELEASED / "payloads"
    parts = {"result": load(payloads / "SleepStatus.json"), "error": load(payloads / "ErrorBody.json")}
    with pytest.raises(ValidationError, match="exactly one of result and error"):
        Envelope[SleepStatus].model_validate(parts if both else {})
