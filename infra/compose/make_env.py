"""Write the secrets of a Compose installation to `.env`, once: `python3 infra/compose/make_env.py [file]`.

Standard library only. The file is readable by its owner only, and an existing one is never touched: new passwords would
lock the system out of its own data.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from pathlib import Path

DEFAULT = Path(__file__).resolve().parents[2] / ".env"
BYTES = 32

BEARER = "CORTEX_HTTP_TOKEN"
WEBHOOK = "CORTEX_WEBHOOK_SECRETS"
PASSWORDS = (
    "CORTEX_POSTGRES_PASSWORD",
    "CORTEX_MIGRATION_PASSWORD",
    "CORTEX_RUNTIME_PASSWORD",
    "CORTEX_SLEEP_PASSWORD",
    "CORTEX_CACHE_PASSWORD",
    "CORTEX_COLD_STORE_ACCESS_KEY",
    "CORTEX_COLD_STORE_SECRET_KEY",
    "CORTEX_EMBEDDINGS_API_KEY",
    "CORTEX_NATS_WEBHOOK_PASSWORD",
    "CORTEX_NATS_INGEST_PASSWORD",
    "CORTEX_NATS_RECALL_PASSWORD",
    "CORTEX_NATS_SLEEP_PASSWORD",
    "CORTEX_NATS_GATEWAY_PASSWORD",
    "CORTEX_NATS_ENGINES_PASSWORD",
    "CORTEX_NATS_PROVISIONER_PASSWORD",
    "CORTEX_NATS_OPERATOR_PASSWORD",
    "CORTEX_NATS_PUBLISHER_PASSWORD",
)
EXAMPLE_VAULT = {
    "name": "example",
    "repository": "/vaults/example.git",
    "branch": "main",
    "github": "cortex/example-vault",
}


def text() -> str:
    """A complete file with new secrets; they have only characters that need no quoting in a URL or a shell."""
    return "\n".join(
        (
            "# Made by infra/compose/make_env.py. Keep it secret, and keep it: the data cannot be opened without it.",
            "COMPOSE_PROJECT_NAME=cortex",
            "CORTEX_ORG=local",
            "",
            "# What clients of the gateway send as `Authorization: Bearer …`.",
            f"{BEARER}={_secret()}",
            "# What GitHub signs its deliveries with; during a rotation the old and the new one, with a comma between.",
            f"{WEBHOOK}={_secret()}",
            "# The vaults to keep in sync; docs/deployment.md shows how to add yours.",
            f"CORTEX_VAULTS='{json.dumps([EXAMPLE_VAULT])}'",
            "",
            "# Between the parts of the system; nobody types them.",
            *(f"{name}={_secret()}" for name in PASSWORDS),
            "",
        )
    )


def _secret() -> str:
    # Hexadecimal: no value starts with "-", which some programs take for an option.
    return secrets.token_hex(BYTES // 2)


def main(arguments: list[str]) -> int:
    """Write the file; 1 if there is one already."""
    path = Path(arguments[0]) if arguments else DEFAULT
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        print(f"{path} exists and stays as it is: its passwords belong to data that exists.", file=sys.stderr)
        return 1
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text())
    print(f"Secrets are in {path}. Next: docker compose up -d")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
