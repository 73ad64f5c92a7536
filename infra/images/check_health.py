"""Exit 0 when the process of this container is ready: the container's health check, standard library only."""

from __future__ import annotations

import http.client
import os
import sys

PORTS = {
    "gateway": 9890,
    "webhook": 9892,
    "ingest": 9893,
    "recall": 9894,
    "sleep": 9895,
    "embedder": 9896,
    "engines": 9897,
}
"""The defaults of the settings; `CORTEX_<SERVICE>_PORT` goes before them."""
TIMEOUT_S = 4.0


def main() -> int:
    """Ask once; says on standard error what is wrong."""
    image = os.environ["SERVICE"]
    # The only process of the infra image that stays.
    service, path = ("embedder", "/health") if image == "infra" else (image, "/health/ready")
    port = int(os.environ.get(f"CORTEX_{service.upper()}_PORT") or PORTS[service])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read(2000).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        print(f"{service} does not answer on port {port}: {type(error).__name__}", file=sys.stderr)
        return 1
    if answer.status != 200:
        print(text, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
