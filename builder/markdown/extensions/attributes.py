"""Markdown extension: attributes that an author writes, those that only say something of a text.

`{: .asked }` behind a text and `attrs:` of a block would take any name: a style that covers the
page, an address that a click tells of itself, what our own scripts look for.
"""

import xml.etree.ElementTree as etree

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.extensions.attr_list import (  # type: ignore[import-untyped]
    AttrListTreeprocessor,
    get_attrs_and_remainder,
)
from markdown.treeprocessors import Treeprocessor  # type: ignore[import-untyped]

from builder.markdown.allowed_html import ATTRIBUTES
from builder.markdown.render_state import Findings

# What the extensions themselves write: labels of tabs, the place of an answer.
_MADE = frozenset(("for", "type", "name", "checked", "data-tabs", "data-answer"))
_ALIGNED = tuple(f"text-align: {way};" for way in ("left", "center", "right"))


def refused(name: str) -> str:
    """Return what is said of an attribute that an author may not write."""
    return f"the attribute '{name}' is not allowed in an article"


class Lists(AttrListTreeprocessor):  # type: ignore[misc]
    """Lists of attributes in braces."""

    def __init__(self, md: Markdown, findings: Findings) -> None:
        super().__init__(md)
        self.findings = findings

    def assign_attrs(self, elem: etree.Element, attrs_string: str, *, strict: bool = False) -> str:
        """Give an element its attributes, and say which of them it may not have."""
        given, remainder = get_attrs_and_remainder(attrs_string)
        if strict and remainder:
            return str(remainder)
        for name, value in given:
            if name == ".":
                elem.set("class", " ".join(filter(None, (elem.get("class"), value))))
            elif self.sanitize_name(name) in ATTRIBUTES:
                elem.set(self.sanitize_name(name), value or "")
            else:
                raw = name if value is None else f"{name}="
                self.findings.problems.append((raw, refused(name)))
        return str(remainder)


class OfBlocks(Treeprocessor):  # type: ignore[misc]
    """Attributes among the options of blocks; runs while the tree holds blocks alone."""

    def __init__(self, md: Markdown, findings: Findings) -> None:
        super().__init__(md)
        self.findings = findings

    def run(self, root: etree.Element) -> None:
        """Take away what may not be there, and say so."""
        for elem in root.iter():
            for name in [name for name in elem.attrib if name not in ATTRIBUTES | _MADE]:
                if name == "style" and elem.get(name) in _ALIGNED and elem.tag in ("th", "td"):
                    continue
                del elem.attrib[name]
                self.findings.problems.append((name, refused(name)))


class AttributesExtension(Extension):  # type: ignore[misc]
    """Registers both: blocks before inline parsing (20), lists where Markdown has them (8)."""

    def __init__(self, findings: Findings) -> None:
        super().__init__()
        self.findings = findings

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processors."""
        md.treeprocessors.register(OfBlocks(md, self.findings), "block_attributes", 25)
        md.treeprocessors.register(Lists(md, self.findings), "attr_list", 8)
        md.registerExtension(self)
