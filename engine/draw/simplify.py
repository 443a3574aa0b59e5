"""Fewer points for the same curve (Douglas and Peucker 1973)."""

import math
from collections.abc import Sequence

Point = tuple[float, float]


def simplify(points: Sequence[Point], tolerance: float = 0.15) -> list[Point]:
    """Return the points without which the curve would move by more than the tolerance."""
    keep = {0, len(points) - 1}
    parts = [(0, len(points) - 1)]
    while parts:
        first, last = parts.pop()
        worst, far = first, tolerance
        for index in range(first + 1, last):
            distance = _distance(points[index], points[first], points[last])
            if distance > far:
                worst, far = index, distance
        if worst != first:
            keep.add(worst)
            parts += [(first, worst), (worst, last)]
    return [points[index] for index in sorted(keep)]


def _distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from the straight line through two others."""
    along = (end[0] - start[0], end[1] - start[1])
    off = (point[0] - start[0], point[1] - start[1])
    length = math.hypot(*along)
    return abs(along[0] * off[1] - along[1] * off[0]) / length if length else math.hypot(*off)
