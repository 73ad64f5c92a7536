"""The classifier of a language model: it is shown a statement and numbered memories, and picks one of them at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from cortex_decision import Decision, Neighbour, Statement, Verdict
from cortex_providers.language_model import Form, ModelDriver, Question, UnfitAnswer

MAX_OFFERED: Final = 8
"""Memories in one question, the first of those given: what changes a fact is among the nearest."""
MAX_TEXT_CHARS: Final = 1_000
"""Of a statement. Nothing is cut, because half a statement can say the opposite: what is longer is not asked about."""
VALUE_CHARS: Final = 60
"""Of a value in a reason, as the rules show it."""
NO_MEMORY: Final = "none"

INSTRUCTION: Final = """\
You maintain a memory of statements. Compare `statement` with each of `memories`, which are older and believed to be
true, and answer with one decision:
- "add": the statement is new, or adds a compatible detail, or is about something else, or you are not certain.
- "update": it gives another value of the same attribute of the same thing as one memory, so that both cannot be true.
- "invalidate": it says that what one memory states has ended or is not true, without another value.
- "noop": it repeats one memory in other words and adds nothing.
When in doubt, answer "add": retiring a true memory is worse than keeping an old one. Two events, two people, two
places or two times are not a change. In conversation almost every statement is "add".
`memory` is the name of the one memory that the decision is about, or "none" with "add".
`old` is the value in that memory that no longer holds, and `new` the value in the statement that takes its place, both
copied letter by letter from the texts; "" where there is none."""


class Answer(Form):
    """What the model is asked for."""

    decision: Literal["add", "update", "invalidate", "noop"]
    memory: str = Field(max_length=20)
    old: str = Field(max_length=MAX_TEXT_CHARS)
    new: str = Field(max_length=MAX_TEXT_CHARS)


class ModelClassifier(ModelDriver):
    """The drivers `openai`, `ollama` and `anthropic`.

    A retirement needs evidence: the old value as it stands in the memory, and for an update the new one as it stands in
    the statement. A model that was talked into something by a text, or that makes things up, seldom has it.
    """

    local = False

    async def classify(self, statement: Statement, neighbours: Sequence[Neighbour]) -> Verdict:
        """Ask (see `Classifier.classify`)."""
        offered = [near for near in neighbours if len(near.statement.text) <= MAX_TEXT_CHARS][:MAX_OFFERED]
        if not offered or len(statement.text) > MAX_TEXT_CHARS:
            return Verdict(Decision.ADD)
        named = {f"m{number}": near for number, near in enumerate(offered, start=1)}
        answer = await self._model.answer(
            Question(
                "write_decision",
                INSTRUCTION,
                {
                    "statement": _shown(statement),
                    "memories": [{"name": name, **_shown(near.statement)} for name, near in named.items()],
                },
                Answer,
                {"memory": (*named, NO_MEMORY)},
            )
        )
        if answer.decision == "add":
            return Verdict(Decision.ADD)
        near = named.get(answer.memory)
        if near is None or near.statement.id is None:
            raise UnfitAnswer("the answer of the language model names a memory that it was not given")
        decision = Decision(answer.decision)
        return Verdict(decision, (near.statement.id,), _reason(answer, decision, near.statement, statement))


def _shown(statement: Statement) -> dict[str, Any]:
    shown = {"text": statement.text, "date": statement.valid_at.date().isoformat()}
    return shown | ({"speaker": statement.speaker} if statement.speaker else {})


def _reason(answer: Answer, decision: Decision, old: Statement, new: Statement) -> str:
    """The evidence in our own words.

    Raises:
        UnfitAnswer: there is none, or it does not stand where it should.
    """
    if decision is Decision.NOOP:
        return "a language model: already stored in other words"
    if not _stands(answer.old, old.text):
        raise UnfitAnswer("the answer of the language model quotes an old value that the memory does not hold")
    if decision is Decision.INVALIDATE:
        return f"a language model: no longer true: “{_short(answer.old)}”"
    if not _stands(answer.new, new.text) or _stands(answer.new, old.text):
        raise UnfitAnswer("the answer of the language model quotes a new value that is not the statement's own")
    return f"a language model: the value changed from “{_short(answer.old)}” to “{_short(answer.new)}”"


def _stands(value: str, text: str) -> bool:
    """Whether `value` is some words of `text`, as they are."""
    sought = " ".join(value.split())
    return any(char.isalnum() for char in sought) and sought in " ".join(text.split())


def _short(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= VALUE_CHARS else value[: VALUE_CHARS - 1] + "…"
