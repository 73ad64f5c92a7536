"""The built-in summariser: sentences of the texts, the ones that matter, within the limit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_providers.extractive import summarise

RETRIES = [
    "The upload worker retries three times. It rained in Bergen on Tuesday.",
    "Retries of the upload worker wait two seconds each.",
    "After three retries the upload worker writes to the dead letter queue.",
]


def test_what_most_of_it_is_about_stays_and_an_aside_goes():
    summary = summarise(RETRIES, limit=170)
    assert summary.text.splitlines() == [
        "The upload worker retries three times.",
        "Retries of the upload worker wait two seconds each.",
        "After three retries the upload worker writes to the dead letter queue.",
    ]
    assert summary.sources == (0, 1, 2)


@pytest.mark.parametrize(
    ("texts", "aside"),
    [
        (
            [
                "يعيد عامل الرفع المحاولة ثلاث مرات.",
                "أمطرت أمس.",
                "ينتظر عامل الرفع ثانيتين بين كل محاولة ومحاولة؟ نعم.",
            ],
            "أمطرت",
        ),
        (["上传程序重试三次。昨天下雨了。", "上传程序每次重试等待两秒。"], "下雨"),
        (
            ["Загрузчик повторяет попытку трижды. Вчера шёл дождь.", "Загрузчик ждёт две секунды перед попыткой."],
            "дождь",
        ),
    ],
    ids=["arabic", "chinese", "russian"],
)
def test_any_script_is_read(texts: list[str], aside: str):
    limit = sum(map(len, texts)) - 4
    summary = summarise(texts, limit=limit)
    assert summary.text
    assert aside not in summary.text


def test_what_is_said_twice_is_said_once():
    said = "The port is 5433."
    assert summarise([said, "the port is  5433", said], limit=500).text == said


def test_initials_and_decimals_end_no_sentence():
    text = "Dr. Falk measured 3.5 volts with J. Osei."
    assert summarise([text], limit=500).text == text


def test_where_nothing_fits_the_most_central_sentence_is_cut_at_a_word():
    summary = summarise(["The upload worker retries three times before it gives up."], limit=24)
    assert summary.text == "The upload worker…"
    assert summary.sources == (0,)
    assert summarise(RETRIES, limit=1) == summarise([], limit=100) == summarise(["…!"], limit=100)


WORDS = st.sampled_from("worker retries three times. Port 5433? عامل الرفع؟ 重试。 Dr. J. … \n !".split(" "))
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=80), max_size=6)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(0, 200))
def test_a_summary_is_made_of_its_sources_in_their_order_within_the_limit(texts: list[str], limit: int):
    summary = summarise(texts, limit=limit)
    assert len(summary.text) <= limit
    assert summary == summarise(list(texts), limit=limit)
    assert list(summary.sources) == sorted(set(summary.sources))
    assert bool(summary.text) == bool(summary.sources)
    whole = " ".join(" ".join(texts[source].split()) for source in summary.sources)
    place = 0
    for line in summary.text.splitlines():
        place = whole.find(line.removesuffix("…"), place)
        assert place >= 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 99), unique=True, max_size=12))
def test_with_room_for_everything_only_repeats_are_left_out(numbers: list[int]):
    texts = [f"Crate{number} weighs {number} kg." for number in numbers]
    summary = summarise([*texts, *texts], limit=10_000)
    assert summary.text.splitlines() == texts
