"""Inputs, outputs and cache keys of pages; unchanged pages of the previous build are reused.

While an author writes, an edit of one article leaves all other pages unchanged. Comparing the key
of a page takes a thousandth of the time of rendering it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2

from builder.calculators.cache_keys import CacheKeys
from builder.calculators.calculator_set import CalculatorSet
from builder.content.content_folder import SiteContent
from builder.content.link_targets import LinkTargets
from builder.content.navigation import PagePosition
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.problem import Problem
from builder.figures.social_cards import Card
from builder.markdown import reference_lists
from builder.markdown.article_html import ArticleHtml
from builder.pages import html_links
from builder.pages.html_facts import HtmlFacts
from builder.pages.page import PageContent, Surface
from builder.pages.typesetting import TypesetFormulas

_LISTING_KINDS = ("home", "path")  # kinds of pages that list other pages


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSources:
    """The sources of all pages.

    Attributes:
        rendered: source of an article -> its rendered HTML.
        keys: code digests.
        templates_digest: digest of the templates.
        images: path from the project's folder -> content.
        figure: (name, view JSON) -> Bokeh document.
        archives: calculator -> path of its runtime archive.
        runtime: path of a runtime archive -> content.
        drawing_styles: CSS of drawings, for standalone figures.
        moving: slug of a guide -> its animated opening figure.
        cards: source of an article -> its social card, none if the site's URL is unknown.
        surface_digest: digest of the surface.
        urls: slug -> URL of every article.
        render_folders: the theme's folder and the shared cache folder.
    """

    texts: SiteContent
    tools: CalculatorSet
    rendered: Mapping[str, ArticleHtml]
    typeset: TypesetFormulas
    surface: Surface
    templates: jinja2.Environment
    keys: CacheKeys
    templates_digest: str
    images: Mapping[str, bytes]
    figure: Callable[[str, dict[str, Any]], dict[str, Any]]
    archives: Mapping[str, str]
    runtime: Mapping[str, bytes]
    drawing_styles: str
    render_folders: tuple[Path, Path]
    moving: Mapping[str, bytes] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    surface_digest: str = ""
    urls: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteContext:
    """Data of the whole site that each page needs besides its own article.

    Attributes:
        index: link targets.
        positions: source of an article -> its position in the navigation.
        image_paths: path of an image from the project's folder -> path in the output.
        surface: with placeholders for hashed URLs.
        guide_figures: slug of a guide -> path of its opening figure, still and animated.
    """

    index: LinkTargets
    positions: Mapping[str, PagePosition]
    image_paths: Mapping[str, str]
    surface: Surface
    guide_figures: tuple[Mapping[str, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDraft:
    """The template context of a page, and the files that only it uses."""

    content: PageContent
    figures: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    written: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """A finished page: full and minified HTML, its facts and its links."""

    html: bytes
    minified: bytes
    facts: HtmlFacts
    links: html_links.PageLinks


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOutput:
    """The output of an article: its page, its receipts page if any, and its own files.

    `written` as in `RenderedSite`.
    """

    pages: Mapping[str, RenderedPage]
    files: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    written: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedSite:
    """All rendered pages, figures and images, by path in the output.

    `written` maps the source of an article to its URLs and their links as written; `facts`, `links`
    and `minified` map the path of a page to its facts, its links and its minified HTML.
    """

    output: Mapping[str, bytes]
    minified: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    written: Mapping[str, Mapping[str, str]]
    facts: Mapping[str, HtmlFacts]
    links: Mapping[str, html_links.PageLinks]


def draft_keys(
    page_sources: PageSources, context: SiteContext, cache: BuildCache
) -> dict[str, str]:
    """Return source -> cache key of its draft.

    Pages that list content of other pages, such as all terms, have no key.
    """
    common = _common_key(page_sources, context)
    return {
        article.source: digest(
            (
                common,
                cache.key_of(f"prose {article.source}"),
                _card_text(page_sources, article.source),
            )
        )
        for article in page_sources.texts.articles
        if article.kind not in _LISTING_KINDS
        and not reference_lists.has_placeholders(page_sources.rendered[article.source].html)
    }


def page_keys(drafts: Mapping[str, str], page_sources: PageSources) -> dict[str, str]:
    """Return source -> cache key of its finished page, from its draft and its asset URLs.

    Args:
        drafts: source -> key from `draft_keys`.
        page_sources: sources of all pages.
    """
    shell = repr(replace(page_sources.surface.shell, style_text=""))
    return {
        source: digest((draft, shell, _archive_names(page_sources, source)))
        for source, draft in drafts.items()
    }


def _common_key(page_sources: PageSources, context: SiteContext) -> str:
    """Return the digest of the inputs that all drafts share.

    It leaves out the articles' own HTML, whose cache key holds its text and its numbers.
    """
    order = [
        (
            context.positions[article.source].page,
            article.path,
            article.order,
            article.requires,
            article.next,
        )
        for article in page_sources.texts.articles
    ]
    code = page_sources.keys.digest_of("builder/pages/all_pages.py")
    structures = (order, context.index, context.image_paths)
    known = (
        page_sources.templates_digest,
        page_sources.surface_digest,
        page_sources.texts.library_digest,
        page_sources.typeset.version,
        code,
    )
    return digest((*known, *map(repr, structures)))


def _card_text(page_sources: PageSources, source: str) -> str:
    card = page_sources.cards.get(source)
    return repr((card.path, card.alt_text)) if card else ""


def _archive_names(page_sources: PageSources, source: str) -> str:
    """Return the archive paths of a page's calculators as text."""
    return repr(
        [page_sources.archives.get(name) for name in page_sources.rendered[source].calculators]
    )
