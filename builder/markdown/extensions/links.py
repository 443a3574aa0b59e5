"""Markdown extension: links to articles and images become marks that the page resolves.

Which page an article becomes, its title and its anchors are known only when all are rendered.
"""

import xml.etree.ElementTree as etree
from html import unescape

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.treeprocessors import Treeprocessor  # type: ignore[import-untyped]

from builder.content.placeholders import image_mark, page_mark, title_mark
from builder.markdown.render_state import Findings

_OURS = ("footnote-ref", "footnote-backref", "headerlink")


def is_internal(target: str) -> bool:
    """Say whether a link leads to an article or an anchor of ours."""
    path = target.partition("#")[0]
    return ":" not in path and not path.startswith("//")


def wrong_address(target: str) -> str:
    """Return what is wrong with a link to elsewhere, "" if nothing is."""
    if target.startswith(("https://", "mailto:")):
        return ""
    return f"external link '{target}' has to begin with https://"


class LinkMarks(Treeprocessor):  # type: ignore[misc]
    """Marks every link and image of the tree."""

    def __init__(self, md: Markdown, findings: Findings) -> None:
        super().__init__(md)
        self.findings = findings

    def run(self, root: etree.Element) -> None:
        """Mark links to articles and anchors, fill empty ones, mark images, check alt texts."""
        for link in root.iter("a"):
            target = unescape(link.get("href", ""))
            if link.get("class") in _OURS or "data-cite" in link.attrib:
                continue
            wrong = "" if is_internal(target) else wrong_address(target)
            if wrong:
                self.findings.problems.append((target, wrong))
            if is_internal(target):
                self.findings.links.append(target)
                link.set("href", page_mark(target))
                if not (link.text or "").strip() and not len(link):
                    link.text = title_mark(target)
        for image in root.iter("img"):
            self._image(image, image.get("src", ""))

    def _image(self, image: etree.Element, source: str) -> None:
        if not image.get("alt", "").strip():
            message = f"image '{source}' has no alt text; write ![what it shows]({source})"
            self.findings.problems.append((source, message))
        if not is_internal(source):
            message = f"image '{source}' is not a file of content/; a page loads nothing else"
            self.findings.problems.append((source, message))
            return
        self.findings.images.append(source)
        image.set("src", image_mark(source))


class LinkExtension(Extension):  # type: ignore[misc]
    """Registers the processor after inline parsing (20)."""

    def __init__(self, findings: Findings) -> None:
        super().__init__()
        self.findings = findings

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processor; TOML and `---` rule out underlined headings."""
        md.parser.blockprocessors.deregister("setextheader")
        md.treeprocessors.register(LinkMarks(md, self.findings), "links", 12)
