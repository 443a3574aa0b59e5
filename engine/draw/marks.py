"""The marks of a picture as SVG elements: few of them, because a page carries them all.

What is stretched with the page's width lies in one inner drawing, as one path for all marks of a
group that look the same; texts and rings, which keep their shape, lie beside it.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeVar

from engine.draw.escape import escape
from engine.draw.frame import Box, Line, Picture, Ring, Words
from engine.draw.simplify import simplify

_SCALE = 1000  # units of the inner drawing across the frame

Mark = TypeVar("Mark")


def marks_svg(drawn: Picture) -> str:
    """Return all marks, each group over the one before."""
    height = drawn.frame.height
    paths = (
        _lines(drawn.back)
        + _boxes(drawn.boxes)
        + "".join(_curve(curve) for curve in drawn.curves)
        + _lines(drawn.front)
    )
    return (
        f'<svg viewBox="0 0 {_SCALE} {height:g}" preserveAspectRatio="none" overflow="visible" '
        f'width="100%" height="{height:g}">{paths}</svg>'
        + "".join(_ring(ring) for ring in drawn.rings)
        + _texts(drawn.words)
    )


def _alike(marks: Iterable[Mark], look: Callable[[Mark], str]) -> Iterable[tuple[str, list[Mark]]]:
    """Return (look, all marks of that look), in the order of their first ones."""
    found: dict[str, list[Mark]] = {}
    for mark in marks:
        found.setdefault(look(mark), []).append(mark)
    return found.items()


def number(value: float) -> str:
    """Return a coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _x(share: float) -> str:
    return number(share * _SCALE)


def _lines(lines: Iterable[Line]) -> str:
    """Return straight lines; those that look the same are one path."""

    def look(line: Line) -> str:
        width = f' style="stroke-width:{number(line.width)}px"' if line.width else ""
        return f'class="line {line.look} c-{line.color}"{width}'

    return "".join(
        f'<path {attributes} d="{"".join(map(_stroke, alike))}"/>'
        for attributes, alike in _alike(lines, look)
    )


def _stroke(line: Line) -> str:
    (x1, y1), (x2, y2) = line.points
    start = f"M{_x(x1)} {number(y1)}"
    if x1 == x2:
        return f"{start}V{number(y2)}"
    return f"{start}H{_x(x2)}" if y1 == y2 else f"{start}L{_x(x2)} {number(y2)}"


def _curve(line: Line) -> str:
    points = simplify([(x * _SCALE, y) for x, y in line.points])
    path = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f'<path class="line {line.look} c-{line.color}" d="M{path}"/>'


def _boxes(boxes: tuple[Box, ...]) -> str:
    """Return filled boxes, and stripes of paper over the hatched ones."""

    def fill(box: Box) -> str:
        faint = f' fill-opacity="{number(box.strength)}"' if box.strength < 1 else ""
        return f'class="c-{box.color}"{faint}'

    def height(box: Box) -> str:
        return f'class="stripes" stroke-width="{number(box.y1 - box.y0)}"'

    striped = [box for box in boxes if box.hatched]
    return "".join(
        f'<path {attributes} d="{"".join(map(_outline, alike))}"/>'
        for attributes, alike in _alike(boxes, fill)
    ) + "".join(
        f'<path {attributes} d="{"".join(map(_middle, alike))}"/>'
        for attributes, alike in _alike(striped, height)
    )


def _outline(box: Box) -> str:
    top, bottom = number(box.y0), number(box.y1)
    return f"M{_x(box.x0)} {top}H{_x(box.x1)}V{bottom}H{_x(box.x0)}"


def _middle(box: Box) -> str:
    return f"M{_x(box.x0)} {number((box.y0 + box.y1) / 2)}H{_x(box.x1)}"


def _ring(ring: Ring) -> str:
    return (
        f'<circle class="ring c-{ring.color}" cx="{_percent(ring.x)}" '
        f'cy="{number(ring.y)}" r="5.5"/>'
    )


def _percent(share: float) -> str:
    return f"{number(100 * share)}%"


def _texts(texts: Iterable[Words]) -> str:
    """Return the texts; neighbors that look the same share a group."""

    def look(words: Words) -> str:
        halo = " halo" if words.look in ("label", "strong") else ""
        wide = " wide" if words.wide else ""
        anchor = "" if words.align == "start" else f' text-anchor="{words.align}"'
        return f'class="{words.look}{halo}{wide} c-{words.color}"{anchor}'

    return "".join(
        f"<g {attributes}>{''.join(map(_text, alike))}</g>"
        for attributes, alike in groupby(texts, look)
    )


def _text(words: Words) -> str:
    shift = f' dx="{number(words.dx)}"' if words.dx else ""
    return f'<text x="{_percent(words.x)}" y="{number(words.y)}"{shift}>{escape(words.text)}</text>'
