"""What is told as a change: what came, what went, and what neither says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_gateway.assertions import Relation, changes, relation
from cortex_gateway.assertions.words import words

NAMES = ("Leeds", "Bern", "Ghent", "Turin", "Drone", "Buildbot", "Kestrel", "Osprey")
OVER = [
    ("The artifact registry is hosted in Leeds.", "The artifact registry moved from Leeds to Bern."),
    ("Jonas is a member of the chess guild.", "Jonas left the chess guild."),
    ("We use Buildbot for the nightly builds.", "We replaced Buildbot with Drone for the nightly builds."),
    ("The upload limit is 10 MB.", "The upload limit changed from 10 MB to 50 MB."),
    ("The budget of Kestrel is 40,000 EUR.", "The board cut the budget of Kestrel to 28,000 EUR."),
    ("The retro takes place on Thursdays.", "The retro was moved to Tuesdays."),
    ("Petra writes the newsletter.", "Liang took over the newsletter from Petra."),
    ("Clara's wedding is on 12 September.", "Clara's wedding is on 19 September, not on the 12th."),
    ("Ben is the lead of Orion.", "The lead of Orion is Ana, not Ben."),
    ("The picnic is on Saturday.", "The picnic has been cancelled."),
    ("يسكن بشير في حلب.", "انتقل بشير إلى حمص."),
]
NOT_OVER = [
    ("We replaced Buildbot with Drone.", "Buildbot is written in Python."),
    ("The lead of Orion is Ana, not Ben.", "Ben is the designer of Atlas."),
    ("The plan is to replace Buildbot with Drone.", "We use Buildbot for the nightly builds."),
    ("Jonas left the chess guild.", "Mira is a member of the chess guild."),
    ("A new user has Python and make, and no Docker.", "Docker Compose names the missing secret."),
    ("Priya left Corvid.", "Priya's team left the building."),
    ("12 seats are left.", "The seats are numbered."),
    ("The fee is 20 EUR before tax.", "The fee is 24 EUR including tax."),
    ("He has lived in Chile.", "He has lived in Peru."),
]


@pytest.mark.parametrize(("older", "newer"), OVER)
def test_what_went_contradicts_a_text_that_still_says_it(older: str, newer: str) -> None:
    assert relation(older, newer) is relation(newer, older) is Relation.CONFLICT


@pytest.mark.parametrize(("one", "other"), NOT_OVER)
def test_what_is_not_over_is_left_alone(one: str, other: str) -> None:
    assert relation(one, other) is relation(other, one) is Relation.UNRELATED


@given(
    st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True),
    st.sampled_from(("moved", "migrated", "was relocated")),
)
def test_only_the_old_place_is_over_and_the_new_one_is_said(names: list[str], verb: str) -> None:
    old, new = names
    told = f"The archive {verb} from {old} to {new}."
    assert relation(told, f"The archive is located in {old}.") is Relation.CONFLICT
    assert relation(told, f"The archive is located in {new}.") is not Relation.CONFLICT


@given(st.lists(st.sampled_from([*NAMES, "the", "a", "was", "from", "to", "with", "not", ",", "and", "5", "moved",
                                 "replaced", "left", "renamed", "took", "over", "instead", "of", "cut", "انتقل", "من",
                                 "إلى", "بدل"]), max_size=14))  # fmt: skip
def test_a_clause_is_only_ever_shortened_and_names_what_it_said(tokens: list[str]) -> None:
    found = words(" ".join(tokens))
    raws = {word.raw for word in found}
    whole = changes.contrast(found)
    told = changes.change(whole.now)
    assert {word.raw for word in (*whole.gone, *told.gone)} <= raws
    assert len(whole.now) <= len(found)
    assert len(told.now) <= len(whole.now) + 1, "a joint may be put in"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Stand-up is at 9:15.", "Stand-up: half past nine", Relation.CONFLICT),
        ("Stand-up is at 9:30.", "Stand-up: half past nine", Relation.SAME),
        ("The retro is held every other Thursday.", "The retro is held weekly on Thursdays.", Relation.CONFLICT),
        ("Reports are sent every Monday.", "Reports are sent every Friday.", Relation.CONFLICT),
        ("Proposals are due on Friday the 4th.", "Deadline for proposals: Monday the 7th", Relation.CONFLICT),
        ("The Pro plan costs $29 a month.", "Pro: 35 USD / month", Relation.CONFLICT),
        ("p95 latency is 180 ms.", "p95 latency has gone up to 0.6 s.", Relation.CONFLICT),
        ("Battery life: 1 h 56 min", "Roughly two hours of battery life", Relation.UNRELATED),
        ("A third of the staff works remotely.", "33 % of staff work remotely", Relation.UNRELATED),
        ("region: eu", "region: eu-north-1", Relation.SAME),
        ("The backup bucket is in eu-central-1.", "backup bucket region = us-east-1", Relation.CONFLICT),
        ("Cookies aren't stored before consent.", "We store cookies before consent.", Relation.CONFLICT),
        ("مفيش موقف سيارات قدام المكتب", "يوجد موقف سيارات أمام المكتب", Relation.CONFLICT),
        ("هو مبيحبش السمك", "لا يحب السمك", Relation.SAME),
        ("الشركة لها فرع في مراكش", "الشركة لها فرع في فاس", Relation.UNRELATED),
    ],
)
def test_values_are_read_however_they_are_put(one: str, other: str, expected: Relation) -> None:
    assert relation(one, other) is relation(other, one) is expected
