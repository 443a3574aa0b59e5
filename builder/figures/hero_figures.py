"""Opening figures of guides as standalone SVG files, for lists of guides."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from builder.core import html_tree
from builder.core.html_tree import Element

_WIDTH, _MARGIN = 460, 12  # of a chart, and around every picture
_SECONDS = 0.9  # per state of an animated figure
_SHEETS = ("10-colors.css", "40-charts.css", "45-scene.css")
_SANS = "system-ui, sans-serif"


def drawing_rules(styles: Path) -> str:
    """Return the CSS rules of drawings from the theme's style sheets."""
    paths = (styles / name for name in _SHEETS)
    text = "".join(path.read_text("utf-8") for path in paths if path.is_file())
    # The theme asks the page how wide a chart is; these are narrow.
    narrow = ".chart-svg .wide{display:none}.chart-svg .narrow{display:inline}"
    return f":root{{--sans:{_SANS};font-family:{_SANS}}}{text}{narrow}"


def standalone_figure(drawing: str, style: str) -> str:
    """Return a figure of a page as a standalone SVG file.

    Args:
        drawing: SVG element of the figure, as drawn on a page.
        style: from `drawing_rules`.
    """
    svg = html_tree.parse(drawing).first("svg")
    return _standalone_svg(svg, svg.inner_html(), style) if svg else ""


def figure_description(drawing: str) -> str:
    """Return what a figure says to those who do not see it."""
    svg = html_tree.parse(drawing).first("svg")
    return svg.get("aria-label") if svg else ""


def animated_figure(drawings: Sequence[str], style: str) -> str:
    """Return an SVG file that cycles through the drawings; without motion it shows the first.

    "" if fewer than two of them are figures.

    Args:
        drawings: SVG elements, states of the same figure.
        style: from `drawing_rules`.
    """
    parsed = (html_tree.parse(drawing).first("svg") for drawing in drawings)
    figures = [svg for svg in parsed if svg is not None and _kind(svg)]
    if len(figures) < 2:
        return ""
    groups = "".join(
        f'<g class="state s{at}">{svg.inner_html()}</g>' for at, svg in enumerate(figures)
    )
    return _standalone_svg(figures[0], groups, style + _animation_rules(len(figures)))


def _kind(svg: Element) -> str:
    return next((name for name in svg.classes if name in ("scene", "chart-svg")), "")


def _animation_rules(count: int) -> str:
    """Return the CSS animation that shows one of `count` groups at a time."""
    length, share = count * _SECONDS, 100 / count
    delays = "".join(f".s{at}{{animation-delay:{at * _SECONDS:g}s}}" for at in range(count))
    return (
        ".state{visibility:hidden}.s0{visibility:visible}"
        "@media (prefers-reduced-motion:no-preference){"
        f"@keyframes turn{{0%,{share:.3f}%{{visibility:visible}}"
        f"{share + 0.001:.3f}%,100%{{visibility:hidden}}}}"
        f".state{{animation:turn {length:g}s step-end infinite}}{delays}}}"
    )


def _standalone_svg(svg: Element, inner: str, style: str) -> str:
    kind = _kind(svg)
    width, height, size = _scene_size(svg) if kind == "scene" else _chart_size(svg)
    box = f"{-_MARGIN} {-_MARGIN} {width + 2 * _MARGIN:g} {height + 2 * _MARGIN:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" '
        f'width="{width + 2 * _MARGIN:g}" height="{height + 2 * _MARGIN:g}">'
        f"<style>{escape(style, quote=False)}</style>"
        f'<rect x="{-_MARGIN}" y="{-_MARGIN}" width="100%" height="100%" class="c-paper" '
        f'fill="currentColor"/><g class="{kind}"><svg {size} overflow="visible">{inner}</svg>'
        "</g></svg>"
    )


def _scene_size(svg: Element) -> tuple[float, float, str]:
    """Return the width, the height and the position attributes of a scene."""
    _, _, width, height = map(float, (svg.get("viewbox") or "0 0 600 400").split())
    return width, height, f'width="{width:g}" height="{height:g}"'


def _chart_size(svg: Element) -> tuple[float, float, str]:
    """Return the width, the height and the position attributes of a chart inside its margins."""
    match = re.search(r"margin:(\S+)px (\S+)px (\S+)px (\S+)px.*?height:(\S+)px", svg.get("style"))
    top, right, bottom, left, height = map(float, match.groups() if match else (0, 0, 0, 0, 300))
    inner = _WIDTH - left - right
    attributes = f'x="{left:g}" y="{top:g}" width="{inner:g}" height="{height:g}"'
    return _WIDTH, top + height + bottom, attributes
