"""Static SVG of any chart or scene: in the page, and as a file of its own."""

from collections.abc import Callable, Mapping
from typing import Any

from engine.draw import bars, heatmap, lines, timeline
from engine.draw.escape import escape
from engine.draw.file_style import CHART_RULES, PALETTE, SCENE_RULES
from engine.draw.frame import Box, Line, Picture, Ring, Words
from engine.draw.scene import scene_svg
from engine.draw.simplify import simplify
from engine.text import Display
from engine.views import Bars, Chart, Heatmap, Lines, Scene, Timeline

WIDTH = 720.0  # of a file, in pixels
_SCALE = 1000  # a curve's own units across the frame, which is stretched to the page's width

Drawn = Chart | Scene

_PICTURES: Mapping[type, Callable[[Any, Display], Picture]] = {
    Lines: lines.picture,
    Bars: bars.picture,
    Timeline: timeline.picture,
    Heatmap: heatmap.picture,
}


def svg_text(view: Drawn, display: Display) -> str:
    """Return the view as an SVG element for the page, which gives it colors and a width."""
    if isinstance(view, Scene):
        return scene_svg(view)
    drawn = picture(view, display)
    frame = drawn.frame
    margins = f"{frame.top:g}px {frame.right:g}px {frame.bottom:g}px {frame.left:g}px"
    style = f"margin:{margins};width:calc(100% - {frame.left + frame.right:g}px)"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart-svg" role="img" '
        f'style="{style};height:{frame.height:g}px" aria-label="{escape(drawn.label)}">'
        f"{_marks(drawn)}</svg>"
    )


def svg_file(view: Drawn, display: Display) -> str:
    """Return the view as a complete SVG document in the light palette."""
    if isinstance(view, Scene):
        sized = scene_svg(view).replace(
            "<svg", f'<svg width="{view.width:g}" height="{view.height:g}"', 1
        )
        return _file(view.width, view.height, view.title, sized, SCENE_RULES)
    drawn = picture(view, display)
    frame, head = drawn.frame, 34
    inner = (
        f'<text x="0" y="20" class="c-ink strong" font-size="15">{escape(view.title)}</text>'
        f'<svg x="{frame.left:g}" y="{frame.top + head:g}" height="{frame.height:g}" '
        f'width="{WIDTH - frame.left - frame.right:g}" overflow="visible">{_marks(drawn)}</svg>'
    )
    return _file(WIDTH, frame.total + head, drawn.label, inner, CHART_RULES)


def picture(view: Chart, display: Display) -> Picture:
    """Return the marks of a chart."""
    return _PICTURES[type(view)](view, display)


def _file(width: float, height: float, label: str, inner: str, rules: str) -> str:
    colors = "".join(f".c-{name}{{color:{color}}}" for name, color in PALETTE.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 32:g}" '
        f'height="{height + 24:g}" viewBox="-16 -12 {width + 32:g} {height + 24:g}">'
        f"<title>{escape(label)}</title><style>{colors}{rules}</style>"
        f'<rect x="-16" y="-12" width="100%" height="100%" class="c-paper" fill="currentColor"/>'
        f"{inner}</svg>"
    )


def _marks(drawn: Picture) -> str:
    height = drawn.frame.height
    curves = "".join(_curve(curve) for curve in drawn.curves)
    return (
        "".join(_straight(line) for line in drawn.back)
        + "".join(_box(box) for box in drawn.boxes)
        + (
            f'<svg viewBox="0 0 {_SCALE} {height:g}" preserveAspectRatio="none" '
            f'width="100%" height="{height:g}">{curves}</svg>'
            if curves
            else ""
        )
        + "".join(_straight(line) for line in drawn.front)
        + "".join(_ring(ring) for ring in drawn.rings)
        + "".join(_words(words) for words in drawn.words)
    )


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _percent(value: float) -> str:
    return f"{_number(100 * value)}%"


def _straight(line: Line) -> str:
    (x1, y1), (x2, y2) = line.points
    return (
        f'<line class="line {line.look} c-{line.color}" x1="{_percent(x1)}" y1="{_number(y1)}" '
        f'x2="{_percent(x2)}" y2="{_number(y2)}"/>'
    )


def _curve(line: Line) -> str:
    points = simplify([(x * _SCALE, y) for x, y in line.points])
    path = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
    return f'<path class="line {line.look} c-{line.color}" d="M{path}"/>'


def _box(box: Box) -> str:
    width, height = box.x1 - box.x0, box.y1 - box.y0
    faint = f' fill-opacity="{_number(box.strength)}"' if box.strength < 1 else ""
    drawn = (
        f'<rect class="c-{box.color}" x="{_percent(box.x0)}" y="{_number(box.y0)}" '
        f'width="{_percent(width)}" height="{_number(height)}"{faint}/>'
    )
    if not box.hatched:
        return drawn
    middle = _number((box.y0 + box.y1) / 2)
    return drawn + (
        f'<line class="stripes" x1="{_percent(box.x0)}" x2="{_percent(box.x1)}" y1="{middle}" '
        f'y2="{middle}" stroke-width="{_number(height)}"/>'
    )


def _ring(ring: Ring) -> str:
    return (
        f'<circle class="ring c-{ring.color}" cx="{_percent(ring.x)}" '
        f'cy="{_number(ring.y)}" r="5.5"/>'
    )


def _words(words: Words) -> str:
    halo = " halo" if words.look in ("label", "strong") else ""
    anchor = "" if words.align == "start" else f' text-anchor="{words.align}"'
    shift = f' dx="{_number(words.dx)}"' if words.dx else ""
    return (
        f'<text class="{words.look}{halo} c-{words.color}" x="{_percent(words.x)}" '
        f'y="{_number(words.y)}"{shift}{anchor}>{escape(words.text)}</text>'
    )
