"""The classifier port: what a new statement does to the memories near it.

Drivers register under the entry-point group `cortex.classifier`; `configured` finds one by name. A driver's factory
takes a `LanguageModelConfig` and returns a `Classifier`. Whatever a driver says, `cortex_decision.veto` has the last
word (ADR 0015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, cast

from cortex_decision import Neighbour, Statement, Verdict, decide
from cortex_providers import drivers, language_model
from cortex_providers.language_model import LanguageModelConfig
from cortex_runtime.settings_models import LanguageModelPurpose, LanguageModelSettings

GROUP: Final = "cortex.classifier"


class Classifier(drivers.Driver, Protocol):
    """Decides what a new statement does."""

    @property
    def local(self) -> bool:
        """Whether it answers at once and without I/O, so that it may be asked inside of a transaction."""
        ...

    async def classify(self, statement: Statement, neighbours: Sequence[Neighbour]) -> Verdict:
        """What `statement` does to `neighbours`, each of which has an id; the verdict names none but them. A classifier
        that is not local gets `cortex_decision.candidates`, nearest first.

        Raises:
            Unavailable: it cannot be reached, is slow, or its answer cannot be used.
            Permanent: it refused the request.
        """
        ...


class BuiltinClassifier(drivers.InProcess):
    """The driver `builtin`: the rules of `cortex_decision`."""

    local = True

    def __init__(self, _: LanguageModelConfig | None = None) -> None:
        pass

    async def classify(self, statement: Statement, neighbours: Sequence[Neighbour]) -> Verdict:
        """Decide by the rules."""
        return decide(statement, neighbours)


def configured(settings: LanguageModelSettings) -> Classifier:
    """The classifier that the settings name.

    Raises:
        Permanent: its driver is not installed, or a setting of it is missing.
    """
    driver = language_model.chosen(settings, LanguageModelPurpose.CLASSIFY)
    return open_classifier(driver, language_model.config(settings))


def open_classifier(driver: str, where: LanguageModelConfig) -> Classifier:
    """The classifier of one driver.

    Raises:
        Permanent: no such driver is installed; the message lists those that are.
    """
    factory = cast(
        "Callable[[LanguageModelConfig], Classifier]",
        drivers.load(GROUP, driver, what="classifier", setting=f"{language_model.SETTING}_PROVIDER"),
    )
    return factory(where)
