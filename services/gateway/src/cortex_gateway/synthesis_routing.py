"""Which model words an answer (gateway contract section 4): the cheap one a simple question, the dear one a hard one.

Pure functions. A question is hard when it asks for reasons, comparisons or a plan, asks several things, is long, or no
single source has its words: then an answer has to be put together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from cortex_extraction.folding import fold
from cortex_gateway.question_fit import content, read

LONG_QUESTION: Final = 30
"""Words; a question of one thing is shorter (of ours written for tests, the longest simple one has 19)."""
APART: Final = 0.6
"""Share of the question's words that the sources have together: where none of them alone has more, the answer is put
together from several."""

_HARD: Final = re.compile(
    r"\b(?:why|how (?:come|do|does|did|can|could|should|would)|compar\w+|differ\w*|versus|vs|trade-?offs?|"
    r"pros and cons|advantages?|explain|summari[sz]e|summary|overview|analy[sz]e|plan|design|recommend\w*|"
    r"should (?:we|i)|impact|consequences?|implications?|relat\w+ (?:to|between)|depends? on|what (?:happens|would|if)|"
    r"walk me through|history of|step by step|root cause)\b"
    r"|(?:^|\s)[وف]?(?:لماذا|ليش|ليه|كيف|اشرح|قارن|لخص|حلل|ما الفرق|ماذا لو|ما سبب|ما تاثير|ما العلاقه)(?:\s|$)"
)


class Model(StrEnum):
    """The two models that there can be."""

    OLLAMA = "ollama"
    CLAUDE = "claude"


class Difficulty(StrEnum):
    """How much a question asks of who words the answer."""

    SIMPLE = "simple"
    HARD = "hard"


def difficulty(query: str, sources: Sequence[str]) -> Difficulty:
    """How hard it is to answer `query` from `sources`, which are texts."""
    folded = fold(query)
    if _HARD.search(folded) or len(re.findall("[?؟]", query)) > 1 or len(query.split()) > LONG_QUESTION:
        return Difficulty.HARD
    words = read(query).words
    held = [words & content(source) for source in sources]
    together = frozenset().union(*held)
    alone = max(map(len, held), default=0)
    return Difficulty.HARD if len(together) >= 2 and alone <= APART * len(together) else Difficulty.SIMPLE


def route(question: Difficulty, there: frozenset[Model]) -> tuple[Model, ...]:
    """The models to ask, in turn, of those that are there; none: the answer is merged.

    A simple question never goes to the paid model; a hard one goes to the local one where the paid one is off or fails.
    """
    wanted = (Model.CLAUDE, Model.OLLAMA) if question is Difficulty.HARD else (Model.OLLAMA,)
    return tuple(model for model in wanted if model in there)
