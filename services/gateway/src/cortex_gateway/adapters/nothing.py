"""Answers that say in words that there is nothing. Pure."""

from __future__ import annotations

import re
from typing import Final

SHORT: Final = 400
"""Characters of such an answer with the advice that follows, without the question that it may repeat."""
_NOTHING: Final = re.compile(
    r"\W*(?:(?:sorry|info|note|[\w -]{1,40}\])\W+)?(?:no|0|zero)\b(?:\s+\w+){0,3}?\s+"
    r"(?:results?|matche?s?|documents?|hits?|entries|passages?|memories|context|information|records?|files?|notes?"
    r"|entities)\b"
    r"|\W*no\b(?:\s+\w+){1,4}?\s+(?:found|match(?:e[sd])?|available)\b"
    r"|\W*(?:nothing|none)\b(?:\s+\w+){0,2}?\s+(?:found|match\w*)\b"
    r"|\W*not(?:hing)?\s+found\b"
    r"|\W*(?:(?:sorry|i|we)\W+)*(?:could\s+not|couldn['’]t|did\s+not|didn['’]t|unable\s+to)\s+find\s+any"
    r"|\W*(?:your|the)\s+(?:search|query)\W+(?:for\W+)?(?:did\s+not|didn['’]t)\s+match"
    r"|\W*(?:your|the)\s+(?:search|query)\W+(?:for\W+)?returned\s+(?:no|0|zero)\b"
    r"|\W*لا\s+(?:توجد|يوجد)\b|\W*لم\s+يتم\s+العثور"
    r"|\W*(?:null|none|nil|undefined)\W*\Z",  # what a language calls it
    re.IGNORECASE,
)
"""The sentence of a tool that found nothing, at the beginning of a short answer."""


def says_nothing(text: str, question: str = "") -> bool:
    """Whether an answer only tells that nothing was found, or only repeats the `question`."""
    rest = text.replace(question.strip(), " ") if question.strip() else text
    return not any(map(str.isalnum, rest)) or (len(rest.strip()) <= SHORT and _NOTHING.match(rest) is not None)
