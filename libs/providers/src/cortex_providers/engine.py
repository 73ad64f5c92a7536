"""The engine port: texts in, what they name and how it is related out.

Drivers register under the entry-point group `cortex.engine`; `configured` finds one by name. A driver's factory takes
an `EngineConfig` and returns an `Engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, cast

from cortex_extraction import entities
from cortex_extraction.entities import Entity
from cortex_extraction.relations import Relation
from cortex_extraction.relations import extract as relations_of
from cortex_providers import drivers
from cortex_runtime.settings_models import EngineSettings

GROUP: Final = "cortex.engine"


@dataclass(frozen=True, slots=True)
class EngineText:
    """A text and who says it."""

    text: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one text names, each key once, and the relations between these keys."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


class Engine(drivers.Driver, Protocol):
    """Reads names and relations out of texts."""

    @property
    def local(self) -> bool:
        """Whether it answers at once and without I/O, so that it may be asked inside of a transaction."""
        ...

    async def extract(self, texts: Sequence[EngineText]) -> list[Extraction]:
        """What each of `texts` names, in their order. Nothing is named that the text does not hold.

        Raises:
            Unavailable: it cannot be reached, is slow, or its answer cannot be used.
            Permanent: it refused the texts.
        """
        ...


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Where an engine is. The token is never shown."""

    url: str = ""
    token: str = field(default="", repr=False)
    timeout_s: float = 60.0
    """Bounds one request; who asks may bound the whole call more tightly."""


class BuiltinEngine(drivers.InProcess):
    """The driver `builtin`: the forms that `cortex_extraction` knows."""

    local = True

    def __init__(self, _: EngineConfig | None = None) -> None:
        pass

    async def extract(self, texts: Sequence[EngineText]) -> list[Extraction]:
        """Read by form."""
        return [read(text) for text in texts]


def read(text: EngineText) -> Extraction:
    """What the built-in rules find in a text."""
    found = entities.extract(text.text, speaker=text.speaker)
    return Extraction(found, relations_of(text.text, found))


def configured(settings: EngineSettings) -> Engine:
    """The engine that the settings name.

    Raises:
        Permanent: its driver is not installed, or a setting of it is missing.
    """
    config = EngineConfig(settings.cognee_api_url, settings.cognee_api_token.get_secret_value())
    return open_engine(settings.engine_driver, config)


def open_engine(driver: str, config: EngineConfig) -> Engine:
    """The engine of one driver.

    Raises:
        Permanent: no such driver is installed; the message lists those that are.
    """
    factory = cast(
        "Callable[[EngineConfig], Engine]", drivers.load(GROUP, driver, what="engine", setting="CORTEX_ENGINE_DRIVER")
    )
    return factory(config)
