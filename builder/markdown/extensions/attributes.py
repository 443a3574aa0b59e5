"""Markdown extension: allowed attributes of elements; all others are errors.

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
from builder.markdown.render_state import RenderState

# Attributes that the extensions write: tab labels, the position of an answer.
_GENERATED = frozenset(("for", "type", "name", "checked", "data-tabs", "data-answer"))
_ALIGNMENTS = tuple(f"text-align: {way};" for way in ("left", "center", "right"))


def disallowed_message(name: str) -> str:
    """Return the error message for a disallowed attribute."""
    return f"the attribute '{name}' is not allowed in an article"


class AttributeLists(AttrListTreeprocessor):  # type: ignore[misc]
    """Attribute lists in braces."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(md)
        self.state = state

    def assign_attrs(self, elem: etree.Element, attrs_string: str, *, strict: bool = False) -> str:
        """Set the allowed attributes of an element and report the others."""
        attributes, remainder = get_attrs_and_remainder(attrs_string)
        if strict and remainder:
            return str(remainder)
        for name, value in attributes:
            if name == ".":
                elem.set("class", " ".join(filter(None, (elem.get("class"), value))))
            elif self.sanitize_name(name) in ATTRIBUTES:
                elem.set(self.sanitize_name(name), value or "")
            else:
                raw = name if value is None else f"{name}="
                self.state.problems.append((raw, disallowed_message(name)))
        return str(remainder)


class BlockAttributes(Treeprocessor):  # type: ignore[misc]
    """Attributes set by block options; runs before inline parsing."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(md)
        self.state = state

    def run(self, root: etree.Element) -> None:
        """Remove and report disallowed attributes."""
        for elem in root.iter():
            for name in [name for name in elem.attrib if name not in ATTRIBUTES | _GENERATED]:
                if name == "style" and elem.get(name) in _ALIGNMENTS and elem.tag in ("th", "td"):
                    continue
                del elem.attrib[name]
                self.state.problems.append((name, disallowed_message(name)))


class AttributesExtension(Extension):  # type: ignore[misc]
    """Registers both processors: blocks before inline parsing (20), lists at Markdown's own (8)."""

    def __init__(self, state: RenderState) -> None:
        super().__init__()
        self.state = state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processors."""
        md.treeprocessors.register(BlockAttributes(md, self.state), "block_attributes", 25)
        md.treeprocessors.register(AttributeLists(md, self.state), "attr_list", 8)
        md.registerExtension(self)
