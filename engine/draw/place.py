"""Where the texts inside a chart go: beside what they name, off the curves and off one another."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.draw.frame import BEFORE, CHAR, TYPICAL, Words

_BACK = (0.0, 0.12, 0.25, 0.4, 0.55, 0.7, 0.85)  # shares of a curve before its end
_LINE = 16  # pixels
EDGE = 0.01  # so that the last bits of a number decide nothing where a text ends at a curve's end

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Wish:
    """A text and the places it may take, the best first."""

    places: tuple[Words, ...]


def place(wishes: Iterable[Wish], curves: Sequence[Points], height: float) -> list[Words]:
    """Return each text at the place that crosses the fewest curves and earlier texts."""
    dots = [dot for curve in curves for dot in _dots(curve)]
    taken: list[tuple[float, float, float, float]] = []
    chosen = []
    for wish in wishes:
        costs = [_cost(words, dots, taken, height) + i / 100 for i, words in enumerate(wish.places)]
        best = wish.places[costs.index(min(costs))]
        taken.append(_box(best))
        chosen.append(best)
    return chosen


def _box(words: Words) -> tuple[float, float, float, float]:
    width = CHAR * len(words.text)
    left = words.x * TYPICAL + words.dx - BEFORE[words.align] * width
    return left, words.y - 11, left + width, words.y + 4


def _cost(
    words: Words,
    dots: Points,
    taken: Sequence[tuple[float, float, float, float]],
    height: float,
) -> float:
    left, top, right, bottom = _box(words)
    outside = left < -2 or right > TYPICAL + 2 or top < -2 or bottom > height + 2
    over = sum(left < r and right > x and top < b and bottom > y for x, y, r, b in taken)
    crossed = sum(left + EDGE < x < right - EDGE and top < y < bottom for x, y in dots)
    return 100.0 * outside + 50.0 * over + crossed


def _dots(curve: Points) -> list[tuple[float, float]]:
    """Return dots at most about six pixels apart along the curve, on a frame of typical width."""
    dots = []
    for (x0, y0), (x1, y1) in itertools.pairwise(curve):
        span = max(abs(x1 - x0) * TYPICAL, abs(y1 - y0))
        steps = max(1, math.ceil(span / 6))
        dots += [
            ((x0 + (x1 - x0) * i / steps) * TYPICAL, y0 + (y1 - y0) * i / steps)
            for i in range(steps + 1)
        ]
    return dots


def beside_curve(curve: Points, others: Sequence[Points], text: str, color: str) -> Wish:
    """Return the places of a curve's name: above or below it, near its end first.

    Where another curve runs close by, the name could be taken for that one's; such places are
    left out as long as there are better ones.
    """
    spots = [_at(curve, 1.0 - back) for back in _BACK]
    alone = [spot for spot in spots if not any(_close(other, *spot) for other in others)]
    places: list[Words] = []
    for x, y in alone or spots:
        aligns = ("end", "start") if x > 0.35 else ("start", "end")
        places += [
            Words(x, y + dy, text, align, 0.0, color, "strong")
            for dy in (-8, 17)
            for align in aligns
        ]
    return Wish(tuple(places))


def _close(curve: Points, x: float, y: float) -> bool:
    """Return whether the curve passes within a line's height of the spot."""
    return any(
        min(y0, y1) - _LINE < y < max(y0, y1) + _LINE
        for (x0, y0), (x1, y1) in itertools.pairwise(curve)
        if x0 - EDGE < x < x1 + EDGE
    )


def _at(curve: Points, part: float) -> tuple[float, float]:
    """Return the curve's point at a part of its extent in x."""
    first, last = curve[0][0], curve[-1][0]
    wanted = first + (last - first) * part
    for (x0, y0), (x1, y1) in itertools.pairwise(curve):
        if x0 <= wanted <= x1 and x1 > x0:
            return wanted, y0 + (y1 - y0) * (wanted - x0) / (x1 - x0)
    return curve[-1]


def beside_point(x: float, y: float, text: str, color: str) -> Wish:
    """Return the places of a point's label: around it."""
    places = [
        Words(x, y + dy, text, align, dx, color, "strong")
        for dy, far in ((-11, 9), (20, 9), (4.5, 13), (-24, 9), (34, 9), (-38, 9))
        for align, dx in (
            (("end", -far), ("start", far)) if x > 0.5 else (("start", far), ("end", -far))
        )
    ]
    return Wish(tuple(places))


def beside_rule(axis: str, at: float, height: float, text: str, color: str) -> Wish:
    """Return the places of a rule's label: at `at`, a share of the width or pixels down."""
    if axis == "y":
        return Wish(
            tuple(
                Words(x, at + dy, text, align, dx, color)
                for x, align, dx in ((0.0, "start", 6.0), (1.0, "end", -4.0), (0.5, "middle", 0.0))
                for dy in (-6, 16)
            )
        )
    sides = (("start", 6.0), ("end", -6.0)) if at < 0.6 else (("end", -6.0), ("start", 6.0))
    rows = [14.0 + 17 * i for i in range(max(1, int((height - 14) // 17)))]
    return Wish(tuple(Words(at, y, text, align, dx, color) for y in rows for align, dx in sides))
