"""The social card of a page: what a link to it shows elsewhere, with the page's own figure.

Title, question and figure on one sheet of 1200 x 630 pixels, in the colors of the theme. A wide
figure lies under the text, any other beside it; a page without one has the site's mark, large.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from builder.figures import svg_flatten

WIDTH, HEIGHT, EDGE = 1200, 630, 56
SANS, SERIF = "Inter", "Card Serif"
FILES = {(SANS, False): "inter-400.ttf", (SANS, True): "inter-700.ttf"}
TITLE_FILE = "source-serif-600.ttf"
_TITLES, _SENTENCES = (60, 54, 48, 42, 36, 30), (29, 27, 25, 23, 21, 19, 17)
_LEADING = {SERIF: 1.14, SANS: 1.38}
_WIDE = 2.0  # width over height, from which on a figure lies under the text
_BESIDE = 500  # width of the text beside a figure
_GAP, _TOP = 44, 132  # between text and figure; where the text begins
_MOST, _MARK = 1.6, 12  # how much a figure is enlarged at most, and the mark in place of one

Measure = Callable[[str, str, float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of text: its baseline and left end in pixels, and how it is set."""

    text: str
    x: float
    y: float
    size: float
    family: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float


def card(site: str, title: str, sentence: str, picture: str, style: str, measure: Measure) -> str:
    """Return a card as SVG.

    Args:
        site: its name.
        title: of the page.
        sentence: its question, or what it is about.
        picture: the figure as `openings.pictures` gives it, "" for none.
        style: the theme's rules of drawings (`openings.rules`).
        measure: (text, family, size) -> its width in pixels.
    """
    figure, width, height = svg_flatten.drawing(picture) if picture else ("", 1.0, 1.0)
    wide = bool(picture) and width / height >= _WIDE
    across = WIDTH - 2 * EDGE if wide else _BESIDE
    down = (HEIGHT - _TOP - EDGE) * (0.4 if wide else 1)
    lines = _set(title, sentence, Box(x=EDGE, y=_TOP, width=across, height=down), measure)
    end = lines[-1].y + lines[-1].size * 0.4
    place = (
        Box(x=EDGE, y=end + 20, width=across, height=HEIGHT - EDGE / 2 - end - 20)
        if wide
        else Box(
            x=EDGE + across + _GAP,
            y=EDGE,
            width=WIDTH - 2 * EDGE - across - _GAP,
            height=HEIGHT - 2 * EDGE,
        )
    )
    drawn = _fitted(figure, width, height, place) if picture else _mark(place)
    rules = svg_flatten.needed(svg_flatten.style(style, SANS), drawn + _MARK_CLASSES)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="{SANS}"><style>{rules}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" class="c-paper" fill="currentColor"/>'
        f"{_wordmark(site)}{''.join(_text(line) for line in lines)}{drawn}</svg>"
    )


def lines_of(svg: str) -> list[Line]:
    """Return the lines of the title and the sentence on a card."""
    found = re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" font-size="([\d.]+)" '
        r'font-family="([^"]+)" [^>]*>([^<]*)<',
        svg,
    )
    return [
        Line(text=unescape(text), x=float(x), y=float(y), size=float(size), family=family)
        for x, y, size, family, text in found
    ]


def measured(fonts: Path) -> Measure:
    """Return what measures text in the fonts of cards."""
    from PIL import ImageFont

    sheet = {
        family: ImageFont.truetype(str(fonts / name), 100)
        for family, name in ((SANS, FILES[SANS, False]), (SERIF, TITLE_FILE))
    }
    return lambda text, family, size: float(sheet[family].getlength(text)) * size / 100


def font_files(fonts: Path) -> list[Path]:
    """Return the files that cards are set in."""
    return [fonts / name for name in (*FILES.values(), TITLE_FILE)]


def _set(title: str, sentence: str, box: Box, measure: Measure) -> list[Line]:
    """Return the lines in the largest sizes at which both texts fit in the box."""
    sizes = [(large, small) for small in _SENTENCES for large in _TITLES if large >= small + 10]
    for large, small in sorted(sizes, key=lambda pair: -(pair[0] + 2 * pair[1])):
        lines = _at(title, sentence, box, (large, small), measure)
        if lines is not None:
            return lines
    return _set(title, _shorter(sentence), box, measure)


def _shorter(sentence: str) -> str:
    """Return the text without its last sentence, or without its last word if it is one."""
    parts = re.split(r"(?<=[.?!:;]) ", sentence)
    if len(parts) > 1:
        return " ".join(parts[:-1]).rstrip(":;")
    if " " not in sentence:
        raise ValueError("a title is too long for a card")
    return sentence.removesuffix(" ...").rpartition(" ")[0] + " ..."


def _at(
    title: str, sentence: str, box: Box, sizes: tuple[float, float], measure: Measure
) -> list[Line] | None:
    """Return the lines of both texts in these sizes, nothing where they do not fit."""
    found: list[Line] = []
    y = box.y
    for text, family, size in ((title, SERIF, sizes[0]), (sentence, SANS, sizes[1])):
        for words in _wrapped(text, lambda part: measure(part, family, size) <= box.width):  # noqa: B023
            if measure(words, family, size) > box.width:
                return None
            y += size * _LEADING[family]
            found.append(Line(text=words, x=box.x, y=y, size=size, family=family))
        y += 16
    return found if y - 16 <= box.y + box.height else None


def _wrapped(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Return the text in lines that fit, broken between words."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and fits(longer):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _text(line: Line) -> str:
    weight = ' font-weight="700"' if line.family == SERIF else ""
    color = "c-ink" if line.family == SERIF else "c-muted"
    return (
        f'<text x="{line.x:g}" y="{line.y:.1f}" font-size="{line.size:g}" '
        f'font-family="{line.family}" class="{color}" fill="currentColor"{weight}>'
        f"{escape(line.text)}</text>"
    )


def _wordmark(site: str) -> str:
    """Return the site's mark and name."""
    return (
        f'<g transform="translate({EDGE},{EDGE})"><g transform="scale(2.4)">{_LANES}</g>'
        f'<text x="72" y="26" font-size="30" class="c-ink" fill="currentColor" '
        f'font-weight="700">{escape(site)}</text></g>'
    )


_MARK_CLASSES = 'class="c-paper c-ink c-muted c-compute c-communication"'
_LANES = (
    '<rect class="c-compute" width="15" height="4.5" fill="currentColor"/>'
    '<rect class="c-communication" x="6" y="7.5" width="18" height="4.5" fill="currentColor"/>'
)


def _mark(place: Box) -> str:
    return _fitted(_LANES, 24, 12, place, most=_MARK)


def _fitted(drawn: str, width: float, height: float, place: Box, most: float = _MOST) -> str:
    """Return the drawing in the middle of a place, as large as it may be."""
    scale = min(place.width / width, place.height / height, most)
    x = place.x + (place.width - width * scale) / 2
    y = place.y + (place.height - height * scale) / 2
    return f'<g transform="translate({x:.1f},{y:.1f}) scale({scale:.4f})">{drawn}</g>'
