"""Which parts of a text are private, and which were put there by a harness or by Cortex.

**Blocks** (`system-reminder`, `cortex-memory`, …). Tags of one name pair up like brackets, wherever they stand, save
that a tag between two backticks is quoted and pairs with nothing. The outermost pairs are cut, code or not. What
opens and never closes runs to the end of the text, unless it is quoted or stands in closed code.

**Private spans**, read after the blocks are gone:

1. Outside closed code, tags pair like brackets; a span that never closes runs to the end of the text. Within a span,
   code closes nothing: neither a fence nor a tag inside closed code ends it.
2. Inside closed code (`code_regions`), tags pair within that code. An opening tag that is left over makes the rest of
   its code private; if nothing follows it there it is a mention and stays. A closing tag that is left over stays.
3. A closing tag outside code that closes nothing looks back for an opening tag that was taken for less than one (a
   mention in code, a self-closing tag, one inside a block): from there to here is private. Otherwise it stays: it
   hides nothing.
4. `<private/>` outside code is an empty span.

So a mention costs nothing, a span that crosses code is whole, and where the two cannot be told apart more is cut.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from cortex_redaction.code_regions import Region, code_regions
from cortex_redaction.folding import View
from cortex_redaction.tags import INJECTED, PRIVATE, Kind, Tag, tags_in


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """`text[start:end]`."""

    start: int
    end: int


def closed_blocks(text: str, view: View) -> list[Span]:
    """The outermost injected blocks that have both their tags, in order."""
    opened: dict[str, list[Tag]] = {name: [] for name in INJECTED}
    blocks = []
    for tag in tags_in(view, INJECTED):
        if _quoted(text, tag):
            continue
        if tag.kind is Kind.OPENING:
            opened[tag.name].append(tag)
        elif tag.kind is Kind.EMPTY:
            blocks.append(Span(tag.start, tag.end))
        elif opened[tag.name]:
            blocks.append(Span(opened[tag.name].pop().start, tag.end))
    return merged(blocks)


def open_block_start(text: str, view: View) -> int | None:
    """Where an injected block begins that never closes; None if there is none. Closed blocks are gone already."""
    tags = [tag for tag in tags_in(view, INJECTED) if tag.kind is Kind.OPENING and not _quoted(text, tag)]
    if not tags:
        return None
    regions = _Regions(code_regions(text))
    return next((tag.start for tag in tags if regions.around(tag) is None), None)


def unbalanced_openings(view: View, blocks: Sequence[Span]) -> list[int]:
    """The blocks, by index, that hold a private tag which opens there and does not close there."""
    starts = [block.start for block in blocks]
    depth = [0] * len(blocks)
    for tag in tags_in(view, (PRIVATE,)) if blocks else ():
        index = bisect_right(starts, tag.start) - 1
        if index >= 0 and tag.start < blocks[index].end:
            if tag.kind is Kind.OPENING:
                depth[index] += 1
            elif tag.kind is Kind.CLOSING:
                depth[index] = max(0, depth[index] - 1)
    return [index for index, left in enumerate(depth) if left]


def private_spans(text: str, view: View, *, hidden: Iterable[int] = (), mentions: bool = True) -> list[Span]:
    """The private spans, apart and in order.

    `hidden`: positions where an opening tag stood that went with its block. `mentions`: False takes every tag at its
    word, in code too.
    """
    tags = list(tags_in(view, (PRIVATE,)))
    if not tags:
        return []
    reading = _Reading(len(text), sorted(hidden, reverse=True))
    regions = _Regions(code_regions(text) if mentions else [])
    for region, own in groupby(tags, regions.around):
        if region is None:
            for tag in own:
                reading.read(tag)
        else:
            reading.read_code(text, region, list(own))
    return reading.finished()


@dataclass
class _Reading:
    """What was read so far, left to right: spans that closed, tags still open, and openings that are less than that."""

    length: int
    hidden: list[int]
    spans: list[Span] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    weak: list[int] = field(default_factory=list)

    def read(self, tag: Tag) -> None:
        """A tag outside code."""
        self._reach(tag.start)
        if tag.kind is Kind.OPENING:
            self.opened.append(tag.start)
        elif tag.kind is Kind.EMPTY:
            self.spans.append(Span(tag.start, tag.end))
            self.weak.append(tag.start)
        elif self.opened:
            self.spans.append(Span(self.opened.pop(), tag.end))
        elif self.weak:
            self.spans.append(Span(self.weak.pop(), tag.end))

    def read_code(self, text: str, region: Region, tags: Sequence[Tag]) -> None:
        """The tags of one piece of code."""
        opened: list[Tag] = []
        for tag in tags:
            if tag.kind is Kind.OPENING:
                opened.append(tag)
            elif tag.kind is Kind.CLOSING and opened:
                self.spans.append(Span(opened.pop().start, tag.end))
        if not opened:
            return
        self._reach(opened[0].start)
        self.weak += [tag.start for tag in opened]
        after = min(opened[0].end, region.end)
        end = after + len(text[after : region.end].rstrip())
        if end > after:
            self.spans.append(Span(opened[0].start, end))

    def finished(self) -> list[Span]:
        if self.opened:
            self.spans.append(Span(self.opened[0], self.length))
        return merged(self.spans)

    def _reach(self, position: int) -> None:
        while self.hidden and self.hidden[-1] <= position:
            self.weak.append(self.hidden.pop())


class _Regions:
    def __init__(self, regions: list[Region]) -> None:
        self.regions = regions
        self._starts = [region.start for region in regions]

    def around(self, tag: Tag) -> Region | None:
        """The piece of code in which a tag begins."""
        index = bisect_right(self._starts, tag.start) - 1
        return self.regions[index] if index >= 0 and tag.start < self.regions[index].end else None


def _quoted(text: str, tag: Tag) -> bool:
    return text[tag.start - 1 : tag.start] == "`" and text[tag.end : tag.end + 1] == "`"


def merged(spans: Iterable[Span]) -> list[Span]:
    """The union of `spans`: apart from each other, in order."""
    union: list[Span] = []
    for span in sorted(spans):
        if union and span.start < union[-1].end:
            union[-1] = Span(union[-1].start, max(union[-1].end, span.end))
        else:
            union.append(span)
    return union
