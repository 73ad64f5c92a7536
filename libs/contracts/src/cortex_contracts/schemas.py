"""JSON Schemas (draft 2020-12) of everything public, the same bytes every time.

One schema per model, in validation mode: what a reader accepts. It is also what a writer sends, since no model of the
bus serialises to another shape than it reads (a test compares both modes). A writer sends every field, with its default
if need be; a reader needs only the required ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from cortex_contracts import subjects
from cortex_contracts.compatibility import Role
from cortex_contracts.errors import ErrorBody
from cortex_contracts.registry import PUBLICATIONS, RPCS, models
from cortex_contracts.rpc.contract import Cancel, Envelope

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def public_models() -> Mapping[str, type[BaseModel]]:
    """Every model with a committed schema: the registry's, the envelope of replies and the error in it."""
    found: dict[str, type[BaseModel]] = {**models(), Envelope.__name__: Envelope, ErrorBody.__name__: ErrorBody}
    return dict(sorted(found.items()))


def json_schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of every public model by name."""
    return {name: json_schema(model) for name, model in public_models().items()}


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of one model."""
    identity = f"urn:{subjects.PREFIX.replace('.', ':')}:{model.__name__}"
    return {"$schema": DIALECT, "$id": identity, **model.model_json_schema(mode="validation")}


def roles() -> Mapping[str, Role]:
    """Who must survive a change of each public model: commands, requests and cancels are consumed, events are stored,
    and what is left (replies, health, envelope, error) is produced."""
    found = dict.fromkeys(public_models(), Role.PRODUCED)
    consumed = {Cancel.__name__, *(rpc.request.__name__ for rpc in RPCS)}
    for publication in PUBLICATIONS:
        if subjects.covers(subjects.EVENT_PATTERN, publication.pattern):
            found[publication.message.__name__] = Role.STORED
        else:
            consumed.add(publication.message.__name__)
    produced = {rpc.reply.__name__ for rpc in RPCS}
    for name in consumed:
        found[name] = Role.STORED if name in produced or found[name] is Role.STORED else Role.CONSUMED
    return found


def render(document: Mapping[str, Any]) -> str:
    """A document as it is committed: indented, keys in the order of the models, one newline at the end."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
