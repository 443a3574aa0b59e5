"""Social cards of all pages: laid out as SVG, rendered to PNG and cached by content."""

import io
import multiprocessing
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from builder.calculators import calculator_context
from builder.content.article import Article
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.figures import hero_figures, svg_flatten
from builder.theme.assets import hashed_path

COLORS = 128  # of the palette; a figure uses a dozen, the others smooth edges
_LOCAL_LIMIT = 6  # up to this many cards are rendered in this process


def render_pngs(svgs: Mapping[str, str], fonts: Iterable[Path]) -> dict[str, bytes]:
    """Return name -> PNG in the size of its SVG, rendered on all processors.

    Args:
        svgs: name -> SVG with a width and a height, and with font families of `fonts`.
        fonts: TrueType files.
    """
    draw = partial(render_png, fonts=tuple(map(str, fonts)))
    if len(svgs) <= _LOCAL_LIMIT:
        return {name: draw(svg) for name, svg in svgs.items()}
    # Started anew, not forked: the builder has threads.
    with multiprocessing.get_context("spawn").Pool() as pool:
        return dict(zip(svgs, pool.map(draw, svgs.values(), chunksize=2), strict=True))


def render_png(svg: str, fonts: tuple[str, ...]) -> bytes:
    """Return the PNG of one SVG."""
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
_TITLE_SIZES, _SENTENCE_SIZES = (60, 54, 48, 42, 36, 30), (29, 27, 25, 23, 21, 19, 17)
_LEADING = {SERIF: 1.14, SANS: 1.38}
_WIDE_RATIO = 2.0  # width over height, from which on a figure lies under the text
_TEXT_WIDTH = 500  # width of the text beside a figure
_GAP, _TOP = 44, 132  # between text and figure; where the text begins
_MAX_SCALE, _MARK_SCALE = (
    1.6,
    12,
)  # how much a figure is enlarged at most, and the mark in place of one

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


def card_svg(
    site: str, title: str, sentence: str, picture: str, style: str, measure: Measure
) -> str:
    """Return a card as SVG.

    Args:
        site: its name.
        title: of the page.
        sentence: its question or summary.
        picture: a figure from `hero_figures.standalone_figure`, "" for none.
        style: CSS of drawings (`hero_figures.drawing_rules`).
        measure: (text, family, size) -> its width in pixels.
    """
    figure, width, height = svg_flatten.flatten_drawing(picture) if picture else ("", 1.0, 1.0)
    wide = bool(picture) and width / height >= _WIDE_RATIO
    across = WIDTH - 2 * EDGE if wide else _TEXT_WIDTH
    down = (HEIGHT - _TOP - EDGE) * (0.4 if wide else 1)
    lines = _fit_text(title, sentence, Box(x=EDGE, y=_TOP, width=across, height=down), measure)
    end = lines[-1].y + lines[-1].size * 0.4
    box = (
        Box(x=EDGE, y=end + 20, width=across, height=HEIGHT - EDGE / 2 - end - 20)
        if wide
        else Box(
            x=EDGE + across + _GAP,
            y=EDGE,
            width=WIDTH - 2 * EDGE - across - _GAP,
            height=HEIGHT - 2 * EDGE,
        )
    )
    drawn = _fit_into_box(figure, width, height, box) if picture else _placeholder_mark(box)
    rules = svg_flatten.needed_rules(svg_flatten.flatten_style(style, SANS), drawn + _MARK_CLASSES)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="{SANS}"><style>{rules}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" class="c-paper" fill="currentColor"/>'
        f"{_wordmark(site)}{''.join(_text_svg(line) for line in lines)}{drawn}</svg>"
    )


def text_measure(fonts: Path) -> Measure:
    """Return the text-measuring function for the fonts of cards."""
    from PIL import ImageFont

    fonts_by_family = {
        family: ImageFont.truetype(str(fonts / name), 100)
        for family, name in ((SANS, FILES[SANS, False]), (SERIF, TITLE_FILE))
    }
    return lambda text, family, size: float(fonts_by_family[family].getlength(text)) * size / 100


def font_files(fonts: Path) -> list[Path]:
    """Return the font files of cards."""
    return [fonts / name for name in (*FILES.values(), TITLE_FILE)]


def _fit_text(title: str, sentence: str, box: Box, measure: Measure) -> list[Line]:
    """Return the lines in the largest sizes at which both texts fit in the box."""
    sizes = [
        (large, small) for small in _SENTENCE_SIZES for large in _TITLE_SIZES if large >= small + 10
    ]
    for large, small in sorted(sizes, key=lambda pair: -(pair[0] + 2 * pair[1])):
        lines = _lines_at(title, sentence, box, (large, small), measure)
        if lines is not None:
            return lines
    return _fit_text(title, _shorter(sentence), box, measure)


def _shorter(sentence: str) -> str:
    """Return the text without its last sentence, or a single sentence without its last word."""
    parts = re.split(r"(?<=[.?!:;]) ", sentence)
    if len(parts) > 1:
        return " ".join(parts[:-1]).rstrip(":;")
    if " " not in sentence:
        raise ValueError("a title is too long for a card")
    return sentence.removesuffix(" ...").rpartition(" ")[0] + " ..."


def _lines_at(
    title: str, sentence: str, box: Box, sizes: tuple[float, float], measure: Measure
) -> list[Line] | None:
    """Return the lines of both texts in these sizes, None if they do not fit."""
    lines: list[Line] = []
    y = box.y
    for text, family, size in ((title, SERIF, sizes[0]), (sentence, SANS, sizes[1])):
        for words in _wrap_text(text, lambda part: measure(part, family, size) <= box.width):  # noqa: B023
            if measure(words, family, size) > box.width:
                return None
            y += size * _LEADING[family]
            lines.append(Line(text=words, x=box.x, y=y, size=size, family=family))
        y += 16
    return lines if y - 16 <= box.y + box.height else None


def _wrap_text(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Return the text in lines that fit, broken between words."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and fits(longer):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _text_svg(line: Line) -> str:
    weight = ' font-weight="700"' if line.family == SERIF else ""
    color = "c-ink" if line.family == SERIF else "c-muted"
    return (
        f'<text x="{line.x:g}" y="{line.y:.1f}" font-size="{line.size:g}" '
        f'font-family="{line.family}" class="{color}" fill="currentColor"{weight}>'
        f"{escape(line.text)}</text>"
    )


def _wordmark(site: str) -> str:
    """Return the SVG of the site's logo and name."""
    return (
        f'<g transform="translate({EDGE},{EDGE})"><g transform="scale(2.4)">{_LANES}</g>'
        f'<text x="72" y="26" font-size="30" class="c-ink" fill="currentColor" '
        f'font-weight="700">{escape(site)}</text></g>'
    )


_MARK_CLASSES = '<g class="c-paper c-ink c-muted c-compute c-communication"></g>'
_LANES = (
    '<rect class="c-compute" width="15" height="4.5" fill="currentColor"/>'
    '<rect class="c-communication" x="6" y="7.5" width="18" height="4.5" fill="currentColor"/>'
)


def _placeholder_mark(box: Box) -> str:
    return _fit_into_box(_LANES, 24, 12, box, most=_MARK_SCALE)


def _fit_into_box(
    drawn: str, width: float, height: float, box: Box, most: float = _MAX_SCALE
) -> str:
    """Return the drawing centered in a box, as large as possible."""
    scale = min(box.width / width, box.height / height, most)
    x = box.x + (box.width - width * scale) / 2
    y = box.y + (box.height - height * scale) / 2
    return f'<g transform="translate({x:.1f},{y:.1f}) scale({scale:.4f})">{drawn}</g>'


RenderPngs = Callable[[Mapping[str, str]], Mapping[str, bytes]]
_LISTING_KINDS = ("home", "path")  # kinds of pages that list guides


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A social card: its path in the output, its alt text and its PNG."""

    path: str
    alt_text: str
    png: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CardContent:
    """The content of a social card; `figure` is "" if the page has none."""

    site: str
    title: str
    sentence: str
    figure: str
    figure_text: str


def card_contents(
    site: str, pages: Mapping[str, tuple[Article, Sequence[str]]], style: str
) -> dict[str, CardContent]:
    """Return source -> card content of every page except embeds.

    Args:
        site: its name.
        pages: source -> (article, SVG of its first figures).
        style: CSS of drawings (`hero_figures.drawing_rules`).
    """
    articles = [article for article, _ in pages.values()]
    contents = {}
    for source, (article, drawings) in pages.items():
        if article.kind == calculator_context.EMBED_KIND:
            continue
        if article.kind in _LISTING_KINDS and (guide := _first_guide(article, articles)):
            drawings = pages[guide.source][1]
        drawing = next(iter(drawings), "")
        contents[source] = CardContent(
            site=site,
            title=article.title,
            sentence=article.question or article.summary,
            figure=hero_figures.standalone_figure(drawing, style) if drawing else "",
            figure_text=hero_figures.figure_description(drawing) if drawing else "",
        )
    return contents


def render_cards(
    contents: Mapping[str, CardContent],
    style: str,
    fonts: Path,
    render: RenderPngs,
    cache: BuildCache,
    code: str,
) -> dict[str, Card]:
    """Return source -> card; empty if the theme has no fonts for cards.

    Args:
        contents: source -> content of its card.
        style: CSS of drawings.
        fonts: the folder of the theme's fonts.
        render: name -> SVG to name -> PNG, many in one call.
        cache: the build cache.
        code: digest of the card renderer.
    """
    if not all(path.is_file() for path in font_files(fonts)):
        return {}
    design = digest((code, style, *(path.read_bytes() for path in font_files(fonts))))
    keys = {
        source: digest((design, content.site, content.title, content.sentence, content.figure))
        for source, content in contents.items()
    }
    new = [source for source in contents if not cache.has(f"card {source}", keys[source])]
    rendered: Mapping[str, bytes] = {}
    if new:
        measure = text_measure(fonts)
        rendered = render({source: draw_card(contents[source], style, measure) for source in new})
    cards = {}
    for source, content in contents.items():
        png = cache.get(f"card {source}", keys[source], partial(rendered.__getitem__, source))
        name = re.sub(r"\W+", "-", source.removeprefix("content/").removesuffix(".md"))
        cards[source] = Card(
            path=hashed_path(f"card-{name}.png", png), alt_text=_alt_text(content), png=png
        )
    return cards


def draw_card(content: CardContent, style: str, measure: Measure) -> str:
    """Return a card as SVG."""
    return card_svg(content.site, content.title, content.sentence, content.figure, style, measure)


def _alt_text(content: CardContent) -> str:
    figure = f"The figure: {content.figure_text}" if content.figure_text else ""
    return " ".join(part for part in (f"{content.title}.", content.sentence, figure) if part)


def _first_guide(page: Article, known: list[Article]) -> Article | None:
    guides = [
        article
        for article in known
        if article.kind == "guide" and (article.path == page.path or not page.path)
    ]
    return min(guides, key=lambda article: (article.path, article.order), default=None)
