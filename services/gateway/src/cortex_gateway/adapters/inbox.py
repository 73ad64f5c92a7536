"""The engine `inbox`: raw notes in Memos, over its HTTP interface.

Memos has no search: it lists memos that hold a substring (`filter`, in CEL), newest first. So it is asked for those
that hold all words of the question, and side by side for those that hold any, as many pages as are worth it; what comes
is judged by its words alone (relevance by words). A server that refuses the filter (0.2x had another one), or fails on
it, is asked for its newest memos instead.

Fields came and went between versions: only `content` is needed, and everything else is taken where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from cortex_contracts.errors import Unavailable
from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.adapters import cel
from cortex_gateway.adapters.dates import moment
from cortex_gateway.adapters.findings import Finding, hits
from cortex_gateway.adapters.json_api import Failing, JsonApi, Refused
from cortex_gateway.adapters.needles import needles
from cortex_gateway.adapters.rag import standing
from cortex_gateway.adapters.records import first
from cortex_gateway.adapters.relevance import WORDED
from cortex_gateway.adapters.settings import EngineSource
from cortex_gateway.adapters.side_by_side import side_by_side
from cortex_providers.outbound import Answer

BASE: Final = "/api/v1"
PAGE: Final = 100
"""Memos of one page; a server may give fewer."""
PAGES: Final = 3
"""Pages of memos that hold any of the words; the newest 300 of them."""
UNFILTERED_PAGES: Final = 5
NEWEST: Final = "update_time desc"
TEXTS: Final = ("content", "snippet")
DATES: Final = ("updateTime", "displayTime", "createTime", "updatedTs", "createdTs")
"""What was changed last was seen last; seconds since 1970 in the oldest."""
CODES: Final = {
    3: "INVALID_ARGUMENT",
    5: "NOT_FOUND",
    7: "PERMISSION_DENIED",
    8: "RESOURCE_EXHAUSTED",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
    16: "UNAUTHENTICATED",
}
"""google.rpc.Code."""

Memo = Mapping[str, JsonValue]


class Inbox:
    """A Memos server."""

    def __init__(self, source: EngineSource) -> None:
        self._api = JsonApi(source, base=BASE, headers=source.sent_headers, explain=explained)
        self._standing = standing(source, SourceClass.RECENT_FILE)
        self._filters = True
        self._orders = True

    async def open(self) -> None:
        """Connect and ask for one memo."""
        await self._api.open()
        self._filters = self._orders = True
        await self.check()

    async def close(self) -> None:
        """Close the connections."""
        await self._api.close()

    async def check(self) -> None:
        """Ask for one memo."""
        await self._listed(1, 1)

    async def last_ingest(self) -> datetime | None:
        """When the newest memo was touched."""
        memos = await self._listed(1, 1)
        return max((when for memo in memos if (when := _date(memo)) is not None), default=None)

    async def search(self, query: str, k: int) -> Sequence[Hit]:
        """Memos that share words with the question."""
        wanted = needles(query)
        if not wanted:
            return []
        memos = await self._found(wanted, k) if self._filters else await self._newest(wanted)
        found = {finding.path: finding for memo in memos if (finding := _finding(memo)) is not None}
        return hits(query, list(found.values()), k, WORDED, self._standing)

    async def _found(self, wanted: Sequence[tuple[str, ...]], k: int) -> list[Memo]:
        conditions = {cel.all_of(wanted): 1, cel.any_of(wanted): PAGES}  # of one word both are the same
        answers = await side_by_side(
            *(self._filtered(max(k, PAGE), pages, condition) for condition, pages in conditions.items())
        )
        found = [memos for memos in answers if memos is not None]
        if len(found) < len(answers):
            return await self._newest(wanted)
        return [memo for memos in found for memo in memos]

    async def _filtered(self, size: int, pages: int, condition: str) -> list[Memo] | None:
        """Memos of which `condition` is true, newest first; none when the server cannot do that."""
        try:
            return await self._listed(size, pages, condition)
        except Failing:
            return None
        except Refused:
            self._filters = False
            return None

    async def _newest(self, wanted: Sequence[tuple[str, ...]]) -> list[Memo]:
        """The newest memos, and of them what the filter would have given."""
        forms = [form for word in wanted for form in word]
        return [
            memo
            for memo in await self._listed(PAGE, UNFILTERED_PAGES)
            if any(form in str(memo.get(name, "")).lower() for name in TEXTS for form in forms)
        ]

    async def _listed(self, size: int, pages: int, condition: str = "") -> list[Memo]:
        """At most `pages` pages of memos, those first that were touched last where the server can say so."""
        found: list[Memo] = []
        seen = {""}
        token = ""
        for _ in range(pages):
            answer = await self._page(size, condition, token)
            memos = answer.get("memos")
            found += [memo for memo in memos if isinstance(memo, Mapping)] if isinstance(memos, list) else []
            following = answer.get("nextPageToken")
            # A token that comes again would lead around for ever.
            if not isinstance(following, str) or following in seen:
                break
            seen.add(token := following)
        return found

    async def _page(self, size: int, condition: str, token: str) -> Memo:
        parameters: dict[str, str | int] = {"pageSize": size, "state": "NORMAL"}
        parameters |= {name: value for name, value in (("filter", condition), ("pageToken", token)) if value}
        try:
            answer = await self._api.get("memos", parameters | ({"orderBy": NEWEST} if self._orders else {}))
        except Refused:
            if not self._orders:
                raise
            # The order or the rest: without it the server says which.
            answer = await self._api.get("memos", parameters)
            self._orders = False
        if not isinstance(answer, Mapping):
            raise Unavailable(f"{self._api.who} answered with something that is no list of memos")
        return answer


def explained(answer: Answer) -> str:
    """The code of a google.rpc.Status; its message would quote the filter, which is the question."""
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return ""
    code = body.get("code") if isinstance(body, Mapping) else None
    return f" ({CODES[code]})" if isinstance(code, int) and code in CODES else ""


def _date(memo: Memo) -> datetime | None:
    return next((when for name in DATES if (when := moment(memo.get(name))) is not None), None)


def _finding(memo: Memo) -> Finding | None:
    text = first(memo, TEXTS)
    if not isinstance(text, str) or "ARCHIVED" in (memo.get("state"), memo.get("rowStatus")):
        return None
    held = memo.get("property")
    told = held.get("title") if isinstance(held, Mapping) else None
    first_line = next((line for line in text.splitlines() if line.strip()), "").lstrip("#>*- ")
    title = told if isinstance(told, str) and told else first_line
    return Finding(text=text, title=title, path=f"memos/{_uid(memo)}", date=_date(memo))


def _uid(memo: Memo) -> str:
    """`5nqh…` of `memos/5nqh…`; the oldest servers have a `uid` beside a numbered name, or an `id` alone."""
    name = first(memo, ("uid", "name", "id"))
    return str(name).removeprefix("memos/") if isinstance(name, str | int) else ""


def engine(source: EngineSource) -> Inbox:
    """The engine that is configured. Raises Permanent when its address is none."""
    return Inbox(source)
