"""Markdown extension: what Markdown itself takes for HTML is looked at, wherever it stands.

`builder.markdown.allowed_html` reads the source, and so knows lines and what is left open. This
sees what the parser sees: no difference in what is code, and what is not, hides a tag.
"""

import re
import xml.etree.ElementTree as etree

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.inlinepatterns import HTML_RE, HtmlInlineProcessor  # type: ignore[import-untyped]
from markdown.preprocessors import HtmlBlockPreprocessor  # type: ignore[import-untyped]

from builder.markdown import allowed_html
from builder.markdown.render_state import Findings


class Blocks(HtmlBlockPreprocessor):  # type: ignore[misc]
    """HTML that stands as a block."""

    def __init__(self, md: Markdown, findings: Findings) -> None:
        super().__init__(md)
        self.findings = findings

    def run(self, lines: list[str]) -> list[str]:
        """Take the blocks out, as Markdown does, and look at each."""
        before = len(self.md.htmlStash.rawHtmlBlocks)
        kept = list(super().run(lines))
        for block in self.md.htmlStash.rawHtmlBlocks[before:]:
            note(str(block), self.findings)
        return kept


class Inline(HtmlInlineProcessor):  # type: ignore[misc]
    """A tag within a sentence."""

    def __init__(self, md: Markdown, findings: Findings) -> None:
        super().__init__(HTML_RE, md)
        self.findings = findings

    def handleMatch(
        self, m: re.Match[str], data: str
    ) -> tuple[str | etree.Element, int | None, int | None]:
        """Take the tag out, as Markdown does, and look at it."""
        note(m[0], self.findings)
        place, start, end = super().handleMatch(m, data)
        return place, start, end


def note(html: str, findings: Findings) -> None:
    """Note what an article may not hold."""
    findings.raw += [(html, message) for message in allowed_html.refused(html)]


class RawExtension(Extension):  # type: ignore[misc]
    """Takes the places of Markdown's own two."""

    def __init__(self, findings: Findings) -> None:
        super().__init__()
        self.findings = findings

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both where Markdown has them."""
        md.preprocessors.register(Blocks(md, self.findings), "html_block", 20)
        md.inlinePatterns.register(Inline(md, self.findings), "html", 90)
