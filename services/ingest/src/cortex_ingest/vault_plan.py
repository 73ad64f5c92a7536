"""What separates the stored pages of a vault from a commit, and which file gets which slug. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from cortex_ingest import slugs
from cortex_ingest.git_repository import Blob
from cortex_store.pages import PageKey
from cortex_store.vaults import PageFailure

MAX_PAGE_BYTES: Final = 5 * 1024 * 1024
READING: Final = "2"
"""Which reading of Markdown the stored pages come from; a new one reads every page again."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What separates the stored pages from a commit. Files are in the order of their paths."""

    gone: tuple[PageKey, ...]
    changed: tuple[Blob, ...]
    unchanged: Mapping[str, Blob]
    refused: tuple[PageFailure, ...]
    """Files that look like pages and are never read."""
    slugs: Mapping[str, str]
    """The slug that the path gives, for every page."""
    stored: Mapping[str, str]
    """The slug of every stored page that has a file, by the path of it."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be done."""
        return not self.gone and not self.changed


def plan(files: Iterable[Blob], stored: Iterable[PageKey]) -> Plan:
    """Compare the files of a commit with the stored pages; a page without a file is none of git's business."""
    pages = sorted((blob for blob in files if _looks_like_a_page(blob)), key=lambda blob: blob.path)
    refused = tuple(PageFailure(blob.path, reason) for blob in pages if (reason := _refusal(blob)))
    wanted = {blob.path: blob for blob in pages if not _refusal(blob)}
    names = slugs.default_slugs(wanted)
    by_path = {key.path: key for key in stored if key.path is not None}
    unchanged = {
        path: blob
        for path, blob in wanted.items()
        if path in by_path and by_path[path].content_hash == fingerprint(blob.id, names[path])
    }
    return Plan(
        gone=tuple(key for path, key in sorted(by_path.items()) if path not in wanted),
        changed=tuple(blob for path, blob in wanted.items() if path not in unchanged),
        unchanged=unchanged,
        refused=refused,
        slugs=names,
        stored={path: key.slug for path, key in by_path.items()},
    )


def fingerprint(blob_id: str, default_slug: str) -> bytes:
    """What a page is made of: the content of its file, the slug its path gives it, and how Markdown is read."""
    return hashlib.sha256("\x00".join((READING, default_slug, blob_id)).encode()).digest()


class Claims:
    """Which file has which slug: of the files of a commit that ask for one, the first by path.

    Files that did not change have the slugs they had; the others ask in the order of their paths. Whatever was stored
    before, each slug then goes where a first import of the commit would give it.
    """

    def __init__(self, work: Plan) -> None:
        self._holders = {work.stored[path]: path for path in work.unchanged}

    def ask(self, slug: str, path: str) -> tuple[str, str | None]:
        """The path that has the slug now, and the path that has just lost it."""
        holder = self._holders.get(slug)
        if holder is not None and holder <= path:
            return holder, None
        self._holders[slug] = path
        return path, holder


def _looks_like_a_page(blob: Blob) -> bool:
    # A path that leads elsewhere is told, not taken for a hidden folder.
    return slugs.is_page("/".join(part for part in blob.path.split("/") if part not in ("", ".", "..")))


def _refusal(blob: Blob) -> str | None:
    if blob.refused is None and blob.size_bytes > MAX_PAGE_BYTES:
        return f"expected at most {MAX_PAGE_BYTES} bytes, got {blob.size_bytes}"
    return blob.refused
