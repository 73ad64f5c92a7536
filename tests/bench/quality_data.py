"""What the quality bench reads: conversations with questions and evidence, and paragraphs in two languages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cortex_contracts.messages.memory import MemoryDraft

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DATE_FORMATS: Final = ("%I:%M %p on %d %B, %Y", "%d %B, %Y", "%Y-%m-%d")


@dataclass(frozen=True)
class Question:
    """A question, and the keys of the drafts that answer it."""

    text: str
    evidence: tuple[str, ...]
    category: str


@dataclass(frozen=True)
class Bank:
    """One namespace: drafts by key, and the questions that are asked of it."""

    namespace: str
    drafts: dict[str, MemoryDraft]
    questions: tuple[Question, ...]


def read_locomo(path: Path) -> list[Bank]:
    """One bank per conversation; each turn is a memory with its session, number, speaker and day."""
    banks = []
    for number, conversation in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        namespace = f"conversation-{number}"
        drafts = {}
        for session in conversation["sessions"]:
            for turn, said in enumerate(session["turns"]):
                caption = f" [photo: {said['caption']}]" if said.get("caption") else ""
                drafts[said["id"]] = MemoryDraft(
                    namespace=namespace,
                    content=f"{said['text']}{caption}",
                    source_kind="chat",
                    source_ref=said["id"],
                    session=f"session-{session['session']}",
                    turn=turn,
                    speaker=said["speaker"],
                    occurred_at=_date(session["date"]),
                )
        questions = [
            Question(one["question"], evidence, CATEGORIES[one["category"]])
            for one in conversation["questions"]
            if (evidence := tuple(key for key in dict.fromkeys(one["evidence"]) if key in drafts))
        ]
        banks.append(Bank(namespace, drafts, tuple(questions)))
    return banks


def read_xquad(path: Path, language: str) -> Bank:
    """One bank of paragraphs; a question's key is that of its paragraph, the same in every language."""
    drafts, questions = {}, []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            key = f"{language}:{len(drafts)}"
            drafts[key] = MemoryDraft(
                namespace=f"xquad-{language}", content=paragraph["context"], source_kind="manual", source_ref=key
            )
            questions += [Question(one["question"], (key,), language) for one in paragraph["qas"]]
    return Bank(f"xquad-{language}", drafts, tuple(questions))


def mixed(banks: list[Bank]) -> Bank:
    """Every paragraph of every language in one namespace; a question asks for the other language's paragraph."""
    drafts = {k: d.model_copy(update={"namespace": "xquad-mixed"}) for bank in banks for k, d in bank.drafts.items()}
    other = {"en": "ar", "ar": "en"}
    questions = [
        Question(one.text, tuple(f"{other[key[:2]]}{key[2:]}" for key in one.evidence), f"{one.category} asks")
        for bank in banks
        for one in bank.questions
    ]
    return Bank("xquad-mixed", drafts, tuple(questions))


def _date(text: str) -> datetime:
    for form in DATE_FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"unknown date {text!r}")
