"""What is private is cut in every spelling, and what only mentions the tag is not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_redaction import PRIVATE_MARKER, redact

CANARY = "Zq7Vx2Kp9Wm4Tr8Jd3Hs6Bn1"
FENCE = "```"


def leaked(text: str) -> bool:
    """Whether eight characters of the canary in a row are in `text`."""
    return any(CANARY[at : at + 8] in text for at in range(len(CANARY) - 7))


OPENINGS = [
    "<private>",
    "<PRIVATE>",
    "< private >",
    "<private >",
    '<private reason="a > b">',
    "<private\n  level='9'>",
    "<Private a=1>",
    "<\uff50\uff52\uff49\uff56\uff41\uff54\uff45>",
    "\uff1cprivate\uff1e",
    "<pri\u200bvate>",
    "<\u2060private>",
    "<pr\u2173ate>",
    "<priv\u00adate>",
    "<pri\x00vate>",
    "<privat\u0301e>",
    "&lt;private&gt;",
    "&amp;lt;private&amp;gt;",
    "&#60;private&#62;",
    "&#x3C;private&#x3E;",
    "\\u003cprivate\\u003e",
    "%3Cprivate%3E",
    "<private",
    "\u226eprivate>",
]
CLOSINGS = [
    "</private>",
    "</PRIVATE>",
    "</ private>",
    "< / private >",
    "</private >",
    "</private x>",
    "</pri\u200dvate>",
    "&lt;/private&gt;",
    "\\u003c/private\\u003e",
    "\uff1c/private\uff1e",
    "%3C/private%3E",
]


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("closing", CLOSINGS)
def test_every_spelling_of_the_tags_makes_a_span(opening: str, closing: str) -> None:
    found = redact(f"before {opening} {CANARY} {closing} after")
    assert found.text == f"before {PRIVATE_MARKER} after"
    assert found.private == 1


@pytest.mark.parametrize("opening", OPENINGS)
def test_a_span_that_never_closes_runs_to_the_end(opening: str) -> None:
    assert redact(f"before {opening} {CANARY}\n\n{CANARY}").text == f"before {PRIVATE_MARKER}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>x<private>y</private>z</private> b", "a [private] b"),
        ("a <private>x<private>y</private> b", "a [private]"),
        ("a <private>x</private> b <private>y</private> c", "a [private] b [private] c"),
        ("a <private/> b", "a [private] b"),
        ("a <private/> x </private> b", "a [private] b"),
        (f"<private>\n{FENCE}\nx\n{FENCE}\n</private> b", "[private] b"),
        (f"<private>\n{FENCE}\n</private>\n{FENCE}\nx</private> b", "[private] b"),
        ("<private>x `</private>` y</private> b", "[private] b"),
        ("<private>x `<private>` y</private> b", "[private] b"),
        (f"{FENCE}\na\n<private>x</private>\n{FENCE}\nb", f"{FENCE}\na\n[private]\n{FENCE}\nb"),
        (f"{FENCE}\na\n<private>x\n{FENCE}\nb", f"{FENCE}\na\n[private]\n{FENCE}\nb"),
        (f"{FENCE}\n<private>\nx\n{FENCE}\ny\n</private> b", f"{FENCE}\n[private] b"),
        ("run `a <private>x` b", "run `a [private]` b"),
        ("it`s <private> x ` y", "it`s [private]"),
        (f"{FENCE}\n<private>\nnever closed", f"{FENCE}\n[private]"),
        ("<system-reminder><private></system-reminder>x</private> b", "[private] b"),
    ],
)
def test_where_code_and_spans_meet_privacy_wins(text: str, expected: str) -> None:
    assert redact(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "Wrap it in `<private>` and it is cut. The rest stays.",
        "Wrap it between `<private>` and `</private>`. The rest stays.",
        f"{FENCE}xml\n<private>\n{FENCE}\nThe rest stays.",
        "~~~\n<private>\n~~~\nThe rest stays.",
        "A stray </private> hides nothing.",
        "<private-notes>another element</private-notes> <privately> <private_key>",
        "if a < private and b: pass",
        "private members, <b>private</b>, <!-- private -->",
    ],
)
def test_a_mention_swallows_nothing(text: str) -> None:
    found = redact(text)
    assert (found.text, found.private) == (text, 0)


def test_a_mention_does_not_hide_the_real_span_after_it() -> None:
    assert redact(f"Use `<private>`: <private>{CANARY}</private> so.").text == "Use `<private>`: [private] so."


PROSE = [
    "The sourdough rises overnight.",
    "كلمات عربية عن الطقس",
    "retries three times",
    "a b c",
    "سطر\nآخر",
    "x = f(y)",
]
CODE = [f"{FENCE}\nreturn 1\n{FENCE}", "~~~py\ny = 2\n~~~", "`inline`", "`<private>`", f"{FENCE}\n<private>\n{FENCE}"]
INNER_CODE = [f"{FENCE}\n{CANARY}\n{FENCE}", f"`{CANARY}`", "`</private>`", f"{FENCE}\n</private>\n{FENCE}"]


@st.composite
def private_parts(draw: st.DrawFn, depth: int = 2) -> str:
    """A span that closes: canary, prose, code and spans within."""
    pieces = [st.just(CANARY), st.sampled_from(PROSE), st.sampled_from(INNER_CODE)]
    if depth:
        pieces.append(private_parts(depth - 1))
    inner = draw(st.lists(st.one_of(pieces), min_size=1, max_size=4))
    return draw(st.sampled_from(OPENINGS)) + "\n" + "\n".join(inner) + "\n" + draw(st.sampled_from(CLOSINGS))


PUBLIC = st.sampled_from(PROSE + CODE)


@given(st.lists(st.one_of(PUBLIC, private_parts()), max_size=6))
@settings(deadline=None, max_examples=300)
def test_no_byte_of_a_span_survives_and_every_byte_outside_does(parts: list[str]) -> None:
    found = redact("\n".join(parts))
    expected = [part if part in PROSE or part in CODE else PRIVATE_MARKER for part in parts]
    assert found.text == "\n".join(expected)
    assert not leaked(unicodedata.normalize("NFKC", found.text))


FRAGMENTS = st.one_of(
    st.sampled_from(OPENINGS + CLOSINGS + PROSE + CODE + ["`</private>`", "```\n</private>\n```"]),
    st.sampled_from(["`", FENCE, f"\n{FENCE}\n", "\n", " ", "<", ">", "/", "private", "&lt;", "<private/>", "~~~"]),
    st.sampled_from(["<system-reminder>", "</system-reminder>", "<cortex-memory>", "</cortex-memory>"]),
    st.text(max_size=4),
)


@given(st.lists(FRAGMENTS, max_size=14))
@settings(deadline=None, max_examples=250)
def test_redacting_twice_changes_nothing_even_after_composition(parts: list[str]) -> None:
    once = redact("".join(parts)).text
    assert redact(once).text == once
    composed = unicodedata.normalize("NFC", once.replace("\x00", ""))
    assert redact(composed).text == composed


@given(st.lists(FRAGMENTS, max_size=6), st.lists(FRAGMENTS, max_size=6), st.sampled_from(CLOSINGS))
@settings(deadline=None, max_examples=250)
def test_whatever_stands_around_it_a_whole_span_is_cut(before: list[str], after: list[str], closing: str) -> None:
    text = "".join(before) + "\n<private>" + CANARY + closing + "\n" + "".join(after)
    assert not leaked(redact(text).text)


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
@settings(deadline=None, max_examples=300)
def test_any_string_is_a_text(text: str) -> None:
    found = redact(text)
    assert redact(found.text).text == found.text
