"""Prose of Claude: the Messages API of Anthropic, whose stream is server-sent events with an object each.

Events of a kind that is not known are passed over, as the API's documents ask for; an error may come in the middle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cortex_contracts.errors import Unavailable
from cortex_providers.anthropic import VERSION
from cortex_providers.prose import Ending, Prompt, Prose, ProseConfig, Refused, ServedWriter, count, parsed


class ClaudeWriter(ServedWriter):
    """A client of one model."""

    path = "messages"

    def __init__(self, where: ProseConfig) -> None:
        key = {"x-api-key": where.api_key} if where.api_key else {}
        super().__init__(
            where, who="the language model (Claude)", base="/v1", headers={"anthropic-version": VERSION, **key}
        )

    async def check(self) -> None:
        """See `ProseWriter.check`. Names of models have aliases that no list shows, so the model is not looked for; and
        what stands in for the API may have no list at all."""
        await self._get("models")

    async def wake(self) -> None:
        """See `ProseWriter.wake`: it is always ready."""
        await self.check()

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        return {
            "model": self.model,
            "max_tokens": prompt.max_tokens,
            "system": prompt.system,
            "messages": [{"role": "user", "content": prompt.user}],
            "stream": True,
        }

    def _accepts(self) -> Mapping[str, str]:
        return {"Accept": "text/event-stream"}

    def _read(self, line: bytes, prose: Prose) -> str:
        name, _, data = line.partition(b":")
        if name != b"data":  # the kind is in the data, too; comments and blank lines say nothing
            if line.strip() and name not in (b"event", b"id", b"retry", b""):
                raise ValueError("not a field of an event stream")
            return ""
        said = parsed(data)
        match said.get("type"):
            case "error":
                raise Unavailable(f"{self.who} failed in the middle of its answer")
            case "message_start":
                self._used(_object(said.get("message")).get("usage"), prose)
            case "content_block_delta":
                delta = _object(said.get("delta"))
                if delta.get("type") == "text_delta":
                    if not isinstance(text := delta.get("text"), str):
                        raise ValueError("no text")
                    return text
            case "message_delta":
                self._used(said.get("usage"), prose)
                self._ended(_object(said.get("delta")).get("stop_reason"), prose)
        return ""

    def _used(self, usage: object, prose: Prose) -> None:
        """Tokens so far: the numbers in `message_delta` are of the whole answer, not of the last piece."""
        used = _object(usage)
        read = [
            count(used.get(name)) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        ]
        if read[0] is not None:
            prose.input_tokens = sum(number or 0 for number in read)
        written = count(used.get("output_tokens"))
        prose.output_tokens = prose.output_tokens if written is None else written

    def _ended(self, reason: object, prose: Prose) -> None:
        if reason == "refusal":
            raise Refused(f"{self.who} refused to answer")
        if reason is not None:
            cut = reason in ("max_tokens", "model_context_window_exceeded", "pause_turn")
            prose.ending = Ending.LENGTH if cut else Ending.DONE


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
