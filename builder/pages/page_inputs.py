"""What pages are made of, and which of them stand as an earlier build of this process left them.

While an author writes, an edit of one article leaves all other pages as they are. To know that of a
page takes a thousandth of what it takes to put its parts together again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2

from builder.calculators.cache_keys import Keys
from builder.calculators.calculator_set import Toolbox
from builder.content.content_folder import Texts
from builder.content.link_targets import Index
from builder.content.navigation import Place
from builder.core.build_cache import Memo
from builder.core.folders import digest
from builder.core.problem import Problem
from builder.figures.social_cards import Card
from builder.markdown import reference_lists
from builder.markdown.article_html import Prose
from builder.pages import html_links
from builder.pages.html_facts import Facts
from builder.pages.page import Content, Surface
from builder.pages.typesetting import Typeset

_LISTING = ("home", "path")  # kinds of pages that show what stands on others


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the pages are made of.

    Attributes:
        rendered: source of an article -> its prose.
        keys: digests of our code.
        look: digest of the templates.
        images: path from the project's folder -> content.
        figure: (name, view JSON) -> Bokeh document.
        archives: calculator -> the file of the runtime with all that it needs.
        runtime: path of such a file -> content.
        drawn: the theme's rules of drawings, for pictures that stand alone.
        moving: slug of a guide -> its opening figure in motion.
        cards: source of an article -> its social card, none where the address is not known.
        shared: digest of the surface.
        urls: slug -> address of every article.
        rooms: the folders of the theme and of the cache that projects share.
    """

    texts: Texts
    tools: Toolbox
    rendered: Mapping[str, Prose]
    typeset: Typeset
    surface: Surface
    templates: jinja2.Environment
    keys: Keys
    look: str
    images: Mapping[str, bytes]
    figure: Callable[[str, dict[str, Any]], dict[str, Any]]
    archives: Mapping[str, str]
    runtime: Mapping[str, bytes]
    drawn: str
    rooms: tuple[Path, Path]
    moving: Mapping[str, bytes] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    shared: str = ""
    urls: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a page is put together with, beside its own parts.

    Attributes:
        index: what links can lead to.
        places: source of an article -> where it stands among the others.
        pictures: path from the project's folder -> where it lies in the output.
        surface: with marks for addresses that carry a hash.
        lists: slug of a guide -> its opening figure, still and in motion.
    """

    index: Index
    places: Mapping[str, Place]
    pictures: Mapping[str, str]
    surface: Surface
    lists: tuple[Mapping[str, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What the template of a page gets, and the files that belong to it alone."""

    content: Content
    figures: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    written: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A finished page, as it is sent, what it has and where it leads."""

    html: bytes
    sent: bytes
    facts: Facts
    reach: html_links.Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """An article's pages by their path, with its own files; `written` as in `Made`.

    Its receipts, where it has any, are a page beside its own.
    """

    sheets: Mapping[str, Sheet]
    files: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    written: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Pages, figures and images by their path in the output.

    `written` gives, for the source of an article, each URL of its links as the author wrote it;
    `facts`, for the path of a page, what it has, `reach` where it leads, and `sent` itself without
    what no browser needs.
    """

    output: Mapping[str, bytes]
    sent: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    written: Mapping[str, Mapping[str, str]]
    facts: Mapping[str, Facts]
    reach: Mapping[str, html_links.Reach]


def keys(parts: Parts, ground: Ground, memo: Memo) -> dict[str, str]:
    """Return source -> digest of all that its draft depends on.

    Pages that show what stands on others, such as a list of all terms, have none.
    """
    common = _common(parts, ground)
    return {
        one.source: digest((common, memo.key(f"prose {one.source}"), _card(parts, one.source)))
        for one in parts.texts.articles
        if one.kind not in _LISTING and not reference_lists.has_any(parts.rendered[one.source].html)
    }


def finished(drafts: Mapping[str, str], parts: Parts) -> dict[str, str]:
    """Return source -> digest of all that its page depends on: the draft and the addresses in it.

    Args:
        drafts: source -> digest as `keys` returns it.
        parts: of all pages.
    """
    shell = repr(replace(parts.surface.shell, style_text=""))
    return {
        source: digest((draft, shell, _archives(parts, source))) for source, draft in drafts.items()
    }


def _common(parts: Parts, ground: Ground) -> str:
    """Return the digest of what all drafts depend on: an edit of a text changes none of it.

    The prose of an article, whose key holds its text and the numbers in it, is not among it.
    """
    order = [
        (ground.places[one.source].here, one.path, one.order, one.requires, one.next)
        for one in parts.texts.articles
    ]
    code = parts.keys.of("builder/pages/all_pages.py")
    told = (order, ground.index, ground.pictures)
    known = (
        parts.look,
        parts.shared,
        parts.texts.library_digest,
        parts.typeset.version,
        code,
    )
    return digest((*known, *map(repr, told)))


def _card(parts: Parts, source: str) -> str:
    card = parts.cards.get(source)
    return repr((card.path, card.says)) if card else ""


def _archives(parts: Parts, source: str) -> str:
    """Return the names of what the calculators of a page need to run."""
    return repr([parts.archives.get(name) for name in parts.rendered[source].calculators])
