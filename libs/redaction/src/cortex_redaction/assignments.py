"""Secrets known by what is written before them: `password=…`, `"api_key": "…"`, "the password is …", "كلمة السر: …".

A value is cut if it is plainly one: in quotes, or mixed of letters and digits, or set in an environment
(`DB_SECRET_WORDS=x`), a command line (`--password=x`) or a query. A type, an expression, a reference (`${TOKEN}`,
`os.environ[…]`), a placeholder or a word that only names the secret is left alone; so is prose about passwords.
`token` means much else, so it asks for a long mixed value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cortex_redaction.credentials import Credential
from cortex_redaction.placeholders import is_ordinary_word, is_placeholder

_PHRASES: Final = r"pass(?:word|wd|phrase|code)|pwd|psw|PGPASSWORD"
_KEY_WORDS: Final = (
    r"secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key|account[_-]?key|"
    r"master[_-]?key|shared[_-]?key|brain[_-]?key|licen[sc]e[_-]?key|storage[_-]?key"
)
_WEAK_WORDS: Final = r"token|credential|auth"
_VALUE: Final = (
    r"(?:\\?(?P<quote>[\"'`])(?P<quoted>[^\"'`\n\\]{1,512})\\?(?P=quote)"
    r"|(?P<bare>[^\s\"'`<>(){}\[\],;&|\\]{3,512}))"
)
_ASSIGNMENT: Final = re.compile(
    rf"(?P<dashes>--?)?(?:(?P<password>{_PHRASES})|(?P<secret>{_KEY_WORDS})|(?P<token>{_WEAK_WORDS}))"
    r"(?P<suffix>[\w-]{0,30}?)(?P<close>\\?[\"'`]?\]?)(?P<sign>[ \t]{0,8}(?::=|=>|==?|:)[ \t]{0,8}|(?<=\w)[ \t](?=\S))"
    rf"{_VALUE}",
    re.IGNORECASE | re.ASCII,
)
_NAME_OF_ANOTHER: Final = re.compile(
    r"s?[_-]?(?:name|id|type|path|file|url|uri|field|label|hint|ref|arn|len|length|policy|version|count|limit|expir\w*|ttl|at|"
    r"hash\w*|salt|prompt|min|max|size|regex|pattern|format|title|text|placeholder|message|error|help|host|port|user|email|"
    r"method|mode|status|strength|manager|provider|class|column|param\w*|header|env|env_?var|input|digest|fingerprint|public|"
    r"required|reset|changed?|scheme|or|ization|entication|enticated|ored?|hor\w*|backend|server|issuer|scopes?)$",
    re.IGNORECASE,
)
_PROSE: Final = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|pwd|secret|api[ _-]?key|access key|token|pin(?: code)?|login|creds?|"
    r"credentials)\b(?P<between>[^\n:=.,;!?\"'`]{0,40}?)(?:[ ](?:is|was|are|will be|to)(?: now)?:?|[ ]?[:=])[ ]{1,3}"
    r"(?:(?P<quote>[\"'`“«*]{1,2})(?P<quoted>[^\s\"'`”»*]{3,128})[\"'`”»*]|(?P<bare>[^\s\"'`<>(){}\[\],;“”«»]{4,128}))",
    re.IGNORECASE,
)
_ARABIC: Final = re.compile(
    r"(?:كلم[ةه] ?(?:ال)?(?:سر|مرور|عبور)|(?:ال)?رمز ?(?:ال)?(?:سري?|مرور|دخول|وصول|تحقق)|(?:ال)?رقم ?(?:ال)?سري|"
    r"(?:ال)?مفتاح ?(?:(?:ال)?سري?|api|الواجهة)|"
    r"(?:ال)?باس ?و+رد|(?:ال)?توكن)"
    r"[^\n:=.،؛!?؟\"'`«“：]{0,40}?(?:[ ]?[:=：]|[ ](?:هي|هو|صار|صارت|أصبحت|اصبحت|أصبح|اصبح|إلى|الى|is)[ ]?:?)[ ]{0,3}"
    r"(?:(?P<quote>[\"'`«“*]{1,2})(?P<quoted>[^\n\"'`»”*]{3,128})[\"'`»”*]|(?P<bare>[!-~]{4,128}|\d{4,32}))",
    re.IGNORECASE,
)
_TRAILING: Final = ".,;:!?؟،؛…)"
_SEPARATED: Final = re.compile(r"[?&;]$")
_EXPRESSION: Final = re.compile(
    r"(?:[A-Za-z_]\w*(?:\.|->|::|\?\.))+[A-Za-z_]\w*$|[A-Za-z_]\w*[.(\[]|[/~.@\\]|https?://", re.ASCII
)
_NUMBERED_WORD: Final = re.compile(
    r"v?\d+(?:[.,:/-]\d+)*[a-z%]{0,4}$|utf-?8|sha-?\d+|\d+-?\w+$", re.ASCII | re.IGNORECASE
)


def assigned_secrets(text: str) -> Iterator[Credential]:
    """The values in `text` that are assigned or said to be a password, a secret key or a token."""
    lowered = text.lower()
    if any(mark in lowered for mark in ("pass", "pwd", "psw", "key", "secret", "token", "credential", "auth")):
        yield from _assignments(text)
    if any(mark in lowered for mark in ("pass", "pwd", "key", "secret", "token", "pin", "login", "cred")):
        for match in _PROSE.finditer(text):
            yield from _said(match, "password")
    if any(mark in text for mark in ("كلم", "رمز", "رقم", "مفتاح", "باس", "توكن")):
        for match in _ARABIC.finditer(text):
            yield from _said_in_arabic(match)


def _assignments(text: str) -> Iterator[Credential]:
    for match in _ASSIGNMENT.finditer(text):
        if _NAME_OF_ANOTHER.match(match["suffix"]) or match["suffix"].lower() in ("s", "es"):
            continue
        blank = not match["sign"].strip()
        if blank and match["dashes"] != "--":
            continue
        value = match["quoted"] if match["quoted"] is not None else match["bare"].rstrip(_TRAILING)
        if is_placeholder(value):
            continue
        quoted = match["quoted"] is not None
        if _is_quoted_secret(match, value) if quoted else _is_bare_secret(text, match, value):
            start = match.start("quoted" if quoted else "bare")
            kind = "password" if match["password"] else "token" if match["token"] else "secret"
            yield Credential(start, start + len(value), kind)


def _is_quoted_secret(match: re.Match[str], value: str) -> bool:
    if match["token"]:
        return len(value) >= 16 and _is_mixed(value) and not re.search(r"\s|://", value)
    if re.search(r"\s", value):
        return "phrase" in match["password"].lower() if match["password"] else False
    if _EXPRESSION.match(value) and not re.search(r"\d", value):
        return False
    if match["password"]:
        return len(value) >= 4 and not _is_name(value)
    return len(value) >= 6 and not _is_name(value)


def _is_name(value: str) -> bool:
    """Whether a value reads as the name of a field or resource: `db_password`, `api-key`, `UserSecret`, `API_KEY`."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^A-Za-z\d_\-.:/]+", value)
    return all(part.isalpha() for part in parts) and any(is_ordinary_word(part) for part in parts)


def _is_bare_secret(text: str, match: re.Match[str], value: str) -> bool:
    following = text[match.end() : match.end() + 1]
    if following in ("(", "[", "{", "<") or _EXPRESSION.match(value) or _is_name(value):
        return False
    if match["token"]:
        return len(value) >= 16 and _is_mixed(value)
    if _is_mixed(value) and not (len(value) < 8 and _NUMBERED_WORD.match(value)):
        return len(value) >= (5 if match["password"] else 8)
    sign = match["sign"]
    if match["password"] and _is_alone(text, match, value):
        return True
    if sign != "=" and not (match["dashes"] == "--" and not sign.strip()):
        return False
    before = text[max(0, match.start() - 40) : match.start()]
    name = match[0][: match.start("sign") - match.start()]
    set_in_environment = name.isupper() and not re.search(r"[a-z]\w*$", before)
    return bool(match["dashes"] == "--" or set_in_environment or _SEPARATED.search(before)) and len(value) >= 4


def _is_alone(text: str, match: re.Match[str], value: str) -> bool:
    """Whether a word stands as in a file of settings: `password=x` on its own, or a line `password: x`."""
    line_start = text.rfind("\n", max(0, match.start() - 40), match.start()) + 1
    before, following = text[line_start : match.start()], text[match.end() : match.end() + 1]
    if match.end() - match.start("bare") != len(value) or len(value) < 5 or not value.isalpha():
        return False
    if before.rstrip().endswith((",", "(")):
        return False
    if match["sign"] == "=":
        return (
            not following.strip() and (not before or before[-1].isspace()) and not before.rstrip().endswith((",", "("))
        )
    own_line = not before.strip(" \t-") and following in ("", "\n", "\r")
    return own_line and match["sign"].strip() == ":" and value.islower()


def _is_mixed(value: str) -> bool:
    return bool(re.search(r"[A-Za-z]", value) and re.search(r"\d", value))


def _said(match: re.Match[str], kind: str) -> Iterator[Credential]:
    value = match["quoted"] or match["bare"].rstrip(_TRAILING)
    start = match.start("quoted") if match["quoted"] else match.start("bare")
    if is_placeholder(value) or _EXPRESSION.match(value) or _is_name(value):
        return
    password = match[0][:4].lower() in ("pass", "pwd")
    if password and match["quoted"]:
        secret = True
    elif _is_mixed(value):
        secret = len(value) >= (5 if password else 16) and not _NUMBERED_WORD.match(value)
    else:
        number = value.isdecimal() and len(value) >= 4 and not match.string[match.end() :].lstrip()[:1].isalpha()
        symbols = re.search(r"[A-Za-z][!@#$%^&*+=~]|[!@#$%^&*+=~][A-Za-z]", value)
        secret = bool(number and match[0][:3].lower() in ("pas", "pwd", "pin")) or bool(password and symbols)
    if secret:
        yield Credential(start, start + len(value), kind)


def _said_in_arabic(match: re.Match[str]) -> Iterator[Credential]:
    value = match["quoted"] or match["bare"].rstrip(_TRAILING)
    start = match.start("quoted") if match["quoted"] else match.start("bare")
    if len(value) >= 4 and not is_placeholder(value) and not _EXPRESSION.match(value) and not _is_name(value):
        yield Credential(start, start + len(value), "password")
