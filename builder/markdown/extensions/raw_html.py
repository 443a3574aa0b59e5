"""Markdown extension: checks all raw HTML that the Markdown parser finds.

`builder.markdown.allowed_html` reads the source, and so knows line numbers and unclosed tags. This
extension sees what the parser sees, so no tag is missed where the two disagree about code.
"""

import re
import xml.etree.ElementTree as etree

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.inlinepatterns import HTML_RE, HtmlInlineProcessor  # type: ignore[import-untyped]
from markdown.preprocessors import HtmlBlockPreprocessor  # type: ignore[import-untyped]

from builder.markdown import allowed_html
from builder.markdown.render_state import RenderState


class HtmlBlocks(HtmlBlockPreprocessor):  # type: ignore[misc]
    """Preprocessor of block-level HTML."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(md)
        self.state = state

    def run(self, lines: list[str]) -> list[str]:
        """Extract the HTML blocks as Markdown does, and check each."""
        before = len(self.md.htmlStash.rawHtmlBlocks)
        kept = list(super().run(lines))
        for block in self.md.htmlStash.rawHtmlBlocks[before:]:
            record_disallowed(str(block), self.state)
        return kept


class InlineHtml(HtmlInlineProcessor):  # type: ignore[misc]
    """Inline processor of HTML tags."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(HTML_RE, md)
        self.state = state

    def handleMatch(
        self, m: re.Match[str], data: str
    ) -> tuple[str | etree.Element, int | None, int | None]:
        """Extract the tag as Markdown does, and check it."""
        record_disallowed(m[0], self.state)
        place, start, end = super().handleMatch(m, data)
        return place, start, end


def record_disallowed(html: str, state: RenderState) -> None:
    """Record the disallowed HTML of a fragment."""
    state.raw += [(html, message) for message in allowed_html.disallowed_messages(html)]


class RawHtmlExtension(Extension):  # type: ignore[misc]
    """Replaces Markdown's two HTML processors by checking ones."""

    def __init__(self, state: RenderState) -> None:
        super().__init__()
        self.state = state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both with Markdown's own names and priorities."""
        md.preprocessors.register(HtmlBlocks(md, self.state), "html_block", 20)
        md.inlinePatterns.register(InlineHtml(md, self.state), "html", 90)
