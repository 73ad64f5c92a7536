"""Prose of a model of Ollama: `/api/chat`, whose stream is a JSON object a line.

An error while it writes comes as a line `{"error": …}` in an answer with status 200.
"""

from __future__ import annotations

from typing import Any

from cortex_contracts.errors import Permanent, Unavailable
from cortex_providers.language_model import CONTEXT_TOKENS
from cortex_providers.prose import WAKE_S, Ending, Prompt, Prose, ProseConfig, ServedWriter, count, parsed


class OllamaWriter(ServedWriter):
    """A client of one model; its thinking is off. The context has the size that `ollama.OllamaModel` asks for, because
    Ollama loads a model again when that changes."""

    path = "chat"

    def __init__(self, where: ProseConfig) -> None:
        super().__init__(where, who="the language model (Ollama)", base="/api", headers={})

    async def check(self) -> None:
        """See `ProseWriter.check`."""
        listed = await self._get("tags")
        try:
            names = {str(row["name"]) for row in listed["models"]}
        except (KeyError, TypeError):
            raise self._broken() from None
        if not {self.model, f"{self.model}:latest"} & names:
            raise Permanent(f"{self.who} has no model {self.model!r}: pull it, or set {self._where.setting}_MODEL")

    async def wake(self) -> None:
        """See `ProseWriter.wake`: a question without messages loads the model."""
        await self.check()
        body = {"model": self.model, "messages": [], "stream": False, "options": {"num_ctx": CONTEXT_TOKENS}}
        answer = await self._outbound.post("chat", body, timeout_s=WAKE_S)
        if answer.status != 200:
            raise self._refused(answer.status)
        try:
            said = parsed(answer.body)
        except ValueError:
            raise self._broken() from None
        if "error" in said:
            raise self._broken()

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "options": {"temperature": 0, "seed": 0, "num_ctx": CONTEXT_TOKENS, "num_predict": prompt.max_tokens},
            "think": False,
            "stream": True,
        }

    def _read(self, line: bytes, prose: Prose) -> str:
        if not line.strip():
            return ""
        said = parsed(line)
        if said.get("error"):
            raise Unavailable(f"{self.who} failed in the middle of its answer")
        message = said.get("message")
        text = message.get("content", "") if isinstance(message, dict) else ""
        if said.get("done") is True:
            prose.input_tokens = count(said.get("prompt_eval_count"))
            prose.output_tokens = count(said.get("eval_count"))
            prose.ending = Ending.LENGTH if said.get("done_reason") == "length" else Ending.DONE
        elif not isinstance(message, dict):
            raise ValueError("no message")
        if text is not None and not isinstance(text, str):
            raise ValueError("no text")
        return text or ""
