"""REST: read, write, import and delete pages. A slug is the rest of the path: it may hold slashes, in any script."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Coroutine
from email.message import Message as EmailHeaders
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Path, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from cortex_contracts.errors import ErrorCode, Permanent
from cortex_contracts.messages.base import NO_NUL, Name, ShortText
from cortex_contracts.rpc.pages import MAX_PAGE_CHARS, PageDraft, PageReply, PageType, PageWritten, Tag
from cortex_gateway import brain_examples as examples
from cortex_gateway.brain import Brain
from cortex_gateway.brain_answers import StoredPage
from cortex_gateway.brain_filters import Day, VaultFilter
from cortex_gateway.errors import WrongFields
from cortex_gateway.memory_rest import STRICT, Caller
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, Responses, example, refusal, wrong_fields

BODY_LIMIT_BYTES: Final = 4 << 20
"""The longest page, with every character as a JSON escape and some room."""
MAX_SLUG_CHARS: Final = 300
MARKDOWN: Final = "text/markdown"
MULTIPART: Final = "multipart/form-data"
NO_PAGE: Final = "there is no such page"

NAMED: Final[Responses] = {404: refusal("There is no such page for this principal", "not_found", NO_PAGE)}
WRITES: Final[Responses] = {
    404: refusal("There is no such vault", "not_found", "there is no vault notes"),
    413: refusal("The page is too long", "too_large", f"expected a page of at most {MAX_PAGE_CHARS} characters"),
    415: refusal("The body is of another type", "unsupported_media_type", "expected application/json"),
    422: wrong_fields("type", "must be one of: " + ", ".join(PageType)),
}
IMPORT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            MARKDOWN: {"schema": {"type": "string"}, "example": examples.MARKDOWN},
            MULTIPART: {
                "schema": {
                    "type": "object",
                    "properties": {"file": {"type": "string", "contentMediaType": MARKDOWN}},
                    "required": ["file"],
                }
            },
        },
    }
}

Slug = Annotated[
    str,
    Path(
        description="The page's slug, percent-encoded; it may hold slashes, which may be written as they are",
        openapi_examples=examples.SLUGS,
    ),
]


class PageBody(BaseModel):
    """A page to write. The slug in the path wins over anything else, one in the body too."""

    model_config = STRICT

    type: PageType
    title: Name
    tags: tuple[Tag, ...] = Field(default=(), max_length=100)
    body_markdown: str = Field(
        pattern=NO_NUL, description="is stored as it is", json_schema_extra={"maxLength": MAX_PAGE_CHARS}
    )
    effective_date: Day = Field(default=None, description="the day that the page is about")
    sources: tuple[ShortText, ...] | None = Field(default=None, max_length=100)
    slug: Any = Field(default=None, description="ignored: the path's counts", exclude=True)


class OfType(APIRoute):
    """A route that reads JSON and refuses other types, before the body is looked at, with 415."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See `APIRoute`."""
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            if self.body_field is not None and _media_type(request) != "application/json":
                raise HTTPException(415, "expected Content-Type: application/json")
            return await handle(request)

        return checked


def pages_router(brain: Brain) -> APIRouter:
    """The routes over `brain`; who calls them has been authenticated before."""
    routes = APIRouter(prefix="/pages", responses=RESPONSES, dependencies=CREDENTIALS, route_class=OfType)
    shown: dict[str, Any] = {"response_model": StoredPage, "response_model_exclude_none": True}
    stored = example(examples.PAGE, "The page as it is stored")

    # Before the others: a slug may end like this, and only POST means the import.
    @routes.post(
        "/{slug:path}/import",
        summary="Write a page from Markdown with frontmatter",
        responses=WRITES | {200: stored},
        openapi_extra=IMPORT_BODY,
        **shown,
    )
    async def import_page(principal: Caller, slug: Slug, request: Request, vault: VaultFilter = None) -> StoredPage:
        """The slug of the frontmatter wins, the path's is the fallback. Wrong frontmatter is a 422 that names its
        fields. The page is found by its words and its meaning when this has answered."""
        markdown = _short_enough(await _markdown(request))
        return _written(await brain.import_page(principal, _writable(slug), markdown, vault))

    @routes.get("/{slug:path}", summary="A page", responses={**NAMED, 200: stored}, **shown)
    async def get(principal: Caller, slug: Slug, vault: VaultFilter = None) -> StoredPage:
        """The page as it is stored, with the pages it links to."""
        if (found := StoredPage.of(await brain.page(principal, readable(slug), vault))) is None:
            raise Permanent(NO_PAGE, code=ErrorCode.NOT_FOUND)
        return found

    @routes.put("/{slug:path}", summary="Write a page", responses=WRITES | {200: stored}, **shown)
    async def put(
        principal: Caller,
        slug: Slug,
        body: Annotated[PageBody, Body(openapi_examples=examples.BODIES)],
        vault: VaultFilter = None,
    ) -> StoredPage:
        """Whether or not it is there. The page is found by its words and its meaning when this has answered."""
        _short_enough(body.body_markdown)
        draft = PageDraft(**body.model_dump(exclude={"sources"}), sources=body.sources or ())
        return _written(await brain.put(principal, _writable(slug), draft, vault))

    @routes.delete("/{slug:path}", status_code=204, summary="Delete a page", responses=NAMED)
    async def delete(principal: Caller, slug: Slug, vault: VaultFilter = None) -> None:
        """With its links in both directions."""
        if not await brain.delete(principal, readable(slug), vault):
            raise Permanent(NO_PAGE, code=ErrorCode.NOT_FOUND)

    return routes


def readable(slug: str) -> str:
    """A slug that a page can have.

    Raises:
        Permanent: no page can have it, so there is none.
    """
    if _wrong(slug):
        raise Permanent(NO_PAGE, code=ErrorCode.NOT_FOUND)
    return slug


def _writable(slug: str) -> str:
    if wrong := _wrong(slug):
        raise WrongFields(("slug", wrong))
    return slug


def _wrong(slug: str) -> str | None:
    if not 1 <= len(slug.strip("/ ")) <= len(slug) <= MAX_SLUG_CHARS:
        return f"expected between 1 and {MAX_SLUG_CHARS} characters"
    if any(unicodedata.category(one) == "Cc" for one in slug):
        return "expected no control characters"
    return None


def _short_enough(text: str) -> str:
    if len(text) > MAX_PAGE_CHARS:
        message = f"expected a page of at most {MAX_PAGE_CHARS} characters, got {len(text)}"
        raise Permanent(message, code=ErrorCode.TOO_LARGE)
    return text


def _written(reply: PageWritten) -> StoredPage:
    if reply.errors:
        raise WrongFields(*((one.field, one.message) for one in reply.errors))
    if (stored := StoredPage.of(PageReply(page=reply.page))) is None:
        raise Permanent("the page was written, but not told", code=ErrorCode.INTERNAL)
    return stored


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _charset(request: Request) -> str:
    declared = EmailHeaders()
    declared["content-type"] = request.headers.get("content-type", "")
    return (declared.get_content_charset() or "utf-8").lower()


async def _markdown(request: Request) -> str:
    """The Markdown of an import: the body, or the one file of a form."""
    media_type = _media_type(request)
    if media_type == MARKDOWN:
        return _text(await request.body())
    if media_type != MULTIPART:
        raise HTTPException(415, f"expected Content-Type: {MARKDOWN} or {MULTIPART}")
    # The form's reader takes the caller's word for its codec, whichever Python has; some take quadratic time.
    if _charset(request) not in ("utf-8", "utf8"):
        raise HTTPException(415, "expected a form in UTF-8")
    async with request.form(max_files=1, max_fields=16, max_part_size=BODY_LIMIT_BYTES) as form:
        files = [value for value in form.values() if isinstance(value, UploadFile)]
        texts = [value for key, value in form.multi_items() if key == "file" and isinstance(value, str)]
        if files:
            return _text(await files[0].read())
        if texts:
            return texts[0]
    raise WrongFields(("file", "expected a Markdown file"))


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise WrongFields(("body", f"expected UTF-8, byte {error.start} is none")) from None
