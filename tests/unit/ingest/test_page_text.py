"""The text of a page."""

from __future__ import annotations

import codecs

import pytest

from cortex_ingest.errors import UnreadablePage
from cortex_ingest.page_text import decode, storable, unix_lines


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfh\xc3\xa9\r\n",
        codecs.BOM_UTF16_LE + "hé\r\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "hé\r\n".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "hé\r\n".encode("utf-32-le"),
        "hé\r\n".encode(),
    ],
)
def test_byte_order_marks_say_what_the_bytes_mean(content: bytes) -> None:
    assert decode(content) == ("hé\r\n", ())


@pytest.mark.parametrize(
    ("content", "text", "problem"),
    [
        (b"\xe9t\xe9 \x93a\x94", "été “a”", "Windows-1252"),
        (b"\xe9t\xe9 \x81", "été \x81", "Latin-1"),
        ("كتاب".encode() + b"\xff.", "كتاب\ufffd.", "replaced"),
        (codecs.BOM_UTF16_LE + "a".encode("utf-16-le") + b"\x00\xd8", "a\ufffd", "UTF-16"),
        (b"a\x00b\x00", "a\ufffdb\ufffd", "2 NUL characters"),
    ],
)
def test_broken_text_is_mended_and_noted(content: bytes, text: str, problem: str) -> None:
    found, [noted] = decode(content)
    assert found == text
    assert problem in noted


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\x00\x01\xff", b"\x00" * 1000, b"text" + b"\x00" * 100, bytes(range(256)) * 4]
)
def test_binary_data_is_no_text(content: bytes) -> None:
    with pytest.raises(UnreadablePage):
        decode(content)


def test_every_line_end_of_markdown_is_one() -> None:
    assert unix_lines("a\r\nb\rc\nd\r\r\ne\x0b\x85\u2028") == "a\nb\nc\nd\n\ne\x0b\x85\u2028"


def test_what_no_database_stores_is_replaced() -> None:
    assert storable("a\x00b\ud800c\udfffd😀") == "a\ufffdb\ufffdc\ufffdd😀"
