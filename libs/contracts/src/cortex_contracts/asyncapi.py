"""One AsyncAPI 3.0.0 document of the whole bus, made from the registry, the services and the streams.

Each service sees its own side: `send` is what it publishes or calls, `receive` what it consumes or serves. Every RPC
has a `reply` whose address is the private inbox that came with the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from cortex_contracts import subjects
from cortex_contracts.asyncapi_messages import DEAD_LETTER, ERROR_REPLY, Json, messages, payloads, result_name
from cortex_contracts.permissions import OPERATOR, USERS
from cortex_contracts.registry import PUBLICATIONS, RPCS, Publication
from cortex_contracts.rpc.contract import Cancel, Rpc
from cortex_contracts.services import SERVICES, ServiceContract
from cortex_contracts.streams import CONSUMERS, STREAMS, Consumer, Stream, stream_for

_VERSION: Final = "3.0.0"
_PARAMETERS: Final = {
    "org": "The tenant; it decides whose data this is, whatever the payload says.",
    "namespace": "The namespace of the memory.",
    "vault": "The vault of pages.",
    "source_kind": "What kind of source the capture comes from.",
    "op": "What happened.",
    "phase": "The phase of the background work.",
}


def document() -> Json:
    """The AsyncAPI document, ready to be written as JSON."""
    return {
        "asyncapi": _VERSION,
        "info": {
            "title": "Cortex bus",
            "version": f"{subjects.VERSION.removeprefix('v')}.0.0",
            "description": "Every subject, message and RPC of Cortex on NATS. Generated from `libs/contracts`: run "
            "`make contracts`. Services also answer NATS service discovery (`$SRV.PING`, `$SRV.INFO`, `$SRV.STATS`).",
        },
        "defaultContentType": "application/json",
        "servers": {
            "nats": {
                "host": "localhost:4222",
                "protocol": "nats",
                "description": "NATS with JetStream; each service is a user that may use its own part of the bus only.",
                "security": [{"$ref": "#/components/securitySchemes/user"}],
            }
        },
        "channels": dict(_channels()),
        "operations": dict(_operations()),
        "components": {
            "messages": messages(),
            "schemas": payloads(),
            "securitySchemes": {"user": {"type": "userPassword", "description": "A NATS user and its password."}},
        },
        "x-streams": {stream.name: _stream(stream) for stream in STREAMS},
    }


def rpc_key(rpc: Rpc[Any, Any]) -> str:
    """The channel of an RPC's requests; its replies are in the channel with `.reply` at the end, and what cancels it in
    the one with `.cancel`."""
    return rpc.subject.removeprefix(f"{subjects.PREFIX}.")


def dead_letter_key(consumer: Consumer) -> str:
    """The channel of what one consumer could not process."""
    return subjects.dead_letter(consumer.stream.name, consumer.name).removeprefix(f"{subjects.PREFIX}.")


def _channels() -> Iterator[tuple[str, Json]]:
    for publication in PUBLICATIONS:
        name = publication.message.__name__
        yield (
            publication.name,
            {
                "address": publication.address,
                "summary": publication.summary,
                "parameters": dict(_parameters(publication)),
                "messages": {name: _message(name)},
                "x-pattern": publication.pattern,
                "x-stream": stream_for(publication.pattern).name,
            },
        )
    for rpc in RPCS:
        request = rpc.request.__name__
        yield (
            rpc_key(rpc),
            {"address": rpc.subject, "summary": rpc.summary, "messages": {request: _message(request)}},
        )
        yield (
            f"{rpc_key(rpc)}.reply",
            {
                "address": None,
                "summary": f"Replies of `{rpc.subject}`, in the private inbox of whoever asked.",
                "messages": {name: _message(name) for name in (result_name(rpc), ERROR_REPLY)},
            },
        )
        if rpc.cancellable:
            yield (
                f"{rpc_key(rpc)}.cancel",
                {
                    "address": rpc.cancel_subject,
                    "summary": f"Callers of `{rpc.subject}` that wait no longer, for every replica.",
                    "messages": {Cancel.__name__: _message(Cancel.__name__)},
                },
            )
    for consumer in CONSUMERS:
        yield (
            dead_letter_key(consumer),
            {
                "address": subjects.dead_letter(consumer.stream.name, consumer.name),
                "summary": f"What {consumer.name} could not process, kept until it is replayed or purged.",
                "messages": {DEAD_LETTER: _message(DEAD_LETTER)},
                "x-stream": stream_for(subjects.dead_letter(consumer.stream.name, consumer.name)).name,
            },
        )


def _parameters(publication: Publication) -> Iterator[tuple[str, Json]]:
    for part in publication.address.split("."):
        if not part.startswith("{"):
            continue
        name = part.strip("{}")
        found: Json = {"description": f"{_PARAMETERS[name]} One token: `{subjects.TOKEN_PATTERN}`."}
        field = publication.message.model_fields.get(name)
        if field is not None:
            found["location"] = f"$message.payload#/{name}"
            if isinstance(field.annotation, type) and issubclass(field.annotation, StrEnum):
                found |= {
                    "description": _PARAMETERS[name],
                    "enum": [member.value for member in field.annotation],
                }
        yield name, found


def _operations() -> Iterator[tuple[str, Json]]:
    for contract in (*SERVICES, _operator()):
        who = contract.name
        for publication in PUBLICATIONS:
            if any(subjects.covers(pattern, publication.pattern) for pattern in contract.publishes):
                yield f"{who}.publish.{publication.name}", _published(who, "send", publication)
            if any(subjects.covers(pattern, publication.pattern) for pattern in contract.watches):
                yield f"{who}.watch.{publication.name}", _published(who, "receive", publication)
            for consumer in contract.consumes:
                if subjects.overlaps(consumer.filter_subject, publication.pattern):
                    received = _published(who, "receive", publication) | {"summary": consumer.description}
                    yield f"{who}.consume.{publication.name}", received | {"x-consumer": _consumer(consumer)}
        for rpc in RPCS:
            if rpc in contract.serves:
                queue = {"nats": {"queue": rpc.queue, "bindingVersion": "0.1.0"}}
                yield f"{who}.serve.{rpc_key(rpc)}", _request(who, "receive", rpc) | {"bindings": queue}
                if rpc.cancellable:
                    yield f"{who}.serve.{rpc_key(rpc)}.cancel", _cancel(who, "receive", rpc)
            elif any(subjects.covers(pattern, rpc.subject) for pattern in contract.calls):
                yield (
                    f"{who}.call.{rpc_key(rpc)}",
                    _request(who, "send", rpc) | {"x-timeout-s": rpc.timeout_s},
                )
                if rpc.cancellable:
                    yield f"{who}.call.{rpc_key(rpc)}.cancel", _cancel(who, "send", rpc)
        for consumer in contract.consumes:
            yield f"{who}.dead-letter.{consumer.name}", _dead_letter(who, "send", consumer)
    for consumer in CONSUMERS:
        yield f"{OPERATOR}.dead-letter.{consumer.name}", _dead_letter(OPERATOR, "receive", consumer)


def _operator() -> ServiceContract:
    """What people do by hand, as far as the bus lets them: send commands, call RPCs."""
    allowed = USERS[OPERATOR].publish
    calls = tuple(pattern for pattern in allowed if subjects.overlaps(pattern, f"{subjects.PREFIX}.rpc.>"))
    commands = tuple(pattern for pattern in allowed if subjects.overlaps(pattern, f"{subjects.PREFIX}.cmd.>"))
    return ServiceContract(OPERATOR, publishes=commands, calls=calls)


def _published(who: str, action: str, publication: Publication) -> Json:
    return _operation(who, action, publication.name, publication.summary, publication.message.__name__)


def _request(who: str, action: str, rpc: Rpc[Any, Any]) -> Json:
    key = rpc_key(rpc)
    reply = {
        "address": {
            "location": "$message.header#/reply",
            "description": "The reply subject that NATS carries with the request: a private inbox.",
        },
        "channel": {"$ref": f"#/channels/{key}.reply"},
        "messages": [{"$ref": f"#/channels/{key}.reply/messages/{name}"} for name in (result_name(rpc), ERROR_REPLY)],
    }
    return _operation(who, action, key, rpc.summary, rpc.request.__name__) | {"reply": reply}


def _cancel(who: str, action: str, rpc: Rpc[Any, Any]) -> Json:
    summary = f"Who called `{rpc.subject}` waits no longer."
    return _operation(who, action, f"{rpc_key(rpc)}.cancel", summary, Cancel.__name__)


def _dead_letter(who: str, action: str, consumer: Consumer) -> Json:
    summary = f"What {consumer.name} could not process."
    return _operation(who, action, dead_letter_key(consumer), summary, DEAD_LETTER)


def _operation(who: str, action: str, channel: str, summary: str, message: str) -> Json:
    return {
        "action": action,
        "summary": summary,
        "tags": [{"name": who}],
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{message}"}],
    }


def _message(name: str) -> Json:
    return {"$ref": f"#/components/messages/{name}"}


def _stream(stream: Stream) -> Json:
    age = None if stream.max_age is None else stream.max_age.total_seconds()
    return {
        "description": stream.description,
        "subjects": list(stream.subjects),
        "retention": stream.retention.value,
        "max_age_s": age,
        "max_bytes": stream.max_bytes,
        "duplicate_window_s": stream.duplicate_window.total_seconds(),
        "discard": "new" if stream.discard_new else "old",
    }


def _consumer(consumer: Consumer) -> Json:
    return {
        "name": consumer.name,
        "stream": consumer.stream.name,
        "filter_subject": consumer.filter_subject,
        "ack_wait_s": consumer.ack_wait_s,
        "max_ack_pending": consumer.max_ack_pending,
        "batch": consumer.batch,
        "max_deliver": consumer.max_deliver,
        "dead_letters": {"$ref": f"#/channels/{dead_letter_key(consumer)}"},
    }
