"""`python -m cortex_webhook`."""

import gc

# While modules are imported nothing is garbage, and looking for it takes a fifth of the time until a service is ready.
gc.disable()

from cortex_runtime.service import main
from cortex_webhook.app import build
from cortex_webhook.config import WebhookSettings

if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(WebhookSettings, build)
