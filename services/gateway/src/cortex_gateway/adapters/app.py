"""The composition root of the adapters: their part of the gateway, and the process of their own."""

from __future__ import annotations

from typing import ClassVar

from cortex_gateway.adapters import kinds
from cortex_gateway.adapters.guard import Guard
from cortex_gateway.adapters.responders import Responders
from cortex_gateway.adapters.settings import AdapterSettings
from cortex_runtime.bus import Bus
from cortex_runtime.service import Service
from cortex_runtime.settings import ServiceSettings
from cortex_runtime.settings_part import setting


class EnginesSettings(ServiceSettings, AdapterSettings):
    """What the process of the adapters reads."""

    service: ClassVar[str] = "engines"

    engines_host: str = setting("ENGINES_HOST", default="127.0.0.1")
    engines_port: int = setting("ENGINES_PORT", default=9897)


def responders(bus: Bus, settings: AdapterSettings, org: str) -> Responders:
    """Every configured engine of `org`, ready to answer on `bus`.

    Raises:
        Permanent: an engine cannot be used as it is configured.
    """
    return Responders(
        bus,
        [
            Guard(source, kinds.engine(source), org, settings.gateway_engine_limit_s)
            for source in settings.engine_sources
        ],
    )


def build(settings: EnginesSettings) -> Service:
    """The adapters as a process of their own, ready to run."""
    service = Service(settings)
    service.background("engines", responders(service.bus, settings, settings.org).run)
    return service
