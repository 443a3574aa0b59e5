"""Inputs, typeset formulas, outputs and cache keys of pages; unchanged pages are reused.

While an author writes, an edit of one article leaves all other pages unchanged. Comparing the key
of a page takes a thousandth of the time of rendering it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2

from builder.calculators import calculator_context
from builder.calculators.cache_keys import CacheKeys
from builder.calculators.calculator_context import CalculatorContext
from builder.calculators.calculator_set import CalculatorSet
from builder.content.article import Article
from builder.content.content_folder import SiteContent
from builder.content.link_targets import LinkTargets
from builder.content.navigation import PagePosition
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.problem import Problem, problems_where
from builder.core.progress import Report, timed_step
from builder.figures.social_cards import Card
from builder.markdown import reference_lists, tex_to_mathml
from builder.markdown.article_html import ArticleHtml
from builder.markdown.tex_to_mathml import Template
from builder.pages import html_facts
from builder.pages.build_services import Services
from builder.pages.html_facts import HtmlFacts
from builder.pages.page import PageContent, Surface

# Typesets all formulas of articles and calculators in one call.


@dataclass(frozen=True, slots=True, kw_only=True)
class TypesetFormulas:
    """MathML by formula key, templates by equation name, and problems.

    `version` is that of the typesetter.
    """

    math: Mapping[str, str]
    templates: Mapping[str, Template]
    problems: tuple[Problem, ...]
    version: str


def typeset_formulas(
    prose: Iterable[tuple[Article, ArticleHtml]],
    calculators: Iterable[CalculatorContext],
    services: Services,
    cache: BuildCache,
    report: Report,
) -> TypesetFormulas:
    """Return the typeset formulas of all articles and calculators."""
    articles = tuple(prose)
    equations = {
        e.name: (calculator, e) for calculator in calculators for e in calculator.equations
    }
    parts = {name: tex_to_mathml.formulas_of(equation) for name, (_, equation) in equations.items()}
    formulas = [formula for _, article_html in articles for formula in article_html.formulas]
    formulas += [formula for formulas in parts.values() for formula in formulas.values()]
    with timed_step(report, f"typesetting {len(formulas)} formulas"):
        typeset_html, errors = tex_to_mathml.typeset(
            formulas, cache, services.typeset_version, services.typeset
        )
    problems = [
        problem
        for article, article_html in articles
        for formula in article_html.formulas
        if formula in errors
        for problem in problems_where(
            article.source, article.body, formula[0], f"TeX: {errors[formula]}"
        )
    ]
    for name, (calculator, _) in equations.items():
        for formula in dict.fromkeys(parts[name].values()):
            if formula in errors:
                message = f"equation '{name}': TeX: {errors[formula]}"
                problems.append(
                    Problem(calculator_context.source_path(calculator.name), 1, message)
                )
    return TypesetFormulas(
        math={tex_to_mathml.formula_key(formula): html for formula, html in typeset_html.items()},
        templates={
            name: tex_to_mathml.equation_template(equation, typeset_html)
            for name, (_, equation) in equations.items()
            if not any(formula in errors for formula in parts[name].values())
        },
        problems=tuple(problems),
        version=services.typeset_version,
    )


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
class PageText:
    """The HTML of a page's article for the search, and its Markdown, "" if none is wanted."""

    article: str
    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """A finished page: its HTML, its text, its facts and its links."""

    html: bytes
    text: PageText
    facts: HtmlFacts
    links: html_facts.PageLinks


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
    and `texts` map the path of a page to its facts, its links and its text.
    """

    output: Mapping[str, bytes]
    texts: Mapping[str, PageText]
    problems: tuple[Problem, ...]
    written: Mapping[str, Mapping[str, str]]
    facts: Mapping[str, HtmlFacts]
    links: Mapping[str, html_facts.PageLinks]


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
