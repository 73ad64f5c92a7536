"""REST: the keys of agents under `/api/v1/keys`, for owners."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Path, Response

from cortex_contracts.rpc.keys import KEY_ID_PATTERN, Key, KeyDraft, Keys
from cortex_gateway.keys import CreatedKey, KeyRing
from cortex_gateway.memory_rest import STRICT, Caller
from cortex_gateway.openapi import CREDENTIALS, RESPONSES, TOO_LARGE, Responses, example, refusal, wrong_fields

PREFIX: Final = "/api/v1/keys"
KEY: Final[dict[str, Any]] = {
    "key_id": "3f9a1c07b2de",
    "subject": "milly",
    "role": "member",
    "readable": ["handbook", "atlas"],
    "writable": ["atlas"],
    "created_by": "owner",
    "created_at": "2026-11-30T09:30:00Z",
    "expires_at": None,
    "revoked_at": None,
    "last_used_at": None,
}
DRAFT_EXAMPLES: Final[dict[str, Any]] = {
    "everything": {"summary": "An agent that may use all of the org", "value": {"subject": "eve"}},
    "narrow": {
        "summary": "An agent of two projects, until the end of the year",
        "value": {
            "subject": "milly",
            "readable": ["handbook", "atlas"],
            "writable": ["atlas"],
            "expires_at": "2026-12-31T23:59:59Z",
        },
    },
}
MANAGED: Final[Responses] = {
    **RESPONSES,
    403: refusal(
        "Only owners manage keys, and none wider than their own", "forbidden", "only the role owner manages keys"
    ),
    422: wrong_fields("subject", "Field required"),
}


class KeyBody(KeyDraft):
    """Whose key, what it may read and write, and until when."""

    model_config = STRICT


KeyIdPath = Annotated[str, Path(pattern=KEY_ID_PATTERN, description="The readable part of the key")]


def keys_router(keys: KeyRing) -> APIRouter:
    """The routes over `keys`; who calls them has been authenticated before."""
    routes = APIRouter(prefix=PREFIX, tags=["keys"], responses=MANAGED, dependencies=CREDENTIALS)

    @routes.post(
        "",
        summary="Make a key for an agent",
        status_code=201,
        responses={
            **TOO_LARGE,
            201: example({**KEY, "key": "ctx_3f9a1c07b2de_<43 characters>"}, "The key: it is shown this once"),
            400: refusal("It would not work", "invalid_request", "expires_at: expected a time to come"),
            409: refusal("There is such a key already", "conflict", "there is such a key already: make another one"),
        },
    )
    async def create(
        principal: Caller, draft: Annotated[KeyBody, Body(openapi_examples=DRAFT_EXAMPLES)], response: Response
    ) -> CreatedKey:
        """A key is `ctx_<id>_<secret>`, sent as `X-Brain-Key` or as a bearer. Only its SHA-256 is stored."""
        response.headers["Cache-Control"] = "no-store"
        return await keys.create(principal, draft)

    @routes.get("", summary="The keys of agents", responses={200: example({"keys": [KEY]})})
    async def listed(principal: Caller) -> Keys:
        """Those that work first, then those that were revoked; the newest first, at most 500."""
        return await keys.listed(principal)

    @routes.delete(
        "/{key_id}",
        summary="Revoke a key",
        responses={
            200: example({**KEY, "revoked_at": "2026-11-30T10:00:00Z"}),
            404: refusal("There is no such key", "not_found", "there is no key 3f9a1c07b2de"),
        },
    )
    async def revoke(principal: Caller, key_id: KeyIdPath) -> Key:
        """It stops working at once, for good. To revoke twice changes nothing."""
        return await keys.revoke(principal, key_id)

    return routes
