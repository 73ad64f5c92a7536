"""What of the texts of hits is read for conflicts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.rpc.engine import Hit, SourceClass
from cortex_gateway.reconcile import reconcile
from cortex_gateway.scoring import Scoring
from cortex_gateway.shared_ground import BUDGET, Source, passages

MakeHit = Callable[..., Hit]


def read(*texts: str | Source, query: str = "") -> list[str]:
    found = passages([Source(text, "") if isinstance(text, str) else text for text in texts], query)
    return ["\n".join(one) for one in found]


def test_only_sentences_that_share_a_word_with_another_text_are_read() -> None:
    one = "We had lunch. Hermes is active. The garden was nice!"
    other = "A long day. It rained. They say that hermes was stopped?\nNobody knows."
    assert read(one, other) == ["Hermes is active.", "They say that hermes was stopped?"]
    assert read(one, "Something else entirely.") == ["", ""]
    assert read(one, one) == ["", ""], "a text does not contradict itself"


def test_words_of_the_question_come_first() -> None:
    filling = " ".join(f"The quay number {number} has cranes and sheds." for number in range(40))
    one, other = (f"{filling} Hermes is {state}." for state in ("active", "stopped"))
    [of_one, of_other] = read(one, f"{other} More.", query="is Hermes running?")
    assert of_one.splitlines()[-1] == "Hermes is active."
    assert of_other.splitlines()[-1] == "Hermes is stopped."


def test_lines_of_a_page_are_about_its_title() -> None:
    page = Source("# Hermes\n\nstatus: active\nowner: Ines\n\nSome words about boats.", "Hermes")
    assert read(page, "hermes is stopped")[0] == "# Hermes\nstatus: active\nowner: Ines"


def test_what_a_hit_asserts_is_ground_as_well() -> None:
    assert read("Hermes is active.", Source("A page.", "", named="Hermes status"))[0] == "Hermes is active."


def test_a_row_keeps_the_first_row_of_its_table() -> None:
    table = "Machines\n\n| name | state |\n|---|---|\n| ares | up |\n| hermes | down |\n"
    assert read(table, "hermes is up")[0].splitlines() == ["| name | state |", "| hermes | down |"]


def test_an_arabic_article_makes_no_other_word() -> None:
    assert read("الخادم متوقف.", "خادم الملفات يعمل.") == ["الخادم متوقف.", "خادم الملفات يعمل."]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("aAßإال .:\n|#و"), max_size=400) | st.text(max_size=60), max_size=8),
    st.text(max_size=20),
)
def test_whatever_the_texts_are_little_is_read_and_all_of_it_is_theirs(texts: list[str], query: str) -> None:
    found = read(*texts, query=query)
    assert len(found) == len(texts)
    assert found == read(*texts, query=query)
    for said, text in zip(found, texts, strict=True):
        assert all(line in text for line in said.split("\n"))


def test_many_long_texts_are_read_within_the_budget() -> None:
    texts = [f"{n}. " + "Hermes listens on port 80 of the big machine. " * 40 for n in range(100)]
    assert 0 < sum(map(len, read(*texts, query="which port?"))) <= BUDGET + len(texts)


def test_the_stale_memory_that_nobody_ranks_high_is_heard(make_hit: MakeHit, now: datetime) -> None:
    live = make_hit("Hermes stopped.", source_class=SourceClass.LIVE_INFRA, engine="rag", path="infra/hermes")
    stale = make_hit("Hermes is active.", age_days=400, path="memory:old")
    noise = [
        make_hit(f"Quay {n} of Hermes street has {n} cranes. " * 8, path=f"memory:{n}", relevance=0.5)
        for n in range(40)
    ]
    hits = Scoring().rank([live, *noise, stale], now)
    assert any(
        (each.value, [loss.value for loss in each.losses]) == ("stopped", ["active"])
        for each in reconcile(hits, "Is Hermes running?")
    )


def test_sentences_that_stand_together_are_one_passage_and_others_are_their_own() -> None:
    text = "Hermes is active. It was Hermes that fell. The weather was fine. Nobody saw Hermes."
    assert passages([Source(text, ""), Source("hermes", "")], "")[0] == (
        "Hermes is active. It was Hermes that fell.",
        "Nobody saw Hermes.",
    )
