"""Composition root of the webhook service."""

from __future__ import annotations

from cortex_runtime.service import Service
from cortex_webhook import rest
from cortex_webhook.commands import SyncCommands
from cortex_webhook.config import WebhookSettings


def build(settings: WebhookSettings) -> Service:
    """The service as these settings describe it, ready to `run`."""
    service = Service(settings)
    commands = SyncCommands(service.bus, settings.org)
    service.mount(rest.build(commands, settings.secrets, settings.vaults))
    return service
