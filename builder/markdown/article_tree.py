"""The passes over an article: formulas, line breaks, listings, equations, names of sources.

Markdown gives one HTML text. It is parsed once, changed by these passes one after another, read for
what other parts of the build ask of it, and written once.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from builder.content import link_targets
from builder.content.bibliography import Reference
from builder.core import html_tree
from builder.core.html_tree import Element
from builder.markdown.tex_to_mathml import Formula, formula_key
from engine.draw import line_breaking

# Characters of a listing that fit in the text column (theme/styles/00-base.css).
LINE_LENGTH = 82
# Pygments token classes that theme/styles/58-prose.css styles; spans of others are removed.
STYLED_TOKENS = {"c", "c1", "cm", "ch", "cp", "k", "kn", "kd", "kc", "nb", "ow"}
STYLED_TOKENS |= {"s", "s1", "s2", "sd", "mi", "mf", "m"}
_LONG = 24  # letters of code that fit on one line of a phone with words beside them
_FLAG = re.compile(r"(?<![\w-])--[\w]+")
_BREAK_POINT = re.compile(r"(?<=\w)([._(/])(?=\w)(?<!\d\.(?=\d))")
_PUNCTUATION = ".,;:!?)"
_UNBOUND = frozenset(
    ("pre", "code", "math", "button", "select", "textarea", "script", "template", "svg")
)
_DRAWN = frozenset(("scene", "chart-svg"))
_MAX_DRAWINGS = 4  # of which a guide's opening figure is the first that no other guide has


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleFacts:
    """What other parts of the build ask of an article's HTML.

    Attributes:
        whole: calculators that it shows whole.
        live: calculators with an element that the engine updates.
        inputs: calculators with a number that can be typed.
        choices: (calculator, input) of choices that have only a few of their options.
        drawn: (calculator, output) of its figures, in order.
        drawings: SVG of its first figures, as drawn.
        equations: names of the equations shown, and "equation.key" of the symbols.
        outcomes: what a reader can do after a guide.
    """

    whole: tuple[str, ...] = ()
    live: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()
    drawn: tuple[tuple[str, str], ...] = ()
    drawings: tuple[str, ...] = ()
    equations: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """HTML of a receipt, its equations, and those with the symbols that stand alone."""

    html: str
    equations: tuple[str, ...]
    shown: tuple[str, ...]


def apply_passes(root: Element, references: Mapping[str, Reference]) -> list[Formula]:
    """Change an article as its page shows it; return the formulas to typeset.

    Args:
        root: of the HTML that Markdown gave.
        references: the sources by key.
    """
    formulas = extract_formulas(root)
    bind_text(root)
    keep_live(root)
    break_code(root)
    style_listings(root)
    mark_equations(root)
    label_citations(root, references)
    return formulas


def extract_formulas(root: Element) -> list[Formula]:
    """Put a placeholder in place of each formula, and return the formulas."""
    formulas: dict[Formula, None] = {}
    for element in list(root.elements("span", "div")):
        if element.classes == ["arithmatex"]:
            formula = (element.text()[2:-2].strip(), element.tag == "div")  # without \( and \)
            formulas[formula] = None
            mark = link_targets.math_placeholder(formula_key(formula))
            block = Element("div", {"class": "formula"}, [mark])
            element.replace_with(block if formula[1] else mark)
    return list(formulas)


def bind_text(root: Element) -> None:
    """Keep quantities and names with signs on one line, but not where an answer replaces text."""
    nodes: list[Element | str] = []
    for node in root.joined_children():
        if isinstance(node, html_tree.Comment):
            nodes.append(node)
        elif isinstance(node, str):
            bound = line_breaking.keep_names_whole(line_breaking.bind_units(node))
            nodes += html_tree.parse(bound).children if "<" in bound else [bound]
        else:
            nodes.append(node)
            if not _is_unbound(node):
                bind_text(node)
    root.replace_children(nodes)


def _is_unbound(element: Element) -> bool:
    if element.tag in _UNBOUND or element.has("data-fragment"):
        return True
    first = next(iter(element.classes), "")
    return (element.tag, first) in (("a", "number"), ("span", "also"), ("span", "note"))


def keep_live(root: Element) -> None:
    """Keep live elements beside their punctuation.

    A live number is a link, a term a button, and an input a field, before and after which a browser
    would break a line.
    """
    for element in list(root.elements("a", "button", "span")):
        if element.parent and _is_live(element):
            _keep_with_signs(element, element.parent)


def _is_live(element: Element) -> bool:
    first = next(iter(element.classes), "")
    if element.tag == "span":
        return first == "inline-field"
    return first in ("number", "term") and all(isinstance(node, str) for node in element.children)


def _keep_with_signs(element: Element, parent: Element) -> None:
    siblings = parent.children
    at = siblings.index(element)
    before, after = "", ""
    if at and isinstance(text := siblings[at - 1], str) and text.endswith("("):
        before, siblings[at - 1] = "(", text[:-1]
    if at + 1 < len(siblings) and isinstance(text := siblings[at + 1], str):
        rest = text.lstrip(_PUNCTUATION)
        after, siblings[at + 1] = text[: len(text) - len(rest)], rest
    if before or after:
        siblings[at] = kept = Element("span", {"class": "kept"}, [before, element, after])
        kept.parent = parent


def break_code(root: Element) -> None:
    """Let code in a sentence break after a dot, an underscore or a hyphen.

    It does not break after the hyphens that begin a flag. A listing has lines of its own.
    """
    for code in root.elements("code"):
        text = code.inner_html()
        if code.attributes or code.parent is None or code.parent.tag == "pre" or "<" in text:
            continue
        if len(text) > _LONG:
            text = _BREAK_POINT.sub(r"\1<wbr>", text)
        html = _FLAG.sub(r'<span class="kept">\g<0></span>', text)
        if "<" in html:
            code.replace_children(html_tree.parse(html).children)


def style_listings(root: Element) -> None:
    """Make code listings focusable, and mark wide ones.

    A listing wider than its place is scrolled, by keyboard, too. One with a line that the column of
    the text does not hold takes the width of a figure, where the window has it.
    """
    for listing in list(root.elements("pre")):
        if listing.attributes:
            continue
        listing.set("tabindex", "0")
        around = listing.parent
        if around is None or around.tag != "div" or around.classes[-1:] != ["highlight"]:
            continue
        if max(map(len, listing.text().split("\n"))) > LINE_LENGTH:
            around.set("class", f"{around.get('class')} wide")
        for token in list(listing.elements("span")):
            if len(token.classes) == 1 and token.classes[0] not in STYLED_TOKENS:
                token.replace_with(*token.children)


def mark_equations(root: Element) -> None:
    """Put placeholders into the empty elements of equations and symbols."""
    for element in root.elements():
        if element.children or not element.attributes:
            continue
        if name := element.get("data-equation"):
            numbers = json.loads(element.get("data-symbols") or "{}")
            element.drop("data-symbols")  # the numbers are in the formula
            element.extend([link_targets.equation_placeholder(name, numbers)])
        elif name := element.get("data-tex"):
            element.extend([link_targets.symbol_placeholder(name)])


def label_citations(root: Element, references: Mapping[str, Reference]) -> None:
    """Put "Author Year" in place of bare keys in links to sources."""
    for link in root.elements("a"):
        key = link.get("data-cite")
        if key in references and link.text() == key:
            link.replace_children([html_tree.escape_text(references[key].label)])


def make_receipt(html: str, references: Mapping[str, Reference]) -> Receipt:
    """Return a receipt as its page shows it.

    Its links lead from the receipts page, a folder below that of the article.
    """
    root = html_tree.parse(html)
    mark_equations(root)
    label_citations(root, references)
    html_tree.rebase_links(root)
    equations = tuple(filter(None, (part.get("data-equation") for part in root.elements())))
    return Receipt(html=root.html(), equations=equations, shown=tuple(_equations(root)))


def read_facts(root: Element) -> ArticleFacts:
    """Return what other parts of the build ask of an article."""
    elements = list(root.elements())
    figures = (element for element in elements if element.tag == "figure")
    drawings = [e for e in elements if e.tag == "svg" and not _DRAWN.isdisjoint(e.classes)]
    inputs = (e for e in elements if e.tag == "input" and e.get("inputmode") == "decimal")
    choices = (e for e in elements if e.tag == "select" and e.has("data-more"))
    return ArticleFacts(
        whole=_unique(element.get("data-calculator") for element in elements),
        live=_unique(name for element in elements for name in _updated(element)),
        inputs=_unique(element.get("data-of") for element in inputs),
        choices=tuple(dict.fromkeys((e.get("data-of"), e.get("name")) for e in choices)),
        drawn=tuple(
            (figure.get("data-of"), figure.get("data-output"))
            for figure in figures
            if figure.get("data-output")
        ),
        drawings=tuple(drawing.html() for drawing in drawings[:_MAX_DRAWINGS]),
        equations=_unique(_equations(root)),
        outcomes=tuple(_outcomes(root)),
    )


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, names)))


def _updated(element: Element) -> Iterator[str]:
    """Yield the calculators that update an element; a number with a receipt names its own."""
    yield element.get("data-of")
    if "number" in element.classes:
        yield element.get("href").partition("#receipt-")[2].rpartition("-")[0]


def _equations(root: Element) -> Iterator[str]:
    for element in root.elements():
        yield from filter(None, (element.get("data-equation"), element.get("data-tex")))


def _outcomes(root: Element) -> Iterator[str]:
    """Yield a guide's learning outcomes, without live numbers."""
    for paragraph in root.elements("p"):
        if not paragraph.text().startswith("After this guide you can") or not paragraph.parent:
            continue
        siblings = [node for node in paragraph.parent.children if isinstance(node, Element)]
        at = siblings.index(paragraph) + 1
        if at < len(siblings) and siblings[at].tag == "ul":
            for item in siblings[at].elements("li"):
                text = link_targets.without_placeholders(item.text())
                yield html_tree.escape_text(text.strip().rstrip(";."))
            return
