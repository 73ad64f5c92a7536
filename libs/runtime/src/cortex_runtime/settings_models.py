"""Settings of models: which are there, where they answer, and what they may be asked and may cost."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, SecretStr, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from cortex_runtime.settings_part import PREFIX, SettingsPart, parts, setting


class EmbeddingsSettings(SettingsPart):
    """Which embedder to call; `embeddings_driver` is an entry point of the group `cortex.embedder`."""

    embeddings_driver: str = setting("EMBEDDINGS_DRIVER", default="openai")
    embeddings_url: str = setting("EMBEDDINGS_URL", "TEI_EMBEDDINGS_URL")
    embeddings_model: str = setting("EMBEDDINGS_MODEL", "TEI_EMBEDDINGS_MODEL")
    embeddings_api_key: SecretStr = setting("EMBEDDINGS_API_KEY", default=SecretStr(""))
    embeddings_dimension: int = setting("EMBEDDINGS_DIMENSION", default=384)


class RerankerSettings(SettingsPart):
    """Which reranker to call; `reranker_driver` is an entry point of the group `cortex.reranker`.

    Without a driver an address means `tei`, which is what the source documents set it for, and no address means `none`.
    """

    reranker_driver: str = setting("RERANKER_DRIVER", default="")
    reranker_url: str = setting("RERANKER_URL", "TEI_RERANKER_URL", default="")
    reranker_model: str = setting("RERANKER_MODEL", "TEI_RERANKER_MODEL", default="")
    reranker_api_key: SecretStr = setting("RERANKER_API_KEY", default=SecretStr(""))

    @property
    def chosen_reranker(self) -> str:
        """Name of the driver."""
        return self.reranker_driver or ("tei" if self.reranker_url else "none")


class CogneeSettings(SettingsPart):
    """Where a Cognee server is: the gateway asks it, and `EngineSettings` may let it read texts."""

    cognee_api_url: str = setting("COGNEE_API_URL", "COGNEE_API_URL", default="")
    cognee_api_token: SecretStr = setting("COGNEE_API_TOKEN", "COGNEE_API_TOKEN", default=SecretStr(""))


class EngineSettings(CogneeSettings):
    """What reads names and relations out of texts; `engine_driver` is an entry point of the group `cortex.engine`.

    An address of Cognee alone does not change what reads them.
    """

    engine_driver: str = setting("ENGINE_DRIVER", default="builtin")


class LanguageModelPurpose(StrEnum):
    """What a language model may be asked to do."""

    CLASSIFY = "classify"
    SUMMARISE = "summarise"


class LanguageModelSettings(SettingsPart):
    """Which language model there is, and what it may be asked to do: without a purpose nothing at all (ADR 0015).

    The provider is a driver of the groups `cortex.classifier` and `cortex.summariser`.
    """

    extraction_llm_provider: str = setting("EXTRACTION_LLM_PROVIDER", "EXTRACTION_LLM_PROVIDER", default="")
    extraction_llm_url: str = setting("EXTRACTION_LLM_URL", "EXTRACTION_LLM_URL", default="")
    extraction_llm_model: str = setting("EXTRACTION_LLM_MODEL", "EXTRACTION_LLM_MODEL", default="")
    extraction_llm_api_key: SecretStr = setting(
        "EXTRACTION_LLM_API_KEY", "EXTRACTION_LLM_API_KEY", default=SecretStr("")
    )
    llm_purposes: Annotated[frozenset[LanguageModelPurpose], NoDecode, BeforeValidator(parts)] = setting(
        "LLM_PURPOSES", default=frozenset()
    )
    """`classify`, `summarise`: separated by commas, or a list in the file."""

    def chosen(self, purpose: LanguageModelPurpose) -> str:
        """Name of the driver for a purpose; empty when a model may be asked and none is named."""
        return self.extraction_llm_provider if purpose in self.llm_purposes else "builtin"


class ChatSettings(SettingsPart):
    """Which language model `[brain]` chats go to, and what they may take; without address and model there are none.

    Times are in seconds, prices in any one currency for a million tokens.
    """

    chat_upstream_url: str = setting("CHAT_UPSTREAM_URL", default="")
    chat_upstream_model: str = setting("CHAT_UPSTREAM_MODEL", default="")
    chat_upstream_api_key: SecretStr = setting("CHAT_UPSTREAM_API_KEY", default=SecretStr(""))
    chat_models: Annotated[tuple[str, ...], NoDecode, BeforeValidator(parts)] = setting("CHAT_MODELS", default=())
    """Models of the same upstream that callers may name themselves: separated by commas, or a list in the file."""
    chat_timeout_s: float = setting("CHAT_TIMEOUT_S", default=120.0)
    chat_query_limit_s: float = setting("CHAT_QUERY_LIMIT_S", default=2.0)
    chat_min_score: float = setting("CHAT_MIN_SCORE", default=0.4)
    chat_daily_tokens: int = setting("CHAT_DAILY_TOKENS", default=0)
    """Of one principal; 0: no limit."""
    chat_price_per_mtok_input: float | None = setting("CHAT_PRICE_PER_MTOK_INPUT", default=None)
    chat_price_per_mtok_output: float | None = setting("CHAT_PRICE_PER_MTOK_OUTPUT", default=None)

    @field_validator("chat_upstream_api_key")
    @classmethod
    def _key_of_one_line(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip()
        if not key.isascii() or not key.isprintable():
            raise ValueError("expected printable ASCII characters")
        return SecretStr(key)

    @field_validator("chat_timeout_s", "chat_query_limit_s")
    @classmethod
    def _seconds(cls, value: float) -> float:
        if not 0.001 <= value <= 3600:
            raise ValueError("expected between 0.001 and 3600 seconds")
        return value

    @field_validator("chat_min_score")
    @classmethod
    def _score(cls, value: float) -> float:
        if not 0 <= value <= 1:
            raise ValueError("expected between 0 and 1")
        return value

    @field_validator("chat_daily_tokens", "chat_price_per_mtok_input", "chat_price_per_mtok_output")
    @classmethod
    def _amount(cls, value: float | None) -> float | None:
        if value is not None and not 0 <= value < float("inf"):
            raise ValueError("expected 0 or more")
        return value


class SynthesisSettings(SettingsPart):
    """Which language models may word the answers of `ask`; without an address of Ollama and without the flag of Claude
    none is asked, and answers are merged by rules.

    Times are in seconds, prices (of Claude) in any one currency for a million tokens.
    """

    synthesis_ollama_url: str = setting("SYNTHESIS_OLLAMA_URL", default="")
    synthesis_ollama_model: str = setting("SYNTHESIS_OLLAMA_MODEL", default="qwen3:8b")
    # Before the flag: whether it may be set depends on them.
    synthesis_claude_url: str = setting("SYNTHESIS_CLAUDE_URL", default="https://api.anthropic.com")
    synthesis_claude_model: str = setting("SYNTHESIS_CLAUDE_MODEL", default="")
    synthesis_claude_api_key: SecretStr = setting("SYNTHESIS_CLAUDE_API_KEY", default=SecretStr(""))
    synthesis_claude: bool = setting("SYNTHESIS_CLAUDE", default=False)
    """No paid call is made without it."""
    synthesis_limit_s: float = setting("SYNTHESIS_LIMIT_S", default=20.0)
    """Of one answer, beside what the engines take."""
    synthesis_max_tokens: int = setting("SYNTHESIS_MAX_TOKENS", default=400)
    """Of one answer."""
    synthesis_daily_tokens: int = setting("SYNTHESIS_DAILY_TOKENS", default=0)
    """Of one principal; 0: no limit."""
    synthesis_price_per_mtok_input: float | None = setting("SYNTHESIS_PRICE_PER_MTOK_INPUT", default=None)
    synthesis_price_per_mtok_output: float | None = setting("SYNTHESIS_PRICE_PER_MTOK_OUTPUT", default=None)

    @field_validator("synthesis_ollama_url", "synthesis_ollama_model", "synthesis_claude_url", "synthesis_claude_model")
    @classmethod
    def _trimmed_name(cls, value: str) -> str:
        return value.strip()

    @field_validator("synthesis_claude_api_key")
    @classmethod
    def _one_line(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip()
        if not key.isascii() or not key.isprintable():
            raise ValueError("expected printable ASCII characters")
        return SecretStr(key)

    @field_validator("synthesis_claude")
    @classmethod
    def _complete(cls, value: bool, info: ValidationInfo) -> bool:
        key = info.data.get("synthesis_claude_api_key")
        # A setting that was refused is missing here; its own sentence is told as well.
        missing = [
            PREFIX + name.upper()
            for name, given in (
                ("synthesis_claude_model", info.data.get("synthesis_claude_model", "-")),
                ("synthesis_claude_api_key", key.get_secret_value() if key is not None else "-"),
            )
            if not given
        ]
        if value and missing:
            raise ValueError(f"true needs {' and '.join(missing)}")
        return value

    @field_validator("synthesis_limit_s")
    @classmethod
    def _limit_of_an_answer(cls, value: float) -> float:
        if not 0.1 <= value <= 600:
            raise ValueError("expected between 0.1 and 600 seconds")
        return value

    @field_validator("synthesis_max_tokens")
    @classmethod
    def _tokens_of_an_answer(cls, value: int) -> int:
        if not 16 <= value <= 8_192:
            raise ValueError("expected between 16 and 8192 tokens")
        return value

    @field_validator("synthesis_daily_tokens", "synthesis_price_per_mtok_input", "synthesis_price_per_mtok_output")
    @classmethod
    def _not_negative(cls, value: float | None) -> float | None:
        if value is not None and not 0 <= value < float("inf"):
            raise ValueError("expected 0 or more")
        return value
