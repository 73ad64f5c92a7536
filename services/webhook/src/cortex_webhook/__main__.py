"""`python -m cortex_webhook`."""

from cortex_runtime.service import main
from cortex_webhook.app import build
from cortex_webhook.config import WebhookSettings

if __name__ == "__main__":
    main(WebhookSettings, build)
