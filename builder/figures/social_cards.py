"""The social cards of all pages, drawn again only where their words or their figure changed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path

from builder.calculators import embed_pages
from builder.content.article import Article
from builder.core.build_cache import Memo
from builder.core.folders import digest
from builder.figures import hero_figures, social_card
from builder.theme.assets import hashed

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
    if not all(path.is_file() for path in social_card.font_files(fonts)):
        return {}
    looks = digest((code, style, *(path.read_bytes() for path in social_card.font_files(fonts))))
    keys = {
        source: digest((looks, one.site, one.title, one.sentence, one.figure))
        for source, one in wanted.items()
    }
    new = [source for source in wanted if not memo.has(f"card {source}", keys[source])]
    drawn: Mapping[str, bytes] = {}
    if new:
        measure = social_card.measured(fonts)
        drawn = pngs({source: drawing(wanted[source], style, measure) for source in new})
    found = {}
    for source, one in wanted.items():
        png = memo.get(f"card {source}", keys[source], partial(drawn.__getitem__, source))
        name = re.sub(r"\W+", "-", source.removeprefix("content/").removesuffix(".md"))
        found[source] = Card(path=hashed(f"card-{name}.png", png), says=_spoken(one), png=png)
    return found


def drawing(sheet: Sheet, style: str, measure: social_card.Measure) -> str:
    """Return a card as SVG."""
    return social_card.card(sheet.site, sheet.title, sheet.sentence, sheet.figure, style, measure)


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
