"""Examples for the OpenAPI document of the Brain API."""

from __future__ import annotations

from typing import Any, Final

SLUGS: Final[dict[str, Any]] = {
    "plain": {"value": "nadia-qasabgi"},
    "in a folder": {"value": "companies/alcaria-haulage"},
    "Arabic": {"value": "انحراف-الحرارة"},
}
QUESTIONS: Final[dict[str, Any]] = {
    "question": {"value": "who founded Rasif Software"},
    "Arabic": {"value": "لماذا يعمل تطبيق السائق دون اتصال؟"},
}
RESULTS: Final[dict[str, Any]] = {
    "results": [
        {
            "slug": "nadia-qasabgi",
            "title": "Nadia Qasabgi",
            "type": "person",
            "score": 1.0,
            "snippet": "Co-founder and chief executive of Rasif, based in Alexandria.",
            "highlights": ["Co-founder", "Rasif"],
        }
    ],
    "took_ms": 14,
}
BODIES: Final[dict[str, Any]] = {
    "meeting": {
        "summary": "Notes of a meeting",
        "value": {
            "type": "meeting",
            "title": "Call with Alcaria",
            "tags": ["sales", "alcaria"],
            "body_markdown": "# Call with Alcaria\n\n[[samir-bashandi|Samir]] promised an offer by Friday.\n",
            "effective_date": "2026-09-22",
            "sources": ["calendar:alcaria-2026-09-22"],
        },
    },
    "note": {
        "summary": "The least that a page has",
        "value": {"type": "note", "title": "درجات الحرارة", "body_markdown": "أقصى درجة للبرتقال 8 مئوية.\n"},
    },
}
PAGE: Final[dict[str, Any]] = {
    "slug": "2026-09-22-alcaria-call",
    "type": "meeting",
    "title": "Call with Alcaria",
    "created": "2026-09-22T15:04:05Z",
    "updated": "2026-09-22T15:04:05Z",
    "tags": ["sales", "alcaria"],
    "body_markdown": "# Call with Alcaria\n\n[[samir-bashandi|Samir]] promised an offer by Friday.\n",
    "links_out": ["samir-bashandi"],
    "effective_date": "2026-09-22",
    "sources": ["calendar:alcaria-2026-09-22"],
}
MARKDOWN: Final = """---
title: Call with Alcaria
type: meeting
tags: [sales, alcaria]
---

# Call with Alcaria

[[samir-bashandi|Samir]] promised an offer by Friday.
"""
HEALTH: Final[dict[str, Any]] = {
    "status": "ok",
    "pages": 36,
    "links": 208,
    "embedded_pct": 100,
    "last_sync": "2026-11-30T09:31:00Z",
    "stale_chunks": 0,
}
STATS: Final[dict[str, Any]] = {
    **HEALTH,
    "tags": {"decision": 7, "founder": 2},
    "types": {"company": 5, "person": 8, "note": 23},
    "usage": {
        "milly": {"requests": {"query": 204, "page_write": 6}, "input_tokens": 0, "output_tokens": 0, "cost": None}
    },
}
QUEUED: Final[dict[str, Any]] = {"status": "queued"}
SYNC_REPORT: Final[dict[str, Any]] = {
    "last_sync": "2026-11-30T09:31:00Z",
    "last_result": "partial",
    "pages_changed": 35,
    "errors": [{"vault": "main", "path": "notes/plan.md", "message": "the slug plan is the one of plan.md"}],
}
GRAPH: Final[dict[str, Any]] = {
    "nodes": [
        {"slug": "rasif-software", "title": "Rasif Software", "type": "company", "distance": 0},
        {"slug": "nadia-qasabgi", "title": "Nadia Qasabgi", "type": "person", "distance": 1},
    ],
    "edges": [{"source": "nadia-qasabgi", "target": "rasif-software"}],
    "truncated": False,
}
TIMELINE: Final[dict[str, Any]] = {
    "entries": [
        {"date": "2026-09-22", "slug": "2026-09-22-alcaria-call", "title": "Call with Alcaria", "type": "meeting"}
    ]
}
