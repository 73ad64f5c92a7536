"""`python -m cortex_webhook`."""

from cortex_runtime.settings import load
from cortex_webhook.app import build
from cortex_webhook.config import WebhookSettings

if __name__ == "__main__":
    build(load(WebhookSettings)).run()
