"""The composition of synthesis: the models that the settings name, and what they may take."""

from __future__ import annotations

from typing import Final

from cortex_gateway.synthesis import Synthesis, SynthesisLimits
from cortex_gateway.synthesis_backend import RECHECK_S, Backend
from cortex_gateway.synthesis_routing import Model
from cortex_gateway.usage import Usage
from cortex_providers.prose import ProseConfig
from cortex_providers.prose_claude import ClaudeWriter
from cortex_providers.prose_ollama import OllamaWriter
from cortex_runtime.service import Service
from cortex_runtime.settings_models import SynthesisSettings

BEYOND_S: Final = 5.0
"""A connection gives up this much after the answer's own limit, which then is the one that counts."""


def synthesis(service: Service, settings: SynthesisSettings, usage: Usage, floor: float) -> Synthesis:
    """The synthesis of a service; the models are checked in the background.

    Raises:
        Permanent: an address is none; the message names the setting.
    """
    backends = []
    if settings.synthesis_ollama_url:
        local = ProseConfig(
            settings.synthesis_ollama_url,
            settings.synthesis_ollama_model,
            "CORTEX_SYNTHESIS_OLLAMA",
            timeout_s=settings.synthesis_limit_s + BEYOND_S,
        )
        backends.append(Backend(Model.OLLAMA, OllamaWriter(local), recheck_s=RECHECK_S))
    if settings.synthesis_claude:
        paid = ProseConfig(
            settings.synthesis_claude_url,
            settings.synthesis_claude_model,
            "CORTEX_SYNTHESIS_CLAUDE",
            settings.synthesis_claude_api_key.get_secret_value(),
            settings.synthesis_limit_s + BEYOND_S,
        )
        backends.append(Backend(Model.CLAUDE, ClaudeWriter(paid)))
    for backend in backends:
        service.use(f"synthesis_{backend.model.value}", backend, required=False)
        service.background(f"synthesis_{backend.model.value}", backend.run)
    limits = SynthesisLimits(settings.synthesis_limit_s, settings.synthesis_max_tokens, settings.synthesis_daily_tokens)
    return Synthesis(usage, backends, limits, floor)
