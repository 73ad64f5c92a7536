"""`compose.yaml`, the secrets that it wants, and the settings of the services agree. Needs no Docker engine."""

from __future__ import annotations

import importlib
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import AliasChoices

from cortex_contracts.permissions import USERS
from cortex_infra.errors import SettingError
from cortex_infra.nats_container import PUBLISHER_PASSWORD, configuration, password_variable
from cortex_runtime.settings import SHARED

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
CONTAINERS: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
SERVICES = ("gateway", "webhook", "ingest", "recall", "sleep")
WANTED = set(re.findall(r"\$\{(\w+):\?", COMPOSE))
OPTIONAL = set(re.findall(r"\$\{(\w+):-", COMPOSE))


def made() -> dict[str, str]:
    text = runpy.run_path(str(ROOT / "infra/compose/make_env.py"))["text"]()
    pairs = (line.partition("=") for line in text.splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def settings_of(service: str) -> Any:
    module = importlib.import_module(f"cortex_{service}.config")
    return getattr(module, f"{service.capitalize()}Settings")


def names(*models: Any) -> set[str]:
    aliases = (field.validation_alias for model in models for field in model.model_fields.values())
    return {str(choice) for alias in aliases if isinstance(alias, AliasChoices) for choice in alias.choices}


def test_every_secret_that_compose_wants_is_made_and_none_in_vain() -> None:
    assert set(made()) >= WANTED
    assert set(made()) <= WANTED | OPTIONAL | {"COMPOSE_PROJECT_NAME"}


def test_no_secret_has_a_default() -> None:
    assert not [name for name in OPTIONAL if re.search("PASSWORD|TOKEN|SECRET|KEY", name)]


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_gets_settings_that_it_knows(service: str) -> None:
    given = set(CONTAINERS[service]["environment"])
    assert given <= names(settings_of(service), *SHARED)
    needed = {
        str(field.validation_alias.choices[0])
        for field in settings_of(service).model_fields.values()
        if field.is_required() and isinstance(field.validation_alias, AliasChoices)
    }
    assert needed <= given


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_can_be_given_every_setting(service: str) -> None:
    # Where it listens, who it belongs to and where it keeps its files is the container's business.
    fixed = re.compile(rf"CORTEX_(?:INSTANCE|HOME|{service.upper()}_(?:HOME|(?:SSE_)?PORT))")
    known = {
        str(field.validation_alias.choices[0])
        for field in settings_of(service).model_fields.values()
        if isinstance(field.validation_alias, AliasChoices)
    }
    missing = known - set(CONTAINERS[service]["environment"])
    assert not {name for name in missing if not fixed.fullmatch(name)}


def test_the_health_check_knows_the_ports() -> None:
    ports = runpy.run_path(str(ROOT / "infra/images/check_health.py"))["PORTS"]
    for service in SERVICES:
        assert ports[service] == settings_of(service).model_fields[f"{service}_port"].default
    assert str(ports["embedder"]) == CONTAINERS["embedder"]["environment"]["CORTEX_EMBEDDER_PORT"]


def test_every_nats_user_has_its_own_password() -> None:
    variables = {*map(password_variable, USERS), PUBLISHER_PASSWORD}
    given = CONTAINERS["nats-config"]["environment"]
    assert variables == set(given) - {"CORTEX_ORG"}
    text = configuration({name: f"secret-of-{name}" for name in variables} | {"CORTEX_ORG": "acme"})
    assert all(f'"secret-of-{name}"' in text for name in variables)
    assert "publisher-acme" in text
    with pytest.raises(SettingError, match="CORTEX_NATS_GATEWAY_PASSWORD"):
        configuration({name: "x" for name in variables if name != "CORTEX_NATS_GATEWAY_PASSWORD"})


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_is_limited(container: str) -> None:
    limits = CONTAINERS[container]
    assert limits["cap_drop"] == ["ALL"]
    assert limits["security_opt"] == ["no-new-privileges:true"]
    assert limits["logging"]["options"]["max-size"]
    assert limits["mem_limit"]
    assert limits["pids_limit"]
    assert limits["restart"]


def test_every_variable_is_documented() -> None:
    documented = (ROOT / "docs/deployment.md").read_text(encoding="utf-8")
    assert not [name for name in sorted(WANTED | OPTIONAL | set(made())) if f"`{name}`" not in documented]
