"""The archive measured: how long a question to millions of cold memories takes, what it reads, what memory it needs.

    python tests/bench/archive.py --rows 10000000 --keep /tmp/cold [--overlap] [--json FILE]

Writes the rows once (ten million: about ten minutes and 12 GB; `--keep` reuses them) as a folder of Iceberg files,
twenty namespaces over ten years, and asks in a process of its own what `cortex archive` asks, by words, by meaning and
by both: of one namespace and month, of the largest namespace over all years, of all namespaces. Questions are words of
a memory and a vector near its own. `--overlap` compares what is found by meaning with every vector of the largest
namespace.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import asyncpg
import cold_rows
import numpy as np
from numpy.typing import NDArray

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.archive import ArchiveReply, ArchiveRequest
from cortex_contracts.rpc.recall import RecallFilter
from cortex_providers.cold_store import ColdStoreConfig
from cortex_ranking import calibration
from cortex_ranking.fusion import Recipe
from cortex_ranking.query_vector import QueryVector
from cortex_sleep.archive.archive import Archive
from cortex_sleep.iceberg.driver import IcebergColdStore
from cortex_sleep.iceberg.files import reader
from cortex_sleep.iceberg.scan import OpenFile, strings_of_bytes, uuids_of
from cortex_sleep.iceberg.table import ColdTable
from cortex_store.database import Database
from cortex_testkit.postgres_server import open_postgres

LARGEST: Final = "n00"
MONTH: Final = (datetime(2024, 6, 1, tzinfo=UTC), datetime(2024, 7, 1, tzinfo=UTC))
WAYS: Final = ("words", "meaning", "both")
NOWHERE: Final = "qqzzxw"
"""A word that no memory has: the question then goes by its meaning alone."""


@dataclass(frozen=True)
class Question:
    """Words and a vector of a memory."""

    words: str
    vector: NDArray[np.float32]


class Given:
    """The vector of the question that is being asked."""

    def __init__(self) -> None:
        self.vector: NDArray[np.float32] | None = None

    async def of(self, query: str) -> QueryVector:
        return QueryVector(self.vector, cold_rows.MODEL)


def questions(table: ColdTable, count: int) -> list[Question]:
    """Of memories of the largest namespace, from all years."""
    rng = np.random.default_rng(3)
    snapshot = table.snapshot()
    held = sorted((file for file in snapshot.files if file.namespace == LARGEST), key=lambda file: file.path)
    found = []
    for number in rng.integers(len(held), size=count):
        with reader(snapshot.table, held[number].path) as opened:
            row = opened.read_row_group(0, columns=["content", "embedding"]).slice(11, 1).to_pylist()[0]
        words = rng.choice(row["content"].split(), 6, replace=False)
        vector = np.frombuffer(row["embedding"], "<f2").astype(np.float32)
        noise = rng.standard_normal(len(vector)).astype(np.float32)
        vector = vector + 0.45 * noise / np.linalg.norm(noise)
        found.append(Question(" ".join(words), vector / np.linalg.norm(vector)))
    return found


async def measure(config: ColdStoreConfig, sleep_url: str, count: int, overlap: bool) -> dict[str, Any]:
    """Every way of asking, of every scope."""
    database, store, given = Database(sleep_url), IcebergColdStore(config), Given()
    await database.open()
    await store.open()
    recipe = Recipe(**calibration.of(cold_rows.MODEL).numbers())
    archive = Archive(store, database, given, recipe, calibration.backgrounds(cold_rows.MODEL))
    principal = Principal(org=cold_rows.ORG, subject="bench")
    started = rss_mb("VmRSS")
    asked = await store.in_thread(lambda table: questions(table, count))
    report: dict[str, Any] = {"status": str(await store.status(cold_rows.ORG)), "rss_before_mb": started, "scopes": {}}
    since, until = MONTH
    scopes: dict[str, dict[str, Any]] = {
        "a namespace and month": {"namespaces": (LARGEST,), "filter": RecallFilter(since=since, until=until)},
        "a namespace, all years": {"namespaces": (LARGEST,)},
        "everything": {},
    }
    for scope, narrowed in scopes.items():
        for way in WAYS:
            Path("/proc/self/clear_refs").write_text("5")
            replies: list[ArchiveReply] = []
            spent: list[float] = []
            for one in asked:
                given.vector = None if way == "words" else one.vector
                query = NOWHERE if way == "meaning" else one.words
                request = ArchiveRequest(principal=principal, query=query, limit_s=55.0, min_score=0.0, **narrowed)
                began = time.process_time()
                replies.append(await archive.recall(request))
                spent.append(time.process_time() - began)
            line = summary(replies) | {"cpu_s": round(statistics.median(spent), 2), "peak_rss_mb": rss_mb("VmHWM")}
            report["scopes"][f"{scope}, by {way}"] = line
            print(f"{scope + ', by ' + way:38}", json.dumps(line), flush=True)
    if overlap:
        report["overlap"] = await _overlap(store, archive, given, principal, asked)
        print("overlap@50 with every vector of the largest namespace:", report["overlap"], flush=True)
    await store.close()
    await database.close()
    return report


def summary(replies: Sequence[ArchiveReply]) -> dict[str, Any]:
    """Times in seconds, and what was read."""
    times = [reply.took_ms / 1000 for reply in replies]
    last = replies[-1]
    return {
        "median_s": round(statistics.median(times), 3),
        "max_s": round(max(times), 3),
        "rows": last.rows,
        "files_read": last.files_read,
        "files": last.files,
        "mb_read": round(statistics.median(reply.bytes_read for reply in replies) / 1e6, 1),
        "found": min(len(reply.memories) for reply in replies),
        "complete": all(reply.complete for reply in replies),
    }


async def _overlap(
    store: IcebergColdStore, archive: Archive, given: Given, principal: Principal, asked: Sequence[Question]
) -> dict[str, float]:
    """The share of the exact nearest 10 and 50 that are candidates of a question by meaning."""
    vectors = np.stack([one.vector for one in asked])

    def exact(table: ColdTable) -> list[list[Any]]:
        snapshot = table.snapshot()
        best: list[list[tuple[float, Any]]] = [[] for _ in asked]
        for file in snapshot.files:
            if file.namespace != LARGEST:
                continue
            opened = OpenFile(snapshot, file)
            for group in range(-(-file.rows // 8192)):
                for batch in opened.batches(group, ("id", "embedding")):
                    rows, stored = strings_of_bytes(batch.column("embedding"), 2 * vectors.shape[1])
                    near = stored.view("<f2").astype(np.float32) @ vectors.T
                    for number in range(len(asked)):
                        top = np.argsort(-near[:, number])[:50]
                        known = uuids_of(batch.column("id").take(rows[top]))
                        best[number] += zip(near[top, number].tolist(), known, strict=True)
                        best[number] = sorted(best[number], key=lambda one: -one[0])[:50]
            opened.close()
        return [[one for _, one in each] for each in best]

    wanted = await store.in_thread(exact)
    shares: dict[str, list[float]] = {"10": [], "50": []}
    for one, nearest in zip(asked, wanted, strict=True):
        given.vector = one.vector
        request = ArchiveRequest(
            principal=principal, query=NOWHERE, namespaces=(LARGEST,), k=100, min_score=0.0, limit_s=55.0
        )
        found = {each.memory.memory_id for each in (await archive.recall(request)).memories}
        for size, share in shares.items():
            share.append(len(found & set(nearest[: int(size)])) / int(size))
    return {size: round(statistics.mean(share), 4) for size, share in shares.items()}


def rss_mb(field: str) -> int:
    """`VmRSS`: resident now; `VmHWM`: the most since it was last reset."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) // 1024


async def _namespaces(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.executemany(
        "INSERT INTO namespaces (org, namespace) VALUES ($1, $2)", [(cold_rows.ORG, f"n{n:02}") for n in range(20)]
    )
    await connection.close()


def _measured(config: ColdStoreConfig, sleep_url: str, count: int, overlap: bool, report: Path | None) -> None:
    result = asyncio.run(measure(config, sleep_url, count, overlap))
    if report:
        report.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Write, then measure in a process that has done nothing before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keep", type=Path, required=True, help="folder of the rows")
    parser.add_argument("--questions", type=int, default=5)
    parser.add_argument("--overlap", action="store_true")
    parser.add_argument("--json", type=Path, dest="report")
    given = parser.parse_args()
    folder = given.keep.resolve() / str(given.rows)
    with ExitStack() as stack:
        server = open_postgres(stack)
        database = asyncio.run(server.fresh())
        asyncio.run(_namespaces(database.migration_url))
        config = ColdStoreConfig(
            warehouse=str(folder), database=database.sleep_url, catalog=f"sqlite:///{folder}.db", timeout_s=60.0
        )
        context = multiprocessing.get_context("spawn")
        if not (folder.parent / f"{given.rows}.done").exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            writer = context.Process(target=cold_rows.write, args=(config, given.rows))
            writer.start()
            writer.join()
            if writer.exitcode:
                sys.exit("the rows could not be written")
            (folder.parent / f"{given.rows}.done").touch()
        asker = context.Process(
            target=_measured, args=(config, database.sleep_url, given.questions, given.overlap, given.report)
        )
        asker.start()
        asker.join()
        sys.exit(asker.exitcode)


if __name__ == "__main__":
    main()
