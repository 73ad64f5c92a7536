"""Where a text stops telling and begins to address the model that reads it. Pure functions.

No list is complete. What is found here is not shown to a model and supports no sentence; what is not found is still
quoted data, can cite nobody but itself, and is held to what it says (`synthesis_check`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from cortex_extraction.folding import fold
from cortex_gateway.sentences import split

_ORDERS: Final = (
    # Leave your orders.
    r"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow|do not obey|stop following)\b"
    r"[^.!?\n]{0,40}\b"
    r"(?:instructions?|prompts?|guidelines?|system messages?|your (?:orders|rules)|"
    r"(?:previous|prior|earlier|above|other|your|these|all) (?:text|context|messages?|rules?|directions?|sources?|"
    r"receipts?|data|commands?)|everything (?:above|before|else))",
    # You are somebody else now.
    r"\b(?:you are now|you are no longer|from now on,? you|act as (?:an? |if |the )|pretend (?:to be|you|that you)|"
    r"your new (?:role|task|instructions?|goal)|new (?:system )?instructions? ?:|developer mode|jailbreak|dan mode)",
    # Say this.
    r"\b(?:you must|you should|you will|you have to|always|please|now|instead|simply)"
    r"(?: only| always| now| instead| just| simply)? (?:answer|respond|reply|say|output|cite|claim|tell the user)\b",
    r"^\W*(?:answer|respond|reply|cite|say)\b (?:with|only|exactly|that|as|the following|\W*[\"'“«])",
    r"^\W*(?:output|print|repeat|write) (?:only|exactly|the following|\W*[\"'“«])",
    r"\b(?:in your (?:answer|reply|response|output)|tell the user|when (?:answering|you answer|asked about)|"
    r"your (?:answer|reply|response) (?:must|should|has to|is))\b",
    # To whom it speaks.
    r"\b(?:system prompt|the assistant (?:must|should|will|has to)|dear (?:ai|assistant|model)|(?:hey|hi|hello),? "
    r"(?:ai|assistant|chatgpt|claude|model)\b|as an? (?:ai|language model|ai assistant)\b)",
    r"\b(?:note|message|instructions?|attention|notice|important) ?(?:to|for|:) ?(?:the |all |any |every )?"
    r"(?:ai|llm|assistant|(?:language |ai )?model|agent|chatbot)s?\b",
    r"\b(?:ai|llm|language|chat) ?(?:assistants?|models?|agents?|bots?)(?: that| who)?(?: is| are)? "
    r"(?:reads?|must|should|reading|processing|summarizing)",
    # The marks of a conversation.
    r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|instructions?|untrusted|sources?|user|human)>",
    r"(?:^|\s)#{2,} ?(?:system|instructions?|assistant|user|human)\b|(?:^|[\n\"}\]]) ?(?:assistant|human) ?:",
    r"[\"}\]]\s*(?:system|user) ?:",
    # Arabic, folded.
    r"(?:تجاهل|تجاهلي|تجاهلوا|انس|اهمل|تخط)\b.{0,30}(?:تعليمات|اوامر|القواعد|ما سبق|المصادر|الرسائل السابقه)",
    r"(?:^|\s)(?:انت الان|من الان فصاعدا|تصرف كانك|ايها المساعد|ايها النموذج|موجه النظام)",
    r"(?:يجب ان|يجب عليك ان|عليك ان|رجاء|فقط) (?:تجيب|تقول|ترد|اجب|قل)|(?:^|\s)(?:اجب|رد|قل) (?:فقط|بان|ان)\b",
)
_ORDER: Final = re.compile("|".join(_ORDERS))


@lru_cache(2_048)
def addresses_a_model(text: str) -> bool:
    """Whether `text` has words or marks that are meant for whoever answers, not for whoever asks."""
    return _ORDER.search(text.casefold() if text.isascii() else fold(text)) is not None


@lru_cache(2_048)
def told(text: str) -> str:
    """`text` up to the first sentence that addresses a model: who wrote that one also wrote what follows."""
    kept: list[str] = []
    for line in text.split("\n"):
        for sentence in split(line):
            if addresses_a_model(sentence):
                return "\n".join(kept).strip()
            kept.append(sentence)
    return "" if addresses_a_model(text) else text  # some do so only across their sentences
