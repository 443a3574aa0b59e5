"""Renders the Markdown of an article to HTML, with placeholders for links, images and formulas."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from markdown import Extension, Markdown  # type: ignore[import-untyped]

from builder.content.article import Article
from builder.core.problem import Problem
from builder.markdown import article_checks, line_breaking, reference_lists, tex_to_mathml
from builder.markdown.article_checks import html_text
from builder.markdown.extensions.attributes import AttributesExtension
from builder.markdown.extensions.blocks import SiteBlocksExtension
from builder.markdown.extensions.calculators import PlacementExtension
from builder.markdown.extensions.citations import CitationExtension
from builder.markdown.extensions.glossary import GlossaryExtension
from builder.markdown.extensions.links import LinkExtension
from builder.markdown.extensions.raw_html import RawHtmlExtension
from builder.markdown.render_state import RenderContext, RenderState

_MARKS = {"arithmatex-inline": "$\\", "backtick": "`"}


@dataclass(frozen=True, slots=True)
class _GuardedPattern:
    pattern: re.Pattern[str]
    marks: str

    def finditer(self, text: str, at: int) -> Iterator[re.Match[str]]:
        """Yield the matches from a position on; none if the text lacks the characters they need."""
        return (
            self.pattern.finditer(text, at)
            if any(mark in text for mark in self.marks)
            else iter(())
        )


class PatternGuardExtension(Extension):  # type: ignore[misc]
    """Skips slow patterns on texts without their characters; registered after their extensions."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Wrap each slow pattern."""
        for name, marks in _MARKS.items():
            inline = md.inlinePatterns[name]
            inline.compiled_re = _GuardedPattern(inline.compiled_re, marks)


# Characters of a listing that fit in the text column (theme/styles/00-base.css).
LINE_LENGTH = 82
# Pygments token classes that theme/styles/58-prose.css styles; spans of others are removed.
STYLED_TOKENS = {"c", "c1", "cm", "ch", "cp", "k", "kn", "kd", "kc", "nb", "ow"}
STYLED_TOKENS |= {"s", "s1", "s2", "sd", "mi", "mf", "m"}
_LISTING = re.compile(r'(<div class="language-[\w-]+ highlight)("><pre>.*?</pre>)', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_TOKEN = re.compile(r'<span class="(\w+)">([^<]*)</span>')


def style_listings(html: str) -> str:
    """Return the HTML with focusable code listings, and with wide ones marked.

    A listing wider than its place is scrolled, by keyboard, too. One with a line that the column of
    the text does not hold takes the width of a figure, where the window has it.
    """
    return _LISTING.sub(_style_listing, html).replace("<pre>", '<pre tabindex="0">')


def _keep_styled_token(token: re.Match[str]) -> str:
    return token[0] if token[1] in STYLED_TOKENS else token[2]


def _style_listing(listing: re.Match[str]) -> str:
    division, text = listing.groups()
    longest = max(map(len, unescape(_TAG.sub("", text)[2:]).split("\n")))
    styled = _TOKEN.sub(_keep_styled_token, text)
    return f"{division}{' wide' if longest > LINE_LENGTH else ''}{styled}"


_EXAMPLE = re.compile(
    r"^(?P<marks>///+) example\n(?P<text>.*?)^(?P=marks)$", re.MULTILINE | re.DOTALL
)


def expand_examples(body: str) -> str:
    """Return the article's Markdown with the source of every example above it."""
    return _EXAMPLE.sub(_example_with_source, body)


def _example_with_source(match: re.Match[str]) -> str:
    marks, text = match["marks"], match["text"].strip("\n")
    listing = f"`````markdown\n{text}\n`````"
    return f"{marks} example\n{listing}\n\n{text}\n{marks}"


_SHORT_CHOICE = re.compile(r'<select name="(\w+)" data-of="(\w+)" data-more')
_WHOLE_CALCULATOR = re.compile(
    r'<section class="calculator(?: workbench)?" id="[\w-]+" data-calculator="(\w+)"'
)
_EQUATION = re.compile(r'data-equation="([\w.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """An entry of the page's table of contents."""

    level: int
    id: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleHtml:
    """The rendered HTML of an article, before it is placed on its page.

    Attributes:
        html: with placeholders (see builder/content/placeholders.py).
        headings: in order, levels 2 and 3.
        anchors: id -> text of a cross reference to it.
        cites, terms, calculators: in the order of their first use.
        figures: (calculator, output) of the charts on the page.
        receipts: HTML of the number receipts, and of other content that is loaded on demand.
        formulas: TeX formulas to typeset.
        links, images: as written.
        problems: found while rendering.
    """

    html: str
    headings: tuple[Heading, ...] = ()
    anchors: Mapping[str, str] = field(default_factory=dict)
    cites: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    calculators: tuple[str, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    receipts: tuple[str, ...] = ()
    formulas: tuple[tex_to_mathml.Formula, ...] = ()
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class MarkdownRenderer:
    """Renders articles one after another, with one parser since its setup is slow."""

    def __init__(self, context: RenderContext) -> None:
        self._context, self._state = context, RenderState()
        self._markdown: Markdown | None = None

    def render(self, article: Article) -> ArticleHtml:
        """Return the rendered article."""
        problems = article_checks.limit_problems(article.source, article.body)
        if problems:
            return _empty_article(problems)
        self._state.clear()
        parser = self._markdown or _markdown_parser(self._context, self._state)
        self._markdown = None  # a parser that raised an exception is not reused
        try:
            article_html = _render(article, self._context, self._state, parser)
        except RecursionError:
            message = "is nested too deeply to be read: lists, quotations or blocks in one another"
            return _empty_article([Problem(article.source, 1, message)])
        self._markdown = parser.reset()
        return article_html


def render(article: Article, context: RenderContext) -> ArticleHtml:
    """Return the rendered article."""
    return MarkdownRenderer(context).render(article)


def _empty_article(problems: list[Problem]) -> ArticleHtml:
    return ArticleHtml(html="", problems=tuple(problems))


def _markdown_parser(context: RenderContext, state: RenderState) -> Markdown:
    return Markdown(
        extensions=[
            *_EXTENSIONS,
            PlacementExtension(context, state),
            CitationExtension(context.library, state),
            GlossaryExtension(context.library, state),
            LinkExtension(state),
            SiteBlocksExtension(context, state),
            AttributesExtension(state),
            RawHtmlExtension(state),
            PatternGuardExtension(),
        ],
        extension_configs=_CONFIGS,
    )


def _render(
    article: Article, context: RenderContext, state: RenderState, markdown: Markdown
) -> ArticleHtml:
    body = expand_examples(reference_lists.insert_placeholders(context.expand(article.body)))
    html, formulas = tex_to_mathml.extract_formulas(markdown.convert(body))
    html = style_listings(line_breaking.prevent_breaks(html))
    headings = _headings(markdown.toc_tokens)
    return ArticleHtml(
        html=html,
        headings=tuple(heading for heading in headings if heading.level in (2, 3)),
        anchors={**{h.id: html_text(h.html) for h in headings}, **state.titles},
        cites=tuple(state.cites),
        terms=tuple(state.terms),
        calculators=tuple(state.calculators),
        figures=tuple(state.figures),
        receipts=_sort_by_equation(
            (*_receipts(state, context), *state.receipts, *_deferred_parts(html, context))
        ),
        formulas=tuple(formulas),
        links=tuple(state.links),
        images=tuple(state.images),
        problems=article_checks.problems(
            article, html, state, sorted(markdown.parser.blockprocessors["blocks"].blocks)
        ),
    )


def _receipts(state: RenderState, context: RenderContext) -> list[str]:
    return [
        str(context.macros.receipt(context.load(calculator), output))
        for calculator, output in state.values
    ]


def _deferred_parts(html: str, context: RenderContext) -> Iterator[str]:
    """Yield the HTML that calculators load on first use: presets and long lists of options."""
    for calculator in dict.fromkeys(_WHOLE_CALCULATOR.findall(html)):
        if context.load(calculator).presets:
            yield str(context.macros.presets(context.load(calculator)))
    for name, calculator in dict.fromkeys(_SHORT_CHOICE.findall(html)):
        loaded = context.load(calculator)
        field = next(candidate for candidate in loaded.fields if candidate.name == name)
        yield str(context.macros.options(loaded, field))


def _sort_by_equation(receipts: Iterable[str]) -> tuple[str, ...]:
    """Return the receipts sorted by equation, which compresses better."""
    return tuple(sorted(receipts, key=lambda receipt: _EQUATION.findall(receipt)))


def _headings(tokens: list[dict[str, Any]]) -> list[Heading]:
    headings = []
    for token in tokens:
        headings.append(Heading(level=token["level"], id=token["id"], html=token["name"]))
        headings += _headings(token["children"])
    return headings


_EXTENSIONS = [
    "markdown.extensions.tables",
    "markdown.extensions.attr_list",
    "markdown.extensions.footnotes",
    "markdown.extensions.toc",
    "pymdownx.betterem",
    "pymdownx.superfences",
    "pymdownx.highlight",
    "pymdownx.arithmatex",
    "pymdownx.blocks.admonition",
    "pymdownx.blocks.tab",
    "pymdownx.blocks.details",
    "pymdownx.blocks.caption",
]
_CONFIGS = {
    "markdown.extensions.toc": {"permalink": "#", "permalink_title": "Link to this section"},
    "markdown.extensions.footnotes": {"BACKLINK_TEXT": "↩"},
    "pymdownx.arithmatex": {"generic": True},
    "pymdownx.highlight": {"use_pygments": True, "pygments_lang_class": True},
    "pymdownx.blocks.tab": {"alternate_style": True},
}
