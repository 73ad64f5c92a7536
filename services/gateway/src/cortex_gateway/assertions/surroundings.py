"""Surroundings: what a title, a heading or a label says that the lines under it are about."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from cortex_gateway.assertions import arabic, english
from cortex_gateway.assertions.subjects import CONTENT, NOWHERE, Setting
from cortex_gateway.assertions.words import Role, words

GENERAL: Final = english.LOOSE | arabic.LOOSE
"""Words that tell no thing from another."""
_FILE: Final = re.compile(r"\.(?:md|txt|ya?ml|json|toml|ini|conf|py|rst|adoc)\b")


@lru_cache(maxsize=2_048)
def setting(title: str) -> Setting:
    """What a title says that its page is about."""
    if not title:
        return NOWHERE
    found = [
        word
        for word in words(_FILE.sub("", title).replace("/", " ").replace("_", " "))
        if word.role in {*CONTENT, Role.FIGURE, Role.HEDGE}
    ]
    kept = [word for word in found if word.norm not in english.DOCUMENTS and word.key not in english.DOCUMENTS]
    kept = [word for word in kept if word.norm not in english.COMMANDS and word.state is None]
    return Setting(frozenset(word.key for word in kept), " ".join(word.raw for word in kept))


def label(text: str) -> Setting:
    """What a label says that its line is about; a general word, or one for a kind of document, says nothing."""
    found = setting(text) if text else NOWHERE
    if found.topic <= GENERAL:
        return NOWHERE
    ends = [word for word in words(text) if word.role is not Role.DROPPED]
    kinds = {key for word in (ends[:1] + ends[-1:]) for key in (word.norm, word.key)}
    return NOWHERE if kinds & (english.DOCUMENTS | english.GREETINGS) else found
