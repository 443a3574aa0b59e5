"""The way down a bowl: contours, the noisy path, and the path without noise."""

import math

from engine.core.numbers import significant, typeset
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import text
from engine.simulate.numerics.noisy_descent import CURVES, STEPS, Descent

_WIDTH, _HEIGHT, _SCALE = 640.0, 330.0, 112.0
_CENTER = (360.0, 165.0)


def descent_scene(mine: Descent, quiet: Descent) -> Scene:
    """Return the descent, step by step; it opens with the whole way."""
    frames = [_frame(mine, quiet, at) for at in range(STEPS + 1)]
    return Scene(
        title="Thirty noisy steps",
        width=_WIDTH,
        height=_HEIGHT,
        frames=tuple(frames),
        opening=STEPS,
        caption="The ellipses are lines of equal loss, the bottom is the cross. The thin line is "
        "the path without noise. Every step uses the best learning rate for its batch.",
    )


def _frame(mine: Descent, quiet: Descent, at: int) -> Frame:
    shapes = [_contour(level) for level in (0.05, 0.25, 0.7, 1.5, 2.6)]
    shapes.append(_path("quiet", quiet, at, "c-ink", 1.5, "5 5"))
    shapes.append(_path("mine", mine, at, "c-compute", 3.0, ""))
    shapes.append(_dot(mine, at))
    x, y = _CENTER
    cross = {"d": f"M{x - 7} {y}h14M{x} {y - 7}v14", "stroke": "currentColor"}
    shapes.append(
        Shape(key="bottom", tag="path", attributes={**cross, "stroke-width": "2", "class": "c-ink"})
    )
    said = typeset(significant(mine.losses[at], 4))
    shapes.append(text("step", 2, 24, 19, f"step {at}", "start"))
    shapes.append(text("loss", 2, 48, 19, f"loss {said}", "start"))
    taken = f"{at} step" if at == 1 else f"{at} steps"
    words = f"After {taken} the loss is {said}; without noise it would be "
    words += f"{typeset(significant(quiet.losses[at], 3))}."
    return Frame(caption=words, shapes=tuple(shapes))


def _place(point: tuple[float, float]) -> tuple[float, float]:
    # Far points are drawn at the edge of the sheet.
    x = _CENTER[0] + _SCALE * point[0]
    y = _CENTER[1] - _SCALE * point[1]
    return min(max(x, 4.0), _WIDTH - 4), min(max(y, 4.0), _HEIGHT - 4)


def _contour(level: float) -> Shape:
    radii = [_SCALE * math.sqrt(2 * level / curve) for curve in CURVES]
    attributes = {
        "cx": f"{_CENTER[0]:g}",
        "cy": f"{_CENTER[1]:g}",
        "rx": f"{radii[0]:.1f}",
        "ry": f"{radii[1]:.1f}",
        "class": "port",
    }
    return Shape(key=f"contour{level}", tag="ellipse", attributes=attributes)


def _path(key: str, way: Descent, at: int, color: str, width: float, dashes: str) -> Shape:
    places = [_place(point) for point in way.points[: at + 1]]
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    attributes = {
        "d": d,
        "fill": "none",
        "stroke": "currentColor",
        "stroke-width": f"{width:g}",
        "class": color,
    }
    if dashes:
        attributes["stroke-dasharray"] = dashes
    return Shape(key=key, tag="path", attributes=attributes)


def _dot(way: Descent, at: int) -> Shape:
    x, y = _place(way.points[at])
    attributes = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "7", "class": "sent c-compute"}
    return Shape(key="dot", tag="circle", attributes=attributes)
