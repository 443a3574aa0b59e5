"""Renders the Markdown of an article to HTML, with placeholders for links, images and formulas."""

import re
import xml.etree.ElementTree as etree
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.extensions.attr_list import (  # type: ignore[import-untyped]
    AttrListTreeprocessor,
    get_attrs_and_remainder,
)
from markdown.inlinepatterns import HTML_RE, HtmlInlineProcessor  # type: ignore[import-untyped]
from markdown.preprocessors import HtmlBlockPreprocessor  # type: ignore[import-untyped]
from markdown.treeprocessors import Treeprocessor  # type: ignore[import-untyped]

from builder.content.article import Article
from builder.core import html_tree
from builder.core.problem import Problem
from builder.markdown import (
    allowed_html,
    article_checks,
    article_tree,
    reference_lists,
    tex_to_mathml,
)
from builder.markdown.allowed_html import ATTRIBUTES
from builder.markdown.article_checks import html_text
from builder.markdown.article_tree import ArticleFacts, Receipt
from builder.markdown.extensions.blocks import SiteBlocksExtension
from builder.markdown.extensions.calculators import PlacementExtension
from builder.markdown.extensions.links import LinkExtension
from builder.markdown.extensions.references import CitationExtension, GlossaryExtension
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
        html: with placeholders (see builder/content/link_targets.py).
        headings: in order, levels 2 and 3.
        anchors: id -> text of a cross reference to it.
        cites, terms, calculators: in the order of their first use.
        figures: (calculator, output) of the charts on the page.
        receipts: HTML of the number receipts, and of other content that is loaded on demand.
        formulas: TeX formulas to typeset.
        links, images: as written.
        facts: what other parts of the build ask of the HTML.
        shown: the equations and symbols in HTML and receipts.
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
    facts: ArticleFacts = field(default_factory=ArticleFacts)
    shown: frozenset[str] = frozenset()
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
    root = html_tree.parse(markdown.convert(body))
    formulas = article_tree.apply_passes(root, context.library.references)
    facts = article_tree.read_facts(root)
    headings = _headings(markdown.toc_tokens)
    parts = (*_receipts(state, context), *state.receipts, *_deferred_parts(facts, context))
    receipts = _sort_by_equation(
        article_tree.make_receipt(html, context.library.references) for html in parts
    )
    return ArticleHtml(
        html=root.html(),
        headings=tuple(heading for heading in headings if heading.level in (2, 3)),
        anchors={**{h.id: html_text(h.html) for h in headings}, **state.titles},
        cites=tuple(state.cites),
        terms=tuple(state.terms),
        calculators=tuple(state.calculators),
        figures=tuple(state.figures),
        receipts=tuple(receipt.html for receipt in receipts),
        formulas=tuple(formulas),
        links=tuple(state.links),
        images=tuple(state.images),
        facts=facts,
        shown=frozenset(facts.equations).union(*(receipt.shown for receipt in receipts)),
        problems=article_checks.problems(
            article, root, state, sorted(markdown.parser.blockprocessors["blocks"].blocks)
        ),
    )


def _receipts(state: RenderState, context: RenderContext) -> list[str]:
    return [
        str(context.macros.receipt(context.load(calculator), output))
        for calculator, output in state.values
    ]


def _deferred_parts(facts: ArticleFacts, context: RenderContext) -> Iterator[str]:
    """Yield the HTML that calculators load on first use: rulers, presets, words, options."""
    for calculator in facts.inputs:
        yield str(context.macros.rulers(context.load(calculator)))
    for calculator in facts.whole:
        if context.load(calculator).presets:
            yield str(context.macros.presets(context.load(calculator)))
        if context.load(calculator).groups:
            yield str(context.macros.finds(context.load(calculator)))
    for calculator, name in facts.choices:
        loaded = context.load(calculator)
        field = next(candidate for candidate in loaded.fields if candidate.name == name)
        yield str(context.macros.options(loaded, field))


def _sort_by_equation(receipts: Iterable[Receipt]) -> list[Receipt]:
    """Return the receipts sorted by equation, which compresses better."""
    return sorted(receipts, key=lambda receipt: receipt.equations)


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


# Markdown extension: checks all raw HTML that the Markdown parser finds.
#
# `builder.markdown.allowed_html` reads the source, and so knows line numbers and unclosed tags.
# This extension sees what the parser sees, so no tag is missed where the two disagree about code.


class HtmlBlocks(HtmlBlockPreprocessor):  # type: ignore[misc]
    """Preprocessor of block-level HTML."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(md)
        self.state = state

    def run(self, lines: list[str]) -> list[str]:
        """Extract the HTML blocks as Markdown does, and check each."""
        before = len(self.md.htmlStash.rawHtmlBlocks)
        kept = list(super().run(lines))
        for block in self.md.htmlStash.rawHtmlBlocks[before:]:
            record_disallowed(str(block), self.state)
        return kept


class InlineHtml(HtmlInlineProcessor):  # type: ignore[misc]
    """Inline processor of HTML tags."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(HTML_RE, md)
        self.state = state

    def handleMatch(
        self, m: re.Match[str], data: str
    ) -> tuple[str | etree.Element, int | None, int | None]:
        """Extract the tag as Markdown does, and check it."""
        record_disallowed(m[0], self.state)
        place, start, end = super().handleMatch(m, data)
        return place, start, end


def record_disallowed(html: str, state: RenderState) -> None:
    """Record the disallowed HTML of a fragment."""
    state.raw += [(html, message) for message in allowed_html.disallowed_messages(html)]


class RawHtmlExtension(Extension):  # type: ignore[misc]
    """Replaces Markdown's two HTML processors by checking ones."""

    def __init__(self, state: RenderState) -> None:
        super().__init__()
        self.state = state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both with Markdown's own names and priorities."""
        md.preprocessors.register(HtmlBlocks(md, self.state), "html_block", 20)
        md.inlinePatterns.register(InlineHtml(md, self.state), "html", 90)


# Markdown extension: allowed attributes of elements; all others are errors.
#
# `{: .asked }` behind a text and `attrs:` of a block would take any name: a style that covers the
# page, an address that a click tells of itself, what our own scripts look for.

# Attributes that the extensions write: tab labels, the position of an answer.
_GENERATED = frozenset(("for", "type", "name", "checked", "data-tabs", "data-answer"))
_ALIGNMENTS = tuple(f"text-align: {way};" for way in ("left", "center", "right"))


def disallowed_message(name: str) -> str:
    """Return the error message for a disallowed attribute."""
    return f"the attribute '{name}' is not allowed in an article"


class AttributeLists(AttrListTreeprocessor):  # type: ignore[misc]
    """Attribute lists in braces."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(md)
        self.state = state

    def assign_attrs(self, elem: etree.Element, attrs_string: str, *, strict: bool = False) -> str:
        """Set the allowed attributes of an element and report the others."""
        attributes, remainder = get_attrs_and_remainder(attrs_string)
        if strict and remainder:
            return str(remainder)
        for name, value in attributes:
            if name == ".":
                elem.set("class", " ".join(filter(None, (elem.get("class"), value))))
            elif self.sanitize_name(name) in ATTRIBUTES:
                elem.set(self.sanitize_name(name), value or "")
            else:
                raw = name if value is None else f"{name}="
                self.state.problems.append((raw, disallowed_message(name)))
        return str(remainder)


class BlockAttributes(Treeprocessor):  # type: ignore[misc]
    """Attributes set by block options; runs before inline parsing."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(md)
        self.state = state

    def run(self, root: etree.Element) -> None:
        """Remove and report disallowed attributes."""
        for elem in root.iter():
            for name in [name for name in elem.attrib if name not in ATTRIBUTES | _GENERATED]:
                if name == "style" and elem.get(name) in _ALIGNMENTS and elem.tag in ("th", "td"):
                    continue
                del elem.attrib[name]
                self.state.problems.append((name, disallowed_message(name)))


class AttributesExtension(Extension):  # type: ignore[misc]
    """Registers both processors: blocks before inline parsing (20), lists at Markdown's own (8)."""

    def __init__(self, state: RenderState) -> None:
        super().__init__()
        self.state = state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processors."""
        md.treeprocessors.register(BlockAttributes(md, self.state), "block_attributes", 25)
        md.treeprocessors.register(AttributeLists(md, self.state), "attr_list", 8)
        md.registerExtension(self)
