"""`python -m cortex_cli`: the same as `cortex`."""

from cortex_cli.main import app

if __name__ == "__main__":
    app(prog_name="cortex")
