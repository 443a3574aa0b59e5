"""Markdown extensions: `[@key]` links to the reference list, `??term??` to the glossary."""

import re
import xml.etree.ElementTree as etree

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.inlinepatterns import InlineProcessor  # type: ignore[import-untyped]
from markdown.util import AtomicString  # type: ignore[import-untyped]

from builder.content.library import GLOSSARY, REFERENCES, Library
from builder.markdown.render_state import RenderState

CITATION = r"\[(@[\w:.+-]+(?:\s*;\s*@[\w:.+-]+)*)\]"


class CitationInline(InlineProcessor):  # type: ignore[misc]
    """Inline processor of one pair of brackets with one or more citation keys."""

    def __init__(self, md: Markdown, library: Library, state: RenderState) -> None:
        super().__init__(CITATION, md)
        self.library, self.state = library, state

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[etree.Element, int, int]:
        """Return "(Author Year; Author Year)", each a link."""
        group = etree.Element("span", {"class": "citation"})
        group.text = "("
        keys = [key.strip().lstrip("@") for key in m[1].split(";")]
        for key in keys:
            if key not in self.library.references:
                self.state.problems.append((m[0], f"citation '@{key}' is not in {REFERENCES}"))
                continue
            self.state.cites[key] = None
            link = etree.SubElement(group, "a", {"data-cite": key, "href": f"#ref-{key}"})
            # Atomic: a label is text, whatever signs of Markdown or HTML are in it.
            link.text = AtomicString(self.library.references[key].label)
            link.tail = ")" if key == keys[-1] else "; "
        return group, m.start(0), m.end(0)


class CitationExtension(Extension):  # type: ignore[misc]
    """Registers the pattern above links (160), so that no reference link takes the brackets."""

    def __init__(self, library: Library, state: RenderState) -> None:
        super().__init__()
        self.library, self.state = library, state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the pattern."""
        md.inlinePatterns.register(CitationInline(md, self.library, self.state), "cite", 174)


# Markdown extension: `??bus bandwidth??` or `??shown text|bus bandwidth??` opens a definition.

TERM = r"\?\?([^?|\n]+)(?:\|([^?|\n]+))?\?\?"


def term_id(name: str) -> str:
    """Return the id of a term's definition on a page."""
    return "term-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


class TermInline(InlineProcessor):  # type: ignore[misc]
    """Inline processor of terms; a term's definition opens in place, also without JavaScript."""

    def __init__(self, md: Markdown, library: Library, state: RenderState) -> None:
        super().__init__(TERM, md)
        self.library, self.state = library, state

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[etree.Element | str, int, int]:
        """Return a button that opens the definition's popover."""
        shown, name = m[1].strip(), (m[2] or m[1]).strip()
        term = self.library.terms.get(" ".join(name.lower().split()))
        if term is None:
            self.state.problems.append((m[0], f"term '{name}' is not defined in {GLOSSARY}"))
            return shown, m.start(0), m.end(0)
        self.state.terms[term.name] = None
        attributes = {"type": "button", "class": "term", "popovertarget": term_id(term.name)}
        button = etree.Element("button", attributes)
        button.text = shown
        return button, m.start(0), m.end(0)


class GlossaryExtension(Extension):  # type: ignore[misc]
    """Registers the pattern."""

    def __init__(self, library: Library, state: RenderState) -> None:
        super().__init__()
        self.library, self.state = library, state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the pattern."""
        md.inlinePatterns.register(TermInline(md, self.library, self.state), "glossary", 173)
