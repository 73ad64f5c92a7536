"""`python -m cortex_recall`."""

from cortex_recall.app import build
from cortex_recall.config import RecallSettings
from cortex_runtime.service import main

if __name__ == "__main__":
    main(RecallSettings, build)
