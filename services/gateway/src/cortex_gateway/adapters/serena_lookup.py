"""How Serena is asked: a question in plain language becomes a few lookups, side by side, in three rounds.

1. One `search_for_pattern` for declarations of what the question names, or else of its words, case aside; `find_file`
   for the files it names. Both only read text: they answer at once in a project that no language server has read yet.
2. `find_symbol` in the files that declare something, `get_symbols_overview` of the files that were named. A name that
   no declaration shows is sought in the files that have it as text, and then everywhere.
3. "Who calls X" asks for the references to the best symbols found (`find_referencing_symbols`).

Serena works one call after another, a tenth of a second each at least, and never stops one that nobody waits for any
more. So there are never many, a search of everything comes last (it took 44 s for 415 files that were new to the
language server, and 0.2 s in a file of them), and rounds after the first end early rather than lose the engine's limit
and with it what was found. A tool that fails (no language server, say) leaves the others: only when nothing at all was
found is its sentence the answer.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.rpc.engine import Hit
from cortex_gateway.adapters import code_hits, serena_answers
from cortex_gateway.adapters.code_hits import CodeHits, Symbol
from cortex_gateway.adapters.code_lookup import LATER_ROUNDS_END, Calls
from cortex_gateway.adapters.code_question import Aim, CodeQuestion, coverage, pieces, stem
from cortex_gateway.adapters.dialect import ToolFailed, Tools
from cortex_gateway.adapters.serena_answers import Match
from cortex_gateway.adapters.settings import EngineSource
from cortex_gateway.adapters.tool_answer import ToolAnswer

MOST_FINDS: Final = 5
MOST_SOUGHT: Final = 2
MOST_FILES: Final = 2
MOST_REFERENCED: Final = 2
MOST_OVERVIEWS: Final = 2
ANSWER_LENGTH: Final = 40_000
"""Characters that a tool may answer with before it says that it is too much; Serena's own limit is 150,000."""
TEXT_FITS: Final = 0.8
"""A line that has the words, against a symbol that has them in its name."""

_DECLARING: Final = (
    r"\b(?:def|class|func|function|fn|fun|sub|interface|struct|enum|trait|type|module|object|record|protocol|const|let"
    r"|var|val|impl|namespace)[^\S\n]+(?:\([^)\n]*\)[^\S\n]*)?"
)
_DECLARED: Final = re.compile(rf"^\d+:(?:.*?{_DECLARING}([\w$]+)|([\w$]+)[^\S\n]*(?::[^=\n]*)?=)", re.I | re.M)

_COMMENT: Final = " \t\r#/*;-"
_IMPORT: Final = re.compile(r"\s*(?:from\s+\S+\s+import|import|use|using|#include)\b")


class SerenaLookup:
    """One question. What is found is kept as it comes, so that a later call which takes too long takes nothing away."""

    def __init__(self, source: EngineSource, tools: Tools, question: CodeQuestion, k: int) -> None:
        self._source = source
        self._calls = Calls(tools)
        self._question = question
        self._k = k
        self._made = CodeHits(source, seen=datetime.now(UTC), confidence=1.0)
        self._files: list[str] = []
        self._declared: list[tuple[str, str]] = []
        self._symbols: dict[tuple[str, str], Symbol] = {}
        self._hits: list[Hit] = []
        self._uses: list[Hit] = []
        self._mentions: list[Hit] = []

    async def run(self) -> Sequence[Hit]:
        """At most `k` hits, best first. Raises CortexError."""
        question = self._question
        ends = time.monotonic() + self._source.limit_s * LATER_ROUNDS_END
        await self._calls.each([*map(self._locate, question.files[:MOST_OVERVIEWS]), self._look_for_declarations()])
        late = False
        try:
            async with asyncio.timeout(max(0.0, ends - time.monotonic())):
                await self._read()
                if question.aim is Aim.CALLERS:
                    await self._ask_for_references()
        except TimeoutError:
            late = True
        hits = [*self._hits, *(self._uses or self._mentions), *map(self._defined, self._symbols.values())]
        self._calls.judge(hits)
        if late and not hits:
            raise ToolFailed("serena found nothing in time: it reads a project for the first time, or is busy")
        return code_hits.best(hits, self._k)

    async def _locate(self, file: str) -> None:
        """Where a file is that the question names."""
        folder, _, name = file.rpartition("/")
        if not self._calls.has("files"):
            self._files.append(file)
            return
        answer = await self._calls.call("files", {"file_mask": name, "relative_path": "."})
        found = serena_answers.files(serena_answers.data_of(answer))
        self._files.extend(path for path in found if not folder or path.endswith(file))

    async def _look_for_declarations(self) -> None:
        """Name and file of the declarations of what the question names, or has as a word; the best first."""
        names = [_last(name) for name in self._question.names]
        words = self._question.words
        if not (names or words) or not (self._calls.has("find") and self._calls.has("pattern")):
            return
        some = "|".join(re.escape(name) for name in names) or "|".join(re.escape(stem(word)) for word in words)
        named = rf"(?:{some})\b" if names else rf"[\w$]*(?:{some})[\w$]*"
        answer = await self._pattern(rf"(?i)(?:{_DECLARING}{named}|^{named}[^\S\n]*(?::[^=\n]*)?=(?!=))", context=0)
        found = [
            (name, file)
            for file, matches in serena_answers.lines(serena_answers.data_of(answer)).items()
            for match in matches
            for name in dict.fromkeys(one or other for one, other in _DECLARED.findall(match.around))
        ]
        if names:
            found = [one for one in found if one[0].casefold() in map(str.casefold, names)]
            # As it is written, then where the rest of the question points to.
            self._declared = sorted(found, key=lambda one: (one[0] not in names, -self._pointed_at(one[1])))
        else:
            self._declared = self._telling(found)

    def _pointed_at(self, file: str) -> float:
        question = self._question
        named = tuple(piece for name in question.names for piece in pieces(name))
        return coverage((*named, *question.words), file) + any(file.endswith(one) for one in question.files)

    def _telling(self, found: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those with words of the question in their name; a word that few of them have tells more of it."""
        words = self._question.words
        held = {one: {word for word in words if coverage((word,), *one)} for one in found if coverage(words, one[0])}
        weights = {word: 1 / (1 + sum(word in some for some in held.values())) for word in words}
        return sorted(held, key=lambda one: (-sum(weights[word] for word in held[one]), len(one[0])))

    async def _read(self) -> None:
        question = self._question
        declared = {name.casefold() for name, _ in self._declared}
        missing = [name for name in question.names if _last(name).casefold() not in declared]
        # In some of Serena's contexts there is no search for text: words are tried as parts of names, in both cases.
        tried = [] if question.names or self._calls.has("pattern") else [stem(word) for word in question.words]
        await self._calls.each(
            [
                *(self._find(name, file) for name, file in self._declared[:MOST_FINDS]),
                *(self._overview(file) for file in self._files[:MOST_OVERVIEWS]),
                *(self._seek(name) for name in missing[:MOST_SOUGHT]),
                *(self._find(one, part=True) for part in tried[:MOST_SOUGHT] for one in (part, part.capitalize())),
            ]
        )
        if not self._symbols and not self._hits and (wanted := question.names or question.words):
            # No language server, or nothing that has a name: the text is there all the same.
            await self._calls.each([self._lines(_any_of(wanted), self._hits)])

    async def _seek(self, name: str) -> None:
        """A name that no declaration shows (not every language has a word for it): in the files that have it as text,
        then everywhere, which takes long in a project that the language server has not read yet."""
        last, before = _last(name), len(self._symbols)
        for file in (await self._lines(_any_of([name]), self._hits))[:MOST_FILES]:
            await self._find(last, file)
        if len(self._symbols) == before:
            await self._find(last)
        if len(self._symbols) == before:
            await self._find(last, part=True)

    async def _ask_for_references(self) -> None:
        """What uses the best symbols found; what only mentions them counts when a language server knows no use, as of
        methods of something without a known type, or takes too long to tell."""
        ranked = sorted(self._symbols.values(), key=lambda one: -code_hits.of_symbol(self._question, one))
        wanted = [symbol for symbol in ranked[:MOST_REFERENCED] if symbol.first is not None]
        if wanted:
            called = "|".join(re.escape(_last(symbol.name)) for symbol in wanted)
            mentions = self._lines(rf"(?<!def )(?<!class )(?<!func )(?<!fn )\b(?:{called})\b", self._mentions)
            await self._calls.each([mentions, *map(self._references, wanted)])

    async def _find(self, name: str, file: str = "", *, part: bool = False) -> None:
        if not self._calls.has("find"):
            return
        wanted: dict[str, JsonValue] = {
            self._calls.pick("find", "name_path_pattern", "name_path"): name,
            "include_body": True,
            "max_answer_chars": ANSWER_LENGTH,
            "substring_matching": part,
        }
        if file:
            wanted[self._calls.pick("find", "relative_path", "within_relative_path")] = file
        answer = await self._calls.call("find", wanted)
        if serena_answers.too_long(answer):
            # Bodies are what is long: names and lines are asked for instead.
            answer = await self._calls.call("find", {**wanted, "include_body": False})
        self._keep(serena_answers.symbols(serena_answers.data_of(answer)))

    async def _references(self, symbol: Symbol) -> None:
        if not self._calls.has("references"):
            return
        wanted: dict[str, JsonValue] = {
            self._calls.pick("references", "name_path", "name_path_pattern"): symbol.name,
            "relative_path": symbol.file,
            "max_answer_chars": ANSWER_LENGTH,
        }
        answer = await self._calls.call("references", wanted)
        relevance = code_hits.of_symbol(self._question, symbol)
        users: dict[tuple[str, str], list[Symbol]] = {}
        for user in serena_answers.symbols(serena_answers.data_of(answer)):
            users.setdefault((user.file, user.name), []).append(user)
        self._uses.extend(self._using(symbol, places, relevance) for places in users.values())

    async def _overview(self, file: str) -> None:
        if not self._calls.has("overview"):
            return
        answer = await self._calls.call(
            "overview", {"relative_path": file, "depth": 1, "max_answer_chars": ANSWER_LENGTH}
        )
        inside = serena_answers.overview(serena_answers.data_of(answer))
        if not inside:
            return
        listed = ", ".join(f"{kind.lower()} {code_hits.dotted(name)}".strip() for kind, name in inside)
        path = code_hits.path_of(file, root=self._source.root)
        snippet = code_hits.source(f"{path} defines {listed}.")
        # The file is what was named; it answers the more the fewer other things were asked for.
        said = len(self._question.files) + len(self._question.names)
        relevance = code_hits.NAMED * (0.5 + 0.5 / max(1, said))
        self._hits.append(self._made.hit(f"what {path} defines", path, snippet, relevance))

    async def _lines(self, pattern: str, hits: list[Hit]) -> list[str]:
        """Add the lines of code that match to `hits`, one for each file; gives the files, the best first."""
        if not self._calls.has("pattern"):
            return []
        answer = await self._pattern(pattern, context=1)
        found = serena_answers.lines(serena_answers.data_of(answer))
        made = sorted(((self._mention(file, matches), file) for file, matches in found.items()), key=_by_relevance)
        hits.extend(hit for hit, _ in made)
        return [file for _, file in made]

    async def _pattern(self, pattern: str, *, context: int) -> ToolAnswer:
        wanted: dict[str, JsonValue] = {
            self._calls.pick("pattern", "substring_pattern", "pattern"): pattern,
            "context_lines_before": context,
            "context_lines_after": context,
            "restrict_search_to_code_files": True,
            "max_answer_chars": ANSWER_LENGTH,
        }
        return await self._calls.call("pattern", wanted)

    def _keep(self, symbols: Iterable[Symbol]) -> None:
        for symbol in symbols:
            # Some language servers give a file itself, and what it imports, as symbols in it.
            if symbol.kind != "File" and not _IMPORT.match(symbol.text):
                self._symbols.setdefault((symbol.file, symbol.name), symbol)

    def _defined(self, symbol: Symbol) -> Hit:
        relevance = code_hits.of_symbol(self._question, symbol)
        if self._uses or self._mentions:
            relevance *= code_hits.BESIDE
        return self._made.definition(symbol, relevance)

    def _using(self, used: Symbol, places: Sequence[Symbol], relevance: float) -> Hit:
        pieces = [piece for place in places if (piece := serena_answers.piece(place.text)) is not None]
        numbers = ", ".join(str(piece.number) for piece in pieces)
        where = f", {'line' if len(pieces) == 1 else 'lines'} {numbers}" if pieces else ""
        user = replace(places[0], text="\n".join(piece.around for piece in pieces))
        return self._made.use(user, used.name, relevance, where=where)

    def _mention(self, file: str, matches: Sequence[Match]) -> Hit:
        """A file that has lines which match: the line that says most, then the pieces that say most."""
        question = self._question
        told = [(code_hits.of_words(question, one.said), code_hits.of_words(question, one.around)) for one in matches]
        ranked = sorted(range(len(matches)), key=lambda at: told[at], reverse=True)
        best = matches[ranked[0]]
        relevance = TEXT_FITS * code_hits.of_words(question, f"{file} {best.around}")
        path = code_hits.path_of(file, root=self._source.root)
        place = f"{path}, line {best.number}"
        around = "\n".join(matches[at].around for at in ranked[:3])
        sentence = f"{place}: {said}" if (said := best.said.strip(_COMMENT)) else place
        snippet = code_hits.with_code(sentence, around) if "\n" in around else sentence
        return self._made.hit(place, path, snippet, relevance)


def _any_of(wanted: Sequence[str]) -> str:
    """A pattern for what has one of these names or words, case and endings aside."""
    return "(?i)(?:" + "|".join(re.escape(stem(_last(name))) for name in wanted) + ")"


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _by_relevance(found: tuple[Hit, str]) -> float:
    return -found[0].relevance
