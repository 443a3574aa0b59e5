"""The passes over a page: what is known only when its template has been filled.

Each page is parsed once (`builder.core.html_tree`), changed by these passes one after another,
read for its facts, its Markdown and the search, and written once.

Deferred content is what a page is sent without: it stands on the receipts page. The page's script
fetches it from there when a reader opens or points at one, and before anything is live or printed
(theme/runtime/page/deferred_content.js, receipts.js); without scripts, links lead there. A template
says what it is by `<deferred-content title="...">` around it, an element that no page keeps; folds
of an article and tables in them are found here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from builder.core import html_tree
from builder.core.folders import RECEIPTS
from builder.core.html_tree import Element
from builder.core.problem import TemplateError
from builder.pages.html_facts import HtmlFacts, page_facts
from builder.pages.page_markdown import page_markdown
from builder.theme.assets import StyleSheet
from engine.draw import line_breaking

DEFERRED = "deferred-content"
_MIN_FOLD_LENGTH = 300  # characters of a fold; the link that replaces it has a quarter as many


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """Settings of the passes over a page.

    Attributes:
        sheets: conditional style sheets.
        image_sizes: `src` of an image -> its width and height in CSS pixels.
        glossary: URL of the glossary relative to the page, "" if there is none.
        address: URL of the page in its Markdown, None if no Markdown is wanted.
    """

    sheets: tuple[StyleSheet, ...] = ()
    image_sizes: Mapping[str, tuple[int, int]]
    glossary: str
    address: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedPage:
    """A page as it is sent, with placeholders for asset URLs.

    Attributes:
        html: of the page.
        facts: what checks need.
        article: HTML of the article with all that is deferred, for the search.
        markdown: of the article, "" if none is wanted.
    """

    html: str
    facts: HtmlFacts
    article: str = ""
    markdown: str = ""


def finish_pages(html: str, receipts_html: str, settings: PageSettings) -> tuple[FinishedPage, ...]:
    """Return an article's page, and its receipts page if it has one.

    Args:
        html: of the page, its template filled.
        receipts_html: of its receipts page, "" if it has none.
        settings: what the passes need besides.

    Raises:
        TemplateError: a template lacks what a pass needs.
    """
    page = html_tree.parse(html)
    receipts = html_tree.parse(receipts_html) if receipts_html else None
    add_image_sizes(page, settings.image_sizes)
    if receipts:
        link_terms(page, settings.glossary)
    text = _article_html(page)
    markdown = "" if settings.address is None else page_markdown(page, settings.address)
    for root in filter(None, (page, receipts)):
        remove_unused_sheets(root, settings.sheets)
    if receipts:
        defer_content(page, receipts)
    else:
        unwrap_deferred(page)
    finished = FinishedPage(
        html=page.html(), facts=page_facts(page), article=text, markdown=markdown
    )
    if not receipts:
        return (finished,)
    return finished, FinishedPage(html=receipts.html(), facts=page_facts(receipts))


def _article_html(page: Element) -> str:
    article = page.first("article") or page.first("body")
    if article is None:
        return ""
    return article.html() if article.tag == "article" else f"<div>{article.inner_html()}</div>"


def add_image_sizes(page: Element, sizes: Mapping[str, tuple[int, int]]) -> None:
    """Set width and height of every image without them."""
    for image in page.elements("img") if sizes else ():
        size = sizes.get(image.get("src"))
        if size and not image.has("width"):
            image.set("width", str(size[0]))
            image.set("height", str(size[1]))
            image.set("loading", "lazy")


def remove_unused_sheets(page: Element, sheets: tuple[StyleSheet, ...]) -> None:
    """Remove the links to conditional style sheets that a page does not need."""
    if not sheets:
        return
    values = {element.attributes.get("class") for element in page.elements()}
    used = {name for value in values if value for name in value.split()}
    unused = tuple(sheet.address for sheet in sheets if used.isdisjoint(sheet.classes))
    for link in list(page.elements("link")) if unused else ():
        if link.get("rel") == "stylesheet" and link.get("href").endswith(unused):
            link.remove_line()


def link_terms(page: Element, glossary: str) -> None:
    """Put links to the glossary, or to the receipts page, in place of buttons of terms."""
    for term in list(page.elements("button")):
        if "term" in term.classes and term.get("popovertarget"):
            href = f"{glossary or RECEIPTS}#{term.get('popovertarget')}"
            term.replace_with(Element("a", {"class": "term", "href": href}, term.children))


def unwrap_deferred(page: Element) -> None:
    """Put what templates defer in its place, on a page without a receipts page."""
    for mark in list(page.elements(DEFERRED)):
        mark.replace_with(*mark.children)


class _Deferred:
    """What was moved: content -> (id on the receipts page, title)."""

    def __init__(self) -> None:
        self.moved: dict[str, tuple[str, str]] = {}

    def link(self, nodes: list["Element | str"], title: str) -> Element:
        """Move nodes, and return the link that stands in their place; equal content moves once."""
        content = html_tree.inner_html(nodes)
        name, _ = self.moved.setdefault(content, (f"beside-{len(self.moved) + 1}", title))
        return Element("a", {"data-beside": None, "href": f"{RECEIPTS}#{name}"}, [title])


def defer_content(page: Element, receipts: Element) -> None:
    """Move the deferred content of a page to its receipts page.

    Raises:
        TemplateError: deferred content has no title, or the receipts page no article.
    """
    article = receipts.first("article") or receipts.first("main") or receipts.first("body")
    if article is None:
        raise TemplateError("receipts.html", "the page has no <body> to take what is deferred")
    deferred = _Deferred()
    for mark in list(page.elements(DEFERRED)):
        if not mark.get("title"):
            raise TemplateError(
                f"<{DEFERRED}", f"<{DEFERRED}> has no title, which the link in its place shows"
            )
        title = _title_html(mark.get("title"))
        mark.replace_with(deferred.link(mark.children, title))
    for fold in list(page.elements("details")):
        _defer_fold(fold, deferred)
    for content, (name, title) in deferred.moved.items():
        nodes = html_tree.parse(content).children
        beside = Element("div", {"class": "beside", "id": name}, nodes)
        html_tree.rebase_links(beside)
        article.extend([Element("h2", children=[title]), "\n", beside, "\n"])
    for link in page.elements("a"):
        if link.has("data-cite") and link.get("href") == f"#ref-{link.get('data-cite')}":
            link.drop("data-cite")  # the URL names the source


def _defer_fold(fold: Element, deferred: _Deferred) -> None:
    """Defer the content of a fold of an article, or the tables in it if it cannot be moved."""
    summary = fold.first("summary")
    if fold.attributes or summary is None or summary.parent is not fold or fold.first("details"):
        return
    if summary.attributes or any(isinstance(node, Element) for node in summary.children):
        return
    at = fold.children.index(summary) + 1
    content = fold.children[at:]
    if not all(map(_is_movable, fold.elements())):
        for view in list(fold.elements("div")):
            _defer_table(view, deferred)
    elif len(html_tree.inner_html(content).strip()) > _MIN_FOLD_LENGTH:
        before, inner, after = html_tree.split_space(content)
        link = deferred.link(inner, summary.inner_html())
        fold.replace_children([*fold.children[:at], before, link, after])


def _defer_table(view: Element, deferred: _Deferred) -> None:
    """Defer a table that the engine updates, with its caption."""
    if view.classes != ["view", "table"]:
        return
    fragment = view.children[0] if len(view.children) == 1 else None
    if not isinstance(fragment, Element) or not fragment.has("data-fragment"):
        return
    scroll = fragment.children[0] if fragment.children else None
    if isinstance(scroll, Element) and "scroll" in scroll.classes and scroll.get("aria-label"):
        title = _title_html(scroll.get("aria-label"))
        fragment.replace_children([deferred.link(fragment.children, title)])


def _title_html(text: str) -> str:
    """Return a title with names and quantities on one line."""
    escaped = html_tree.escape_text(text)
    return line_breaking.keep_names_whole(line_breaking.bind_units(escaped))


def _is_movable(element: Element) -> bool:
    """Say whether an element is no link target, and nothing that a calculator updates."""
    return element.classes != ["number"] and not any(
        name == "id" or (name.startswith("data-") and not name.startswith("data-cite"))
        for name in element.attributes
    )


def restore_content(page_html: str, receipts_html: str) -> str:
    """Return a page with its deferred content restored, for documents without folds."""
    page, receipts = html_tree.parse(page_html), html_tree.parse(receipts_html)
    by_id = {element.get("id"): element for element in receipts.elements("div")}
    for link in [link for link in page.elements("a") if link.has("data-beside")]:
        content = by_id.get(link.get("href").partition("#")[2])
        if content is None:
            continue
        for element in content.elements():
            if element.get("href").startswith("../"):
                element.set("href", element.get("href").removeprefix("../"))
        link.replace_with(*html_tree.parse(content.inner_html()).children)
    return page.html()
