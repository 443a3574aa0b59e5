"""Article -> Prose: the article's Markdown rendered, with marks for what other pages decide."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any

from markdown import Markdown  # type: ignore[import-untyped]

from builder import bounds, examples, line_ends, listings, lists, maths, raw_html, unclosed
from builder.article import Article
from builder.findings import Findings, Surroundings
from builder.markup.attributes import AttributesExtension
from builder.markup.blocks import OwnBlocksExtension
from builder.markup.cite import CiteExtension
from builder.markup.glossary import GlossaryExtension
from builder.markup.links import LinkExtension
from builder.markup.live import LiveExtension
from builder.markup.rare import RareExtension
from builder.markup.raw import RawExtension
from builder.problem import Problem, located, prose_lines

_LISTING = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s+\S")
_EQUATION = re.compile(r'data-equation="([\w.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """An entry of the page's contents."""

    level: int
    id: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """An article rendered on its own.

    Attributes:
        html: with marks (see builder/marks.py).
        headings: in order, levels 2 and 3.
        anchors: id -> what a cross reference to it says.
        cites, terms, calculators: in the order of their first use.
        figures: (calculator, output) of the charts on the page.
        popovers: HTML of all receipts.
        formulas: what has to be typeset for it.
        links, images: as written.
        problems: what is wrong so far.
    """

    html: str
    headings: tuple[Heading, ...]
    anchors: Mapping[str, str]
    cites: tuple[str, ...]
    terms: tuple[str, ...]
    calculators: tuple[str, ...]
    figures: tuple[tuple[str, str], ...]
    popovers: tuple[str, ...]
    formulas: tuple[maths.Formula, ...]
    links: tuple[str, ...]
    images: tuple[str, ...]
    problems: tuple[Problem, ...]


class Reader:
    """Renders articles, one after another; making Markdown ready takes as long as an article."""

    def __init__(self, around: Surroundings) -> None:
        self._around, self._findings = around, Findings()
        self._markdown: Markdown | None = None

    def render(self, article: Article) -> Prose:
        """Return the article's prose."""
        unreadable = bounds.problems(article.source, article.body)
        if unreadable:
            return _refused(unreadable)
        self._findings.clear()
        ready = self._markdown or _ready(self._around, self._findings)
        self._markdown = None  # what was left half read is not used again
        try:
            made = _rendered(article, self._around, self._findings, ready)
        except RecursionError:
            message = "is nested too deeply to be read: lists, quotations or blocks in one another"
            return _refused([Problem(article.source, 1, message)])
        self._markdown = ready.reset()
        return made


def render(article: Article, around: Surroundings) -> Prose:
    """Return the prose of one article."""
    return Reader(around).render(article)


def _refused(problems: list[Problem]) -> Prose:
    return Prose(
        html="",
        headings=(),
        anchors={},
        cites=(),
        terms=(),
        calculators=(),
        figures=(),
        popovers=(),
        formulas=(),
        links=(),
        images=(),
        problems=tuple(problems),
    )


def _ready(around: Surroundings, findings: Findings) -> Markdown:
    return Markdown(
        extensions=[
            *_EXTENSIONS,
            LiveExtension(around, findings),
            CiteExtension(around.library, findings),
            GlossaryExtension(around.library, findings),
            LinkExtension(findings),
            OwnBlocksExtension(around, findings),
            AttributesExtension(findings),
            RawExtension(findings),
            RareExtension(),
        ],
        extension_configs=_CONFIGS,
    )


def _rendered(
    article: Article, around: Surroundings, findings: Findings, markdown: Markdown
) -> Prose:
    body = examples.expanded(lists.expanded(around.expanded(article.body)))
    html, formulas = maths.extract(markdown.convert(body))
    html = listings.dressed(line_ends.bound(html))
    headings = _headings(markdown.toc_tokens)
    problems = [
        problem
        for raw, message in findings.problems
        for problem in located(article.source, article.body, raw, message)
    ]
    problems += _in_sentences(article, findings)
    problems += _wrong_headings(article) + _given_away(article, html, findings.answers)
    problems += _unread_blocks(article, html, markdown)
    problems += raw_html.problems(article.source, article.body) or _hidden(article, findings)
    problems += unclosed.problems(article.source, article.body)
    return Prose(
        html=html,
        headings=tuple(heading for heading in headings if heading.level in (2, 3)),
        anchors={**{h.id: _text(h.html) for h in headings}, **findings.titles},
        cites=tuple(findings.cites),
        terms=tuple(findings.terms),
        calculators=tuple(findings.calculators),
        figures=tuple(findings.figures),
        popovers=_alike((*_receipts(findings, around), *findings.popovers)),
        formulas=tuple(formulas),
        links=tuple(findings.links),
        images=tuple(findings.images),
        problems=tuple(dict.fromkeys(problems)),
    )


def _in_sentences(article: Article, findings: Findings) -> list[Problem]:
    """Return what is wrong with placements in sentences, wherever they stand in one."""
    lines = article.body.splitlines()
    found = []
    for raw, message in findings.in_sentences:
        there = located(article.source, article.body, raw, message)
        beside = [one for one in there if lines[one.line - 1].strip() != raw]
        found += beside or there
    return found


def _hidden(article: Article, findings: Findings) -> list[Problem]:
    """Return what Markdown took for HTML where a look at the source saw code."""
    return [
        problem
        for raw, message in findings.raw
        for problem in located(article.source, article.body, raw, message)
    ]


def _receipts(findings: Findings, around: Surroundings) -> list[str]:
    return [
        str(around.macros.receipt(around.load(calculator), output))
        for calculator, output in findings.values
    ]


def _alike(receipts: Iterable[str]) -> tuple[str, ...]:
    """Return the receipts with those of one equation side by side: they compress together."""
    return tuple(sorted(receipts, key=lambda receipt: _EQUATION.findall(receipt)))


def _headings(tokens: list[dict[str, Any]]) -> list[Heading]:
    found = []
    for token in tokens:
        found.append(Heading(level=token["level"], id=token["id"], html=token["name"]))
        found += _headings(token["children"])
    return found


def _text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


def _wrong_headings(article: Article) -> list[Problem]:
    found, before = [], 1
    for line, text in prose_lines(article.body):
        heading = _HEADING.match(text)
        if not heading:
            continue
        level = len(heading[1])
        if level == 1:
            message = "the title is in the front matter; headings begin with ##"
            found.append(Problem(article.source, line, message))
        elif level > before + 1:
            message = f"heading of level {level} after one of level {before}; skip none"
            found.append(Problem(article.source, line, message))
        before = level
    return found


def _stands(number: str, text: str) -> bool:
    """Return whether a number stands in a text, and not only as a part of a longer one."""
    return re.search(rf"(?<![\d.,]){re.escape(number)}(?![.,]?\d)", text) is not None


def _given_away(article: Article, html: str, answers: list[tuple[str, str]]) -> list[Problem]:
    found = []
    for marker, truth in answers:
        before = _text(" ".join((article.title, article.question, article.summary)))
        before += _text(html[: html.find(marker)])
        if _stands(truth, before):
            message = f"the answer '{truth}' stands before the question that asks for it"
            found += located(article.source, article.body, "/// predict", message)
    return found


def _unread_blocks(article: Article, html: str, markdown: Markdown) -> list[Problem]:
    known = sorted(markdown.parser.blockprocessors["blocks"].blocks)
    return [
        problem
        for name in dict.fromkeys(re.findall(r"(?:<p>|\n)///+ *([a-z-]+)", _LISTING.sub("", html)))
        for problem in located(
            article.source,
            article.body,
            f"/// {name}",
            "this block is unknown or its options are wrong"
            if name in known
            else f"there is no block '{name}'; there are {', '.join(known)}",
        )
    ]


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
