"""Static SVG of any chart or scene: in the page, and as a file of its own."""

from collections.abc import Callable, Mapping
from typing import Any

from engine.basis.text import Display
from engine.basis.views import Bars, Chart, Heatmap, Lines, Scene, Timeline
from engine.draw import bars, heatmap, lines, timeline
from engine.draw.escape import escape
from engine.draw.file_style import CHART_RULES, PALETTE, SCENE_RULES
from engine.draw.frame import Picture
from engine.draw.marks import marks_svg
from engine.draw.scene import scene_svg

WIDTH = 720.0  # of a file, in pixels

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
        f"{marks_svg(drawn)}</svg>"
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
        f'width="{WIDTH - frame.left - frame.right:g}" overflow="visible">{marks_svg(drawn)}</svg>'
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
