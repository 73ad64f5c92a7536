"""What a text says of how its names stand to each other: precision first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_extraction import entities, relations
from cortex_extraction.predicates import Predicate


def stated(text: str, speaker: str | None = None) -> list[tuple[str, str, str]]:
    found = relations.extract(text, entities.extract(text, speaker=speaker))
    return [(one.subject, one.predicate, one.object) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Omar works at Helio Labs.", [("omar", "works_at", "helio labs")]),
        ("My friend Omar now works for Helio.", [("omar", "works_at", "helio")]),
        ("Lina joined Helio and Orbit in March.", [("lina", "joined", "helio"), ("lina", "joined", "orbit")]),
        ("Lina Haddad and Omar joined Orbit.", [("lina haddad", "joined", "orbit"), ("omar", "joined", "orbit")]),
        ("Omar left Helio last week.", [("omar", "left", "helio")]),
        ("Omar no longer works at Helio.", [("omar", "left", "helio")]),
        ("Lina, who lives in Cairo, likes it.", [("lina", "lives_in", "cairo")]),
        ("Omar has recently moved from Cairo to Paris.", [("omar", "moved_to", "paris")]),
        ("Helio Labs is located in Cairo.", [("helio labs", "located_in", "cairo")]),
        ("Omar's new manager is Lina.", [("lina", "manages", "omar")]),
        ("Zoe reports to Omar and Lina.", [("omar", "manages", "zoe"), ("lina", "manages", "zoe")]),
        ("Sara, the manager of Billing, was away.", [("sara", "manages", "billing")]),
        ("Sara Ali is the owner of the Billing API.", [("sara ali", "owns", "billing api")]),
        ("Atlas is owned by Lina.", [("lina", "owns", "atlas")]),
        ("Orbit was founded by Lina.", [("lina", "founded", "orbit")]),
        ("Lina is a member of Orbit.", [("lina", "member_of", "orbit")]),
        (
            "The Billing API depends on Redis, Postgres and svc-auth-2.",
            [("billing api", "depends_on", name) for name in ("redis", "postgres", "svc-auth-2")],
        ),
        ("svc-auth-2 uses `valkey`.", [("svc-auth-2", "uses", "valkey")]),
        ("Billing was replaced by Ledger.", [("billing", "replaced_by", "ledger")]),
        ("Ledger replaces Billing.", [("billing", "replaced_by", "ledger")]),
        ("Omar replaced Redis with Valkey.", [("redis", "replaced_by", "valkey")]),
        ("Atlas is part of Helio.", [("atlas", "part_of", "helio")]),
        ("Sara is Omar's wife.", [("sara", "married_to", "omar")]),
        ("Omar is married to Sara.", [("omar", "married_to", "sara")]),
        ("[[Billing API]] is blocked by [[Ledger|the ledger]].", [("billing api", "mentions", "ledger")]),
        ("- [[Atlas]] uses [[Redis]]", [("atlas", "uses", "redis")]),
        ("Hello. Omar works at Helio; Lina owns Atlas.", [("omar", "works_at", "helio"), ("lina", "owns", "atlas")]),
    ],
)
def test_what_english_states(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("المهندس سامي يعمل في شركة النور", [("سامي", "works_at", "النور")]),
        ("يعمل المهندس سامي لدى شركة النور.", [("سامي", "works_at", "النور")]),
        ("التحق المهندس سامي بشركة النور", [("سامي", "joined", "النور")]),
        ("انضمّ الدكتور سامي إلى جامعة القاهرة", [("سامي", "joined", "القاهره")]),
        ("استقال المهندس سامي من شركة النور", [("سامي", "left", "النور")]),
        ("يعيش السيد سامي في مدينة الرياض", [("سامي", "lives_in", "الرياض")]),
        ("مدير «أطلس» هو المهندس سامي", [("سامي", "manages", "اطلس")]),
        ("يعتمد «أطلس» على «ريدس»", [("اطلس", "depends_on", "ريدس")]),
        ("تستخدم «أطلس» «ريدس»", [("اطلس", "uses", "ريدس")]),
        ("حلّ «ليدجر» محل «بيلنغ»", [("بيلنغ", "replaced_by", "ليدجر")]),
        ("«أطلس» جزء من «هيليو»", [("اطلس", "part_of", "هيليو")]),
        ("تزوج السيد سامي من السيدة ليلى", [("سامي", "married_to", "ليلي")]),
    ],
)
def test_what_arabic_states(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("text", "speaker", "expected"),
    [
        ("I work at Helio.", "Omar", [("omar", "works_at", "helio")]),
        (
            "I've joined Helio and I live in Cairo.",
            "Omar",
            [("omar", "joined", "helio"), ("omar", "lives_in", "cairo")],
        ),
        ("أعمل في شركة النور", "سلمى", [("سلمي", "works_at", "النور")]),
        ("I joined Helio.", None, []),
        ("We joined Helio.", "Omar", []),
    ],
)
def test_the_first_person_is_the_speaker(text: str, speaker: str | None, expected: list[tuple[str, str, str]]) -> None:
    assert stated(text, speaker) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Did Omar leave? So Omar joined Helio?",
        "If Omar joined Helio, we'd know.",
        "Maybe Omar works at Helio.",
        "Omar might join Helio.",
        "Omar doesn't work at Helio.",
        "I don't think Omar works at Helio.",
        "It is not true that Omar works at Helio.",
        "The manager of Omar works at Helio.",
        "Omar works at Helio's rival.",
        "Omar left Lina a note.",
        "Omar joined Lina for lunch.",
        "The Normans joined Turkish forces.",
        "Everyone joined Helio.",
        "Omar met Lina at Helio.",
        "هل يعمل المهندس سامي في شركة النور؟",
        "لا يعمل المهندس سامي في شركة النور",
        "ربما يعمل المهندس سامي في شركة النور",
        "التقى المهندس سامي بالسيدة ليلى",
    ],
)
def test_what_states_nothing(text: str) -> None:
    assert stated(text) == []


def test_another_statement_does_not_lend_its_subject() -> None:
    assert stated("Lina met Omar and Sami joined Helio.") == [("sami", "joined", "helio")]
    assert stated("Atlas uses Redis and Omar knows Lina.") == [("atlas", "uses", "redis")]


def test_a_relation_is_one_however_often_it_is_said() -> None:
    assert stated("Omar works at Helio. Yes, Omar works for Helio!") == [("omar", "works_at", "helio")]
    many = ". ".join(f"Omar uses Tool{number}" for number in range(60))
    assert len(relations.extract(many, entities.extract(many, limit=100))) == 32


def test_a_long_list_is_no_sentence() -> None:
    assert stated("Omar and Lina, " * 2_000 + "works at Helio.") == []
    assert stated("Omar works at Helio. " + "Omar, Lina and Helio " * 2_000) == [("omar", "works_at", "helio")]


NAMES = ("Omar", "Lina Haddad", "Helio", "svc-auth-2", "[[Atlas]]", "«أطلس»", "المهندس سامي", "شركة النور", "I")
WORDS = (
    "works at joined left lives in is the manager of owns and , 's replaced with by depends on . ? not if from to "
    "يعمل في على يعتمد من هو مدير و بـ \n \ue001 \u200f"
).split(" ")


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from((*NAMES, *WORDS)), max_size=25).map(" ".join), st.sampled_from((None, "Omar", "سلمى")))
def test_ends_are_names_of_the_text_and_different(text: str, speaker: str | None) -> None:
    named = entities.extract(text, speaker=speaker)
    found = relations.extract(text, named)
    assert found == relations.extract(text, named)
    assert len({*found}) == len(found)
    keys = {one.key for one in named}
    for one in found:
        assert {one.subject, one.object} <= keys
        assert one.subject != one.object
        assert one.predicate in set(Predicate)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=300), st.text(max_size=10))
def test_any_text_is_read(text: str, speaker: str) -> None:
    relations.extract(text, entities.extract(text, speaker=speaker))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(NAMES[:4]), st.sampled_from(NAMES[:4]), st.sampled_from(("works at", "owns", "depends on")))
def test_a_doubt_before_it_takes_every_statement_back(subject: str, object_: str, verb: str) -> None:
    plain = f"Yesterday {subject} {verb} {object_}."
    assert bool(stated(plain)) == (subject != object_)
    for doubt in ("Perhaps", "If", "Nobody knows whether"):
        assert stated(f"{doubt} {subject} {verb} {object_}.") == []
