"""Article -> Prose: the article's Markdown rendered, with marks for what other pages decide."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from markdown import Extension, Markdown  # type: ignore[import-untyped]

from builder.content.article import Article
from builder.core.problem import Problem
from builder.markdown import article_checks, line_breaking, reference_lists, tex_to_mathml
from builder.markdown.article_checks import words
from builder.markdown.extensions.attributes import AttributesExtension
from builder.markdown.extensions.blocks import OwnBlocksExtension
from builder.markdown.extensions.calculators import LiveExtension
from builder.markdown.extensions.citations import CiteExtension
from builder.markdown.extensions.glossary import GlossaryExtension
from builder.markdown.extensions.links import LinkExtension
from builder.markdown.extensions.raw_html import RawExtension
from builder.markdown.render_state import Findings, Surroundings

_MARKS = {"arithmatex-inline": "$\\", "backtick": "`"}


@dataclass(frozen=True, slots=True)
class _Rare:
    pattern: re.Pattern[str]
    marks: str

    def finditer(self, text: str, at: int) -> Iterator[re.Match[str]]:
        """Yield the matches from a place on."""
        return (
            self.pattern.finditer(text, at) if any(one in text for one in self.marks) else iter(())
        )


class RareExtension(Extension):  # type: ignore[misc]
    """Has to come after those whose patterns it holds back."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Put a look for the marks before each pattern."""
        for name, marks in _MARKS.items():
            inline = md.inlinePatterns[name]
            inline.compiled_re = _Rare(inline.compiled_re, marks)


ROOM = 82  # characters of a listing's font in the column of the text (theme/styles/00-base.css)
# Kinds of tokens that theme/styles/58-prose.css sets apart; of all others no mark is sent.
VOICES = {"c", "c1", "cm", "ch", "cp", "k", "kn", "kd", "kc", "nb", "ow"}
VOICES |= {"s", "s1", "s2", "sd", "mi", "mf", "m"}
_LISTING = re.compile(r'(<div class="language-[\w-]+ highlight)("><pre>.*?</pre>)', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_TOKEN = re.compile(r'<span class="(\w+)">([^<]*)</span>')


def dressed(html: str) -> str:
    """Return the page's HTML with its listings dressed.

    A listing wider than its place is scrolled, by keyboard, too. One with a line that the column of
    the text does not hold takes the width of a figure, where the window has it.
    """
    return _LISTING.sub(_placed, html).replace("<pre>", '<pre tabindex="0">')


def _plain(token: re.Match[str]) -> str:
    return token[0] if token[1] in VOICES else token[2]


def _placed(listing: re.Match[str]) -> str:
    division, text = listing.groups()
    longest = max(map(len, unescape(_TAG.sub("", text)[2:]).split("\n")))
    said = _TOKEN.sub(_plain, text)
    return f"{division}{' wide' if longest > ROOM else ''}{said}"


_EXAMPLE = re.compile(
    r"^(?P<marks>///+) example\n(?P<text>.*?)^(?P=marks)$", re.MULTILINE | re.DOTALL
)


def expanded(body: str) -> str:
    """Return the article's Markdown with the source of every example above it."""
    return _EXAMPLE.sub(_beside, body)


def _beside(found: re.Match[str]) -> str:
    marks, text = found["marks"], found["text"].strip("\n")
    listing = f"`````markdown\n{text}\n`````"
    return f"{marks} example\n{listing}\n\n{text}\n{marks}"


_FEW = re.compile(r'<select name="(\w+)" data-of="(\w+)" data-more')
_WHOLE = re.compile(r'<section class="calculator" id="[\w-]+" data-calculator="(\w+)"')
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
        html: with marks (see builder/content/placeholders.py).
        headings: in order, levels 2 and 3.
        anchors: id -> what a cross reference to it says.
        cites, terms, calculators: in the order of their first use.
        figures: (calculator, output) of the charts on the page.
        receipts: HTML of all of them, and of what else a page has only once it is used.
        formulas: what has to be typeset for it.
        links, images: as written.
        problems: what is wrong so far.
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


class Reader:
    """Renders articles, one after another; making Markdown ready takes as long as an article."""

    def __init__(self, around: Surroundings) -> None:
        self._around, self._findings = around, Findings()
        self._markdown: Markdown | None = None

    def render(self, article: Article) -> Prose:
        """Return the article's prose."""
        unreadable = article_checks.limit_problems(article.source, article.body)
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
    return Prose(html="", problems=tuple(problems))


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
    body = expanded(reference_lists.expanded(around.expanded(article.body)))
    html, formulas = tex_to_mathml.extract(markdown.convert(body))
    html = dressed(line_breaking.bound(html))
    headings = _headings(markdown.toc_tokens)
    return Prose(
        html=html,
        headings=tuple(heading for heading in headings if heading.level in (2, 3)),
        anchors={**{h.id: words(h.html) for h in headings}, **findings.titles},
        cites=tuple(findings.cites),
        terms=tuple(findings.terms),
        calculators=tuple(findings.calculators),
        figures=tuple(findings.figures),
        receipts=_alike((*_receipts(findings, around), *findings.receipts, *_later(html, around))),
        formulas=tuple(formulas),
        links=tuple(findings.links),
        images=tuple(findings.images),
        problems=article_checks.problems(
            article, html, findings, sorted(markdown.parser.blockprocessors["blocks"].blocks)
        ),
    )


def _receipts(findings: Findings, around: Surroundings) -> list[str]:
    return [
        str(around.macros.receipt(around.load(calculator), output))
        for calculator, output in findings.values
    ]


def _later(html: str, around: Surroundings) -> Iterator[str]:
    """Yield what calculators need once they are used: what presets set, all options of choices."""
    for calculator in dict.fromkeys(_WHOLE.findall(html)):
        if around.load(calculator).presets:
            yield str(around.macros.presets(around.load(calculator)))
    for name, calculator in dict.fromkeys(_FEW.findall(html)):
        found = around.load(calculator)
        field = next(one for one in found.fields if one.name == name)
        yield str(around.macros.options(found, field))


def _alike(receipts: Iterable[str]) -> tuple[str, ...]:
    """Return the receipts with those of one equation side by side: they compress together."""
    return tuple(sorted(receipts, key=lambda receipt: _EQUATION.findall(receipt)))


def _headings(tokens: list[dict[str, Any]]) -> list[Heading]:
    found = []
    for token in tokens:
        found.append(Heading(level=token["level"], id=token["id"], html=token["name"]))
        found += _headings(token["children"])
    return found


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
