"""Opening figures of guides as standalone SVG files, for lists of guides."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

_WIDTH, _MARGIN = 460, 12  # of a chart, and around every picture
_SECONDS = 0.9  # per state of an animated figure
_DRAWING = re.compile(r'<svg [^>]*class="(scene|chart-svg)"[^>]*>')
_TAG = re.compile(r"<svg\b|</svg>")
_SHEETS = ("10-colors.css", "40-charts.css", "45-scene.css")
_SANS = "system-ui, sans-serif"


def drawing_rules(styles: Path) -> str:
    """Return the CSS rules of drawings from the theme's style sheets."""
    paths = (styles / name for name in _SHEETS)
    text = "".join(path.read_text("utf-8") for path in paths if path.is_file())
    # The theme asks the page how wide a chart is; these are narrow.
    narrow = ".chart-svg .wide{display:none}.chart-svg .narrow{display:inline}"
    return f":root{{--sans:{_SANS};font-family:{_SANS}}}{text}{narrow}"


def standalone_figures(html: str, style: str) -> Iterator[str]:
    """Yield the figures of a page as standalone SVG files, in page order.

    Args:
        html: of the page, its figures drawn.
        style: from `drawing_rules`.
    """
    for match in _DRAWING.finditer(html):
        yield _standalone_figure(html, style, match)


def animated_figure(drawings: Sequence[str], style: str) -> str:
    """Return an SVG file that cycles through the drawings; without motion it shows the first.

    "" if fewer than two of them are figures.

    Args:
        drawings: SVG elements, states of the same figure.
        style: from `drawing_rules`.
    """
    figures = [(drawing, match) for drawing in drawings if (match := _DRAWING.search(drawing))]
    if len(figures) < 2:
        return ""
    states = [_inner_svg(drawing, match) for drawing, match in figures]
    groups = "".join(f'<g class="state s{at}">{inner}</g>' for at, inner in enumerate(states))
    return _standalone_svg(figures[0][1], groups, style + _animation_rules(len(states)))


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


def _standalone_figure(html: str, style: str, match: re.Match[str]) -> str:
    return _standalone_svg(match, _inner_svg(html, match), style)


def _inner_svg(html: str, match: re.Match[str]) -> str:
    return html[match.end() : _drawing_end(html, match.start()) - len("</svg>")]


def _standalone_svg(match: re.Match[str], inner: str, style: str) -> str:
    width, height, size = _scene_size(match[0]) if match[1] == "scene" else _chart_size(match[0])
    box = f"{-_MARGIN} {-_MARGIN} {width + 2 * _MARGIN:g} {height + 2 * _MARGIN:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" '
        f'width="{width + 2 * _MARGIN:g}" height="{height + 2 * _MARGIN:g}">'
        f"<style>{escape(style, quote=False)}</style>"
        f'<rect x="{-_MARGIN}" y="{-_MARGIN}" width="100%" height="100%" class="c-paper" '
        f'fill="currentColor"/><g class="{match[1]}"><svg {size} overflow="visible">{inner}</svg>'
        "</g></svg>"
    )


def _drawing_end(html: str, start: int) -> int:
    """Return the end offset of the drawing that starts at `start`."""
    depth = 0
    for tag in _TAG.finditer(html, start):
        depth += 1 if tag[0] == "<svg" else -1
        if depth == 0:
            return tag.end()
    return len(html)


def _scene_size(tag: str) -> tuple[float, float, str]:
    """Return the width, the height and the position attributes of a scene."""
    match = re.search(r'viewBox="([^"]+)"', tag)
    _, _, width, height = map(float, match[1].split() if match else ("0", "0", "600", "400"))
    return width, height, f'width="{width:g}" height="{height:g}"'


def _chart_size(tag: str) -> tuple[float, float, str]:
    """Return the width, the height and the position attributes of a chart inside its margins."""
    match = re.search(r"margin:(\S+)px (\S+)px (\S+)px (\S+)px.*?height:(\S+)px", tag)
    top, right, bottom, left, height = map(float, match.groups() if match else (0, 0, 0, 0, 300))
    inner = _WIDTH - left - right
    attributes = f'x="{left:g}" y="{top:g}" width="{inner:g}" height="{height:g}"'
    return _WIDTH, top + height + bottom, attributes
