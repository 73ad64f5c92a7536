"""A made-up vault in a git repository, the same for the same number of pages: Latin pages and Arabic ones (a quarter).

Words follow Zipf's law and 45 % of them come from one of 500 topics, as in `synthetic_memories`. A page has frontmatter
(title, type, tags, often an alias), 2 to 8 paragraphs of 6 to 20 words under a title and one or two headings, and
wikilinks, some of them to pages that do not exist. That makes about 2.4 chunks a page and 110 tokens a chunk; notes
that people wrote were found to have 2.2 and 100.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import synthetic_memories as synthetic
from numpy.typing import NDArray

BRANCH: Final = "main"
TYPES: Final = ("note", "concept", "person", "company", "meeting", "source", "deal")
TYPE_SHARES: Final = (0.4, 0.2, 0.15, 0.1, 0.1, 0.03, 0.02)
TAGS: Final = 200
LINKED: Final = 0.35
"""Share of the paragraphs with a link; one link in twenty leads nowhere."""
EVERYDAY: Final = 300
"""So many of the most frequent words belong to no topic."""


@dataclass(frozen=True)
class Page:
    """One page. `paragraphs` are what is below its headings, without the links."""

    number: int
    path: str
    slug: str
    text: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class _Words:
    """The words of one script by rank, and the words of each topic."""

    words: NDArray[np.object_]
    by_rank: NDArray[np.float64]
    topics: NDArray[np.int64]
    by_topic_rank: NDArray[np.float64]

    def some(self, rng: np.random.Generator, count: int, topic: int, share: float = synthetic.FROM_TOPIC) -> list[str]:
        everyday = np.minimum(np.searchsorted(self.by_rank, rng.random(count)), len(self.words) - 1)
        ranks = np.minimum(np.searchsorted(self.by_topic_rank, rng.random(count)), self.topics.shape[1] - 1)
        chosen = np.where(rng.random(count) < share, self.topics[topic, ranks], everyday)
        return [str(word) for word in self.words[chosen]]


@cache
def _scripts() -> tuple[_Words, _Words]:
    words = synthetic.vocabulary().words[: synthetic.WORDS]
    arabic = np.array([not word.isascii() for word in words])
    rng = np.random.default_rng([synthetic.SEED, 40])
    found = []
    for of_script in (words[~arabic], words[arabic]):
        topics = np.stack(
            [
                rng.choice(np.arange(EVERYDAY, len(of_script)), synthetic.TOPIC_WORDS, replace=False)
                for _ in range(synthetic.TOPICS)
            ]
        )
        found.append(_Words(of_script, _zipf(len(of_script)), topics, _zipf(synthetic.TOPIC_WORDS)))
    return found[0], found[1]


def _zipf(size: int) -> NDArray[np.float64]:
    weights = np.arange(1, size + 1) ** -synthetic.ZIPF
    cumulative: NDArray[np.float64] = np.cumsum(weights / weights.sum())
    return cumulative


def page(pages: int, number: int, revision: int = 0) -> Page:
    """One page of a vault of `pages`; another `revision` has other paragraphs, and everything else the same."""
    head = np.random.default_rng([synthetic.SEED, 41, pages, number])
    kind = str(head.choice(TYPES, p=TYPE_SHARES))
    title, slug = _named(pages, number)
    tags = [f"tag-{tag}" for tag in sorted(set((head.zipf(1.5, size=3) % TAGS).tolist()))]
    script = _scripts()[_is_arabic(pages, number)]
    topic = _topic(pages, number)
    rng = np.random.default_rng([synthetic.SEED, 42, pages, number, revision])
    count = int(head.integers(2, 9))
    paragraphs = tuple(" ".join(script.some(rng, int(rng.integers(6, 21)), topic)) + "." for _ in range(count))
    written = [_with_link(one, pages, head) for one in paragraphs]
    # The first section has no heading but the title.
    starts = sorted(head.choice(np.arange(1, count), min(count - 1, int(head.integers(1, 3))), replace=False).tolist())
    for start in reversed(starts):
        written.insert(start, "## " + " ".join(script.some(head, 2, topic)).capitalize())
    lines = ["---", f'title: "{title}"', f"type: {kind}", f"tags: [{', '.join(tags)}]"]
    if head.random() < 0.3:
        lines.append(f'aliases: ["{" ".join(script.some(head, 2, topic, 1.0))} {number}"]')
    text = "\n".join([*lines, "---", "", f"# {title}", ""]) + "\n" + "\n\n".join(written) + "\n"
    return Page(number, f"{kind}/{slug}.md", slug, text, paragraphs)


def questions(pages: int, count: int, rng: np.random.Generator) -> list[str]:
    """Different questions of 4 to 8 words of a paragraph, as somebody asks who has read the page."""
    asked: dict[str, None] = {}
    while len(asked) < count:
        one = page(pages, int(rng.integers(pages)))
        words = one.paragraphs[int(rng.integers(len(one.paragraphs)))].rstrip(".").split()
        taken = sorted(rng.choice(len(words), min(len(words), int(rng.integers(4, 9))), replace=False).tolist())
        asked[" ".join(words[at] for at in taken)] = None
    return list(asked)


def keywords(pages: int, count: int, rng: np.random.Generator) -> list[str]:
    """What is typed into a search box: one or two words of a page."""
    return [" ".join(question.split()[: 1 + int(rng.random() < 0.5)]) for question in questions(pages, count, rng)]


class Repository:
    """A bare repository in a folder; each commit is made from pages, without a checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "HEAD").exists():
            folder.mkdir(parents=True)
            self._git("init", "--quiet", "--bare", "--initial-branch", BRANCH)
            self.commit((), "A vault without pages")

    def head(self) -> str:
        """The commit of the branch."""
        return self._git("rev-parse", f"refs/heads/{BRANCH}").decode().strip()

    def move(self, commit: str) -> None:
        """Put the branch to a commit, as a force-push does."""
        self._git("update-ref", f"refs/heads/{BRANCH}", commit)

    def commit(self, pages: Iterable[Page], message: str) -> str:
        """Add or change pages; returns the commit."""
        subprocess.run(
            self._command("fast-import", "--quiet", "--force"),
            input=b"".join(self._stream(pages, message)),
            check=True,
            env=self._environment,
        )
        return self.head()

    def _stream(self, pages: Iterable[Page], message: str) -> Iterator[bytes]:
        exists = bool(self._git("for-each-ref", f"refs/heads/{BRANCH}"))
        # A moment of its own for nothing: the same pages are the same commit.
        yield f"commit refs/heads/{BRANCH}\ncommitter Bench <bench@cortex.invalid> 1790000000 +0000\n".encode()
        yield f"data {len(message)}\n{message}\n".encode()
        if exists:
            yield f"from refs/heads/{BRANCH}^0\n".encode()
        for one in pages:
            content = one.text.encode()
            yield f"M 100644 inline {one.path}\ndata {len(content)}\n".encode() + content + b"\n"
        yield b"\n"

    def _git(self, *arguments: str) -> bytes:
        return subprocess.run(self._command(*arguments), check=True, capture_output=True, env=self._environment).stdout

    def _command(self, *arguments: str) -> list[str]:
        return ["git", "-C", str(self.folder), "-c", f"safe.directory={self.folder}", *arguments]

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@cache
def _named(pages: int, number: int) -> tuple[str, str]:
    """Title and slug; the number keeps both unique."""
    rng = np.random.default_rng([synthetic.SEED, 43, pages, number])
    words = _scripts()[_is_arabic(pages, number)].some(rng, 2, _topic(pages, number), 1.0)
    return f"{words[0].capitalize()} {words[1]} {number}", f"{words[0]}-{words[1]}-{number}"


def _is_arabic(pages: int, number: int) -> bool:
    return bool(np.random.default_rng([synthetic.SEED, 44, pages, number]).random() < synthetic.ARABIC)


def _topic(pages: int, number: int) -> int:
    return int(np.random.default_rng([synthetic.SEED, 45, pages, number]).integers(synthetic.TOPICS))


def _with_link(paragraph: str, pages: int, rng: np.random.Generator) -> str:
    if rng.random() >= LINKED:
        return paragraph
    number = int(rng.integers(pages))
    title, slug = _named(pages, number)
    target = f"nowhere-{number}" if rng.random() < 0.05 else title if rng.random() < 0.3 else slug
    return f"{paragraph} [[{target}]]" if rng.random() < 0.7 else f"{paragraph} [[{target}|{title.split()[0]}]]"
