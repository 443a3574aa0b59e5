"""Machine-readable lists of pages: sitemap, Atom feed, llms.txt, and a Markdown file per page."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from html.parser import HTMLParser
from urllib.parse import urljoin

from builder.content.article import Article
from builder.markdown.library_reference import has_placement
from builder.pages.changed_numbers import Change

# Of a site that documents a library.
_SERVER = """
## Tools for assistants

`wallclock mcp` serves the engine behind these pages over the Model Context Protocol (standard input
and output, read-only): pip install 'wallclock-training[mcp]'. With `--site FOLDER` it serves the
text of a built site, too.
"""
_SECTIONS = (("guide", "Guides"), ("tool", "Tools"), ("page", "Reference"))


def sitemap(articles: Iterable[Article], base_url: str) -> str:
    """Return the sitemap of all articles (sitemaps.org protocol 0.9)."""
    rows = "".join(
        f"<url><loc>{escape(base_url + article.url)}</loc>"
        + (f"<lastmod>{article.updated}</lastmod>" if article.updated else "")
        + "</url>\n"
        for article in sorted(articles, key=lambda article: article.url)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def atom(
    articles: Iterable[Article], name: str, base_url: str, changes: Iterable[Change] = ()
) -> str:
    """Return the Atom feed (RFC 4287) of dated articles and of corrections, the newest first.

    Args:
        articles: all of them.
        name: of the site.
        base_url: where it is published.
        changes: numbers that were corrected.
    """
    dated = [
        (str(item.updated), item.title, item.url, item.summary)
        for item in articles
        if item.updated and item.kind != "tab"
    ]
    corrected = [
        (item.date, f"Corrected: {item.title}", item.url, f"A number has changed: {item.title}.")
        for item in changes
    ]
    entries_sorted = sorted(
        sorted([*dated, *corrected], key=lambda item: item[2]), key=_date, reverse=True
    )
    newest = f"{entries_sorted[0][0]}T00:00:00Z" if entries_sorted else "1970-01-01T00:00:00Z"
    entries = "".join(
        f"<entry><title>{escape(title)}</title><id>{escape(base_url + url)}</id>"
        f'<link href="{escape(base_url + url)}"/><updated>{date}T00:00:00Z</updated>'
        f"<summary>{escape(summary)}</summary></entry>\n"
        for date, title, url, summary in entries_sorted
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>{escape(name)}</title><id>{escape(base_url)}</id>"
        f'<link href="{escape(base_url)}"/><link rel="self" href="{escape(base_url)}feed.xml"/>'
        f"<author><name>{escape(name)}</name></author><updated>{newest}</updated>\n{entries}</feed>\n"
    )


def _date(entry: tuple[str, ...]) -> str:
    return entry[0]


def llms_txt(articles: Iterable[Article], name: str, base_url: str) -> str:
    """Return llms.txt (llmstxt.org): the site's summary and links to its Markdown pages."""
    ordered = sorted(articles, key=lambda article: (article.path, article.order, article.slug))
    home = next((article for article in ordered if article.kind == "home"), None)
    parts = [f"# {name}\n\n> {home.summary if home else ''}\n"]
    for kind, title in _SECTIONS:
        rows = [
            f"- [{article.title}]({base_url}{article.url}index.md): "
            f"{article.question or article.summary}"
            for article in ordered
            if article.kind == kind
        ]
        if rows:
            parts.append(f"\n## {title}\n\n" + "\n".join(rows) + "\n")
    if any(has_placement(article.body) for article in ordered):
        parts.append(_SERVER)
    return "".join(parts)


def markdown_files(
    articles: Iterable[Article], pages: Mapping[str, bytes], base_url: str
) -> dict[str, bytes]:
    """Return path -> Markdown of every article's page."""
    files = {}
    for article in articles:
        html = pages.get(f"{article.url}index.html")
        text = page_markdown(html.decode(), base_url + article.url) if html else ""
        if text:
            files[f"{article.url}index.md"] = text.encode()
    return files


# Converts finished pages to Markdown, with the numbers that they show, for programs.

_INFIX = "=+−-⋅·×≤≥≈<>∈→"
# 4,096 · 10 % · 2.00 B · x · N_p
_SINGLE_SYMBOL = re.compile(r"[\d.,]+(\s[\w%/]+|[%×])?|\w(_\w+)?")
_SCRIPT_SIGNS = {"msub": "_", "munder": "_", "msup": "^", "mover": "^"}


class FormulaReader:
    """Converts the MathML of one formula to a line of text, which the last `end` returns."""

    def __init__(self) -> None:
        self._open: list[tuple[str, list[str]]] = []

    def start(self, tag: str) -> None:
        """Begin an element."""
        self._open.append((tag, []))

    def data(self, text: str) -> None:
        """Add text to the innermost element."""
        if self._open and text.strip():
            self._open[-1][1].append(re.sub(r"\s+", " ", text))

    def end(self) -> str | None:
        """Close the innermost element; return the line if the formula is complete."""
        tag, parts = self._open.pop()
        text = _element_text(tag, parts)
        if not self._open:
            return re.sub(r" {2,}", " ", text).replace(" )", ")").replace("\u2061", "").strip()
        self._open[-1][1].append(text)
        return None


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


_SKIPPED = {"svg", "script", "style", "template", "nav", "form", "label", "dialog"}
_EMPTY = {"input", "br", "img", "meta", "link", "hr", "source", "wbr"}
_OMITTED = re.compile(
    r"\b(calculator|fields|controls|actions|figure-actions|headerlink|error|hint|also|data|share"
    r"|guess|contents|plot|breadcrumb)\b"
)
# A formula's title that repeats the heading above it; the page's styles hide it.
_REPEATED_TITLE = re.compile(r"^(#+ (.+))\n\n\2$", re.MULTILINE)
_EMPTY_LINK = re.compile(r"\[\s*\]\([^)\s]*\)")
_BEFORE = {"h1": "\n\n# ", "h2": "\n\n## ", "h3": "\n\n### ", "p": "\n\n", "ul": "\n", "ol": "\n"}
_BEFORE |= {"li": "\n- ", "tr": "\n|", "dt": "\n\n**", "dd": "\n"}
_BEFORE |= {"strong": "**", "em": "*", "td": " ", "th": " ", "figure": "\n\n", "pre": "\n\n```\n"}
_BEFORE |= {"table": "\n\n", "caption": "\n\n**", "summary": "\n\n**", "div": "\n\n"}
_AFTER = {"strong": "**", "em": "*", "td": " |", "th": " |", "dt": "**", "pre": "\n```\n"}
_AFTER |= {"caption": "**\n", "summary": "**\n\n", "div": "\n\n"}


class _MarkdownWriter(HTMLParser):
    """Writes the Markdown of an article; omitted elements are omitted with their content."""

    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._address = address
        self._omitted_depth = 0  # open elements inside an omitted one
        self._verbatim = False
        self._formula: FormulaReader | None = None
        self._display = False
        self._links: list[str] = []  # closing text of each open link
        self._quotes: list[int] = []  # start of each open quotation
        self._header_cells = 0  # header cells of the current row

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write the text before an element, or start to omit it."""
        attributes = {name: value or "" for name, value in attrs}
        if tag in _EMPTY:
            if tag == "input" and not self._omitted_depth and attributes.get("type") == "text":
                self.parts.append(attributes.get("value", ""))
            return
        if self._omitted_depth or self._is_omitted(tag, attributes):
            self._omitted_depth += 1
            return
        if tag == "math":
            self._formula, self._display = FormulaReader(), attributes.get("display") == "block"
        if self._formula:
            self._formula.start(tag)
            return
        self._begin(tag, attributes)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._verbatim |= tag == "pre"
        self._header_cells = 0 if tag == "tr" else self._header_cells + (tag == "th")
        if tag == "a":
            # A number is a link to its receipt, and its words belong to the sentence.
            is_number = "number" in attributes.get("class", "").split()
            self._begin_a_link("" if is_number else attributes.get("href", ""))
        if tag == "blockquote":
            self._quotes.append(len(self.parts))
        if tag == "code" and not self._verbatim:
            self.parts.append("`")
        if tag == "p" and self._begins_an_item():
            return
        self.parts.append(_BEFORE.get(tag, ""))

    def _begin_a_link(self, to: str) -> None:
        """Write the text before a link; links within the page become plain text.

        Without the site's URL, links stay relative: the Markdown file is beside its page.
        """
        inside = not to or to.startswith("#")
        whole = urljoin(self._address, to) if "://" in self._address else to
        self._links.append("" if inside else f"]({whole})")
        self.parts.append("" if inside else "[")

    def _begins_an_item(self) -> bool:
        """Remove trailing blanks, and say whether the output ends with the dash of a list item."""
        while self.parts and not self.parts[-1].strip():
            self.parts.pop()
        return self.parts[-1:] == [_BEFORE["li"]]

    def handle_endtag(self, tag: str) -> None:
        """Write the text after an element."""
        if tag in _EMPTY:
            return
        if self._omitted_depth:
            self._omitted_depth -= 1
            return
        if self._formula:
            self._end_of_formula()
            return
        if tag == "code" and not self._verbatim:
            self.parts.append("`")
        self._verbatim &= tag != "pre"
        self.parts.append(self._links.pop() if tag == "a" else _AFTER.get(tag, ""))
        if tag == "blockquote":
            self._end_of_quote()
        if tag == "thead":
            self.parts.append("\n|" + " --- |" * self._header_cells)

    def _end_of_quote(self) -> None:
        """Prefix each line of a quotation with ">"."""
        start = self._quotes.pop()
        text = re.sub(r"\s*\n\s*\n\s*", "\n\n", "".join(self.parts[start:])).strip()
        quoted = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        self.parts[start:] = [f"\n\n{quoted}\n\n"]

    def _end_of_formula(self) -> None:
        line = self._formula.end() if self._formula else None
        if line is not None:
            self._formula = None
            self.parts.append(f"\n\n{line}\n\n" if self._display else line)

    def handle_data(self, data: str) -> None:
        """Write text."""
        if self._formula:
            self._formula.data(data)
        elif not self._omitted_depth:
            self.parts.append(data if self._verbatim else re.sub(r"\s+", " ", data))

    def _is_omitted(self, tag: str, attributes: dict[str, str]) -> bool:
        if tag in _SKIPPED or "hidden" in attributes or "popover" in attributes:
            return True
        if tag == "option":
            return "selected" not in attributes
        if tag == "button":  # a term is one whose words belong to the sentence
            return "term" not in attributes.get("class", "").split()
        return bool(_OMITTED.search(attributes.get("class", "")))


def page_markdown(html: str, address: str) -> str:
    """Return the Markdown of a page's text, with its URL; "" if it has none.

    Figures and calculators are omitted; the sentences around them keep their numbers.
    """
    tags = ("article", "main", "body")
    matches = (re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", html, re.DOTALL) for tag in tags)
    article = next((match for match in matches if match), None)
    if article is None:
        return ""
    reader = _MarkdownWriter(address)
    reader.feed(article[1])
    reader.close()
    text = _EMPTY_LINK.sub("", "".join(reader.parts))
    lines = [line.rstrip() for line in re.sub(r"[ \t]+\n", "\n", text).splitlines()]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("\n **", "\n**").strip()
    body = _REPEATED_TITLE.sub(r"\1", body)
    return f"{body}\n\nInteractive figures: {address}\n"
