"""What a principal with half of its lists may do."""

from __future__ import annotations

import pytest

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.ingest import Access
from cortex_store import grants, memory_index
from cortex_store.database import Database

BOUND = "SELECT bound_to('readable', $1), bound_to('writable', $1), bound_to('owned', $1)"
ALL, NOTHING = (True, True, True), (False, False, False)
GIVEN = (True, True, False)


@pytest.mark.parametrize(
    ("readable", "writable", "expected"),
    [
        (None, None, {"one": ALL, "two": ALL, "given": ALL}),
        # Who may read some namespaces only writes and shares no others.
        (("one",), None, {"one": ALL, "two": NOTHING, "given": GIVEN}),
        ((), None, {"one": NOTHING, "two": NOTHING, "given": GIVEN}),
        # Who writes some namespaces only may read the others.
        (None, ("one",), {"one": ALL, "two": (True, False, False), "given": GIVEN}),
        (("two",), ("one",), {"one": ALL, "two": (True, False, False), "given": GIVEN}),
        ((), (), {"one": NOTHING, "two": NOTHING, "given": GIVEN}),
    ],
)
async def test_a_list_that_is_not_there_gives_no_more_than_the_one_that_is(
    database: Database,
    readable: tuple[str, ...] | None,
    writable: tuple[str, ...] | None,
    expected: dict[str, tuple[bool, bool, bool]],
) -> None:
    async with database.transaction(Principal(org="mine", subject="owner")) as connection:
        await grants.put(connection, grants.Grant("given", "agent", Access.WRITE))
    agent = Principal(org="mine", subject="agent", readable=readable, writable=writable)
    async with database.transaction(agent) as connection:
        assert {name: tuple(await connection.fetchrow(BOUND, name) or ()) for name in expected} == expected
        assert await memory_index.may_write(connection, "two") is expected["two"][1]
