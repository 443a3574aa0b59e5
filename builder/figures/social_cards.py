"""The social cards of all pages, drawn again only where their words or their figure changed."""

import io
import multiprocessing
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape, unescape
from pathlib import Path

from builder.calculators import embed_pages
from builder.content.article import Article
from builder.core.build_cache import Memo
from builder.core.folders import digest
from builder.figures import hero_figures, svg_flatten
from builder.theme.assets import hashed

COLORS = 128  # of the palette; a figure has a dozen, the rest smooths their edges
_FEW = 6  # that are drawn before other processes have started


def pngs(svgs: Mapping[str, str], fonts: Iterable[Path]) -> dict[str, bytes]:
    """Return name -> the drawing in its own size, drawn by all processors.

    Args:
        svgs: name -> SVG that says its width and height, and the families of `fonts` by name.
        fonts: TrueType files.
    """
    draw = partial(png, fonts=tuple(map(str, fonts)))
    if len(svgs) <= _FEW:
        return {name: draw(svg) for name, svg in svgs.items()}
    # Started anew, not forked: the builder has threads.
    with multiprocessing.get_context("spawn").Pool() as pool:
        return dict(zip(svgs, pool.map(draw, svgs.values(), chunksize=2), strict=True))


def png(svg: str, fonts: tuple[str, ...]) -> bytes:
    """Return one drawing."""
    import resvg_py
    from PIL import Image

    drawn = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=list(fonts))
    with Image.open(io.BytesIO(drawn)) as image:
        small = image.convert("RGB").quantize(
            COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
    out = io.BytesIO()
    small.save(out, "PNG")
    return out.getvalue()


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


Pngs = Callable[[Mapping[str, str]], Mapping[str, bytes]]
_LIST = ("home", "path")  # kinds of pages that list guides
_SAID = re.compile(r'<svg [^>]*class="(?:scene|chart-svg)"[^>]* aria-label="([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A card: where it lies in the output, what it says to those who do not see it, its PNG."""

    path: str
    says: str
    png: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What a card is drawn of; `figure` is "" where the page has none."""

    site: str
    title: str
    sentence: str
    figure: str
    says: str


def sheets(site: str, pages: Mapping[str, tuple[Article, str]], style: str) -> dict[str, Sheet]:
    """Return source -> sheet of every page that people come to.

    Args:
        site: its name.
        pages: source -> (article, its HTML).
        style: the theme's rules of drawings (`openings.rules`).
    """
    known = [article for article, _ in pages.values()]
    found = {}
    for source, (article, html) in pages.items():
        if article.kind == embed_pages.KIND:
            continue
        shown = html
        if article.kind in _LIST and (guide := _first_guide(article, known)):
            shown = pages[guide.source][1]
        found[source] = Sheet(
            site=site,
            title=article.title,
            sentence=article.question or article.summary,
            figure=next(hero_figures.pictures(shown, style), ""),
            says=says(shown),
        )
    return found


def made(
    wanted: Mapping[str, Sheet], style: str, fonts: Path, pngs: Pngs, memo: Memo, code: str
) -> dict[str, Card]:
    """Return source -> card; none where the theme has no fonts for them.

    Args:
        wanted: source -> what stands on its card.
        style: the theme's rules of drawings.
        fonts: the folder of the theme's fonts.
        pngs: name -> SVG to name -> PNG, many in one call.
        memo: what earlier builds made.
        code: digest of what lays out and draws.
    """
    if not all(path.is_file() for path in font_files(fonts)):
        return {}
    looks = digest((code, style, *(path.read_bytes() for path in font_files(fonts))))
    keys = {
        source: digest((looks, one.site, one.title, one.sentence, one.figure))
        for source, one in wanted.items()
    }
    new = [source for source in wanted if not memo.has(f"card {source}", keys[source])]
    drawn: Mapping[str, bytes] = {}
    if new:
        measure = measured(fonts)
        drawn = pngs({source: drawing(wanted[source], style, measure) for source in new})
    found = {}
    for source, one in wanted.items():
        png = memo.get(f"card {source}", keys[source], partial(drawn.__getitem__, source))
        name = re.sub(r"\W+", "-", source.removeprefix("content/").removesuffix(".md"))
        found[source] = Card(path=hashed(f"card-{name}.png", png), says=_spoken(one), png=png)
    return found


def drawing(sheet: Sheet, style: str, measure: Measure) -> str:
    """Return a card as SVG."""
    return card(sheet.site, sheet.title, sheet.sentence, sheet.figure, style, measure)


def says(html: str) -> str:
    """Return what the first drawing of a page says of itself, "" without one."""
    found = _SAID.search(html)
    return unescape(found[1]) if found else ""


def _spoken(sheet: Sheet) -> str:
    figure = f"The figure: {sheet.says}" if sheet.says else ""
    return " ".join(part for part in (f"{sheet.title}.", sheet.sentence, figure) if part)


def _first_guide(page: Article, known: list[Article]) -> Article | None:
    guides = [
        one for one in known if one.kind == "guide" and (one.path == page.path or not page.path)
    ]
    return min(guides, key=lambda one: (one.path, one.order), default=None)
