"""Checks of SVG images: only drawing elements, no scripts and no external references.

On a page such a file is a picture, in which a browser runs nothing. Opened by its own address it
is a document of the site.
"""

import re
import xml.etree.ElementTree as etree
from collections.abc import Iterable, Iterator
from pathlib import Path

from builder.core.folders import Folders
from builder.core.problem import Problem

_TAGS = (
    "svg g defs symbol use title desc metadata style path rect circle ellipse line polyline "
    "polygon text tspan textPath image marker pattern mask clipPath filter linearGradient "
    "radialGradient stop view switch animate animateTransform animateMotion mpath a"
)
_ALLOWED_TAGS = frozenset(_TAGS.split())
_EMBEDDED = re.compile(r"#|data:image/(png|jpeg|webp|gif);")
_EXTERNAL_REFERENCE = re.compile(r"@import|url\((?!\s*[\"']?#)", re.IGNORECASE)
_DECLARATION = re.compile(r"<!(DOCTYPE|ENTITY)|<\?(?!xml\s)", re.IGNORECASE)


def svg_file_problems(folders: Folders, paths: Iterable[Path]) -> list[Problem]:
    """Return the problems of the SVG files among these paths."""
    problems = []
    for path in paths:
        if path.suffix.lower() == ".svg":
            text = path.read_bytes().decode(errors="replace")
            source = path.relative_to(folders.root).as_posix()
            problems += [
                Problem(source, _line_of(text, snippet), message)
                for snippet, message in svg_problems(text)
            ]
    return problems


def svg_problems(text: str) -> Iterator[tuple[str, str]]:
    """Yield (snippet of the text, message) for content that an SVG image may not have."""
    declaration = _DECLARATION.search(text)
    if declaration:
        yield declaration[0], f"{declaration[0]} is not allowed in a drawing"
        return
    try:
        root = etree.fromstring(text.lstrip("\ufeff"))
    except etree.ParseError as error:
        yield "", f"is no SVG: {error}"
        return
    for elem in root.iter():
        space, _, tag = elem.tag.rpartition("}")
        if "svg" in space or not space:
            yield from _element_problems(elem, tag)


def _element_problems(elem: etree.Element, tag: str) -> Iterator[tuple[str, str]]:
    if tag not in _ALLOWED_TAGS and not tag.startswith("fe"):
        yield f"<{tag}", f"the tag <{tag}> is not allowed in a drawing"
    if tag == "style" and _EXTERNAL_REFERENCE.search(elem.text or ""):
        yield "<style", "a style of a drawing loads nothing"
    for name, value in elem.attrib.items():
        local_name = name.rpartition("}")[2]
        if local_name.lower().startswith("on"):
            yield local_name, f"the attribute '{local_name}' is not allowed in a drawing"
        is_link = local_name == "href" or (local_name == "attributeName" and value.endswith("href"))
        if is_link and not (
            _EMBEDDED.match(value) or (tag == "a" and value.startswith("https://"))
        ):
            yield value, f"'{value}' is not allowed in a drawing; it loads nothing"
        if _EXTERNAL_REFERENCE.search(value):
            yield value, f"'{value}' is not allowed in a drawing; it loads nothing"


def _line_of(text: str, snippet: str) -> int:
    position = text.find(snippet) if snippet else -1
    return text.count("\n", 0, position) + 1 if position >= 0 else 1
