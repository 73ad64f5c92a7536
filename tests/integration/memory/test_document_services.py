"""Documents through the real services: parts of them are found, for now and for then, and say which document they are
of."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from cortex_contracts.errors import CortexError, ErrorCode
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.documents import DocumentDraft, DocumentRetained
from cortex_contracts.rpc.documents import (
    DOCUMENT,
    DOCUMENTS,
    FORGET_DOCUMENT,
    RETAIN_DOCUMENT,
    DocumentRequest,
    DocumentsRequest,
    ForgetDocumentRequest,
    RetainDocumentRequest,
)
from cortex_contracts.rpc.recall import CONTEXT, ContextRequest

ME = Principal(org="local", subject="me")
PARTS = {
    "Boats": "The ferry to the island leaves the old harbour at seven in the morning and comes back in the evening. "
    "Tickets are sold on board, dogs travel for free, and bicycles have to be tied to the railing behind the bridge. "
    "When the wind is stronger than seven, the captain waits; the red flag on the pier says so. In winter the ferry "
    "leaves an hour later, and on holidays there is no ferry before noon. Whoever misses the last one can ask Omar, "
    "whose own boat takes six people and is kept beside the lighthouse all year.",
    "Kitchen": "The oven must be heated to 240 degrees before the bread goes in; let it rest for an hour on the rack. "
    "Flour is in the tall cupboard, salt beside the stove, and the sourdough is fed on Thursdays with rye and water. "
    "Knives are sharpened by hand on the stone, never in the machine, and wooden boards are oiled once a month. The "
    "coffee grinder is loud: not before eight. Leftovers have a date on them and go into the lower drawer.",
    "Servers": "The staging database listens on port 5433 and is restored from the nightly backup every Sunday. Its "
    "replica is read by the reports only. Whoever needs an account asks Lina; passwords are rotated by the vault and "
    "are never written down. Deployments to staging start with every merge and take four minutes, migrations included. "
    "If the disk is nearly full the old logs go first: they are kept in the archive for a year in any case.",
    "المكتبة": "تفتح المكتبة أبوابها في العاشرة صباحا وتغلق في التاسعة مساء ما عدا يوم الجمعة. يستعير كل قارئ ثلاثة "
    "كتب لمدة أسبوعين، ويمكن تمديد الاستعارة مرة واحدة إذا لم يطلب الكتاب قارئ آخر. قاعة المطالعة في الطابق الثاني، "
    "وفيها خرائط قديمة لا تعار. من أضاع كتابا يشتري نسخة جديدة منه أو يدفع ثمنه عند المدخل.",
    "Garden": "Water the tomatoes twice a week in summer, never at noon, and tie them up at the fence. The "
    "compost is turned in March and in October. Roses are cut after the last frost, above an outer bud; the hedge "
    "waits until the birds have left it. The green hose leaks and belongs to the neighbours, the yellow one is ours. "
    "Apples are picked when they come off with a turn of the hand and are kept on straw, not touching.",
}


def text() -> str:
    return "\n\n".join(f"# {name}\n\n{said}" for name, said in PARTS.items())


def day(written: str) -> datetime:
    return datetime.fromisoformat(f"{written}T12:00:00+00:00")


async def put(memory: Any, content: str, principal: Principal = ME, **fields: Any) -> DocumentRetained:
    draft = DocumentDraft(**({"namespace": "work", "document_id": "house.md", "content": content} | fields))
    retained: DocumentRetained = await memory.bus.request(
        RETAIN_DOCUMENT, RetainDocumentRequest(principal=principal, document=draft)
    )
    return retained


async def test_a_part_is_found_and_says_where_it_is_from(memory: Any) -> None:
    retained = await put(memory, text())
    assert retained.chunks == len(PARTS)
    for query, answer in (
        ("which port does the staging database listen on?", "5433"),
        ("how hot is the oven for bread?", "240"),
        ("متى تفتح المكتبة؟", "العاشرة"),
    ):
        reply = await memory.recall(query)
        assert reply.memories, (query, reply)
        best = reply.memories[0]
        assert answer in best.content
        assert (best.source_kind, best.source_ref) == ("document", "house.md")
    best = (await memory.recall("how hot is the oven for bread?", k=1, neighbours=1)).memories[0]
    assert best.turn is not None
    assert {one.turn for one in best.neighbours} == {best.turn - 1, best.turn + 1} & set(range(retained.chunks))
    assert (await memory.recall("sourdough in the stratosphere of Venus", min_score=0.9)).memories == ()
    # A pack for the start of a session is no place for files.
    assert (await memory.bus.request(CONTEXT, ContextRequest(principal=ME))).items == ()


async def test_what_the_document_said_before_is_found_for_its_time(memory: Any) -> None:
    before = await put(memory, text(), occurred_at=day("2026-01-05"))
    first = await memory.recall("staging database port")
    retained = await put(memory, text().replace("5433", "6000"), occurred_at=day("2026-03-05"))
    assert (retained.added, retained.removed, retained.kept) == (1, 1, before.chunks - 1)
    assert "6000" in (await memory.contents("staging database port"))[0]
    then = await memory.recall("staging database port", as_of=day("2026-02-01"))
    assert then.memories[0].memory_id == first.memories[0].memory_id
    assert "5433" in then.memories[0].content
    question = DocumentRequest(principal=ME, namespace="work", document_id="house.md", as_of=day("2026-02-01"))
    assert "".join(chunk.text for chunk in (await memory.bus.request(DOCUMENT, question)).chunks) == text()

    request = ForgetDocumentRequest(principal=ME, namespace="work", document_id="house.md")
    assert (await memory.bus.request(FORGET_DOCUMENT, request)).chunks == before.chunks
    assert await memory.contents("staging database port") == []
    assert (await memory.bus.request(DOCUMENTS, DocumentsRequest(principal=ME))).documents == ()
    assert "5433" in (await memory.contents("staging database port", as_of=day("2026-02-01")))[0]


async def test_others_neither_read_nor_write_it(memory: Any) -> None:
    guest = Principal(org="local", subject="guest", readable=("other",), writable=("other",))
    await put(memory, text())
    assert await memory.contents("staging database port", guest) == []
    with pytest.raises(CortexError) as refused:
        await put(memory, "Mine now.", guest)
    assert refused.value.code is ErrorCode.FORBIDDEN
    request = ForgetDocumentRequest(principal=guest, namespace="work", document_id="house.md")
    with pytest.raises(CortexError) as refused:
        await memory.bus.request(FORGET_DOCUMENT, request)
    assert refused.value.code is ErrorCode.NOT_FOUND


async def test_what_a_message_cannot_hold_is_refused_in_a_sentence(memory: Any) -> None:
    with pytest.raises(CortexError, match="expected at most") as refused:
        await put(memory, "The harbour. " * 100_000)
    assert refused.value.code is ErrorCode.TOO_LARGE
