"""Builds the template context of a page: HTML with images and lists, figures, asset URLs."""

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

from jinja2.utils import htmlsafe_json_dumps

from builder.calculators import calculator_context
from builder.content import learning_paths
from builder.content.article import Article
from builder.content.link_targets import fill_placeholders
from builder.content.navigation import PagePosition
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.module_imports import ImportGraph
from builder.markdown import reference_lists, tex_to_mathml
from builder.pages import page
from builder.pages.page import PageContent, ResolvedHtml, Surface
from builder.pages.page_inputs import PageDraft, PageSources, SiteContext
from builder.theme.assets import Shell, hashed_path

_VIEW_BOX = re.compile(
    rb"<svg\b[^>]*\bviewBox=[\"']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)"
)


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return (width, height) of a PNG or SVG in CSS pixels, None if it cannot be read."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    box = _VIEW_BOX.search(data)
    return (round(float(box[1])), round(float(box[2]))) if box else None


def make_draft(
    article: Article, page_sources: PageSources, context: SiteContext, cache: BuildCache
) -> PageDraft:
    """Return the draft of an article's page."""
    prose, pictures = page_sources.rendered[article.source], context.image_paths
    figures = _figure_files(article, page_sources, cache)
    resolved = page.resolve_links(
        article,
        prose,
        context.index,
        pictures,
        page_sources.typeset,
    )
    html = _with_lists(resolved.html, article, page_sources, cache)
    resolved = replace(resolved, html=html)
    position = context.positions[article.source]
    content = _page_content(
        article, resolved, page_sources, position, context.surface, charts=bool(figures)
    )
    sizes = {url: image_size(page_sources.images[path]) for url, path in resolved.images.items()}
    known_sizes = {url: size for url, size in sizes.items() if size}
    content = replace(content, image_sizes=known_sizes)
    return PageDraft(
        content=_with_guides(content, page_sources, *context.guide_figures),
        figures=figures,
        problems=(*prose.problems, *resolved.problems),
        written=resolved.written,
    )


def _with_guides(
    content: PageContent,
    page_sources: PageSources,
    pictures: Mapping[str, str],
    moving: Mapping[str, str],
) -> PageContent:
    """Return the content with its social card and, on pages that list guides, their figures."""
    article = content.article
    if card := page_sources.cards.get(article.source):
        content = replace(content, card=(card.path, card.alt_text))
    if article.kind == "home":
        return replace(content, pictures=pictures, moving=moving)
    if article.kind != "path":
        return content
    outcomes = {source: prose.facts.outcomes for source, prose in page_sources.rendered.items()}
    path = learning_paths.path_page(
        article, page_sources.texts.articles, outcomes, page.relative_root(article.url)
    )
    figures = {step.guide.slug: pictures.get(step.guide.slug, "") for step in path.steps}
    animated = {slug: moving[slug] for slug in figures if slug in moving}
    return replace(content, path_page=path, pictures=figures, moving=animated)


def _page_content(
    article: Article,
    resolved: ResolvedHtml,
    page_sources: PageSources,
    place: PagePosition,
    surface: Surface,
    *,
    charts: bool,
) -> PageContent:
    prose, library = page_sources.rendered[article.source], page_sources.texts.library
    templates = page_sources.typeset.templates
    names = [
        equation.name
        for name in prose.calculators
        for equation in page_sources.tools.calculators[name].equations
        if equation.name in templates
    ]
    glossary = page_sources.urls.get("glossary")
    missing = (
        tex_to_mathml.missing_parts(templates[name], prose.shown) for name in dict.fromkeys(names)
    )
    return PageContent(
        article=article,
        place=place,
        html=resolved.html,
        headings=prose.headings,
        receipts=resolved.receipts,
        cited=page.cited_references(prose.cites, library),
        terms=page.used_terms(prose.terms, library, page_sources.urls, article.url),
        equations=tuple(equation for equation in missing if equation is not None),
        figures=FIGURES if charts else "",
        live=bool(prose.calculators),
        archives=ARCHIVES,
        surface=surface,
        glossary=page.relative_root(article.url) + glossary if glossary else "",
    )


def _with_lists(html: str, article: Article, page_sources: PageSources, cache: BuildCache) -> str:
    if not reference_lists.has_placeholders(html):
        return html
    has_imports = reference_lists.IMPORTS in html
    imports = draw(package_graph(page_sources.keys.imports)) if has_imports else ""
    pages = tuple(
        reference_lists.ListedPage(
            slug=listed.slug,
            url=page.relative_root(article.url) + listed.url,
            title=listed.title,
            cites=page_sources.rendered[listed.source].cites,
        )
        for listed in page_sources.texts.articles
        if listed.kind != calculator_context.EMBED_KIND
    )
    blocks = page_sources.templates.get_template("blocks.html").module
    code = page_sources.keys.digest_of("builder/markdown/reference_lists.py")
    titles = {name: calculator.title for name, calculator in page_sources.tools.calculators.items()}
    key = digest(
        (
            html,
            imports,
            code,
            page_sources.texts.library_digest,
            page_sources.templates_digest,
            repr(pages),
            repr(titles),
        )
    )
    name, library = f"lists {article.source}", page_sources.texts.library
    return cache.get(
        name, key, lambda: reference_lists.fill_lists(html, library, pages, titles, blocks, imports)
    )


def _figure_files(
    article: Article, page_sources: PageSources, cache: BuildCache
) -> dict[str, bytes]:
    placed = page_sources.rendered[article.source].figures
    if not placed:
        return {}
    views = {
        f"{name}.{out}": page_sources.tools.calculators[name].outputs[out] for name, out in placed
    }

    key = page_sources.keys.digest_of("builder/figures/bokeh_documents.py")
    # Cached by name alone, since several articles may show the same figure.
    documents = {
        name: cache.get(
            f"figure {name}",
            digest((key, page.compact_json(view))),
            partial(_figure_json, page_sources, name, view),
        )
        for name, view in views.items()
    }
    text = page.figures_json(documents)
    return {hashed_path(f"figures-{article.slug}.json", text): text}


def _figure_json(page_sources: PageSources, name: str, view: dict[str, Any]) -> str:
    return page.compact_json(page_sources.figure(name, view))


# Import matrix of the packages as SVG: `[[imports.*]]` on its own line.
#
# A square stands where the package of its row imports the package of its column. The packages are
# in topological order, so a square above the diagonal shows an import cycle.

CELL, LEFT, TOP = 18, 150, 130
_CELL_SVG = '<rect x="{x}" y="{y}" width="{w}" height="{w}" class="{kind}" fill="currentColor"/>'


def package_graph(imports: ImportGraph) -> dict[str, set[str]]:
    """Return package -> packages that it imports, such as `builder` and `engine.run`."""
    graph: dict[str, set[str]] = {}
    for path in imports.sources:
        if path.endswith("/__init__.py"):  # imported by every import of the package
            continue
        imported = graph.setdefault(_package(path), set())
        used = (
            module for module in imports.direct_imports(path) if not module.endswith("/__init__.py")
        )
        imported |= {_package(module) for module in used} - {_package(path)}
    return graph


def _package(path: str) -> str:
    """Return the package of a module; a top-level module of the engine is its own package."""
    pieces = path.removesuffix(".py").split("/")
    return pieces[0] if pieces[0] != "engine" else ".".join(pieces[:2])


def topological_order(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the packages in topological order; packages of a cycle by name."""
    remaining, order = {name: set(needs) for name, needs in graph.items()}, []
    while remaining:
        ready = sorted(name for name, needs in remaining.items() if not needs & set(remaining))
        for name in ready or sorted(remaining)[:1]:
            order.append(name)
            del remaining[name]
    return order


def draw(graph: Mapping[str, Iterable[str]]) -> str:
    """Return the import matrix as SVG."""
    order = topological_order(graph)
    positions = {name: number for number, name in enumerate(order)}
    size = CELL * len(order)
    labels = "".join(
        f'<text x="{LEFT - 8}" y="{TOP + CELL * row + 13}" text-anchor="end">{escape(name)}</text>'
        f'<text transform="translate({LEFT + CELL * row + 13} {TOP - 8}) rotate(-60)">'
        f"{escape(name)}</text>"
        for name, row in positions.items()
    )
    cells = "".join(
        _CELL_SVG.format(x=LEFT + CELL * column + 3, y=TOP + CELL * row + 3, w=CELL - 6, kind=kind)
        for name, row in positions.items()
        for other, column in positions.items()
        for kind in _cell_classes(name, other, graph)
    )
    label = f"{len(order)} parts; each imports only parts above it"
    width, height = LEFT + size + 70, TOP + size + 8
    return (
        f'<div class="scroll" tabindex="0"><svg class="import-map" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{label}" font-size="13" fill="currentColor">'
        f"{labels}{cells}</svg></div>"
    )


def _cell_classes(name: str, other: str, graph: Mapping[str, Iterable[str]]) -> list[str]:
    if name == other:
        return ["c-idle"]
    return ["c-compute"] if other in graph[name] else []


# Placeholders for hashed asset URLs in pages, filled in last.
#
# A small change of a style sheet changes its URL in every page. Pages are rendered and checked with
# placeholders, and so need not be rendered again.

FIGURES, ARCHIVES = "⟦asset=figures⟧", "⟦asset=archives⟧"
_SHARED_ASSETS = ("styles", "early", "script", "worker", "runtime", "bokeh")


def with_placeholders(shell: Shell) -> Shell:
    """Return the shell with its asset URLs replaced by placeholders."""
    marks = {name: f"⟦asset={name}⟧" for name in _SHARED_ASSETS if getattr(shell, name)}
    fonts = tuple(f"⟦asset=font-{number}⟧" for number in range(len(shell.fonts)))
    conditional = tuple(
        replace(sheet, address=f"⟦asset=sheet-{number}⟧")
        for number, sheet in enumerate(shell.conditional_styles)
    )
    return replace(shell, style_text="", fonts=fonts, conditional_styles=conditional, **marks)


def page_urls(shell: Shell, figures: str, archives: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the name of an asset in placeholders -> its URL on a page.

    Args:
        shell: assets that all pages load.
        figures: URL of the page's charts.
        archives: calculator -> URLs of its archives, relative to the page.
    """
    shared = {name: str(getattr(shell, name)) for name in _SHARED_ASSETS}
    fonts = {f"font-{number}": font for number, font in enumerate(shell.fonts)}
    conditional = {
        f"sheet-{number}": sheet.address for number, sheet in enumerate(shell.conditional_styles)
    }
    archives_json = str(htmlsafe_json_dumps(archives, sort_keys=True))
    return {**shared, **fonts, **conditional, "figures": figures, "archives": archives_json}


def fill_assets(text: str, urls: Mapping[str, str]) -> str:
    """Return the text with its asset placeholders replaced by URLs."""
    return fill_placeholders(text, {"asset": urls.__getitem__})
