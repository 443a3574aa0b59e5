"""The Markdown of a page, written from its tree: its words and numbers, for programs."""

import re
from html import unescape
from urllib.parse import urljoin

from builder.core.html_tree import VOID, Comment, Element

_INFIX = "=+−-⋅·×≤≥≈<>∈→"
# 4,096 · 10 % · 2.00 B · x · N_p
_SINGLE_SYMBOL = re.compile(r"[\d.,]+(\s[\w%/]+|[%×])?|\w(_\w+)?")
_SCRIPT_SIGNS = {"msub": "_", "munder": "_", "msup": "^", "mover": "^"}


def formula_line(formula: Element) -> str:
    """Return the MathML of a formula as a line of text."""
    text = re.sub(r" {2,}", " ", _formula_text(formula))
    return text.replace(" )", ")").replace("\u2061", "").strip()


def _formula_text(element: Element) -> str:
    parts = []
    for node in element.children:
        if isinstance(node, Element):
            parts.append(_formula_text(node))
        elif node.strip() and not isinstance(node, Comment):
            parts.append(re.sub(r"\s+", " ", unescape(node)))
    return _element_text(element.tag, parts)


def _element_text(tag: str, parts: list[str]) -> str:
    whole = "".join(parts)
    if tag == "mo":
        return f" {whole} " if whole in _INFIX else whole
    if tag == "mfrac" and len(parts) == 2:
        return f"{_parenthesized(parts[0])}/{_parenthesized(parts[1])} "
    if tag in _SCRIPT_SIGNS and len(parts) == 2:
        return f"{parts[0]}{_SCRIPT_SIGNS[tag]}{_script_text(parts[1])}"
    if tag in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{_script_text(parts[1])}^{_script_text(parts[2])}"
    if tag == "msqrt":
        return f"√({whole.strip()})"
    if tag == "mtable":
        return "; ".join(part.strip() for part in parts)
    return whole


def _parenthesized(text: str) -> str:
    """Return a text in parentheses, unless it is a single number or symbol."""
    text = text.strip()
    return text if _SINGLE_SYMBOL.fullmatch(text) else f"({text})"


def _script_text(text: str) -> str:
    """Return an index or exponent, in parentheses unless it is a word or a number."""
    text = text.strip()
    return text if re.fullmatch(r"\w+", text) else _parenthesized(text)


_TAGS = "svg script style template nav form label dialog"
_CLASSES = (
    "calculator fields controls actions headerlink error hint also data share guess contents plot "
    "breadcrumb"
)
_OMITTED_TAGS, _OMITTED_CLASSES = frozenset(_TAGS.split()), frozenset(_CLASSES.split())
# A formula's title that repeats the heading above it; the page's styles hide it.
_REPEATED_TITLE = re.compile(r"^(#+ (.+))\n\n\2$", re.MULTILINE)
_EMPTY_LINK = re.compile(r"\[\s*\]\([^)\s]*\)")
_BEFORE = {"h1": "\n\n# ", "h2": "\n\n## ", "h3": "\n\n### ", "p": "\n\n", "ul": "\n", "ol": "\n"}
_BEFORE |= {"li": "\n- ", "tr": "\n|", "dt": "\n\n**", "dd": "\n"}
_BEFORE |= {"strong": "**", "em": "*", "td": " ", "th": " ", "figure": "\n\n", "pre": "\n\n```\n"}
_BEFORE |= {"table": "\n\n", "caption": "\n\n**", "summary": "\n\n**", "div": "\n\n"}
_AFTER = {"strong": "**", "em": "*", "td": " |", "th": " |", "dt": "**", "pre": "\n```\n"}
_AFTER |= {"caption": "**\n", "summary": "**\n\n", "div": "\n\n"}


class _MarkdownWriter:
    """Writes the Markdown of an article; omitted elements are omitted with their content."""

    def __init__(self, address: str) -> None:
        self.parts: list[str] = []
        self._address = address
        self._verbatim = False
        self._header_cells = 0  # header cells of the current row

    def write_children(self, parent: Element) -> None:
        """Write what is inside an element."""
        for node in parent.children:
            if isinstance(node, Element):
                self._write(node)
            elif not isinstance(node, Comment):
                text = unescape(node)
                self.parts.append(text if self._verbatim else re.sub(r"\s+", " ", text))

    def _write(self, element: Element) -> None:
        if element.tag in VOID:
            if element.tag == "input" and element.get("type") == "text":
                self.parts.append(element.get("value"))
        elif _is_omitted(element):
            return
        elif element.tag == "math":
            line = formula_line(element)
            self.parts.append(f"\n\n{line}\n\n" if element.get("display") == "block" else line)
        elif element.tag == "a":
            self._write_link(element)
        elif element.tag == "blockquote":
            self._write_quote(element)
        else:
            self._write_block(element)

    def _write_block(self, element: Element) -> None:
        tag, verbatim = element.tag, self._verbatim
        self._verbatim = verbatim or tag == "pre"
        self._header_cells = 0 if tag == "tr" else self._header_cells + (tag == "th")
        code = "`" if tag == "code" and not self._verbatim else ""
        if tag != "p" or not self._begins_an_item():
            self.parts.append(code or _BEFORE.get(tag, ""))
        self.write_children(element)
        self._verbatim = verbatim
        self.parts.append(code or _AFTER.get(tag, ""))
        if tag == "thead":
            self.parts.append("\n|" + " --- |" * self._header_cells)

    def _write_link(self, element: Element) -> None:
        """Write a link; one within the page becomes plain text.

        A number is a link to its receipt and a term one to its definition, and their words belong
        to the sentence. Without the site's URL, links stay relative: the Markdown file is beside
        its page.
        """
        to = element.get("href")
        if not to or to.startswith("#") or {"number", "term"} & set(element.classes):
            self.write_children(element)
            return
        self.parts.append("[")
        self.write_children(element)
        self.parts.append(f"]({urljoin(self._address, to) if '://' in self._address else to})")

    def _write_quote(self, element: Element) -> None:
        """Write a quotation, with ">" before each line."""
        start = len(self.parts)
        self.write_children(element)
        text = re.sub(r"\s*\n\s*\n\s*", "\n\n", "".join(self.parts[start:])).strip()
        quoted = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        self.parts[start:] = [f"\n\n{quoted}\n\n"]

    def _begins_an_item(self) -> bool:
        """Remove trailing blanks, and say whether the output ends with the dash of a list item."""
        while self.parts and not self.parts[-1].strip():
            self.parts.pop()
        return self.parts[-1:] == [_BEFORE["li"]]


def _is_omitted(element: Element) -> bool:
    if element.tag in _OMITTED_TAGS or element.has("hidden") or element.has("popover"):
        return True
    if element.tag == "option":
        return not element.has("selected")
    if element.tag == "button":  # a term is one whose words belong to the sentence
        return "term" not in element.classes
    # A part of a class counts, such as that of `figure-actions`.
    return any(part in _OMITTED_CLASSES for name in element.classes for part in name.split("-"))


def page_markdown(page: Element, address: str) -> str:
    """Return the Markdown of a page's text, with its URL; "" if it has none.

    Figures and calculators are omitted; the sentences around them keep their numbers.
    """
    article = page.first("article") or page.first("main") or page.first("body")
    if article is None:
        return ""
    writer = _MarkdownWriter(address)
    writer.write_children(article)
    text = _EMPTY_LINK.sub("", "".join(writer.parts))
    lines = [line.rstrip() for line in re.sub(r"[ \t]+\n", "\n", text).splitlines()]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("\n **", "\n**").strip()
    body = _REPEATED_TITLE.sub(r"\1", body)
    return f"{body}\n\nInteractive figures: {address}\n"
