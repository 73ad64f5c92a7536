"""NATS permissions: a service reaches its own part of the bus and nothing of another's."""

from __future__ import annotations

from typing import Any

import pytest

from cortex_contracts import subjects
from cortex_contracts.permissions import OPERATOR, PROVISIONER, USERS, inbox_prefix, of_publisher, publisher_user
from cortex_contracts.registry import PUBLICATIONS, RPCS
from cortex_contracts.rpc import engine
from cortex_contracts.rpc.cold import THAW
from cortex_contracts.rpc.contract import Rpc
from cortex_contracts.services import SERVICES, ServiceContract
from cortex_contracts.streams import CONSUMERS, STREAMS

services = pytest.mark.parametrize("contract", SERVICES, ids=lambda contract: contract.name)


def may_publish(user: str, subject: str) -> bool:
    return any(subjects.covers(allowed, subject) for allowed in USERS[user].publish)


def might_publish(user: str, pattern: str) -> bool:
    """Whether some subject of the pattern is allowed."""
    return any(subjects.overlaps(allowed, pattern) for allowed in USERS[user].publish)


def may_subscribe(user: str, subject: str) -> bool:
    denied = any(subjects.covers(pattern, subject) for pattern in USERS[user].not_subscribe)
    return not denied and any(subjects.covers(allowed, subject) for allowed in USERS[user].subscribe)


@services
def test_a_service_reaches_every_subject_it_uses(contract: ServiceContract) -> None:
    name = contract.name
    assert all(may_publish(name, pattern) for pattern in (*contract.publishes, *contract.calls))
    assert all(may_subscribe(name, rpc.subject) for rpc in contract.serves)
    assert may_subscribe(name, f"{inbox_prefix(name)}.abc.1")
    assert all(may_subscribe(name, f"$SRV.{verb}.{name}.id") for verb in ("PING", "INFO", "STATS"))
    assert USERS[name].allow_responses
    for consumer in contract.consumes:
        stream, durable = consumer.stream.name, consumer.name
        assert may_publish(name, f"$JS.API.CONSUMER.INFO.{stream}.{durable}")
        assert may_publish(name, f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}")
        assert may_publish(name, f"$JS.ACK.{stream}.{durable}.1.2.3.4.5")
        assert may_publish(name, f"$JS.ACK.{stream}.{durable}.domain.account.1.2.3.4.5.token")


@pytest.mark.parametrize("rpc", [rpc for rpc in RPCS if rpc.cancellable], ids=lambda rpc: rpc.subject)
def test_who_answers_a_cancellable_rpc_hears_its_cancels_and_who_calls_it_sends_them(rpc: Rpc[Any, Any]) -> None:
    for user in USERS:
        assert may_publish(user, rpc.cancel_subject) is may_publish(user, rpc.subject)
        if user != OPERATOR:
            assert may_subscribe(user, rpc.cancel_subject) is may_subscribe(user, rpc.subject)


@services
def test_a_service_can_not_publish_events_or_commands_of_another(contract: ServiceContract) -> None:
    for publication in PUBLICATIONS:
        own = any(subjects.overlaps(publication.pattern, pattern) for pattern in contract.publishes)
        assert might_publish(contract.name, publication.pattern) is own


@pytest.mark.parametrize(
    ("publication", "owners"),
    [
        ("capture", {"gateway"}),
        ("sync", {"gateway", "ingest", "webhook"}),
        ("memory_event", {"ingest", "recall", "sleep"}),
        ("page_event", {"ingest"}),
        ("sleep_event", {"sleep"}),
        ("wake_event", {"sleep"}),
        ("key_event", {"ingest"}),
    ],
)
def test_each_kind_of_message_has_its_known_publishers(publication: str, owners: set[str]) -> None:
    (pattern,) = [p.pattern for p in PUBLICATIONS if p.name == publication]
    assert {contract.name for contract in SERVICES if might_publish(contract.name, pattern)} == owners


@services
def test_a_service_can_not_read_or_acknowledge_the_work_of_another(contract: ServiceContract) -> None:
    for consumer in CONSUMERS:
        if consumer not in contract.consumes:
            assert not might_publish(contract.name, f"$JS.API.CONSUMER.*.{consumer.stream.name}.{consumer.name}")
            assert not might_publish(contract.name, f"$JS.API.CONSUMER.MSG.NEXT.{consumer.stream.name}.{consumer.name}")
            assert not might_publish(contract.name, f"$JS.ACK.{consumer.stream.name}.{consumer.name}.>")


@services
def test_a_service_writes_the_dead_letters_of_its_own_consumers_only(contract: ServiceContract) -> None:
    for consumer in CONSUMERS:
        subject = subjects.dead_letter(consumer.stream.name, consumer.name)
        assert may_publish(contract.name, subject) is (consumer in contract.consumes)


@services
def test_a_service_can_not_answer_for_another_nor_listen_to_its_replies(contract: ServiceContract) -> None:
    for rpc in RPCS:
        assert may_subscribe(contract.name, rpc.subject) is (rpc in contract.serves)
    for other in USERS:
        if other != contract.name:
            assert not may_subscribe(contract.name, f"{inbox_prefix(other)}.abc")


@pytest.mark.parametrize("user", ["gateway", "engines"])
def test_adapters_answer_for_any_engine_but_the_built_in_ones(user: str) -> None:
    for rpc in (engine.ask("rag"), engine.health("rag")):
        assert may_subscribe(user, rpc.subject)
    assert may_subscribe(user, engine.ask("rag").cancel_subject)
    for key in engine.BUILT_IN_ENGINES:
        for rpc in (engine.ask(key), engine.health(key)):
            assert not may_subscribe(user, rpc.subject)
            assert not may_subscribe(user, rpc.cancel_subject)


def test_nobody_else_answers_for_an_engine_that_is_not_built_in() -> None:
    answering = {user for user in USERS if may_subscribe(user, engine.ask("rag").subject)}
    assert answering == {"gateway", "engines", OPERATOR}


@services
def test_a_service_can_not_create_or_delete_streams_and_consumers(contract: ServiceContract) -> None:
    for verb in ("CREATE", "UPDATE", "DELETE", "PURGE"):
        assert not any(might_publish(contract.name, f"$JS.API.STREAM.{verb}.{stream.name}") for stream in STREAMS)
    for verb in ("CREATE", "DURABLE.CREATE", "DELETE"):
        assert not might_publish(contract.name, f"$JS.API.CONSUMER.{verb}.>")


@services
def test_a_service_hears_no_events_but_those_that_it_watches(contract: ServiceContract) -> None:
    for publication in PUBLICATIONS:
        watched = any(subjects.covers(pattern, publication.pattern) for pattern in contract.watches)
        assert may_subscribe(contract.name, publication.pattern) is watched


def test_only_the_gateway_and_operators_call_services_but_for_what_ingest_brings_back() -> None:
    callers = {user for user in USERS if any(might_publish(user, rpc.subject) for rpc in RPCS)}
    assert callers == {"gateway", OPERATOR, "ingest"}
    assert [rpc.subject for rpc in RPCS if might_publish("ingest", rpc.subject)] == [THAW.subject]


def test_a_publisher_sends_captures_of_its_own_org_and_nothing_else() -> None:
    allowed = of_publisher("acme")
    assert allowed.publish == (f"{subjects.PREFIX}.cmd.capture.acme.>",)
    assert allowed.subscribe == (f"{inbox_prefix(publisher_user('acme'))}.>",)
    assert not allowed.allow_responses
    (pattern,) = allowed.publish
    assert subjects.covers(pattern, subjects.capture("acme", "chat"))
    others = [subjects.capture("acme2", "chat"), subjects.sync("acme", "handbook"), *(r.subject for r in RPCS)]
    assert not any(subjects.overlaps(pattern, other) for other in (*others, "$JS.API.>", subjects.EVENT_PATTERN))


@pytest.mark.parametrize("org", ["*", ">", "a.b", "", "A"])
def test_a_publisher_of_a_malformed_org_does_not_exist(org: str) -> None:
    with pytest.raises(ValueError, match="org must match"):
        of_publisher(org)


def test_an_operator_can_replay_a_dead_letter_of_every_consumer() -> None:
    assert all(may_publish(OPERATOR, consumer.filter_subject) for consumer in CONSUMERS)


def test_an_operator_watches_everything_and_provisions_nothing() -> None:
    assert all(may_subscribe(OPERATOR, publication.pattern) for publication in PUBLICATIONS)
    for verb in ("CREATE", "UPDATE", "DELETE"):
        assert not might_publish(OPERATOR, f"$JS.API.STREAM.{verb}.*")
    assert not may_publish(OPERATOR, "$JS.API.STREAM.PURGE.CAPTURES")


def test_the_provisioner_manages_streams_and_touches_no_message() -> None:
    assert may_publish(PROVISIONER, "$JS.API.STREAM.CREATE.CAPTURES")
    assert not might_publish(PROVISIONER, f"{subjects.PREFIX}.>")
    assert not may_subscribe(PROVISIONER, f"{subjects.PREFIX}.evt.memory.retain.acme.personal")


def test_no_user_sees_all_inboxes() -> None:
    for user, allowed in USERS.items():
        reachable = [
            other for other in USERS if any(subjects.covers(p, f"{inbox_prefix(other)}.x") for p in allowed.subscribe)
        ]
        assert reachable == [user]
