"""The committed schemas and the AsyncAPI document are what the models say, and break nothing that is released."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cortex_contracts import schemas
from cortex_contracts.__main__ import ASYNCAPI, CONTRACTS, RELEASED, SCHEMAS, breaking, main
from cortex_contracts.compatibility import Role

MODELS = sorted(schemas.public_models())


@pytest.fixture
def copy(repository: Path, tmp_path: Path) -> Path:
    """A repository with the committed files, to change at will."""
    for part in (SCHEMAS, RELEASED):
        shutil.copytree(repository / part, tmp_path / part)
    (tmp_path / ASYNCAPI).parent.mkdir(parents=True)
    shutil.copy(repository / ASYNCAPI, tmp_path / ASYNCAPI)
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_committed_files_equal_what_the_models_generate(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--root", str(repository)]) == 0, capsys.readouterr().err


def test_current_models_break_nothing_that_is_released(repository: Path) -> None:
    assert [str(found) for found in breaking(repository)] == []


def test_every_model_is_in_the_released_set(repository: Path) -> None:
    assert [path.stem for path in sorted((repository / RELEASED).glob("*.json"))] == MODELS


def test_generating_twice_gives_the_same_bytes(copy: Path, repository: Path) -> None:
    assert main(["write", "--root", str(copy)]) == 0
    for path in (*(SCHEMAS / f"{name}.json" for name in MODELS), ASYNCAPI):
        assert (copy / path).read_bytes() == (repository / path).read_bytes()


@pytest.mark.parametrize("path", [SCHEMAS / "Capture.json", ASYNCAPI])
def test_check_shows_the_difference_of_an_edited_file(
    copy: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(copy / path, '"source_ref"', '"source_reference"')
    assert main(["check", "--root", str(copy)]) == 1
    said = capsys.readouterr().err
    assert f"--- {path}" in said
    assert '+    "source_ref"' in said or '"source_ref": {' in said
    assert "run `make contracts`" in said


def test_check_fails_on_a_missing_and_on_a_left_over_schema(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (copy / SCHEMAS / "Capture.json").rename(copy / SCHEMAS / "Gone.json")
    assert main(["check", "--root", str(copy)]) == 1
    assert "2 file(s) differ" in capsys.readouterr().err


def test_write_takes_away_the_schema_of_a_model_that_is_no_more(copy: Path) -> None:
    (copy / SCHEMAS / "Gone.json").write_text("{}")
    assert main(["write", "--root", str(copy)]) == 0
    assert not (copy / SCHEMAS / "Gone.json").exists()
    assert main(["check", "--root", str(copy)]) == 0


def test_check_fails_on_an_incompatible_change_even_when_the_files_are_regenerated(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The released schema knows a field that today's model lost: the state after removing it from the model.
    edit(copy / RELEASED / "Capture.json", '"speaker"', '"spoken_by"')
    assert main(["write", "--root", str(copy)]) == 0
    assert main(["check", "--root", str(copy)]) == 1
    assert "breaking: Capture.spoken_by: field removed: renamed to speaker?" in capsys.readouterr().err


def test_release_refuses_a_breaking_change_and_keeps_the_baseline(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy / RELEASED / "RecallReply.json"
    edit(path, '"degraded"', '"missing_parts"')
    before = path.read_bytes()
    assert main(["release", "--root", str(copy)]) == 1
    assert path.read_bytes() == before
    assert "new version token" in capsys.readouterr().err


def test_release_takes_in_a_compatible_change_and_keeps_the_payloads(copy: Path, repository: Path) -> None:
    path = copy / RELEASED / "Capture.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["properties"]["speaker"]  # today's model has one optional field more
    path.write_text(json.dumps(document), encoding="utf-8")
    assert main(["release", "--root", str(copy)]) == 0
    assert path.read_bytes() == (repository / RELEASED / "Capture.json").read_bytes()
    assert len(list((copy / RELEASED / "payloads").glob("*.json"))) == len(MODELS)


def test_a_released_message_that_disappears_is_a_breaking_change(copy: Path) -> None:
    (copy / RELEASED / "OldNews.json").write_text("{}")
    assert [str(found) for found in breaking(copy)] == ["OldNews: message removed: it is in the released set"]


def test_a_wrong_root_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", "--root", str(tmp_path)])
    assert ended.value.code == 2
    assert f"expected {CONTRACTS}" in capsys.readouterr().err


@pytest.mark.parametrize("name", MODELS)
def test_each_committed_schema_is_a_valid_schema_of_its_dialect(repository: Path, name: str) -> None:
    document = json.loads((repository / SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    assert document["$schema"] == schemas.DIALECT
    Draft202012Validator.check_schema(document)


@pytest.mark.parametrize("name", MODELS)
def test_one_schema_is_enough_because_a_model_writes_the_shape_it_reads(name: str) -> None:
    model = schemas.public_models()[name]
    assert model.model_json_schema(mode="serialization") == model.model_json_schema(mode="validation")


def test_every_model_has_the_role_of_its_place_on_the_bus() -> None:
    roles = schemas.roles()
    assert sorted(roles) == MODELS
    assert {name for name, role in roles.items() if role is Role.STORED} == {
        "KeyEvent",
        "MemoryEvent",
        "PageEvent",
        "SleepEvent",
        "SleepRunEvent",
        "SyncEvent",
        "WakeEvent",
    }
    assert {roles["Capture"], roles["SyncVault"], roles["AskRequest"], roles["RecallRequest"]} == {Role.CONSUMED}
    assert roles["Cancel"] is Role.CONSUMED
    assert {roles["AskReply"], roles["GatewayHealth"], roles["Envelope"], roles["ErrorBody"]} == {Role.PRODUCED}


@pytest.mark.parametrize("name", MODELS)
def test_readers_ignore_fields_they_do_not_know(name: str) -> None:
    document = schemas.json_schema(schemas.public_models()[name])
    objects = [document, *(one for one in document.get("$defs", {}).values() if one.get("type") == "object")]
    assert all(one.get("additionalProperties", True) is not False for one in objects)
