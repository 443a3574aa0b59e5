"""The opening figure of a guide as a picture of its own: what lists of guides show."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

_WIDTH, _MARGIN = 460, 12  # of a chart, and around every picture
_SECONDS = 0.9  # that a state of a moving picture is seen
_DRAWING = re.compile(r'<svg [^>]*class="(scene|chart-svg)"[^>]*>')
_TAG = re.compile(r"<svg\b|</svg>")
_SHEETS = ("10-colors.css", "40-charts.css", "45-scene.css")
_SANS = "system-ui, sans-serif"


def rules(styles: Path) -> str:
    """Return the rules of drawings from the theme's folder of style sheets."""
    paths = (styles / name for name in _SHEETS)
    text = "".join(path.read_text("utf-8") for path in paths if path.is_file())
    # The theme asks the page how wide a chart is; these are narrow.
    narrow = ".chart-svg .wide{display:none}.chart-svg .narrow{display:inline}"
    return f":root{{--sans:{_SANS};font-family:{_SANS}}}{text}{narrow}"


def pictures(html: str, style: str) -> Iterator[str]:
    """Yield the drawings of a page as SVG files, with the rules they need, in their order.

    Args:
        html: of the page, its figures drawn.
        style: from `rules`.
    """
    for found in _DRAWING.finditer(html):
        yield _picture(html, style, found)


def moving(drawings: Sequence[str], style: str) -> str:
    """Return one SVG file that shows the drawings in turn; still, it shows the first.

    Nothing where they are no drawings of the page, or only one.

    Args:
        drawings: states of one figure, SVG elements.
        style: from `rules`.
    """
    found = [(one, match) for one in drawings if (match := _DRAWING.search(one))]
    if len(found) < 2:
        return ""
    states = [_inner(one, match) for one, match in found]
    groups = "".join(f'<g class="state s{at}">{inner}</g>' for at, inner in enumerate(states))
    return _framed(found[0][1], groups, style + _turns(len(states)))


def _turns(count: int) -> str:
    """Return the rules by which one of so many groups is seen at a time."""
    length, share = count * _SECONDS, 100 / count
    delays = "".join(f".s{at}{{animation-delay:{at * _SECONDS:g}s}}" for at in range(count))
    return (
        ".state{visibility:hidden}.s0{visibility:visible}"
        "@media (prefers-reduced-motion:no-preference){"
        f"@keyframes turn{{0%,{share:.3f}%{{visibility:visible}}"
        f"{share + 0.001:.3f}%,100%{{visibility:hidden}}}}"
        f".state{{animation:turn {length:g}s step-end infinite}}{delays}}}"
    )


def _picture(html: str, style: str, found: re.Match[str]) -> str:
    return _framed(found, _inner(html, found), style)


def _inner(html: str, found: re.Match[str]) -> str:
    return html[found.end() : _end(html, found.start()) - len("</svg>")]


def _framed(found: re.Match[str], inner: str, style: str) -> str:
    width, height, place = _scene(found[0]) if found[1] == "scene" else _chart(found[0])
    box = f"{-_MARGIN} {-_MARGIN} {width + 2 * _MARGIN:g} {height + 2 * _MARGIN:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" '
        f'width="{width + 2 * _MARGIN:g}" height="{height + 2 * _MARGIN:g}">'
        f"<style>{escape(style, quote=False)}</style>"
        f'<rect x="{-_MARGIN}" y="{-_MARGIN}" width="100%" height="100%" class="c-paper" '
        f'fill="currentColor"/><g class="{found[1]}"><svg {place} overflow="visible">{inner}</svg>'
        "</g></svg>"
    )


def _end(html: str, start: int) -> int:
    """Return where the drawing ends that starts there."""
    depth = 0
    for tag in _TAG.finditer(html, start):
        depth += 1 if tag[0] == "<svg" else -1
        if depth == 0:
            return tag.end()
    return len(html)


def _scene(tag: str) -> tuple[float, float, str]:
    """Return width, height and place of a scene: its own."""
    match = re.search(r'viewBox="([^"]+)"', tag)
    _, _, width, height = map(float, match[1].split() if match else ("0", "0", "600", "400"))
    return width, height, f'width="{width:g}" height="{height:g}"'


def _chart(tag: str) -> tuple[float, float, str]:
    """Return width, height and place of a chart: its frame inside of its margins."""
    match = re.search(r"margin:(\S+)px (\S+)px (\S+)px (\S+)px.*?height:(\S+)px", tag)
    top, right, bottom, left, height = map(float, match.groups() if match else (0, 0, 0, 0, 300))
    inner = _WIDTH - left - right
    place = f'x="{left:g}" y="{top:g}" width="{inner:g}" height="{height:g}"'
    return _WIDTH, top + height + bottom, place
