"""Statements for a Memgraph server that takes Cypher: they only read, and a question cannot change what they say. Pure.

The server takes no parameters, so pieces of the question stand in the statement as string literals. They are needles
(`needles`), which hold no quotes and no backslashes, and are escaped as if they did, by Memgraph's grammar. In its mode
for reading the server also refuses any statement that holds, in upper case, a word like SET or CREATE, even inside of a
literal: such a literal is cut in two, which are joined when it runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

REFUSED: Final = re.compile(r"\b(?:CREATE|MERGE|DELETE|REMOVE|SET|DROP)\b")
"""The words of mcp-memgraph 0.4.1 (`WRITE_PATTERNS`), searched for in upper case."""
ALIVE: Final = "RETURN 1 AS alive"
"""Reads nothing, and is answered by a database that is there."""
NEIGHBOURS: Final = 200
"""Relations of all entities of one answer together."""


def entities(needles: Sequence[str], limit: int) -> str:
    """The nodes whose texts or labels hold most of `needles`, most first: node_id, node_labels, node_properties."""
    wanted = ", ".join(literal(needle) for needle in needles)
    return (
        "MATCH (n) "
        "WITH n, [field IN keys(n) WHERE valueType(n[field]) STARTS WITH 'STRING' | toLower(n[field])]"
        " + [word IN labels(n) | toLower(word)] AS said "
        f"WITH n, [needle IN [{wanted}] WHERE any(part IN said WHERE part CONTAINS needle)] AS held "
        "WHERE size(held) > 0 "
        "RETURN id(n) AS node_id, labels(n) AS node_labels, properties(n) AS node_properties, size(held) AS matched "
        f"ORDER BY matched DESC LIMIT {limit:d}"
    )


def relations(ids: Sequence[int]) -> str:
    """What is connected to the nodes `ids`: node_id, verb, outgoing, about, other_labels, other_properties."""
    return (
        f"UNWIND [{', '.join(f'{one:d}' for one in ids)}] AS wanted "
        "MATCH (n) WHERE id(n) = wanted "
        "MATCH (n)-[r]-(m) "
        "RETURN wanted AS node_id, type(r) AS verb, id(startNode(r)) = wanted AS outgoing, properties(r) AS about,"
        f" labels(m) AS other_labels, properties(m) AS other_properties LIMIT {NEIGHBOURS:d}"
    )


def literal(text: str) -> str:
    """`text` as an expression: a string, or the sum of several where the server would not take it as one."""
    cuts = [0, *_cuts(text), len(text)]
    pieces = [_quoted(text[start:end]) for start, end in pairwise(cuts)]
    return pieces[0] if len(pieces) == 1 else f"({' + '.join(pieces)})"


def _cuts(text: str) -> list[int]:
    """Inside of each refused word, after its first letter."""
    # Upper case may be longer than what it is made of: of each of its letters, which of `text` it comes from.
    origin = [at for at, sign in enumerate(text) for _ in sign.upper()]
    return [origin[match.start()] + 1 for match in REFUSED.finditer(text.upper())]


def _quoted(text: str) -> str:
    signs = (f"\\{sign}" if sign in "\\'\"" else sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in text)
    return f"'{''.join(signs)}'"
