"""The summariser port: several texts in, what matters in them out, within a limit and with where it comes from.

Drivers register under the entry-point group `cortex.summariser`; `configured` finds one by name. A driver's factory
takes a `LanguageModelConfig` and returns a `Summariser`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

from cortex_providers import drivers, language_model
from cortex_providers.language_model import LanguageModelConfig
from cortex_runtime.settings_models import LanguageModelPurpose, LanguageModelSettings

GROUP: Final = "cortex.summariser"


@dataclass(frozen=True, slots=True)
class Summary:
    """`text`, and the indices of the texts that it was made of, ascending; both empty when there was nothing to say."""

    text: str
    sources: tuple[int, ...]


class Summariser(drivers.Driver, Protocol):
    """Shortens texts to what matters."""

    async def summarise(self, texts: Sequence[str], *, limit: int) -> Summary:
        """What matters in `texts`, in at most `limit` characters. It states no number and no name that they do not.

        Raises:
            Unavailable: it cannot be reached, is slow, or its answer cannot be used.
            Permanent: it refused the texts.
        """
        ...


def configured(settings: LanguageModelSettings) -> Summariser:
    """The summariser that the settings name.

    Raises:
        Permanent: its driver is not installed, or a setting of it is missing.
    """
    return open_summariser(
        language_model.chosen(settings, LanguageModelPurpose.SUMMARISE), language_model.config(settings)
    )


def open_summariser(driver: str, where: LanguageModelConfig) -> Summariser:
    """The summariser of one driver.

    Raises:
        Permanent: no such driver is installed; the message lists those that are.
    """
    factory = cast(
        "Callable[[LanguageModelConfig], Summariser]",
        drivers.load(GROUP, driver, what="summariser", setting=f"{language_model.SETTING}_PROVIDER"),
    )
    return factory(where)
