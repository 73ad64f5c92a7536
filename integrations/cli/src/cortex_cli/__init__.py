"""The `cortex` command. Each command is one module; `main` only names them."""
