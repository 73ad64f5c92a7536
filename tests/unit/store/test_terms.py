from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_extraction.folding import fold
from cortex_store import terms

ARABIC = st.text(alphabet="ابتثجحخدذرزسشصضطظعغفقكلمنهوي", min_size=1, max_size=12)
TASHKEEL = st.text(alphabet="ًٌٍَُِّْٰـ", max_size=3)
WORDS = st.text(alphabet=st.characters(categories=("L", "Nd")), min_size=1, max_size=20)


def found(text: str) -> list[str]:
    return list(terms.terms(text))


@pytest.mark.parametrize(
    ("written", "searched"),
    [
        ("مُحَمَّدٌ كَتَبَ الرِّسَالَةَ", "محمد كتب الرسالة"),
        ("الســــلام", "السلام"),
        ("أحمد إلى آخر ٱلأمر", "احمد الي اخر الامر"),
        ("مدرسة", "مدرسه"),
        ("مستشفى", "مستشفي"),
        ("کتاب فارسی", "كتاب فارسي"),
        ("١٢٣ ۴۵۶", "123 456"),
        ("ﻣﺤﻤﺪ", "محمد"),
        ("STRASSE", "straße"),
        ("co\u00adopera\u200btion", "cooperation"),
    ],
)
def test_two_ways_to_write_a_word_give_the_same_terms(written: str, searched: str) -> None:
    assert found(written) == found(searched)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("svc-auth-2", ["svc-auth-2", "svc", "auth", "2"]),
        ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("CORTEX_NATS_URL", ["cortex_nats_url", "cortex", "nats", "url"]),
        ("_private", ["private"]),
        ("end.", ["end"]),
    ],
)
def test_an_identifier_is_kept_whole_and_also_split(identifier: str, expected: list[str]) -> None:
    assert found(identifier) == expected


def test_words_of_scripts_with_combining_vowels_stay_whole() -> None:
    assert found("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]


def test_encoded_data_is_no_word() -> None:
    assert found("a" * 81 + " key") == ["key"]


def test_a_question_has_a_limited_number_of_distinct_terms() -> None:
    asked = terms.content_terms(" ".join(f"w{number}" for number in range(500)) + " w1 w1")
    assert len(asked) == terms.MAX_QUERY_TERMS


def test_chinese_and_japanese_are_found_by_pairs_of_characters() -> None:
    assert found("项目预算") == ["项目预算", "项目", "目预", "预算"]
    assert found("预算") == ["预算"]
    assert set(found("東京タワー")) >= {"東京", "京タ", "タワ"}
    assert set(found("预算")) <= set(found("今天的会议讨论了项目预算。"))


def test_words_are_located_as_they_are_written() -> None:
    text = "The «svc-auth-2» of Müller’s كتـابُها, 项目预算, getUsersById; dying lies"
    wanted = [*terms.analyse("svc-auth-2 müller كتاب 预算 user"), *terms.analyse("die lie")]
    places = {text[start:end]: set(stems) for start, end, stems in terms.located(text, wanted)}
    assert places == {
        "svc-auth-2": {"svc-auth-2"},
        "svc": {"svc"},
        "auth": {"auth"},
        "2": {"2"},
        "Müller": {"müller"},
        "كتـابُها": {"كتاب"},
        "预算": {"预算"},
        "getUsersById": {"user"},
        "dying": {"die"},
        "lies": {"lie"},
    }


@given(st.text(), st.text())
def test_every_located_word_is_a_piece_of_the_text_with_stems_that_are_wanted(text: str, question: str) -> None:
    wanted = set(terms.analyse(question))
    for start, end, stems in terms.located(text, wanted):
        assert 0 <= start < end <= len(text)
        assert stems
        assert stems <= wanted & set(terms.analyse(text[start:end]))


@given(st.lists(WORDS, min_size=1, max_size=8), st.data())
def test_every_word_is_located_by_its_stems(words: list[str], data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(words))
    wanted = terms.analyse(word)
    found = {stem for _, _, stems in terms.located(" ".join(words), wanted) for stem in stems}
    assert found == set(wanted)


@given(ARABIC, st.data())
def test_tashkeel_and_tatweel_never_change_the_terms(word: str, data: st.DataObject) -> None:
    marked = "".join(char + data.draw(TASHKEEL) for char in word)
    assert found(marked) == found(word)


@given(st.text())
def test_canonically_equal_texts_have_the_same_terms(text: str) -> None:
    assert found(unicodedata.normalize("NFD", text)) == found(unicodedata.normalize("NFC", text))


@given(WORDS)
def test_case_never_changes_the_folded_form(word: str) -> None:
    assert fold(fold(word)) == fold(word)
    assert fold(word.casefold()) == fold(word)


@given(st.text())
def test_terms_are_never_empty_and_hold_no_space(text: str) -> None:
    for term in terms.terms(text):
        assert 0 < len(term) <= terms.MAX_TERM_LENGTH
        assert not any(char.isspace() for char in term)


@given(st.lists(WORDS, min_size=1, max_size=10))
def test_every_word_of_a_document_finds_it(words: list[str]) -> None:
    indexed = set(found(" ".join(words)))
    for word in words:
        assert set(found(word)) <= indexed


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("We adopted two puppies", "adopt puppy"),
        ("generalised connections", "generalise connection"),
        ("والمدارس", "المدارس"),
        ("بالكتاب", "كتاب"),
        ("المعلمون", "معلم"),
        ("كتابها", "كتاب"),
        ("مسؤول", "مسوول"),
        ("the deployment of الخدمات", "deployments خدمات"),
    ],
)
def test_forms_of_a_word_have_one_stem(written: str, asked: str) -> None:
    assert set(terms.analyse(asked)) <= set(terms.analyse(written))


def test_short_arabic_words_stay_whole() -> None:
    assert terms.analyse("ولد به وهو") == ["ولد", "به", "وهو"]


def test_an_identifier_is_not_stemmed_but_its_parts_are() -> None:
    assert terms.analyse("getUsersById") == ["getusersbyid", "get", "user", "by", "id"]


def test_the_terms_of_a_memory_come_in_order_and_as_often_as_written() -> None:
    assert terms.analyse("the cats, the cat") == ["the", "cat", "the", "cat"]


def test_a_question_is_about_what_is_left_without_stop_words() -> None:
    assert terms.content_terms("What's the name of John's dog, and who walked the dog?") == (
        "name",
        "john",
        "dog",
        "walk",
    )
    assert terms.content_terms("من هو مدير المشروع؟") == ("مدير", "مشروع")


def test_a_question_of_stop_words_alone_keeps_them() -> None:
    assert terms.content_terms("Who is it?") == ("who", "is", "it")


@given(st.text())
def test_a_memory_is_found_by_all_that_is_asked_in_its_own_words(text: str) -> None:
    asked = terms.content_terms(text)
    assert set(asked) <= set(terms.analyse(text))
    assert len(asked) == len(set(asked)) <= terms.MAX_QUERY_TERMS
    assert all(asked)
