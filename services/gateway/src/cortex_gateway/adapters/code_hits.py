"""Symbols and lines of code as hits: one way to name, describe and judge them, whichever engine found them. Pure.

A symbol's path is `<file>#<symbol>`: the file relative to the repository, the symbol's parts joined by `/`
(`app.py#Brain/put`), so that one symbol found by two engines is one thing. The snippet begins with a sentence that
says what and where it is (lines count from 1), because an answer may be made of it as it stands; the source follows.

Relevance, on the yardstick of `relevance`:

- A symbol that the question names is `NAMED` (0.9: it is what was asked for, as sure as a question's own words), less
  the worse the name fits (`fit`) and the more of what else the question says it does not show, half at most.
- A symbol found by the question's words is worth what these are, `relevance.by_words` of their share, half of it in its
  name and path (split at humps and underscores) and half in all that is shown of it: a method that is called so is
  nearer than the class around it. A line of text has no name, and shows what it shows.
- What uses a symbol that was asked for is as relevant as the symbol; the symbol itself is then worth `BESIDE` of that.

Source class: recent-file. What is read are files (as they are now, or as they were when they were indexed); the running
infrastructure is what live-infra is for, and the code of a service does not say whether it runs (gateway contract
section 3). A configured source class goes before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters import relevance
from cortex_gateway.adapters.code_question import CodeQuestion, coverage, pieces
from cortex_gateway.adapters.findings import relative
from cortex_gateway.adapters.settings import EngineSource

NAMED: Final = 0.9
TAIL_FITS: Final = 0.95
"""Asked for `brain.put` and found a function `put`: what stands before it may be its module."""
LAST_PART_FITS: Final = 0.7
"""Asked for `Brain.put` and found another `put`."""
LEAST_FIT: Final = 0.4
BESIDE: Final = 0.8
NAME_COUNTS: Final = 2.0
"""A name says twice as much as another word of the question (`relevance.NAME_WEIGHT`)."""
IN_FILE: Final = 0.5
"""A symbol of a file that the question names."""
FILE_USES: Final = 0.8
"""A file that uses something outside of any symbol, most often by importing it, against what calls it."""
SOURCE_LENGTH: Final = 1_200
"""Characters of source in a snippet: a screenful; what is longer is looked up where it stands."""
LINE_LENGTH: Final = 120
SYMBOL_LENGTH: Final = 300
_WHOLE_FILES: Final = ("File", "Module")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A piece of code that has a name. Lines count from 1, none when they are not known; `text` is source or what a
    language server says of it."""

    name: str
    file: str
    kind: str = ""
    first: int | None = None
    last: int | None = None
    text: str = ""

    @property
    def place(self) -> str:
        """Where it is, as a person says it."""
        if self.first is None:
            return self.file
        if self.last is None or self.last <= self.first:
            return f"{self.file}, line {self.first}"
        return f"{self.file}, lines {self.first}-{self.last}"

    @property
    def spoken(self) -> str:
        """Kind and name: `method Brain.put`."""
        return f"{self.kind.lower()} {dotted(self.name)}".strip()


def dotted(name: str) -> str:
    """A name path as people write it."""
    return name.strip("/").replace("/", ".")


def fit(asked: str, found: str) -> float:
    """How well the name path `found` is the `asked` one, in [0, 1]: 1 when it ends in all of it, 0 for another name."""
    wanted, there = _parts(asked), _parts(found)
    if not wanted or not there:
        return 0.0
    if there[-len(wanted) :] == wanted:
        return 1.0
    if wanted[-len(there) :] == there:
        return TAIL_FITS
    last, name = wanted[-1].casefold(), there[-1].casefold()
    if name == last:
        return LAST_PART_FITS
    if last in name:
        return max(LEAST_FIT, LAST_PART_FITS * len(last) / len(name))
    return 0.0


def of_symbol(question: CodeQuestion, symbol: Symbol) -> float:
    """The relevance of a symbol by its own name and text."""
    shown = f"{symbol.name} {symbol.file} {symbol.text[:SOURCE_LENGTH]}"
    best = max((fit(name, symbol.name) for name in question.names), default=0.0)
    if not best:
        words = _words(question)
        named = coverage(words, f"{symbol.name} {symbol.file}")
        by_words = relevance.by_words((named + coverage(words, shown)) / 2)
        return max(by_words, IN_FILE) if any(symbol.file.endswith(file) for file in question.files) else by_words
    others = sum(coverage(pieces(name), shown) for name in question.names)
    said = NAME_COUNTS * len(question.names) + len(question.words)
    covered = NAME_COUNTS * others + coverage(question.words, shown) * len(question.words)
    return NAMED * best * (0.5 + 0.5 * min(1.0, covered / said))


def of_words(question: CodeQuestion, text: str) -> float:
    """The relevance of a text by the words of the question, names taken apart."""
    return relevance.by_words(coverage(_words(question), text))


def path_of(file: str, name: str = "", *, root: str = "") -> str:
    """`<file>#<symbol>` without `root`, the mark of an overload and outer slashes; what there is of them alone."""
    file = relative(file, root)
    symbol = "/".join(_parts(name))[:SYMBOL_LENGTH]
    return f"{file}#{symbol}" if file and symbol else file or symbol


def with_code(sentence: str, code: str) -> str:
    """A sentence, and the code it is about: behind it when that is a line (the value of a constant is what one wants
    to know), else fenced below, so that no line of code is taken for a sentence."""
    code = source(code)
    if not code:
        return f"{sentence}."
    if "\n" not in code and len(code) <= LINE_LENGTH:
        return f"{sentence}: {code.strip()}"
    fence = "~~~" if "```" in code else "```"
    return f"{sentence}.\n\n{fence}\n{code}\n{fence}"


def source(text: str, length: int = SOURCE_LENGTH) -> str:
    """`text` cut at a line's end, common indentation of a body kept as it is."""
    if len(text) <= length:
        return text.rstrip()
    cut = text.rfind("\n", length // 2, length)
    return text[: cut if cut > 0 else length - 1].rstrip() + "\n…"


@dataclass(frozen=True, slots=True)
class CodeHits:
    """Makes the hits of one answer: whose they are, when they were seen and how sure they are. What is configured for
    the engine goes before what is usual; without a score of the engine's own the native one is the relevance."""

    engine: EngineSource
    seen: datetime | None
    confidence: float

    def definition(self, symbol: Symbol, relevance: float, *, native: float | None = None, more: str = "") -> Hit:
        """Where a symbol is defined, with `more` to say of it and its source."""
        sentence = f"{_opening(symbol)} is defined in {symbol.place}{more}"
        snippet = with_code(sentence, symbol.text)
        path = path_of(symbol.file, symbol.name, root=self.engine.root)
        return self.hit(f"{symbol.spoken} in {symbol.place}", path, snippet, relevance, native)

    def use(self, user: Symbol, used: str, relevance: float, *, where: str = "", how: str = "uses") -> Hit:
        """That `user` uses the symbol called `used`; `where` says the lines. A use outside of any symbol is the file's,
        and most often an import."""
        if user.kind in _WHOLE_FILES:
            sentence = f"{user.file} {how} {dotted(used)}{where}"
            relevance *= FILE_USES
        else:
            place = f" in {user.file}" if user.file else ""
            sentence = f"{_opening(user)} {how} {dotted(used)}{place}{where}"
        snippet = with_code(sentence, user.text)
        path = path_of(user.file, "" if user.kind in _WHOLE_FILES else user.name, root=self.engine.root)
        return self.hit(sentence, path, snippet, relevance)

    def hit(self, title: str, path: str, snippet: str, relevance: float, native: float | None = None) -> Hit:
        """A hit as it is said."""
        relevance = min(1.0, max(0.0, relevance))
        return Hit(
            engine=self.engine.key,
            title=title,
            path=path,
            snippet=snippet,
            native_score=relevance if native is None else native,
            relevance=relevance,
            last_seen=self.seen,
            confidence=self.confidence if self.engine.confidence is None else self.engine.confidence,
            source_class=self.engine.source_class or SourceClass.RECENT_FILE,
        )


def best(hits: Sequence[Hit], k: int) -> tuple[Hit, ...]:
    """The `k` most relevant hits, each path once; equals stay in the order in which they were found."""
    found: dict[str, Hit] = {}
    for one in sorted(hits, key=lambda one: -one.relevance):
        found.setdefault(one.path, one)
    return tuple(found.values())[:k]


def _opening(symbol: Symbol) -> str:
    """Kind and name as a sentence begins with them; a name stays as it is."""
    return symbol.spoken[:1].upper() + symbol.spoken[1:] if symbol.kind else symbol.spoken


def _words(question: CodeQuestion) -> tuple[str, ...]:
    named = (piece for name in question.names for piece in pieces(name))
    return tuple(dict.fromkeys((*question.words, *named)))


def _parts(name: str) -> list[str]:
    """The parts of a name path, without the index that tells overloads apart (`put[1]`)."""
    cleaned = (part.partition("[")[0] if part.endswith("]") else part for part in name.split("/"))
    return [part for part in cleaned if part]
