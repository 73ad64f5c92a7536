"""What a question in plain language asks of code: symbols and files that it names, its other words, what it is after.

Engines of code look symbols up by name; people ask sentences. Names are recognised by how they are written, the surest
first: in back quotes, with a call's brackets, joined by dots or `::`, in CamelCase or snake_case. What is left are
words, from which names can be guessed. Questions are read in English and Arabic, names as programming languages spell
them. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cortex_extraction.folding import fold
from cortex_extraction.stop_words import STOP_WORDS

MOST_NAMES: Final = 6
MOST_WORDS: Final = 8
LONGEST_NAME: Final = 120
"""Characters; what is longer is no name that anybody wrote."""
READ_LENGTH: Final = 4_000
"""Characters of a question that are read for names."""

_FILE_ENDINGS: Final = frozenset(
    """bash c cc cfg clj cpp cs css cu cxx dart env ex exs fs go gql gradle graphql h hh hpp hs html ini ipynb java jl
    js json jsx kt kts lua m md mjs ml mm nix php pl proto ps1 py pyi r rb rs rst sass scala scss sh sql svelte swift tf
    toml ts tsx txt vue xml yaml yml zig""".split()
)
# What a question about code says without naming anything in it.
_CODE_WORDS: Final = frozenset(
    """argument arguments attribute attributes bug call called caller callers calling calls class classes code codebase
    constant declaration declared define defined defines definition definitions depend depends directory error explain
    exist exists field file files find folder function functions handle handled handles happen happens implement
    implementation implemented implements import imported imports interface line lines list live lives located location
    look lookup me method methods module modules name named object package parameter parameters part place please
    project property reference referenced references refers repo repository return returned returns same search see show
    source struct symbol symbols type types usage usages use used uses using variable variables work works written
    دالة داله تابع صنف كلاس ملف ملفات كود الكود الدالة الداله الصنف الملف متغير تعريف معرف يستدعي تستدعي استدعاء يستخدم
    تستخدم استخدام يوجد توجد""".split()
)

_QUOTED: Final = re.compile(r"`+([^`\n]{1,200})`+")
_PART: Final = r"(?:[^\W\d]|[$~])[\w$]*"
_JOINT: Final = r"(?:\.|::|->|#)"
_NAME: Final = re.compile(rf"{_PART}(?:{_JOINT}{_PART})*")
_TOKEN: Final = re.compile(r"[\w$./\\:#~<>-]+(?:\(\))?")
_HUMP: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
_WORD: Final = re.compile(r"[^\W_][\w']*")

_CALLEES: Final = re.compile(
    r"\b(?:what|which)\b[^?]*\b(?:does|do|did)\b[^?]*\b(?:call|use|invoke|depend|need|import)\b"
    r"|\b(?:called|used|invoked|imported|needed) by\b|\bcallees?\b|\bdependencies of\b"
)
_CALLERS: Final = re.compile(
    r"\b(?:who|what|which|where|anything|anyone|everything|everyone|code|functions?|methods?|places?)\b[^?]*"
    r"\b(?:calls?|calling|called|uses?|using|used|invokes?|invoked|references?|referenced|refers?|imports?|imported"
    r"|depends? on)\b"
    r"|\bcallers?\b|\busages?\b|\bblast radius\b|\breferences? (?:to|of)\b|\baffected\b|\bbreaks? (?:if|when)\b"
    r"|\bimpact of\b"
    r"|(?:من|ما|ماذا|اين|اي)\s+(?:\w+\s+)?(?:الذي\s+|التي\s+)?(?:يستدعي|تستدعي|يستخدم|تستخدم|ينادي|تنادي)"
)
_STRUCTURE: Final = re.compile(
    r"\b(?:architecture|architectural|overview|structures?|structured|structural|organi[sz]ed|organi[sz]ation|layout"
    r"|layers?|packages?|components?|subsystems?|entry ?points?|languages?|hot ?spots?|routes?|endpoints?|clusters?"
    r"|boundar(?:y|ies)|dependency graph|modules)\b|هيكل|بنية|بنيه|معمارية|معماريه|طبقات|مكونات"
)


class Aim(StrEnum):
    """What a question about code is after."""

    DEFINITION = "definition"
    CALLERS = "callers"
    CALLEES = "callees"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A question as lookups need it. `names` are name paths (`Brain/put`) and `files` paths or file names, as written,
    surest first; `words` are the others that mean something, folded, in their order."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]
    aim: Aim


def read(question: str) -> CodeQuestion:
    """What `question` asks of code. Never raises; nothing recognised gives empty tuples."""
    text = question[:READ_LENGTH]
    sure: list[str] = []
    likely: list[str] = []
    files: list[str] = []

    def quoted(found: re.Match[str]) -> str:
        name, file = _named(found[1].strip(), certain=True)
        sure.extend(name)
        files.extend(file)
        return " " if name or file else f" {found[1]} "

    plain = _QUOTED.sub(quoted, text)
    rest: list[str] = []
    for token in _TOKEN.findall(plain):
        name, file = _named(token.strip(".:#/\\<>-"), certain=False)
        likely.extend(name)
        files.extend(file)
        rest.extend(() if name or file else [token])
    folded = fold(text)
    return CodeQuestion(
        tuple(dict.fromkeys(sure + likely))[:MOST_NAMES],
        tuple(dict.fromkeys(files))[:MOST_NAMES],
        _meaningful(" ".join(rest)),
        _aim(folded),
    )


def pieces(name: str) -> tuple[str, ...]:
    """The words a name is made of, folded: `RecallService/ask_all` gives recall, service, ask, all."""
    return tuple(piece.lower() if piece.isascii() else fold(piece) for piece in _PIECES.findall(name))


def stem(word: str) -> str:
    """`word` without the ending that nouns and verbs differ by, three letters at least: saved, saving and save meet."""
    for ending in ("ations", "ation", "ings", "ions", "ers", "ing", "ion", "ies", "ed", "er", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def coverage(words: tuple[str, ...], *texts: str) -> float:
    """The share of `words` that `texts` show, in [0, 1], endings aside; 0 for no words."""
    if not words:
        return 0.0
    there = {stem(piece) for text in texts for piece in pieces(text)}
    return sum(stem(word) in there for word in words) / len(words)


def _named(token: str, *, certain: bool) -> tuple[list[str], list[str]]:
    """The name, or the file, that a token is; neither when it is a word. In quotes (`certain`) a word is a name too."""
    called = token.endswith("()")
    token = token.removesuffix("()").replace("\\", "/")
    if not token or len(token) > LONGEST_NAME:
        return [], []
    stem_, dot, ending = token.rpartition(".")
    if dot and stem_ and ending.lower() in _FILE_ENDINGS and re.fullmatch(r"[\w$./~-]+", token):
        return [], [token.removeprefix("./")]
    joined = token.strip("/").replace("/", ".")
    if not _NAME.fullmatch(joined):
        return [], []
    parts = re.split(_JOINT, joined)
    spelled = any("_" in part.strip("_") or _HUMP.search(part) or part.startswith("__") for part in parts)
    # "e.g." and "and/or" are joined too.
    dotted = len(parts) > 1 and "/" not in token and all(len(part) > 1 for part in parts)
    if not (certain or called or spelled or dotted):
        return [], []
    return ["/".join(parts)], []


def _meaningful(text: str) -> tuple[str, ...]:
    found = (fold(word).removesuffix("'s").strip("'") for word in _WORD.findall(text))
    kept = (word for word in found if len(word) > 1 and word not in STOP_WORDS and word not in _CODE_WORDS)
    return tuple(dict.fromkeys(kept))[:MOST_WORDS]


def _aim(folded: str) -> Aim:
    if _CALLEES.search(folded):
        return Aim.CALLEES
    if _CALLERS.search(folded):
        return Aim.CALLERS
    return Aim.STRUCTURE if _STRUCTURE.search(folded) else Aim.DEFINITION
