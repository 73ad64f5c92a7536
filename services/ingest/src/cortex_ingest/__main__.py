"""`python -m cortex_ingest`."""

from cortex_ingest.app import build
from cortex_ingest.config import IngestSettings
from cortex_runtime.service import main

if __name__ == "__main__":
    main(IngestSettings, build)
