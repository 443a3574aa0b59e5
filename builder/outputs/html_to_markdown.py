"""A finished page as Markdown, with the numbers it shows: for readers that are programs."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_INFIX = "=+−-⋅·×≤≥≈<>∈→"
# 4,096 · 10 % · 2.00 B · x · N_p
_ALONE = re.compile(r"[\d.,]+(\s[\w%/]+|[%×])?|\w(_\w+)?")
_MARKS = {"msub": "_", "munder": "_", "msup": "^", "mover": "^"}


class Linear:
    """Reads the elements of one formula; `end` returns its line when the formula is closed."""

    def __init__(self) -> None:
        self._open: list[tuple[str, list[str]]] = []

    def start(self, tag: str) -> None:
        """Begin an element."""
        self._open.append((tag, []))

    def data(self, text: str) -> None:
        """Take words of the innermost element."""
        if self._open and text.strip():
            self._open[-1][1].append(re.sub(r"\s+", " ", text))

    def end(self) -> str | None:
        """Close the innermost element; return the line if it was the last one."""
        tag, parts = self._open.pop()
        text = _joined(tag, parts)
        if not self._open:
            return re.sub(r" {2,}", " ", text).replace(" )", ")").replace("\u2061", "").strip()
        self._open[-1][1].append(text)
        return None


def _joined(tag: str, parts: list[str]) -> str:
    whole = "".join(parts)
    if tag == "mo":
        return f" {whole} " if whole in _INFIX else whole
    if tag == "mfrac" and len(parts) == 2:
        return f"{_grouped(parts[0])}/{_grouped(parts[1])} "
    if tag in _MARKS and len(parts) == 2:
        return f"{parts[0]}{_MARKS[tag]}{_mark(parts[1])}"
    if tag in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{_mark(parts[1])}^{_mark(parts[2])}"
    if tag == "msqrt":
        return f"√({whole.strip()})"
    if tag == "mtable":
        return "; ".join(part.strip() for part in parts)
    return whole


def _grouped(text: str) -> str:
    """Return a part of a fraction, in parentheses unless it is one number or one symbol."""
    text = text.strip()
    return text if _ALONE.fullmatch(text) else f"({text})"


def _mark(text: str) -> str:
    """Return an index or an exponent; words and numbers need no parentheses."""
    text = text.strip()
    return text if re.fullmatch(r"\w+", text) else _grouped(text)


_SKIPPED = {"svg", "script", "style", "template", "nav", "form", "label", "dialog"}
_EMPTY = {"input", "br", "img", "meta", "link", "hr", "source", "wbr"}
_LEFT_OUT = re.compile(
    r"\b(calculator|fields|controls|actions|figure-actions|headerlink|error|hint|also|data|share"
    r"|guess|contents|plot|breadcrumb)\b"
)
# A formula's title below a heading of the same words, which the page's styles hide.
_SAID_TWICE = re.compile(r"^(#+ (.+))\n\n\2$", re.MULTILINE)
_EMPTY_LINK = re.compile(r"\[\s*\]\([^)\s]*\)")
_BEFORE = {"h1": "\n\n# ", "h2": "\n\n## ", "h3": "\n\n### ", "p": "\n\n", "ul": "\n", "ol": "\n"}
_BEFORE |= {"li": "\n- ", "tr": "\n|", "dt": "\n\n**", "dd": "\n"}
_BEFORE |= {"strong": "**", "em": "*", "td": " ", "th": " ", "figure": "\n\n", "pre": "\n\n```\n"}
_BEFORE |= {"table": "\n\n", "caption": "\n\n**", "summary": "\n\n**", "div": "\n\n"}
_AFTER = {"strong": "**", "em": "*", "td": " |", "th": " |", "dt": "**", "pre": "\n```\n"}
_AFTER |= {"caption": "**\n", "summary": "**\n\n", "div": "\n\n"}


class _Reader(HTMLParser):
    """Collects the words of an article; what is left out is left out with all it holds."""

    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._address = address
        self._out = 0  # how many open elements are within something that is left out
        self._verbatim = False
        self._formula: Linear | None = None
        self._display = False
        self._links: list[str] = []  # what closes each open link
        self._quotes: list[int] = []  # where each open quotation begins
        self._heads = 0  # cells of the present row of heads

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write what stands before an element, or begin to leave out."""
        given = {name: value or "" for name, value in attrs}
        if tag in _EMPTY:
            if tag == "input" and not self._out and given.get("type") == "text":
                self.found.append(given.get("value", ""))
            return
        if self._out or self._is_left_out(tag, given):
            self._out += 1
            return
        if tag == "math":
            self._formula, self._display = Linear(), given.get("display") == "block"
        if self._formula:
            self._formula.start(tag)
            return
        self._begin(tag, given)

    def _begin(self, tag: str, given: dict[str, str]) -> None:
        self._verbatim |= tag == "pre"
        self._heads = 0 if tag == "tr" else self._heads + (tag == "th")
        if tag == "a":
            # A number is a link to its receipt, and its words belong to the sentence.
            is_number = "number" in given.get("class", "").split()
            self._begin_a_link("" if is_number else given.get("href", ""))
        if tag == "blockquote":
            self._quotes.append(len(self.found))
        if tag == "code" and not self._verbatim:
            self.found.append("`")
        if tag == "p" and self._begins_an_item():
            return
        self.found.append(_BEFORE.get(tag, ""))

    def _begin_a_link(self, to: str) -> None:
        """Write what stands before a link; one into the same page is words only.

        Without an address of the site, links stay as they are: the text lies beside its page.
        """
        inside = not to or to.startswith("#")
        whole = urljoin(self._address, to) if "://" in self._address else to
        self._links.append("" if inside else f"]({whole})")
        self.found.append("" if inside else "[")

    def _begins_an_item(self) -> bool:
        """Return whether nothing stands behind the dash of a list yet, and take blanks away."""
        while self.found and not self.found[-1].strip():
            self.found.pop()
        return self.found[-1:] == [_BEFORE["li"]]

    def handle_endtag(self, tag: str) -> None:
        """Write what stands behind an element."""
        if tag in _EMPTY:
            return
        if self._out:
            self._out -= 1
            return
        if self._formula:
            self._end_of_formula()
            return
        if tag == "code" and not self._verbatim:
            self.found.append("`")
        self._verbatim &= tag != "pre"
        self.found.append(self._links.pop() if tag == "a" else _AFTER.get(tag, ""))
        if tag == "blockquote":
            self._end_of_quote()
        if tag == "thead":
            self.found.append("\n|" + " --- |" * self._heads)

    def _end_of_quote(self) -> None:
        """Put the sign of a quotation before each of its lines."""
        start = self._quotes.pop()
        said = re.sub(r"\s*\n\s*\n\s*", "\n\n", "".join(self.found[start:])).strip()
        quoted = "\n".join(f"> {line}".rstrip() for line in said.split("\n"))
        self.found[start:] = [f"\n\n{quoted}\n\n"]

    def _end_of_formula(self) -> None:
        line = self._formula.end() if self._formula else None
        if line is not None:
            self._formula = None
            self.found.append(f"\n\n{line}\n\n" if self._display else line)

    def handle_data(self, data: str) -> None:
        """Write words."""
        if self._formula:
            self._formula.data(data)
        elif not self._out:
            self.found.append(data if self._verbatim else re.sub(r"\s+", " ", data))

    def _is_left_out(self, tag: str, given: dict[str, str]) -> bool:
        if tag in _SKIPPED or "hidden" in given or "popover" in given:
            return True
        if tag == "option":
            return "selected" not in given
        if tag == "button":  # a term is one whose words belong to the sentence
            return "term" not in given.get("class", "").split()
        return bool(_LEFT_OUT.search(given.get("class", "")))


def markdown(html: str, address: str) -> str:
    """Return a page's text as Markdown, with its address; "" if it has none.

    Figures and calculators are left out; the sentences around them and their numbers stay.
    """
    tags = ("article", "main", "body")
    found = (re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", html, re.DOTALL) for tag in tags)
    article = next((one for one in found if one), None)
    if article is None:
        return ""
    reader = _Reader(address)
    reader.feed(article[1])
    reader.close()
    text = _EMPTY_LINK.sub("", "".join(reader.found))
    lines = [line.rstrip() for line in re.sub(r"[ \t]+\n", "\n", text).splitlines()]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("\n **", "\n**").strip()
    body = _SAID_TWICE.sub(r"\1", body)
    return f"{body}\n\nInteractive figures: {address}\n"
