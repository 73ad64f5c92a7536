"""The AsyncAPI document: every reference resolves, and everything on the bus is in it in both directions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from cortex_contracts import asyncapi, headers, subjects
from cortex_contracts.__main__ import ASYNCAPI, RELEASED
from cortex_contracts.registry import PUBLICATIONS, RPCS
from cortex_contracts.services import SERVICES
from cortex_contracts.streams import CONSUMERS, STREAMS

Json = dict[str, Any]


@pytest.fixture(scope="module")
def document(repository: Path) -> Json:
    """The committed document."""
    found: Json = json.loads((repository / ASYNCAPI).read_text(encoding="utf-8"))
    return found


def parts(value: Any) -> Iterator[Json]:
    """Every object inside `value`, itself included."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(inner)


def target(document: Json, reference: Json) -> Any:
    assert reference["$ref"].startswith("#/")
    found: Any = document
    for part in reference["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return target(document, found) if isinstance(found, dict) and "$ref" in found else found


def operations(document: Json, *, action: str, channel: str) -> Json:
    wanted = {"$ref": f"#/channels/{channel}"}
    return {n: o for n, o in document["operations"].items() if o["action"] == action and o["channel"] == wanted}


def test_every_reference_resolves(document: Json) -> None:
    references = [part for part in parts(document) if isinstance(part.get("$ref"), str)]
    assert len(references) > 100
    for reference in references:
        target(document, reference)


def test_every_component_is_referred_to(document: Json) -> None:
    used = {part["$ref"] for part in parts(document) if isinstance(part.get("$ref"), str)}
    for kind in ("messages", "schemas", "securitySchemes"):
        unused = {name for name in document["components"][kind] if f"#/components/{kind}/{name}" not in used}
        assert unused <= {"GatewayHealth"}  # it is the body of GET /health, not on the bus


def test_the_document_has_the_required_parts_and_legal_names(document: Json) -> None:
    assert document["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= document["info"].keys()
    for kind in document["components"].values():
        assert all(re.fullmatch(r"[a-zA-Z0-9.\-_]+", name) for name in kind)


def test_every_operation_uses_messages_of_an_existing_channel(document: Json) -> None:
    for name, operation in document["operations"].items():
        assert operation["action"] in ("send", "receive"), name
        channel = operation["channel"]["$ref"]
        assert channel.removeprefix("#/channels/") in document["channels"], name
        assert operation["messages"], name
        assert all(message["$ref"].startswith(f"{channel}/messages/") for message in operation["messages"]), name


def test_an_address_has_exactly_the_parameters_it_names(document: Json) -> None:
    for channel in document["channels"].values():
        named = re.findall(r"\{([^}]+)\}", channel["address"] or "")
        assert named == list(channel.get("parameters", {}))


@pytest.mark.parametrize("publication", PUBLICATIONS, ids=lambda publication: publication.name)
def test_every_publication_has_a_sender_and_names_its_stream(document: Json, publication: Any) -> None:
    channel = document["channels"][publication.name]
    assert channel["address"] == publication.address
    assert channel["x-stream"] in document["x-streams"]
    senders = operations(document, action="send", channel=publication.name)
    expected = {c.name for c in SERVICES if any(subjects.overlaps(p, publication.pattern) for p in c.publishes)}
    assert {name.partition(".")[0] for name in senders} >= expected
    assert expected


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.subject)
def test_every_rpc_is_there_in_both_directions_with_its_replies(document: Json, rpc: Any) -> None:
    key = asyncapi.rpc_key(rpc)
    assert document["channels"][key]["address"] == rpc.subject
    serving = operations(document, action="receive", channel=key)
    calling = operations(document, action="send", channel=key)
    assert len(serving) == 1
    assert calling
    (server,) = serving.values()
    assert server["bindings"]["nats"]["queue"] == rpc.queue
    for operation in (server, *calling.values()):
        reply = operation["reply"]
        assert reply["address"]["location"].startswith("$message.header#/")
        assert document["channels"][f"{key}.reply"]["address"] is None
        assert reply["channel"] == {"$ref": f"#/channels/{key}.reply"}
        names = [target(document, message)["name"] for message in reply["messages"]]
        assert names == [f"{rpc.reply.__name__}Result", "ErrorReply"]


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.subject)
def test_callers_of_a_cancellable_rpc_and_of_no_other_can_say_that_they_wait_no_longer(
    document: Json, rpc: Any
) -> None:
    key = f"{asyncapi.rpc_key(rpc)}.cancel"
    assert (key in document["channels"]) is rpc.cancellable
    if rpc.cancellable:
        assert document["channels"][key]["address"] == rpc.cancel_subject
        assert len(operations(document, action="receive", channel=key)) == 1
        callers = operations(document, action="send", channel=asyncapi.rpc_key(rpc))
        assert set(operations(document, action="send", channel=key)) == {f"{name}.cancel" for name in callers}
        request = document["components"]["messages"][rpc.request.__name__]
        assert headers.CALL in target(document, request["headers"])["properties"]


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda consumer: consumer.name)
def test_every_consumer_is_described_with_its_dead_letters(document: Json, consumer: Any) -> None:
    described = [o for o in document["operations"].values() if o.get("x-consumer", {}).get("name") == consumer.name]
    assert described
    assert {o["tags"][0]["name"] for o in described} == {consumer.service}
    key = asyncapi.dead_letter_key(consumer)
    assert described[0]["x-consumer"]["dead_letters"] == {"$ref": f"#/channels/{key}"}
    assert document["channels"][key]["address"] == subjects.dead_letter(consumer.stream.name, consumer.name)
    assert set(operations(document, action="send", channel=key)) == {f"{consumer.service}.dead-letter.{consumer.name}"}
    assert set(operations(document, action="receive", channel=key)) == {f"operator.dead-letter.{consumer.name}"}


def test_every_stream_is_described(document: Json) -> None:
    assert {name: tuple(one["subjects"]) for name, one in document["x-streams"].items()} == {
        stream.name: stream.subjects for stream in STREAMS
    }


def test_published_messages_need_an_identity_and_everything_can_carry_a_trace(document: Json) -> None:
    for name, message in document["components"]["messages"].items():
        carried = target(document, message["headers"])
        assert headers.TRACEPARENT in carried["properties"], name
    for publication in PUBLICATIONS:
        message = document["components"]["messages"][publication.message.__name__]
        assert headers.MESSAGE_ID in target(document, message["headers"])["required"]
    dead = target(document, document["components"]["messages"]["DeadLetter"]["headers"])
    assert {headers.DLQ_SUBJECT, headers.DLQ_SEQUENCE, headers.DLQ_DELIVERIES, headers.DLQ_REASON} <= set(
        dead["required"]
    )


def test_payloads_are_the_committed_schemas(document: Json, repository: Path) -> None:
    for publication in PUBLICATIONS:
        name = publication.message.__name__
        message = document["components"]["messages"][name]
        payload = json.loads((repository / RELEASED / "payloads" / f"{name}.json").read_text(encoding="utf-8"))
        Draft7Validator({**message["payload"], "components": document["components"]}).validate(payload)


def test_a_reply_is_a_result_or_an_error_and_never_both(document: Json, repository: Path) -> None:
    envelope = json.loads((repository / RELEASED / "payloads" / "Envelope.json").read_text(encoding="utf-8"))
    status = json.loads((repository / RELEASED / "payloads" / "SleepStatus.json").read_text(encoding="utf-8"))
    found = {
        name: Draft7Validator(
            {**document["components"]["messages"][name]["payload"], "components": document["components"]}
        )
        for name in ("SleepStatusResult", "ErrorReply")
    }
    result = {"result": status, "error": None}
    assert [name for name, schema in found.items() if schema.is_valid(envelope)] == ["ErrorReply"]
    assert [name for name, schema in found.items() if schema.is_valid(result)] == ["SleepStatusResult"]
    assert not any(schema.is_valid({**envelope, "result": status}) for schema in found.values())


def test_schemas_use_no_keyword_that_asyncapi_does_not_know(document: Json) -> None:
    newer = {
        "$defs",
        "prefixItems",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedProperties",
        "unevaluatedItems",
    }
    assert not any(newer & part.keys() for part in parts(document["components"]["schemas"]))
    for schema in document["components"]["schemas"].values():
        Draft7Validator.check_schema(schema)
