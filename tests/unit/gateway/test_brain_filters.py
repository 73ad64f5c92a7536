"""What narrows a question about pages, read from parameters that people and programs write in many ways."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_contracts.messages.base import Principal
from cortex_contracts.rpc.pages import PageType, QueryPagesRequest
from cortex_gateway.brain_filters import MAX_TAGS, types_and_tags

TYPES = st.sampled_from([one.value for one in PageType])
TAGS = st.text(
    st.characters(exclude_characters=",", exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=20
).filter(lambda tag: not tag.startswith(("type=", "tags=")))


@settings(max_examples=60, deadline=None)
@given(st.lists(TYPES, unique=True), st.lists(TAGS, unique=True, max_size=8))
def test_lists_with_commas_repeated_parameters_and_both_in_one_mean_the_same(types: list[str], tags: list[str]) -> None:
    expected = (tuple(types), tuple(tags))
    assert types_and_tags([",".join(types)], [",".join(tags)]) == expected
    assert types_and_tags(types, tags) == expected
    together = ",".join([*types, *(["tags=" + ",".join(tags)] if tags else [])])
    assert types_and_tags([together]) == expected
    assert types_and_tags([], [",".join([*tags, *(["type=" + ",".join(types)] if types else [])])]) == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(), max_size=8), st.lists(st.text(), max_size=8))
def test_whatever_is_written_can_be_asked(types: list[str], tags: list[str]) -> None:
    found_types, found_tags = types_and_tags(types, tags)
    assert set(found_types) <= set(PageType)
    request = QueryPagesRequest(
        principal=Principal(org="local", subject="me"), query="x", types=found_types, tags=found_tags
    )
    assert request.tags == found_tags
    assert len(set(found_tags)) == len(found_tags)


def test_more_tags_than_a_question_can_have_are_ignored() -> None:
    tags = [str(number) for number in range(MAX_TAGS)]
    assert types_and_tags([], [",".join([*tags, "one more"])])[1] == tuple(tags)
