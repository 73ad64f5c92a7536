r"""JSON that is almost right, made right: what servers get wrong in texts that they cut.

A text that was cut in the middle of a character leaves half of it behind: as an escape (`\ud83d` without its other
half, which JavaScript writes) or as bytes that are no UTF-8. The parser of the SDK refuses the whole message then, and
with it the session; here the half becomes U+FFFD, which says "a character that cannot be shown".
"""

from __future__ import annotations

import re
from typing import Final

_MARK: Final = b"\xef\xbb\xbf"
_PAIR: Final = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# In this order: an escaped backslash begins no escape, and a whole pair has no halves.
_ESCAPE: Final = re.compile(rb"\\\\|" + _PAIR + rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})")


def repaired(text: bytes) -> bytes:
    """A message, or whole lines of a stream of them, with no half characters and no byte order mark at its start.

    What is right already stays as it is, byte for byte.
    """
    text = text.removeprefix(_MARK)
    if b"\\u" in text:
        text = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace").encode()
    return text
