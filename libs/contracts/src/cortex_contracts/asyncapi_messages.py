"""The messages of the AsyncAPI document: payloads, headers, and the envelope of a reply as its two forms."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pydantic.json_schema import models_json_schema

from cortex_contracts import headers
from cortex_contracts.errors import ErrorBody
from cortex_contracts.registry import PUBLICATIONS, RPCS, models
from cortex_contracts.rpc.contract import Cancel, Rpc

Json: TypeAlias = dict[str, Any]

ERROR_REPLY: Final = "ErrorReply"
DEAD_LETTER: Final = "DeadLetter"

_TEXT: Final[Json] = {"type": "string"}
_TRACE: Final[Json] = {
    headers.TRACEPARENT: {
        "type": "string",
        "description": "W3C trace context of the hop before.",
        "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$",
    }
}
_IDENTITY: Final[Json] = {
    headers.MESSAGE_ID: {
        "type": "string",
        "minLength": 1,
        "description": "Identity of the message: however often it is delivered, it has one effect.",
    },
    headers.ORIGINAL_MESSAGE_ID: {
        "type": "string",
        "description": f"Set by a dead-letter replay: its first identity, which wins over {headers.MESSAGE_ID}.",
    },
}
_DEATH: Final[Json] = {
    headers.DLQ_SUBJECT: {**_TEXT, "description": "The subject it was published on."},
    headers.DLQ_STREAM: {**_TEXT, "description": "The stream it came from."},
    headers.DLQ_SEQUENCE: {"type": "integer", "description": "Its sequence there."},
    headers.DLQ_CONSUMER: {**_TEXT, "description": "The consumer that gave up."},
    headers.DLQ_DELIVERIES: {"type": "integer", "description": "How often it was delivered."},
    headers.DLQ_REASON: {**_TEXT, "description": "Why, in a sentence."},
    headers.DLQ_AT: {**_TEXT, "format": "date-time", "description": "When."},
}
_HEADERS: Final[Json] = {
    "PublishedHeaders": {
        "type": "object",
        "properties": {**_IDENTITY, **_TRACE},
        "required": [headers.MESSAGE_ID],
    },
    "RequestHeaders": {
        "type": "object",
        "properties": {
            **_TRACE,
            headers.CALL: {
                **_TEXT,
                "description": "Identity of this call of a cancellable RPC: 32 random hexadecimal digits.",
            },
            "reply": {
                "type": "string",
                "description": "The reply subject; NATS carries it beside the headers.",
            },
        },
        "required": ["reply"],
    },
    "ReplyHeaders": {"type": "object", "properties": _TRACE},
    "CancelHeaders": {"type": "object", "properties": _TRACE},
    "DeadLetterHeaders": {
        "type": "object",
        "properties": {**_DEATH, **_IDENTITY, **_TRACE},
        "required": sorted(_DEATH),
    },
}


def messages() -> Json:
    """Every message by name: what is published, requests, cancels, each kind of result, the error, a dead letter."""
    found: Json = {}
    for publication in PUBLICATIONS:
        name = publication.message.__name__
        found[name] = _message(name, publication.summary, _schema(name), "PublishedHeaders")
    for rpc in RPCS:
        request, reply = rpc.request.__name__, rpc.reply.__name__
        found[request] = _message(request, _purpose(rpc.request), _schema(request), "RequestHeaders")
        result = _one_of_envelope("result", reply)
        found[result_name(rpc)] = _message(result_name(rpc), _purpose(rpc.reply), result, "ReplyHeaders")
    found[Cancel.__name__] = _message(Cancel.__name__, _purpose(Cancel), _schema(Cancel.__name__), "CancelHeaders")
    error = _one_of_envelope("error", ErrorBody.__name__)
    found[ERROR_REPLY] = _message(ERROR_REPLY, _purpose(ErrorBody), error, "ReplyHeaders")
    body: Json = {"description": "The body as it came, which may not even be JSON."}
    found[DEAD_LETTER] = _message(DEAD_LETTER, "A message nobody could process.", body, "DeadLetterHeaders")
    return dict(sorted(found.items()))


def payloads() -> Json:
    """Every schema that a message refers to, by name."""
    sources = [(model, "validation") for model in (*models().values(), ErrorBody)]
    _, found = models_json_schema(sources, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    return dict(sorted({**found["$defs"], **_HEADERS}.items()))


def result_name(rpc: Rpc[Any, Any]) -> str:
    """The message that carries the result of an RPC."""
    return f"{rpc.reply.__name__}Result"


def _message(name: str, summary: str, payload: Json, header_schema: str) -> Json:
    return {"name": name, "summary": summary, "payload": payload, "headers": _schema(header_schema)}


def _one_of_envelope(part: str, model: str) -> Json:
    other = {"result": "error", "error": "result"}[part]
    return {
        "type": "object",
        "properties": {part: _schema(model), other: {"type": "null"}},
        "required": [part],
    }


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _purpose(model: type[Any]) -> str:
    return (model.__doc__ or "").strip().partition("\n")[0]
