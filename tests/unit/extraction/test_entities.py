"""What a text names, and what a question may name."""

from __future__ import annotations

import pytest

from cortex_extraction.entities import MAX_CANDIDATES, Entity, EntityKind, Role, candidates, extract


def names(text: str, kind: EntityKind) -> list[str]:
    return [entity.name for entity in extract(text) if entity.kind is kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday I met Caroline and Mary.", ["Caroline", "Mary"]),
        ("The Eiffel Tower is in Paris.", ["Eiffel Tower", "Paris"]),
        ("Visiting Lisbon was fun.", ["Lisbon"]),
        ("Omar works at Helio.", ["Omar", "Helio"]),
        ("Sara, the owner of Atlas, is here.", ["Sara", "Atlas"]),
        ("Everyone joined Helio.", ["Helio"]),
        ("Success depends on effort.", []),
        ("Nothing here. Everything opens a sentence.", []),
        ("Sweden is cold. We left Sweden.", ["Sweden"]),
        ("Hey Caroline! Thanks Melanie.", ["Caroline", "Melanie"]),
        ("That was Melanie's idea.", ["Melanie"]),
        ("It was O’Brien’s dog.", ["O’Brien"]),
        ("We asked Dr. Smith about it.", ["Dr. Smith"]),
        ("She reads Lord of the Rings on GitHub.", ["Lord of the Rings", "GitHub"]),
        ("GitHub was down.", ["GitHub"]),
        ("On Monday I left; in March I'm back.", []),
        ("THIS IS ALL SHOUTED IN CAPITALS", []),
        ("the API uses NASA data", ["API", "NASA"]),
        ("The report of Q3 is late.", []),
        ("قابلت الدكتور محمد البرادعي في مدينة القاهرة", ["محمد البرادعي", "القاهرة"]),
        ("يعمل لشركة جوجل مع السيد عبد الرحمن.", ["جوجل", "عبد الرحمن"]),
        ("زرنا مدينة كبيرة", []),
        ("ذهبت إلى البيت", []),
    ],
)
def test_names_of_persons_and_things(text: str, expected: list[str]) -> None:
    assert names(text, EntityKind.PERSON_OR_THING) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call getUserById now", ["getUserById"]),
        ("restart svc-auth-2 and gpt-4", ["svc-auth-2", "gpt-4"]),
        ("since v1.2.3 and 2.0.1-rc1.", ["v1.2.3", "2.0.1-rc1"]),
        ("in libs/store/terms.py and /etc/hosts", ["libs/store/terms.py", "/etc/hosts"]),
        ("see https://Docs.Example.org/a/b?c=1#d", ["docs.example.org"]),
        ("mail bob@example.org, fixed #123 by @alice_b", ["bob@example.org", "#123", "@alice_b"]),
        ("use os.path.join and snake_case_name, MAX_SIZE", ["os.path.join", "snake_case_name", "MAX_SIZE"]),
        ("run `make lint` first", ["make lint"]),
        ("خدمة svc-auth-2 متوقفة", ["svc-auth-2"]),
        ("a well-known mid-2023 problem, e.g. in Q3, 10km away at 3pm", []),
        ("great.Thanks for the 20-year-old", []),
    ],
)
def test_identifiers(text: str, expected: list[str]) -> None:
    assert names(text, EntityKind.IDENTIFIER) == expected


def test_wikilinks_quotations_and_dates() -> None:
    found = extract("[[Project Atlas#Goals|the project]] quotes “The Name of the Wind” and «الأيام» of 7 May 2023.")
    assert [(entity.key, entity.kind) for entity in found] == [
        ("project atlas", EntityKind.WIKILINK),
        ("name of the wind", EntityKind.QUOTED),
        ("الايام", EntityKind.QUOTED),
        ("2023-05-07", EntityKind.DATE),
    ]


def test_the_speaker_comes_first_and_once() -> None:
    assert extract("So said Caroline.", speaker=" Caroline ") == (
        Entity("Caroline", "caroline", EntityKind.PERSON_OR_THING, Role.SPEAKER),
    )
    assert extract("مرحبا", speaker="كارولين")[0].key == "كارولين"


def test_the_limit_holds_and_spellings_are_one() -> None:
    assert len(extract(" ".join(f"x{number}-y" for number in range(100)), limit=7)) == 7
    assert len(extract("we met Zoë, ZOË and zoë; the Zoë")) == 1


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("What did Caroline say?", "caroline"),
        ("Who is Melanie's sister?", "melanie"),
        ("who is melanie’s sister", "melanie"),
        ("what about the lord of the rings?", "lord of the rings"),
        ("Was it in New York's centre?", "new york"),
        ("ماذا قلت لكارولين؟", "كارولين"),
        ("من التقى بكارولين؟", "كارولين"),
        ("أنا وكارولين", "كارولين"),
        ("ماذا حدث بالقاهرة؟", "القاهره"),
        ("ماذا قيل للقاهرة؟", "القاهره"),
        ("what about محمد البرادعي?", "محمد البرادعي"),
        ("where is getUserById?", "getuserbyid"),
        ("who runs svc-auth-2?", "svc-auth-2"),
        ("who fixed #123?", "#123"),
        ('who wrote "The Name of the Wind"?', "name of the wind"),
        ("what of [[Project Atlas|it]]?", "project atlas"),
        ("what happened on 7 May 2023?", "2023-05-07"),
    ],
)
def test_a_question_offers_the_key_of_what_it_names(question: str, key: str) -> None:
    assert key in candidates(question)


def test_stop_words_are_no_candidates_and_the_number_is_bounded() -> None:
    assert candidates("what is it that they have been about?") == ()
    assert candidates("ماذا كان في هذا؟") == ()
    assert len(candidates(" ".join(f"word{number}" for number in range(500)))) == MAX_CANDIDATES


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday I met Caroline at the Eiffel Tower.",
        "see [[Project Atlas]] and svc-auth-2",
        "مدينة القاهرة",
        "قال «الأيام»",
    ],
)
def test_what_a_memory_names_is_found_by_a_question_that_repeats_it(text: str) -> None:
    for entity in extract(text):
        assert entity.key in candidates(f"what about {entity.name}?")
