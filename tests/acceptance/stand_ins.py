"""A language model and a gateway of the acceptance script's own: a chat whose pages are out of reach."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

ANSWER = "The model answers."


def chat(url: str, headers: dict[str, str], question: str) -> httpx.Response:
    """Ask the chat route with the model `[brain]`."""
    body = {"model": "[brain]", "messages": [{"role": "user", "content": question}]}
    return httpx.post(url, json=body, headers=headers, trust_env=False, timeout=60)


@contextmanager
def upstream() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A language model that always says the same, and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            message = {"role": "assistant", "content": ANSWER}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def own_gateway(upstream_url: str) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """A gateway beside the system, whose bus, and so whose pages, nobody answers: its address, token and log."""
    ports = [_free_port() for _ in range(3)]
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")} | {
            "CORTEX_HOME": folder,
            "CORTEX_NATS_URL": f"nats://127.0.0.1:{ports[2]}",
            "CORTEX_HTTP_TOKEN": token,
            "CORTEX_GATEWAY_PORT": str(ports[0]),
            "CORTEX_GATEWAY_SSE_PORT": str(ports[1]),
            "CORTEX_CHAT_UPSTREAM_URL": upstream_url,
            "CORTEX_CHAT_UPSTREAM_MODEL": "m",
        }
        log = Path(folder) / "log"
        with log.open("wb") as stderr:
            command = [sys.executable, "-m", "cortex_gateway"]
            process = subprocess.Popen(command, env=environment, stdout=stderr, stderr=stderr)
        url = f"http://127.0.0.1:{ports[0]}"
        try:
            deadline = time.monotonic() + 60
            while not _answers(f"{url}/health/live"):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the gateway did not start: {log.read_text(encoding='utf-8')[-500:]}")
                time.sleep(0.1)
            yield url, token, lambda: log.read_text(encoding="utf-8")
        finally:
            process.terminate()
            process.wait(30)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False, timeout=5).status_code == 200
    except httpx.TransportError:
        return False
