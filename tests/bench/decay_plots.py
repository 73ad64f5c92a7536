"""The curves of decay, as the documentation shows them.

    python tests/bench/decay_plots.py [--folder docs/images]

Draws two figures from `cortex_sleep.decay`, always the same bytes from the same functions; a test compares them with
the committed ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cortex_sleep.decay import decayed, retention

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 400, 56, 44, 190, 48
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8a5cb5", "#c77800")
YEARS = 4


@dataclass(frozen=True)
class Curve:
    """A value in [0, 1] over days."""

    name: str
    value: Callable[[float], float]


def figure(title: str, curves: Sequence[Curve], line: float | None = None) -> str:
    """An SVG of curves over `YEARS` years; `line`: a level that is marked."""
    wide, high, days = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM, 365 * YEARS

    def x(day: float) -> float:
        return LEFT + wide * day / days

    def y(value: float) -> float:
        return TOP + high * (1.0 - value)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">{title}</text>',
    ]
    for tick in range(6):
        at = y(tick / 5)
        parts.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{LEFT + wide}" y2="{at:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{tick / 5:.1f}</text>')
    for year in range(YEARS + 1):
        parts.append(f'<text x="{x(365 * year):.1f}" y="{HEIGHT - 26}" text-anchor="middle">{year}</text>')
    parts.append(f'<text x="{LEFT + wide / 2:.1f}" y="{HEIGHT - 8}" text-anchor="middle">years</text>')
    if line is not None:
        parts.append(
            f'<line x1="{LEFT}" y1="{y(line):.1f}" x2="{LEFT + wide}" y2="{y(line):.1f}" stroke="black" '
            'stroke-dasharray="5 4"/>'
        )
    for number, curve in enumerate(curves):
        points = " ".join(f"{x(day):.1f},{y(curve.value(day)):.1f}" for day in range(0, days + 1, 5))
        colour, at = COLOURS[number], TOP + 14 + 22 * number
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{at}" x2="{WIDTH - RIGHT + 32}" y2="{at}" ')
        parts[-1] += f'stroke="{colour}" stroke-width="3"/>'
        parts.append(f'<text x="{WIDTH - RIGHT + 38}" y="{at + 4}">{curve.name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def recalled(importance: float, every: int, times: int) -> Callable[[float], float]:
    """The importance of a memory that is recalled every so many days, so many times."""

    def value(day: float) -> float:
        uses = min(int(day // every), times)
        return decayed(importance, age_days=day, idle_days=day - every * uses if uses else None, accesses=uses)

    return value


def figures(cold_below: float = 0.2) -> dict[str, str]:
    """The figures by file name."""
    kinds = {"what was asked to remember, 0.9": 0.9, "by hand, 0.7": 0.7, "a tool's, 0.5": 0.5, "chat, 0.4": 0.4}
    kinds |= {"noise, 0.2": 0.2}
    unused = [
        Curve(name, lambda day, worth=worth: retention(worth, age_days=day))  # type: ignore[misc]
        for name, worth in kinds.items()
    ]
    used = [
        Curve("0.5, never used", lambda day: decayed(0.5, age_days=day)),
        Curve("0.5, once after 90 days", recalled(0.5, 90, 1)),
        Curve("0.5, every 90 days, 7 ×", recalled(0.5, 90, 7)),
        Curve("0.9, never used", lambda day: decayed(0.9, age_days=day)),
    ]
    return {
        "decay-retention.svg": figure("Retention of memories that are never used", unused, cold_below),
        "decay-importance.svg": figure("Importance after decay, with and without use", used),
    }


def main() -> None:
    """Write the figures."""
    parser = argparse.ArgumentParser(description="Draw the curves of decay.")
    parser.add_argument("--folder", type=Path, default=Path("docs/images"))
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in figures().items():
        (folder / name).write_text(svg, encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
