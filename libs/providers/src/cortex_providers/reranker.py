"""The reranker port: a question and texts in, one score a text out.

Drivers register under the entry-point group `cortex.reranker`; `configured` finds one by name. A driver's factory takes
a `RerankerConfig` and returns a `Reranker`. A failing reranker fails no recall: the caller keeps the order it has, and
says so in its reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from cortex_providers import drivers
from cortex_runtime.settings_models import RerankerSettings

GROUP: Final = "cortex.reranker"

Scores: TypeAlias = NDArray[np.float32]


class Reranker(drivers.Driver, Protocol):
    """Reads a question and each text together."""

    @property
    def model(self) -> str:
        """Name of the model; empty when none is named or there is none."""
        ...

    async def rerank(self, query: str, texts: Sequence[str], *, timeout_s: float) -> Scores | None:
        """How well each text answers: (len(texts),) in the order of `texts`, in [0, 1]; none if there is no model.

        Long texts are cut to what the model reads. `timeout_s` bounds the whole call.

        Raises:
            Unavailable: it cannot be reached, is overloaded, or did not answer in time.
            Permanent: it refused the request, or is another model than configured.
        """
        ...


@dataclass(frozen=True, slots=True)
class RerankerConfig:
    """Where the model is. Without a name any reranker will do. The key is never shown."""

    url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 30.0
    """Bounds one request; a call brings its own, shorter limit."""


class NoReranker(drivers.InProcess):
    """The driver `none`: it has no opinion."""

    model = ""

    def __init__(self, _: RerankerConfig) -> None:
        pass

    async def rerank(self, query: str, texts: Sequence[str], *, timeout_s: float) -> Scores | None:  # noqa: ARG002
        """None: the order stays."""
        return None


def configured(settings: RerankerSettings) -> Reranker:
    """The reranker that the settings name.

    Raises:
        Permanent: its driver is not installed, or lacks its address.
    """
    return open_reranker(
        settings.chosen_reranker,
        RerankerConfig(settings.reranker_url, settings.reranker_model, settings.reranker_api_key.get_secret_value()),
    )


def open_reranker(driver: str, config: RerankerConfig) -> Reranker:
    """The reranker of one driver.

    Raises:
        Permanent: no such driver is installed; the message lists those that are.
    """
    factory = cast(
        "Callable[[RerankerConfig], Reranker]",
        drivers.load(GROUP, driver, what="reranker", setting="CORTEX_RERANKER_DRIVER"),
    )
    return factory(config)
