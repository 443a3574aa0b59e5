"""A tree of HTML that is written as it was read: what no pass touches keeps its bytes.

The parser is that of the standard library. A start tag that nothing has changed is written from its
source, so quotes, entities, drawings (`viewBox`) and formulas come out as a template wrote them.
Text and comments are strings in `Element.children`, as the source has them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape, unescape
from html.parser import HTMLParser

_VOID = "area base br col embed hr img input link meta source track wbr"
_BLOCKS = (
    "address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr main nav ol p pre section table ul"
)
VOID = frozenset(_VOID.split())
RAW_TEXT = frozenset(("script", "style"))
_FOREIGN = frozenset(("svg", "math"))
# Start tag -> (tags whose end it implies, tags beyond which it does not look).
_CELLS, _ROWS = frozenset(("td", "th")), frozenset(("td", "th", "tr"))
_IMPLIED_ENDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset(("li",)), frozenset(("ul", "ol"))),
    **dict.fromkeys(("dt", "dd"), (frozenset(("dt", "dd")), frozenset(("dl",)))),
    **dict.fromkeys(("td", "th"), (_CELLS, frozenset(("tr", "table")))),
    "tr": (_ROWS, frozenset(("table",))),
    **dict.fromkeys(
        ("thead", "tbody", "tfoot"), (_ROWS | {"thead", "tbody", "tfoot"}, frozenset(("table",)))
    ),
    "option": (frozenset(("option",)), frozenset(("select",))),
    **dict.fromkeys(_BLOCKS.split(), (frozenset(("p",)), frozenset(("button", "td", "th")))),
}


_WHOLE_URLS = ("https:", "http:", "mailto:", "data:", "/")
_NAME = re.compile(r"(?<=[\s\"'])[^\s=\"'<>/]+(?=\s*=)")  # of an attribute in a start tag


class Comment(str):
    """A comment, a declaration or a stray end tag, as the source has it."""

    __slots__ = ()


Attributes = dict[str, str | None]


class Element:
    """An element with its attributes and its children; `parent` is None for a root."""

    __slots__ = ("_end", "_start", "attributes", "children", "parent", "tag")

    def __init__(
        self,
        tag: str,
        attributes: Attributes | None = None,
        children: Iterable["Element | str"] = (),
        *,
        source: tuple[str, str] | None = None,
    ) -> None:
        self.tag = tag
        self.attributes: Attributes = {} if attributes is None else attributes
        self.children: list[Element | str] = []
        self.parent: Element | None = None
        self._start, self._end = source or ("", "" if tag in VOID else f"</{tag}>")
        self.extend(children)

    def get(self, name: str) -> str:
        """Return the value of an attribute, "" without it or without a value."""
        return self.attributes.get(name) or ""

    def has(self, name: str) -> bool:
        """Say whether the element has an attribute."""
        return name in self.attributes

    @property
    def classes(self) -> list[str]:
        """The element's classes."""
        return (self.attributes.get("class") or "").split()

    def set(self, name: str, value: str | None) -> None:
        """Set an attribute; None stands for one without a value."""
        self._change_attributes({**self.attributes, name: value})

    def drop(self, *names: str) -> None:
        """Remove attributes."""
        self._change_attributes(
            {name: value for name, value in self.attributes.items() if name not in names}
        )

    def _change_attributes(self, attributes: Attributes) -> None:
        """Write another start tag, with names and its end as the source spells them."""
        source, self.attributes = self.start_tag(), attributes
        spelled = {name.lower(): name for name in _NAME.findall(source)}
        written = "".join(
            _attribute(spelled.get(name, name), value) for name, value in attributes.items()
        )
        end = "/>" if source.endswith("/>") else ">"
        self._start = f"{source[: len(self.tag) + 1]}{written}{end}"

    def extend(self, nodes: Iterable["Element | str"]) -> None:
        """Append children."""
        for node in nodes:
            if isinstance(node, Element):
                node.parent = self
            self.children.append(node)

    def replace_children(self, nodes: Iterable["Element | str"]) -> None:
        """Put other nodes in place of the children."""
        new = list(nodes)
        self.children.clear()
        self.extend(new)

    def replace_with(self, *nodes: "Element | str") -> None:
        """Put other nodes in the element's place."""
        if self.parent is None:
            raise ValueError(f"<{self.tag}> has no parent")
        siblings = self.parent.children
        at = next(at for at, node in enumerate(siblings) if node is self)
        for node in nodes:
            if isinstance(node, Element):
                node.parent = self.parent
        siblings[at : at + 1] = nodes
        self.parent = None

    def joined_children(self) -> list["Element | str"]:
        """Return the children, texts that follow each other as one."""
        joined: list[Element | str] = []
        for node in self.children:
            if joined and _is_text(node) and _is_text(joined[-1]):
                joined[-1] = f"{joined[-1]}{node}"
            else:
                joined.append(node)
        return joined

    def remove_line(self) -> None:
        """Remove the element, and the line break behind it."""
        if self.parent is None:
            raise ValueError(f"<{self.tag}> has no parent")
        siblings = self.parent.children
        at = next(at for at, node in enumerate(siblings) if node is self)
        if at + 1 < len(siblings) and isinstance(rest := siblings[at + 1], str):
            siblings[at + 1] = rest.removeprefix("\n")
        del siblings[at]
        self.parent = None

    def elements(self, *tags: str) -> Iterator["Element"]:
        """Yield the elements inside this one in the order of the document, of these tags if any.

        The children of an element are read when it has been yielded and changed.
        """
        pending = [node for node in reversed(self.children) if isinstance(node, Element)]
        while pending:
            element = pending.pop()
            if not tags or element.tag in tags:
                yield element
            pending += [node for node in reversed(element.children) if isinstance(node, Element)]

    def first(self, *tags: str, where: Callable[["Element"], object] = bool) -> "Element | None":
        """Return the first element of these tags for which `where` holds."""
        return next(filter(where, self.elements(*tags)), None)

    def ancestors(self) -> Iterator["Element"]:
        """Yield the elements around this one, from the inside out."""
        around = self.parent
        while around is not None:
            yield around
            around = around.parent

    def text(self, separator: str = "") -> str:
        """Return the text inside, with a separator between its pieces."""
        return text(self.children, separator)

    def start_tag(self) -> str:
        """Return the start tag: its source, or if changed, one made of its attributes."""
        if not self._start and self.tag:
            attributes = "".join(_attribute(*item) for item in self.attributes.items())
            self._start = f"<{self.tag}{attributes}>"
        return self._start

    def inner_html(self) -> str:
        """Return the HTML of the children."""
        return inner_html(self.children)

    def html(self) -> str:
        """Return the HTML of the element."""
        parts: list[str] = []
        _write(self, parts)
        return "".join(parts)


def _is_text(node: "Element | str") -> bool:
    return isinstance(node, str) and not isinstance(node, Comment)


def _write(node: "Element | str", parts: list[str]) -> None:
    if isinstance(node, str):
        parts.append(node)
        return
    parts.append(node._start or node.start_tag())
    for child in node.children:
        if isinstance(child, str):
            parts.append(child)
        else:
            _write(child, parts)
    parts.append(node._end)


def _attribute(name: str, value: str | None) -> str:
    if value is None:
        return f" {name}"
    quoted = value.replace("&", "&amp;").replace("<", "&lt;")
    if '"' in value and "'" not in value:
        return f" {name}='{quoted}'"
    return f' {name}="{quoted.replace(chr(34), "&quot;")}"'


def escape_text(text: str) -> str:
    """Return text as a child of an element holds it."""
    return escape(text, quote=False)


_KNOWN_TAGS: dict[str, tuple[str, Attributes, bool]] = {}  # source -> tag, attributes, is closed
_MAX_KNOWN_TAGS = 1 << 16


class _TreeBuilder(HTMLParser):
    """Builds the tree; `updatepos`, which the parser calls after each part, gives its source."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", source=("", ""))
        self._open = self.root
        self._foreign = 0  # open elements of drawings and formulas
        self._is_text = False
        self._closed: Element | None = None

    def parse_starttag(self, i: int) -> int:
        """Return the end of a start tag, known ones from memory."""
        end = self.rawdata.find(">", i) + 1
        if known := _KNOWN_TAGS.get(self.rawdata[i:end]):
            tag, attributes, is_closed = known
            self._start(tag, attributes, self.rawdata[i:end], is_closed=is_closed)
            if tag in RAW_TEXT and not is_closed:
                self.set_cdata_mode(tag)
            return end
        return super().parse_starttag(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        self._start_new(tag, attrs, is_closed=False)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element that its tag closes: a browser does so in drawings and formulas only."""
        self._start_new(tag, attrs, is_closed=True)

    def _start_new(self, tag: str, attrs: list[tuple[str, str | None]], *, is_closed: bool) -> None:
        source = self.get_starttag_text() or ""
        attributes: Attributes = {}
        for name, value in attrs:
            attributes.setdefault(name, value)
        if len(_KNOWN_TAGS) < _MAX_KNOWN_TAGS:
            _KNOWN_TAGS[source] = (tag, attributes, is_closed)
        self._start(tag, attributes, source, is_closed=is_closed)

    def _start(self, tag: str, attributes: Attributes, source: str, *, is_closed: bool) -> None:
        if not self._foreign and tag in _IMPLIED_ENDS:
            self._imply_ends(*_IMPLIED_ENDS[tag])
        element = Element(tag, attributes, source=(source, ""))
        element.parent = self._open
        self._open.children.append(element)
        if tag in VOID or (is_closed and (self._foreign or tag in _FOREIGN)):
            return
        self._open = element
        self._foreign += tag in _FOREIGN

    def _imply_ends(self, ended: frozenset[str], limits: frozenset[str]) -> None:
        last: Element | None = None
        element: Element | None = self._open
        while element is not None and element.tag not in limits:
            last = element if element.tag in ended else last
            element = element.parent
        if last is not None and last.parent is not None:
            self._open = last.parent

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element of this tag; a tag that closes nothing is kept as it is."""
        element: Element | None = self._open
        while element is not None and element.tag != tag:
            element = element.parent
        self._closed = element
        if element is not None and element.parent is not None:
            around: Element | None = self._open
            while around is not element and around is not None:
                self._foreign -= around.tag in _FOREIGN
                around = around.parent
            self._foreign -= tag in _FOREIGN
            self._open = element.parent

    def handle_data(self, data: str) -> None:
        """Note that the next part is text."""
        self._is_text = True

    def updatepos(self, i: int, j: int) -> int:
        """Keep the source of what is not a start tag."""
        if i < j:
            self._keep(self.rawdata[i:j])
        return j

    def _keep(self, source: str) -> None:
        if self._is_text:
            self._is_text = False
            self._open.children.append(source)
        elif source.startswith("</") and self._closed is not None:
            self._closed._end = source
            self._closed = None
        elif source[1:2] in "!/?":
            self._open.children.append(Comment(source))


def parse(html: str) -> Element:
    """Return the root of a page or of a part of one; the root has no tag of its own."""
    builder = _TreeBuilder()
    builder.feed(html)
    builder.close()
    return builder.root


def inner_html(nodes: Iterable["Element | str"]) -> str:
    """Return the HTML of nodes."""
    parts: list[str] = []
    for node in nodes:
        _write(node, parts)
    return "".join(parts)


def text(
    nodes: Iterable["Element | str"],
    separator: str = "",
    without: Callable[[Element], object] = lambda _: False,
) -> str:
    """Return the text of nodes, with a separator between its pieces.

    Args:
        nodes: of a page.
        separator: between the pieces that tags divide.
        without: says of an element whether its text is left out.
    """
    return unescape(separator.join(_text_pieces(nodes, without)))


def _text_pieces(
    nodes: Iterable["Element | str"], without: Callable[[Element], object]
) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Element):
            if not without(node):
                yield from _text_pieces(node.children, without)
        elif not isinstance(node, Comment):
            yield node


def text_before(root: Element, end: Element | None) -> str:
    """Return the text of a tree before one of its elements, all of it if there is none."""
    pieces: list[str] = []
    pending: list[Element | str] = [root]
    while pending and (node := pending.pop()) is not end:
        if isinstance(node, Element):
            pending += reversed(node.children)
        elif _is_text(node):
            pieces.append(node)
    return unescape("".join(pieces))


def rebase_links(root: Element) -> None:
    """Make the relative links of a part of a page lead from a folder below that of the page."""
    for element in root.elements():
        href = element.attributes.get("href")
        if href is not None and not href.startswith(_WHOLE_URLS):
            element.set("href", f"../{href}")


def split_space(nodes: Sequence["Element | str"]) -> tuple[str, list["Element | str"], str]:
    """Return (white space before the nodes, the nodes without it, white space after them)."""
    inner = list(nodes)
    before = after = ""
    if inner and isinstance(first := inner[0], str):
        inner[0] = kept = first.lstrip()
        before = first[: len(first) - len(kept)]
    if inner and isinstance(last := inner[-1], str):
        inner[-1] = kept = last.rstrip()
        after = last[len(kept) :]
    return before, [node for node in inner if node != ""], after
