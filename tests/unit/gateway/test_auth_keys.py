from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.errors import Permanent, Unavailable
from cortex_contracts.messages.base import Principal
from cortex_contracts.messages.events import KeyEvent
from cortex_contracts.rpc.keys import ResolvedKey, ResolveKeyRequest
from cortex_gateway import auth_keys
from cortex_gateway.auth import Credential, Way
from cortex_gateway.auth_keys import FRESH_S, MOST, RETRY_S, STALE_S, UNKNOWN_S, AgentKeys, NewKey


class Ingest:
    """Who knows the keys, as the test wants it."""

    def __init__(self) -> None:
        self.keys: dict[str, ResolvedKey] = {}
        self.asked = 0
        self.away = False
        self.broken = False
        self.gate: asyncio.Event | None = None
        self.seen = asyncio.Event()

    def make(self, **more: object) -> NewKey:
        new = NewKey.make()
        principal = Principal(org="local", subject="agent", authenticated_by=f"key:{new.key_id}")
        self.keys[new.digest] = ResolvedKey.model_validate({"key_id": new.key_id, "principal": principal, **more})
        return new

    async def resolve(self, request: ResolveKeyRequest) -> ResolvedKey:
        self.asked += 1
        answer = self.keys.get(request.digest, ResolvedKey())
        self.seen.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.away:
            raise Unavailable("no ingest service answers")
        if self.broken:
            raise Permanent("an unexpected error happened")
        return answer


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ingest() -> Ingest:
    return Ingest()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(ingest: Ingest, clock: Clock) -> AgentKeys:
    return AgentKeys(ingest.resolve, clock)


def shown(new: NewKey | str, way: Way = Way.KEY) -> Credential:
    return Credential(way, (new if isinstance(new, str) else new.key).encode())


def ended(new: NewKey) -> KeyEvent:
    return KeyEvent(event_id=uuid4(), org="local", key_id=new.key_id, revoked=True, occurred_at=datetime.now(UTC))


@pytest.mark.parametrize("way", list(Way))
async def test_a_key_proves_its_principal_in_either_header(ingest: Ingest, keys: AgentKeys, way: Way) -> None:
    new = ingest.make()
    principal = await keys.verify(shown(new, way))
    assert principal == ingest.keys[new.digest].principal


def test_keys_have_their_id_and_256_bits_in_them_and_differ() -> None:
    made = [NewKey.make() for _ in range(50)]
    assert len({one.key for one in made}) == len({one.key_id for one in made}) == 50
    for one in made:
        assert one.key.startswith(f"ctx_{one.key_id}_")
        assert len(one.key.split("_", 2)[2]) == 43  # 32 bytes in base64
        assert auth_keys.FORM.fullmatch(one.key.encode())


async def test_a_key_that_was_asked_about_is_good_for_a_while(ingest: Ingest, keys: AgentKeys, clock: Clock) -> None:
    new = ingest.make()
    for _ in range(5):
        assert await keys.verify(shown(new))
    assert ingest.asked == 1
    clock.now += FRESH_S
    assert await keys.verify(shown(new))
    assert ingest.asked == 2


async def test_a_key_that_ended_unheard_works_for_the_backstop_and_not_longer(
    ingest: Ingest, keys: AgentKeys, clock: Clock
) -> None:
    new = ingest.make()
    assert await keys.verify(shown(new))
    del ingest.keys[new.digest]
    clock.now += FRESH_S - 0.1
    assert await keys.verify(shown(new))
    clock.now += 0.1
    assert await keys.verify(shown(new)) is None


async def test_the_end_of_a_key_is_heard_at_once(ingest: Ingest, keys: AgentKeys) -> None:
    new, other = ingest.make(), ingest.make()
    assert await keys.verify(shown(new))
    assert await keys.verify(shown(other))
    del ingest.keys[new.digest]
    keys.heard(ended(new))
    assert await keys.verify(shown(new)) is None
    assert await keys.verify(shown(other))


async def test_an_answer_from_before_the_end_is_not_kept(ingest: Ingest, keys: AgentKeys) -> None:
    new = ingest.make()
    ingest.gate = asyncio.Event()
    asking = asyncio.create_task(keys.verify(shown(new)))
    await ingest.seen.wait()  # it has read the key, and its answer is on the way
    del ingest.keys[new.digest]
    keys.heard(ended(new))
    ingest.gate.set()
    assert await asking is None


async def test_while_ingest_is_away_known_keys_stay_and_unknown_ones_cannot_be_told(
    ingest: Ingest, keys: AgentKeys, clock: Clock
) -> None:
    known, unknown = ingest.make(), ingest.make()
    assert await keys.verify(shown(known))
    ingest.away = True
    clock.now += STALE_S - RETRY_S
    assert await keys.verify(shown(known))
    asked = ingest.asked
    assert await keys.verify(shown(known))
    assert ingest.asked == asked, "a time-out each time would make every request slow"
    with pytest.raises(Unavailable):
        await keys.verify(shown(unknown))
    clock.now += RETRY_S
    with pytest.raises(Unavailable):
        await keys.verify(shown(known))
    ingest.away = False
    assert await keys.verify(shown(known))
    assert await keys.verify(shown(unknown))


async def test_a_key_that_ended_does_not_live_on_while_ingest_is_away(ingest: Ingest, keys: AgentKeys) -> None:
    new = ingest.make()
    assert await keys.verify(shown(new))
    keys.heard(ended(new))
    ingest.away = True
    with pytest.raises(Unavailable):
        await keys.verify(shown(new))


async def test_a_failure_of_ingest_is_no_answer_about_a_key(ingest: Ingest, keys: AgentKeys) -> None:
    new = ingest.make()
    ingest.broken = True
    with pytest.raises(Unavailable, match="cannot be told now"):
        await keys.verify(shown(new))


async def test_a_key_ends_by_its_own_date_even_while_ingest_is_away(ingest: Ingest, keys: AgentKeys) -> None:
    past = ingest.make(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    future = ingest.make(expires_at=datetime.now(UTC) + timedelta(days=1))
    assert await keys.verify(shown(past)) is None
    assert await keys.verify(shown(future))


async def test_nobody_is_asked_twice_about_a_wrong_key_in_a_short_time(
    ingest: Ingest, keys: AgentKeys, clock: Clock
) -> None:
    wrong = NewKey.make()
    for _ in range(3):
        assert await keys.verify(shown(wrong)) is None
    assert ingest.asked == 1
    clock.now += UNKNOWN_S
    assert await keys.verify(shown(wrong)) is None
    assert ingest.asked == 2


async def test_many_wrong_keys_take_a_bounded_room(
    ingest: Ingest, keys: AgentKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST >= 1000
    monkeypatch.setattr(auth_keys, "MOST", 8)
    for _ in range(20):
        await keys.verify(shown(NewKey.make()))
        await keys.verify(shown(ingest.make()))
    assert len(keys._unknown) == len(keys._known) == 8


async def test_who_asks_about_one_key_at_the_same_time_asks_once(ingest: Ingest, keys: AgentKeys) -> None:
    new = ingest.make()
    ingest.gate = asyncio.Event()
    asking = [asyncio.create_task(keys.verify(shown(new))) for _ in range(20)]
    await ingest.seen.wait()
    asking[0].cancel()  # whoever asked first may leave
    ingest.gate.set()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert all(isinstance(one, Principal) for one in answers[1:])
    assert ingest.asked == 1


FORMS = st.one_of(
    st.binary(max_size=80),
    st.from_regex(r"ctx_[0-9a-fA-F]{11,13}_[A-Za-z0-9_-]{42,44}", fullmatch=True).map(str.encode),
)


@settings(deadline=None, max_examples=150)
@given(FORMS)
async def test_only_what_has_the_form_of_a_key_is_asked_about(secret: bytes) -> None:
    ingest = Ingest()
    assert await AgentKeys(ingest.resolve).verify(Credential(Way.KEY, secret)) is None
    assert ingest.asked == bool(auth_keys.FORM.fullmatch(secret))
