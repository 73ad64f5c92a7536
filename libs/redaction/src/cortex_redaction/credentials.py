"""Credentials known by their own form: tokens with a vendor's prefix, keys in armour, passwords in addresses.

Forms are those that the vendors document; what has no form of its own is known by what is written before it
(`assignments`). Entropy alone is no evidence here: hashes, ids and encoded images are random too. Every pattern is
tried only if one of its marks occurs in the text, and has bounded repeats, so the time is linear in the length.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cortex_redaction.placeholders import is_placeholder


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential of a kind at `text[start:end]`."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Form:
    """How one kind looks. What the group `it` matched is cut, or the whole match if there is none."""

    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]


def _form(kind: str, marks: str, *patterns: str, flags: int = 0) -> _Form:
    return _Form(kind, tuple(marks.split()), re.compile("|".join(patterns), re.ASCII | flags))


_LEFT = r"(?<![A-Za-z0-9])"
_HEX = "[0-9a-f]"
_WORD = "[A-Za-z0-9_-]"
_FORMS: Final = (
    _form(
        "aws-secret-key",
        "AKIA ASIA",  # the pair, as the console and CSV exports show it
        r"A[KS]IA[A-Z0-9]{16}[\s,;:|/\"']{1,20}(?P<it>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _form("aws-access-key", "AKIA ASIA ABIA ACCA", _LEFT + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _form(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        _LEFT + r"gh[pousr]_[A-Za-z0-9_]{30,255}",
        _LEFT + r"github_pat_[A-Za-z0-9_]{22,255}",
    ),
    _form(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glft- glsoat- glagent- glimt- gloas- GR1348941",
        _LEFT + rf"gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas)-{_WORD}{{20,300}}(?:\.[0-9a-z]{{2,9}}){{0,2}}",
        _LEFT + rf"GR1348941{_WORD}{{20,60}}",
    ),
    _form("slack-token", "xox xapp-", _LEFT + r"(?:xoxe\.)?(?:xox[abdeoprs]|xapp)-[A-Za-z0-9-]{10,300}"),
    _form(
        "webhook",
        "hooks.slack.com /api/webhooks/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<it>[A-Za-z0-9+/_-]{20,200})",
        rf"discord(?:app)?\.com/api/webhooks/(?P<it2>[0-9]{{15,21}}/{_WORD}{{60,100}})",
    ),
    _form(
        "stripe-key",
        "sk_ rk_ whsec_",
        _LEFT + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,250}|whsec_[A-Za-z0-9+/=]{24,100})",
    ),
    _form(
        "ai-key",  # OpenAI, Anthropic, OpenRouter and who copies them; then Groq, Hugging Face, xAI, Replicate
        "sk- gsk_ hf_ xai- r8_",
        _LEFT + rf"sk-(?:ant|proj|svcacct|admin|None|or)-{_WORD}{{20,300}}",
        _LEFT + r"sk-(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{32,200}",
        _LEFT + rf"(?:gsk_[A-Za-z0-9]{{40,100}}|hf_[A-Za-z0-9]{{30,60}}|xai-[A-Za-z0-9]{{60,100}}|r8_{_WORD}{{37}})",
    ),
    _form(
        "google-key",
        "AIza GOCSPX- ya29. 1//0",
        _LEFT
        + rf"(?:AIza{_WORD}{{35}}(?!{_WORD})|GOCSPX-{_WORD}{{28}}|ya29\.{_WORD}{{20,1000}}|1//0{_WORD}{{40,200}})",
    ),
    _form("cortex-key", "ctx_", _LEFT + rf"ctx_{_HEX}{{12}}_{_WORD}{{43}}"),
    _form("npm-token", "npm_", _LEFT + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _form("pypi-token", "pypi-AgE", _LEFT + rf"pypi-AgE{_WORD}{{50,500}}"),
    _form(
        "jwt",
        "eyJ",
        rf"(?<![A-Za-z0-9_-])eyJ{_WORD}{{8,4000}}\.(?:eyJ{_WORD}{{8,16000}}\.{_WORD}{{0,4000}}"
        rf"|{_WORD}{{0,4000}}\.{_WORD}{{10,400}}\.{_WORD}{{10,16000}}\.{_WORD}{{10,400}})",
    ),
    _form("nats-seed", "SU SA SO SN SC SX", _LEFT + r"S[UAONCX][A-Z2-7]{56}(?![A-Za-z0-9])"),
    _form("private-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{58,100}", flags=re.IGNORECASE),
    _form(
        "azure-key",
        "Key= sig=",
        r"(?:AccountKey|SharedAccessKey|AccessKey)=(?P<it>[A-Za-z0-9+/]{40,100}={0,2})",
        r"[?&](?:amp;)?sig=(?P<it2>[A-Za-z0-9%+/]{40,100}(?:=|%3D){0,2})",
    ),
    _form("telegram-token", ":AA", r"(?<![A-Za-z0-9])[0-9]{7,12}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    _form(
        "service-token",  # each with a prefix of its own, as its vendor documents it
        "SG. shpat_ shpss_ shpca_ lin_api_ ntn_ dop_v1_ dapi hvs. PMAK- NRAK- sntrys_ glsa_ ATATT3 pscale_ dp.pt. key- "
        "tskey- SK HRKU- lsv2_",
        _LEFT
        + r"(?:"
        + rf"SG\.{_WORD}{{22}}\.{_WORD}{{43}}|"
        + rf"shp(?:at|ss|ca|pa)_{_HEX}{{32}}|"
        + r"(?:lin_api_|ntn_)[A-Za-z0-9]{40,60}|"
        + rf"do[opr]_v1_{_HEX}{{64}}|"
        + rf"dapi{_HEX}{{32}}(?![A-Za-z0-9])|"
        + rf"hvs\.{_WORD}{{24,300}}|"
        + rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}|"
        + r"NRAK-[A-Z0-9]{27}|"
        + r"(?:sntrys_|glsa_|ATATT3)[A-Za-z0-9_=+/-]{32,400}|"
        + rf"pscale_(?:tkn|pw|oauth)_{_WORD}{{30,64}}|"
        + r"dp\.pt\.[A-Za-z0-9]{40,44}|"
        + rf"(?:key-{_HEX}{{32}}|SK{_HEX}{{32}})(?![A-Za-z0-9])|"
        + r"tskey-[a-z]{2,10}-[A-Za-z0-9]{8,40}-[A-Za-z0-9]{16,60}|"
        + rf"HRKU-{_WORD}{{36,80}}|"
        + rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}})",
    ),
    _form(
        "password",  # in an address: the rest of it stays
        "://",
        # With a database or broker a raw `/` is read as part of the password, unless it ends a port.
        r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|nats|tls|mssql|clickhouse|cockroachdb|kafka|ldaps?)"
        r"(?:\+[a-z0-9]{1,20})?://[^\s:/@\"'`<>]{0,128}:(?![0-9]{1,5}[/?,])(?P<it>[^\s\"'`<>]{1,256})@(?=[^\s@/\"'`<>])",
        r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'`<>?#]{0,128}:(?P<it2>[^\s/\"'`<>]{1,256})@(?=[^\s@/\"'`<>])",
    ),
    _form(
        "authorization",
        "uthorization UTHORIZATION earer BEARER",
        r"authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:bearer|basic|token|apikey|digest|aws4-hmac-sha256|bot|key)\s{1,4}"
        r"(?P<it>[^\s\"'\\`<>{}$*]{6,4000})",
        r"(?<![a-z])bearer\s{1,4}(?P<it2>(?=[a-z._~+/-]{0,200}[0-9])[a-z0-9._~+/-]{16,4000}={0,2})",
        flags=re.IGNORECASE,
    ),
    _form(
        "password",
        "curl",
        r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?[\"']?[\w.@+-]{1,64}:(?P<it>[^\s\"'`]{3,128})",
    ),
)
_BEGIN = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}(?:PRIVATE KEY(?: BLOCK)?|NKEY SEED|NATS USER JWT)-----", re.ASCII
)
_END = re.compile(r"-----END [A-Z0-9 ]{2,50}-----", re.ASCII)
# What follows a BEGIN whose END is missing: armour headers and lines of base64, also escaped or quoted line by line.
_MATERIAL = re.compile(
    r"(?:(?:\s|\\[nrt]|[\"'>|#,]){0,50}(?:[A-Za-z0-9+/=_-]{16,}+|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200}))+"
    r"(?:(?:\s|\\[nrt])[ \t>|#\"']{0,20}[A-Za-z0-9+/=]{1,15}(?![A-Za-z0-9+/=]))?",
    re.ASCII,
)


def credentials_in(text: str) -> Iterator[Credential]:
    """The credentials of `text`, by kind; they may overlap, the more telling kind first."""
    if "-----BEGIN " in text:
        yield from _armoured(text)
    for form in _FORMS:
        if not any(mark in text for mark in form.marks):
            continue
        for match in form.pattern.finditer(text):
            group = next((name for name in ("it", "it2") if match.groupdict().get(name)), 0)
            if not (group and is_placeholder(match[group])):
                yield Credential(match.start(group), match.end(group), form.kind)


def _armoured(text: str) -> Iterator[Credential]:
    begins = list(_BEGIN.finditer(text))
    ends = [match.end() for match in _END.finditer(text)]
    for number, begin in enumerate(begins):
        following = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        index = bisect_left(ends, begin.end())
        if index < len(ends) and ends[index] <= following:
            yield Credential(begin.start(), ends[index], "private-key")
        elif material := _MATERIAL.match(text, begin.end(), following):
            yield Credential(begin.start(), material.end(), "private-key")
