"""Markdown extension: links to articles and images become placeholders that the page resolves.

URLs, titles and anchors of articles are known only after all articles are rendered.
"""

import xml.etree.ElementTree as etree
from html import unescape

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.treeprocessors import Treeprocessor  # type: ignore[import-untyped]

from builder.content.link_targets import image_placeholder, page_placeholder, title_placeholder
from builder.markdown.render_state import RenderState

_GENERATED_CLASSES = ("footnote-ref", "footnote-backref", "headerlink")


def is_internal(target: str) -> bool:
    """Say whether a link leads to an article or an anchor of this site."""
    path = target.partition("#")[0]
    return ":" not in path and not path.startswith("//")


def external_link_problem(target: str) -> str:
    """Return the problem of a link to another site, "" if it has none."""
    if target.startswith(("https://", "mailto:")):
        return ""
    return f"external link '{target}' has to begin with https://"


class LinkPlaceholders(Treeprocessor):  # type: ignore[misc]
    """Replaces links and images by placeholders."""

    def __init__(self, md: Markdown, state: RenderState) -> None:
        super().__init__(md)
        self.state = state

    def run(self, root: etree.Element) -> None:
        """Insert placeholders for internal links, empty link texts and images; check alt texts."""
        for link in root.iter("a"):
            target = unescape(link.get("href", ""))
            if link.get("class") in _GENERATED_CLASSES or "data-cite" in link.attrib:
                continue
            wrong = "" if is_internal(target) else external_link_problem(target)
            if wrong:
                self.state.problems.append((target, wrong))
            if is_internal(target):
                self.state.links.append(target)
                link.set("href", page_placeholder(target))
                if not (link.text or "").strip() and not len(link):
                    link.text = title_placeholder(target)
        for image in root.iter("img"):
            self._image(image, image.get("src", ""))

    def _image(self, image: etree.Element, source: str) -> None:
        if not image.get("alt", "").strip():
            message = f"image '{source}' has no alt text; write ![what it shows]({source})"
            self.state.problems.append((source, message))
        if not is_internal(source):
            message = f"image '{source}' is not a file of content/; a page loads nothing else"
            self.state.problems.append((source, message))
            return
        self.state.images.append(source)
        image.set("src", image_placeholder(source))


class LinkExtension(Extension):  # type: ignore[misc]
    """Registers the processor after inline parsing (20)."""

    def __init__(self, state: RenderState) -> None:
        super().__init__()
        self.state = state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processor; TOML and `---` rule out underlined headings."""
        md.parser.blockprocessors.deregister("setextheader")
        md.treeprocessors.register(LinkPlaceholders(md, self.state), "links", 12)
