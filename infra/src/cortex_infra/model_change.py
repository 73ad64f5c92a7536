"""Another bundled embedding model for an embedded installation, while it runs: what `cortex reindex` does."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final

from cortex_infra import bringup, installation, ports
from cortex_infra.bootstrap import MIGRATION_ROLE
from cortex_infra.errors import SettingError, SupervisionError
from cortex_infra.home import Home, write_private
from cortex_infra.reindex import Progress, reindex
from cortex_infra.servers import embedder
from cortex_infra.servers.running import RunningServer
from cortex_infra.supervision import Supervisor
from cortex_providers.embedder import EmbedderConfig, open_embedder
from cortex_runtime.settings_part import config_file

SETTING: Final = "embedder_model"
VARIABLE: Final = "CORTEX_EMBEDDER_MODEL"
_OWN_EMBEDDER: Final = ("CORTEX_EMBEDDINGS_URL", "TEI_EMBEDDINGS_URL")


async def change_model(
    home: Home,
    model: str,
    *,
    settings: Mapping[str, str] = os.environ,
    restart: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> str:
    """Embed everything with another bundled model beside the one that works, keep it in the settings, and start the
    installation again with it; says what was done. Killed anywhere, it goes on when it is called again.

    Raises:
        SettingError: there is no such model, or the installation does not use a bundled one.
        SupervisionError: nothing runs in `home`.
        ReindexError: see `reindex`.
    """
    target = embedder.bundled(model)
    if own := next((name for name in _OWN_EMBEDDER if settings.get(name)), None):
        raise SettingError(f"{own} is set: {instructions()}")
    if Supervisor(home, "").pid() is None:
        raise SupervisionError("nothing runs in this home; run `cortex start`, then this again")
    process = embedder.prepare(port=ports.choose(), api_key=secrets.token_urlsafe(24), model=target.name)
    with RunningServer(process, home.run / "reindex") as server:
        await server.wait_ready()
        beside = open_embedder(
            "openai",
            EmbedderConfig(process.url, target.name, target.dimensions, process.environment["CORTEX_EMBEDDER_API_KEY"]),
        )
        try:
            dsn = installation.database_url(home, MIGRATION_ROLE)
            outcome = await reindex(dsn, beside, restart=restart, progress=progress)
        finally:
            await beside.close()
    keep(home, target.name, settings)
    if settings.get(VARIABLE) not in (None, "", target.name):
        return f"{outcome}; {VARIABLE} names another one: unset it, and start Cortex again"
    if _started(home, embedder.NAME)["environment"].get(VARIABLE) == target.name:
        return outcome
    if not _started(home, "supervisord")["detach"]:
        return f"{outcome}; end `cortex up` and start it again: until then recall answers by words"
    await bringup.stop(home)
    await bringup.start(home, settings=settings)
    return f"{outcome}, and so do the services"


def instructions() -> str:
    """What to do where the embedder is not the bundled one of an embedded installation."""
    return (
        "run `python -m cortex_infra reindex` with CORTEX_MIGRATION_DATABASE_URL and CORTEX_EMBEDDINGS_URL, _MODEL "
        "and _DIMENSION of the new model, then set these for ingest, recall and sleep and restart them"
    )


def keep(home: Home, model: str, settings: Mapping[str, str]) -> None:
    """Write the model into `cortex.yaml`; every other line stays as it is."""
    path = config_file({**settings, "CORTEX_HOME": str(home.path)}) or home.path / "cortex.yaml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    line = f"{SETTING}: {model}"
    changed, count = re.subn(rf"(?m)^{SETTING}:.*$", line, text)
    if not count:
        changed = f"{text.rstrip()}\n{line}\n".lstrip("\n")
    if changed != text:
        write_private(path, changed)


def _started(home: Home, process: str) -> dict[str, Any]:
    """How a process was started; one whose supervisor is not detached belongs to somebody's terminal."""
    plan: dict[str, Any] = json.loads((home.run / f"{process}.json").read_text(encoding="utf-8"))
    return plan
