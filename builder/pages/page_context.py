"""What a page holds before it is rendered: its prose with pictures and lists, its figures."""

import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from builder.calculators import embed_pages, import_map
from builder.content import learning_paths
from builder.content.article import Article
from builder.content.navigation import Place
from builder.core.build_cache import Memo
from builder.core.folders import digest
from builder.markdown import reference_lists, tex_to_mathml
from builder.pages import asset_urls, page
from builder.pages.page import Content, Surface
from builder.pages.page_inputs import Draft, Ground, Parts
from builder.theme.assets import hashed

_BOX = re.compile(rb"<svg\b[^>]*\bviewBox=[\"']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)")


def size(data: bytes) -> tuple[int, int] | None:
    """Return (width, height) of a PNG or SVG in CSS pixels, None where it cannot be read."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    box = _BOX.search(data)
    return (round(float(box[1])), round(float(box[2]))) if box else None


def with_sizes(html: str, pictures: Mapping[str, bytes]) -> str:
    """Return the HTML with width and height on every image that has none.

    Args:
        html: of a page.
        pictures: address as it stands in `src` -> content.
    """

    def one(match: re.Match[str]) -> str:
        found = size(pictures.get(match[1], b""))
        if found is None or " width=" in match[0]:
            return match[0]
        return f'<img width="{found[0]}" height="{found[1]}" loading="lazy"{match[0][4:]}'

    return re.sub(r'<img\b[^>]*?\bsrc="([^"]*)"[^>]*>', one, html)


def draft(article: Article, parts: Parts, ground: Ground, memo: Memo) -> Draft:
    """Return an article's draft."""
    prose, pictures = parts.rendered[article.source], ground.pictures
    figures = _figures(article, parts, memo)
    resolved = page.resolve(article, prose, ground.index, pictures, parts.typeset.math)
    html = _with_lists(_sized(resolved.html, article, pictures, parts), article, parts, memo)
    place = ground.places[article.source]
    content = _content(article, html, parts, place, ground.surface, charts=bool(figures))
    return Draft(
        content=_with_guides(content, parts, *ground.lists),
        figures=figures,
        problems=(*prose.problems, *resolved.problems),
        written=resolved.written,
    )


def _sized(html: str, article: Article, pictures: Mapping[str, str], parts: Parts) -> str:
    """Return the HTML with the sizes of its pictures."""
    if "<img" not in html:
        return html
    root = page.root_of(article.url)
    shown = {root + pictures[path]: data for path, data in parts.images.items()}
    return with_sizes(html, shown)


def _with_guides(
    content: Content,
    parts: Parts,
    pictures: Mapping[str, str],
    moving: Mapping[str, str],
) -> Content:
    """Return the content with its card, and if it lists guides, with their pictures."""
    article = content.article
    if card := parts.cards.get(article.source):
        content = replace(content, card=(card.path, card.says))
    if article.kind == "home":
        return replace(content, pictures=pictures, moving=moving)
    if article.kind != "path":
        return content
    prose = {source: made.html for source, made in parts.rendered.items()}
    way = learning_paths.way(article, parts.texts.articles, prose, page.root_of(article.url))
    own = {step.guide.slug: pictures.get(step.guide.slug, "") for step in way.steps}
    turning = {slug: moving[slug] for slug in own if slug in moving}
    return replace(content, way=way, pictures=own, moving=turning)


def _content(
    article: Article,
    html: str,
    parts: Parts,
    place: Place,
    surface: Surface,
    *,
    charts: bool,
) -> Content:
    prose, library = parts.rendered[article.source], parts.texts.library
    templates = parts.typeset.templates
    shown = [
        equation.name
        for name in prose.calculators
        for equation in parts.tools.calculators[name].equations
        if equation.name in templates
    ]
    finished = _finished(html, parts)
    receipts = tuple(_finished(receipt, parts) for receipt in prose.receipts)
    all_of_it = "".join((finished, *receipts))
    hidden = (tex_to_mathml.missing(templates[name], all_of_it) for name in dict.fromkeys(shown))
    return Content(
        article=article,
        place=place,
        html=finished,
        headings=prose.headings,
        receipts=receipts,
        cited=page.cited(prose.cites, library),
        terms=page.terms(prose.terms, library, parts.urls, article.url),
        equations=tuple(one for one in hidden if one is not None),
        figures=asset_urls.FIGURES if charts else "",
        live=bool(prose.calculators),
        archives=asset_urls.ARCHIVES,
        surface=surface,
    )


def _with_lists(html: str, article: Article, parts: Parts, memo: Memo) -> str:
    if not reference_lists.has_any(html):
        return html
    if reference_lists.IMPORTS in html:
        drawn = import_map.draw(import_map.parts(parts.keys.imports))
        html = html.replace(reference_lists.IMPORTS, drawn)
    pages = tuple(
        reference_lists.Page(
            slug=one.slug,
            url=page.root_of(article.url) + one.url,
            title=one.title,
            cites=parts.rendered[one.source].cites,
        )
        for one in parts.texts.articles
        if one.kind != embed_pages.KIND
    )
    blocks = parts.templates.get_template("blocks.html").module
    code = parts.keys.of("builder/markdown/reference_lists.py")
    titles = {name: one.title for name, one in parts.tools.calculators.items()}
    key = digest((html, code, parts.texts.library_digest, parts.look, repr(pages), repr(titles)))
    name, library = f"lists {article.source}", parts.texts.library
    return memo.get(name, key, lambda: reference_lists.filled(html, library, pages, titles, blocks))


def _finished(html: str, parts: Parts) -> str:
    return page.with_labels(
        tex_to_mathml.fill_static(html, parts.typeset.templates), parts.texts.library
    )


def _figures(article: Article, parts: Parts, memo: Memo) -> dict[str, bytes]:
    placed = parts.rendered[article.source].figures
    if not placed:
        return {}
    views = {f"{name}.{out}": parts.tools.calculators[name].outputs[out] for name, out in placed}

    key = parts.keys.of("builder/figures/bokeh_documents.py")
    # A figure is one wherever it stands: several articles may show it.
    drawn = {
        name: memo.get(
            f"figure {name}",
            digest((key, page.one_line(view))),
            partial(_drawn, parts, name, view),
        )
        for name, view in views.items()
    }
    text = page.figures_text(drawn)
    return {hashed(f"figures-{article.slug}.json", text): text}


def _drawn(parts: Parts, name: str, view: dict[str, Any]) -> str:
    return page.one_line(parts.figure(name, view))
