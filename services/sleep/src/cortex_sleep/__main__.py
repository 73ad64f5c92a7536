"""`python -m cortex_sleep`."""

from cortex_runtime.service import main
from cortex_sleep.app import build
from cortex_sleep.config import SleepSettings

if __name__ == "__main__":
    main(SleepSettings, build)
