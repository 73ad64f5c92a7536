"""Values that stand where a secret would stand: placeholders, references to it, names of types."""

from __future__ import annotations

import re
from typing import Final

_REFERENCE: Final = re.compile(
    r"[<\[{(]|\$|%\(|%[A-Za-z_]+%|%s\b|\*{2,}|\.{3}|…|(?:env|vault|secret|secrets|op|ref|file|arn|kms|ssm):"
)
_PLACEHOLDER: Final = re.compile(
    r"(?:your|my|the|some|insert|enter|replace|put|set|add)[_.\- ]?(?:own|new|real|actual|api|secret|password|pass|pwd|"
    r"token|key|access|auth|client|user|value|db)|(?:change|replace|fill)[_\-]?(?:me|this|it|in)\b|changeit|placeholder|redacted|"
    r"to[_\-]?be[_\-]?|\.\.\.|…|\*{3}|x{4,}|dummy|(?:-|_|^)here$|^(?:todo|tbd|fixme|n/?a)$",
    re.IGNORECASE,
)
_WORDS: Final = frozenset(
    "hashed encrypted expired rejected accepted masked redacted protected nobody anything something string str "
    "text bytes byte int integer number bool boolean float object any null none nil undefined true false void "
    "required optional empty missing unset unknown invalid valid wrong hidden secret secrets password passwords "
    "passwd pwd pass passphrase passcode token tokens apikey api_key access key keys credential credentials auth "
    "bearer basic oauth jwt default env environment vault file prompt input stdin ask yes no on off enabled "
    "disabled example sample test foo bar baz value private public username user root varchar char type field "
    "text/plain self this args kwargs new old current confirm confirmation reset forgot change show hide".split()
)


def is_placeholder(value: str) -> bool:
    """Whether `value` only marks the place of a secret, or says where it is."""
    bare = value.strip("\"'`.,;:!?*_-()")
    return (
        _REFERENCE.match(value) is not None
        or _PLACEHOLDER.search(value) is not None
        or len(set(bare)) <= 1
        or is_ordinary_word(bare)
    )


def is_ordinary_word(value: str) -> bool:
    """Whether `value` is a word that names a secret, its type or its state, not the secret."""
    return value.casefold() in _WORDS
