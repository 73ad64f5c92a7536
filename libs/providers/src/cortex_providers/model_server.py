"""The conversation with a server of models: what its statuses mean, what is asked again, and how batches shrink.

What TEI and OpenAI-compatible servers answer was compared with their documents, and where the two differ both are
understood: TEI says that too large a batch is a 413, and answers 422. OpenAI and vLLM answer 400.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_random_exponential

from cortex_contracts.errors import ErrorCode, Permanent, Unavailable
from cortex_providers.outbound import (
    MAX_RESPONSE_BYTES,
    Answer,
    Destination,
    Outbound,
    Resolve,
    Unanswered,
    Upload,
    system_resolve,
)

ATTEMPTS: Final = 3
MAX_RETRY_AFTER_S: Final = 5.0
"""A server that asks for a longer pause gets this one; who called decides what comes after the last attempt."""
BATCH_BYTES: Final = 1_000_000
"""Texts of one request, in UTF-8: half of TEI's default `payload_limit`, because JSON escapes can double a text."""

_BUSY: Final = frozenset({424, 429, 500, 502, 503, 504, 529})
"""424: the backend of TEI failed; 429 and 503: too many requests, or not loaded yet; 529: Anthropic is overloaded."""

ResultT = TypeVar("ResultT")

_backoff = wait_random_exponential(multiplier=0.1, max=1.0)


def _unexplained(_: Answer) -> str:
    return ""


class Busy(Unavailable):
    """The server cannot work now. `retry_after_s` is how long it asked to be left alone, if it did."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class BatchRefused(Permanent):
    """The server refused what a request holds: all of it together, or one item in it."""


class ModelServer:
    """A client of one server of models."""

    def __init__(
        self,
        url: str,
        *,
        who: str,
        setting: str,
        api_key: str,
        timeout_s: float,
        base: str = "",
        headers: Mapping[str, str] | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        explain: Callable[[Answer], str] = _unexplained,
        key_setting: str | None = None,
        resolve: Resolve = system_resolve,
    ) -> None:
        """`setting` is the prefix of the variables that configure it: CORTEX_EMBEDDINGS of CORTEX_EMBEDDINGS_URL.

        `base` is the path that the server's routes start with; the address may have it or not. `headers` carry the key
        where it is no bearer. `explain` says why a request was refused without a word of what was sent.
        """
        address = url.rstrip("/")
        self.who = who
        self._key_setting = key_setting or f"{setting}_API_KEY"
        self._explain = explain
        self._outbound = Outbound(
            Destination.parse(address if address.endswith(base) else address + base, f"{setting}_URL"),
            who=who,
            timeout_s=timeout_s,
            headers=headers if headers is not None else {"Authorization": f"Bearer {api_key}"} if api_key else {},
            max_response_bytes=max_response_bytes,
            resolve=resolve,
        )

    async def get(self, path: str) -> Any:
        """The JSON at `path`, or none where the server has no such route. It is asked once.

        Raises:
            Unavailable: it does not answer, or refuses the key.
        """
        answer = await self._outbound.get(path)
        if answer.status in (404, 405, 501):
            return None
        if answer.status != 200:
            raise self._key_refused() if answer.status in (401, 403) else Busy(f"{self.who} answered {answer.status}")
        return self._json(answer)

    async def models(self) -> list[str]:
        """The models that a server of OpenAI's API says it has; none when it does not say (see `get`)."""
        answer = await self.get("models")
        try:
            return [str(row["id"]) for row in answer["data"]]
        except (KeyError, TypeError):
            return []

    async def ask(self, path: str, body: Any) -> Any:
        """The JSON that the server answers to `body`. A server that is busy or breaks off is asked again.

        Raises:
            BatchRefused: it does not take what `body` holds (400, 413, 422).
            Permanent: it refused the request otherwise.
            Unavailable: it cannot be reached, is overloaded, slow, or refuses the key.
        """
        return await self._answered(lambda: self._outbound.post(path, body))

    async def upload(self, path: str, fields: Mapping[str, str], files: Sequence[Upload]) -> Any:
        """The JSON that the server answers to a form with files (see `ask`)."""
        return await self._answered(lambda: self._outbound.upload(path, fields, files))

    async def delete(self, path: str) -> None:
        """DELETE `path`; what is gone already is no error (see `ask`)."""
        answer = await self._outbound.delete(path)
        if answer.status not in (200, 202, 204, 404, 410):
            raise self._refused(answer)

    async def _answered(self, send: Callable[[], Awaitable[Answer]]) -> Any:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type((Busy, Unanswered)),
            stop=stop_after_attempt(ATTEMPTS),
            wait=_pause,
            reraise=True,
        ):
            with attempt:
                answer = await send()
                if answer.status == 200:
                    return self._json(answer)
                raise self._refused(answer)
        raise AssertionError("the last attempt raises")

    async def close(self) -> None:
        """Close the connections."""
        await self._outbound.close()

    def _json(self, answer: Answer) -> Any:
        try:
            return answer.json()
        except (ValueError, RecursionError):
            raise Busy(f"{self.who} answered with something that is not JSON") from None

    def _refused(self, answer: Answer) -> Exception:
        """What a status means. Bodies are not read here: their form differs, and some hold the texts that were sent."""
        status = answer.status
        why = self._explain(answer)
        if status in _BUSY:
            return Busy(f"{self.who} answered {status}{why}", _seconds(answer.headers.get("retry-after")))
        if status in (401, 403):
            return self._key_refused()
        if status == 413:
            return BatchRefused(f"the text is too long for {self.who}", code=ErrorCode.TOO_LARGE)
        if status in (400, 422):
            return BatchRefused(f"{self.who} refused the text with {status}{why}")
        return Permanent(f"{self.who} refused the request with {status}{why}")

    def _key_refused(self) -> Unavailable:
        # Retryable: an operator fixes the key while captures wait; nothing may be lost for it.
        return Unavailable(f"{self.who} refused the key in {self._key_setting}")


class Batches:
    """Splits texts into requests that a server takes, and remembers what it takes."""

    def __init__(self, size: int) -> None:
        self.size = size

    async def map(
        self, texts: Sequence[str], send: Callable[[Sequence[str]], Awaitable[Iterable[ResultT]]]
    ) -> list[ResultT]:
        """The results of `send` over all of `texts`, in their order. A batch that is refused is halved.

        Raises:
            BatchRefused: one text alone is refused.
        """
        results: list[ResultT] = []
        start = 0
        while start < len(texts):
            end, size = start + 1, len(texts[start].encode())
            while end < len(texts) and end - start < self.size:
                size += len(texts[end].encode())
                if size > BATCH_BYTES:
                    break
                end += 1
            results += await self._halved(texts[start:end], send)
            start = end
        return results

    async def _halved(
        self, texts: Sequence[str], send: Callable[[Sequence[str]], Awaitable[Iterable[ResultT]]]
    ) -> list[ResultT]:
        try:
            return list(await send(texts))
        except BatchRefused:
            if len(texts) == 1:
                raise
        middle = (len(texts) + 1) // 2
        results = await self._halved(texts[:middle], send) + await self._halved(texts[middle:], send)
        # Both halves were taken, so it was the number of texts that was not: the next batch is as large as these.
        self.size = min(self.size, middle)
        return results


def _pause(state: RetryCallState) -> float:
    """As long as the server asked for, within reason, else a little longer every time."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after_s if isinstance(error, Busy) else None
    return min(asked, MAX_RETRY_AFTER_S) if asked is not None else _backoff(state)


def _seconds(header: str | None) -> float | None:
    """`Retry-After` in seconds; the form with a date is left to the backoff."""
    return float(header) if header is not None and header.isascii() and header.isdigit() else None
