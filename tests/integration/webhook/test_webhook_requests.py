"""What may come to the webhook's port besides what GitHub sends, byte for byte."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import quote_plus

import httpx
import pytest

from cortex_webhook.signature import sign

PATH = "/api/v1/brain/sync/webhook"
LIMIT = 25 * 1024 * 1024
FORM = "application/x-www-form-urlencoded"
SECRET = b"the-old-secret"
PUSH = {
    "ref": "refs/heads/main",
    "before": "a" * 40,
    "after": "b" * 40,
    "repository": {"full_name": "rasif/notes"},
    "head_commit": {"message": 'مرحبا & "50 % = x+y" 🚀', "added": ["ملاحظة.md", "a b.md"]},
}


class Webhook(Protocol):
    http: httpx.AsyncClient
    log: Path
    deliver: Callable[..., Awaitable[httpx.Response]]


def push(size_bytes: int = 0) -> bytes:
    """A push, padded to a size; everything outside of ASCII stands for itself, as GitHub sends it."""
    body = json.dumps(PUSH, ensure_ascii=False).encode()
    return body[:-1] + b" " * max(0, size_bytes - len(body)) + body[-1:]


async def raw(webhook: Webhook, head: bytes, *body: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; the status and the body of the answer. What is sent need not be a whole request."""
    reader, writer = await asyncio.open_connection(webhook.http.base_url.host, webhook.http.base_url.port)
    try:
        writer.write(b"POST " + PATH.encode() + b" HTTP/1.1\r\nHost: hooks\r\nConnection: close\r\n" + head + b"\r\n")
        for piece in body:
            writer.write(piece)
        await writer.drain()
        async with asyncio.timeout(30):
            answer = await reader.readuntil(b"\r\n\r\n")
            # No more than was said: who is refused without being read may find the connection reset afterwards.
            length = re.search(rb"content-length: (\d+)", answer.lower())
            text = b""
            with suppress(ConnectionResetError):
                text = await (reader.readexactly(int(length[1])) if length else reader.read())
            return int(answer.split()[1]), text
    finally:
        writer.close()


def headers(body: bytes, **changes: str) -> bytes:
    """The head of a signed delivery as it travels; an empty value leaves a header out."""
    sent = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": "d-raw",
        "X-Hub-Signature-256": sign(body, SECRET),
        "Content-Length": str(len(body)),
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    return "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value).encode("latin-1")


@pytest.mark.parametrize("announced", [True, False], ids=["content-length", "chunked"])
async def test_a_body_of_25_mb_is_taken_and_one_byte_more_is_not(webhook: Webhook, announced: bool) -> None:
    async def pieces(body: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1 << 20):
            yield body[start : start + (1 << 20)]

    for size_bytes, status in ((LIMIT, 202), (LIMIT + 1, 413)):
        body = push(size_bytes)
        assert len(body) == size_bytes
        sent = {
            "content-type": "application/json",
            "x-github-event": "push",
            "x-github-delivery": f"d-{size_bytes}",
            "x-hub-signature-256": sign(body, SECRET),
        }
        answer = await webhook.http.post(PATH, content=body if announced else pieces(body), headers=sent)
        assert answer.status_code == status


async def test_a_form_of_25_mb_is_taken(webhook: Webhook) -> None:
    form = b"payload=" + quote_plus(push()).encode()
    form += b"+" * (LIMIT - len(form))
    answer = await webhook.deliver(form, content_type=FORM)
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")


@pytest.mark.parametrize("space", [b"+", b"%20"])
@pytest.mark.parametrize("capitals", [True, False])
async def test_the_signature_of_a_form_is_over_its_text_as_it_came(
    webhook: Webhook, space: bytes, capitals: bool
) -> None:
    form = b"payload=" + quote_plus(push()).encode().replace(b"+", space)
    if not capitals:
        form = form.replace(b"%D9", b"%d9")
    answer = await webhook.deliver(form, content_type=FORM)
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    other = form.replace(b"%D9", b"%d9") if capitals else form.replace(b"%d9", b"%D9")
    sent = {"x-hub-signature-256": sign(form, SECRET)}
    assert (await webhook.deliver(other, content_type=FORM, **sent)).status_code == 403
    # Nor is it over what the form says.
    sent = {"x-hub-signature-256": sign(push(), SECRET)}
    assert (await webhook.deliver(form, content_type=FORM, **sent)).status_code == 403


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        "sha256=" + "0" * 64,
        "sha256=" + "0" * 63,
        "sha256=" + "0" * 65,
        "sha512=" + "0" * 128,
        "0" * 64,
        "SHA256=" + sign(b"{}", SECRET)[7:],
        sign(b"{}", SECRET).upper(),
        sign(b"{}", SECRET) + " x",
        sign(b"{}", SECRET) + "," + sign(b"{}", SECRET),
        sign(b"{} ", SECRET),
        "\xe9" * 71,
        "x" * 10_000,
    ],
)
async def test_no_other_signature_opens(webhook: Webhook, signature: str) -> None:
    head = headers(b"{}", X_Hub_Signature_256=signature)
    status, answer = await raw(webhook, head, b"{}")
    assert status == 403
    assert b'"bad_signature"' in answer


async def test_the_legacy_signature_alone_opens_nothing(webhook: Webhook) -> None:
    legacy = "sha1=" + hmac.new(SECRET, b"{}", hashlib.sha1).hexdigest()
    status, _ = await raw(webhook, headers(b"{}", X_Hub_Signature_256="", X_Hub_Signature=legacy), b"{}")
    assert status == 403
    status, _ = await raw(webhook, headers(b"{}", X_Hub_Signature_256=legacy), b"{}")
    assert status == 403
    status, _ = await raw(webhook, headers(b"{}", X_Hub_Signature=legacy, X_GitHub_Event="ping"), b"{}")
    assert status == 200


async def test_without_a_signature_the_answer_does_not_wait_for_the_body(webhook: Webhook) -> None:
    for signature in ("", "sha256=guess", "sha1=" + "0" * 40):
        status, _ = await raw(webhook, headers(push(LIMIT), X_Hub_Signature_256=signature))
        assert status == 403


async def test_a_length_beyond_the_limit_is_refused_before_the_body(webhook: Webhook) -> None:
    for length in (LIMIT + 1, 10**15):
        status, _ = await raw(webhook, headers(b"", Content_Length=str(length)))
        assert status == 413


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 5000, "٣", "0x10"])
async def test_a_length_that_is_none_is_a_bad_request(webhook: Webhook, length: str) -> None:
    head = headers(b"{}", Content_Length="") + b"Content-Length: " + length.encode() + b"\r\n"
    assert (await raw(webhook, head))[0] == 400


@pytest.mark.parametrize(
    "delivery",
    ["", "a b", "a.b", "a*", "a>", "../d", "d\r\n folded", "d%0a", "x" * 101, "x" * 20_000, "\xe9", "d:1", "\t"],
)
async def test_a_delivery_needs_an_id_that_is_safe(webhook: Webhook, delivery: str) -> None:
    status, answer = await raw(webhook, headers(push(), X_GitHub_Delivery=delivery), push())
    assert status == 400
    assert b"folded" not in answer


async def test_a_header_cannot_be_smuggled_into_the_message(webhook: Webhook) -> None:
    head = headers(push(), X_GitHub_Delivery="d-1\r\nNats-Msg-Id: other\r\nX-GitHub-Delivery: d-2")
    status, answer = await raw(webhook, head, push())
    # They are headers of the request like any other, and of the message is none of them.
    assert status in (202, 400)
    assert b"other" not in answer


@pytest.mark.parametrize("event", ["", " ", "\t"])
async def test_a_delivery_needs_an_event(webhook: Webhook, event: str) -> None:
    status, _ = await raw(webhook, headers(push(), X_GitHub_Event=event), push())
    assert status == 400


async def test_an_event_of_any_name_is_ignored(webhook: Webhook) -> None:
    for event in ("PUSH", "push ing", "x" * 5000, "\xe9{0}%s"):
        status, answer = await raw(webhook, headers(push(), X_GitHub_Event=event), push())
        assert status == 202
        assert b'"ignored"' in answer
        assert len(answer) < 1000


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"push"',
        b"{",
        b"\xff\xfe{}",
        b"[" * 200_000,
        b'{"ref": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        b'{"ref": ' + b"9" * 200_000 + b"}",
        b'{"ref": "refs/heads/main"}',
        json.dumps(PUSH | {"after": "HEAD"}).encode(),
        json.dumps(PUSH | {"repository": {"full_name": 7}}).encode(),
        json.dumps(PUSH | {"ref": None}).encode(),
        json.dumps(PUSH | {"ref": "refs/heads/" + "x" * 2000}).encode(),
    ],
    ids=range(14),
)
async def test_a_signed_body_that_is_no_push_is_malformed(webhook: Webhook, body: bytes) -> None:
    answer = await webhook.deliver(body)
    assert (answer.status_code, answer.json()["error"]) == (400, "malformed")
    assert len(answer.content) < 500


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "multipart/form-data; boundary=x", "application/jsonx", "application/json, text"]
)
async def test_another_content_type_is_malformed(webhook: Webhook, content_type: str) -> None:
    status, _ = await raw(webhook, headers(push(), Content_Type=content_type), push())
    assert status == 400


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_only_post_is_served(webhook: Webhook, method: str) -> None:
    answer = await webhook.http.request(method, PATH)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


async def test_a_body_that_breaks_off_does_no_harm(webhook: Webhook) -> None:
    reader, writer = await asyncio.open_connection(webhook.http.base_url.host, webhook.http.base_url.port)
    writer.write(b"POST " + PATH.encode() + b" HTTP/1.1\r\nHost: hooks\r\n" + headers(push()) + b"\r\n" + push()[:50])
    writer.write_eof()
    async with asyncio.timeout(30):
        await reader.read()
    writer.close()
    assert (await webhook.deliver(b"{}", event="ping")).status_code == 200
    assert b"Traceback" not in webhook.log.read_bytes()
