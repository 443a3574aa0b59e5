"""Pictures as SVG: drawings, with nothing in them that runs or loads.

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
_DRAWN = frozenset(_TAGS.split())
_INSIDE = re.compile(r"#|data:image/(png|jpeg|webp|gif);")
_LOADS = re.compile(r"@import|url\((?!\s*[\"']?#)", re.IGNORECASE)
_DECLARED = re.compile(r"<!(DOCTYPE|ENTITY)|<\?(?!xml\s)", re.IGNORECASE)


def problems(folders: Folders, there: Iterable[Path]) -> list[Problem]:
    """Return what the drawings among the files of the content folder hold that is no drawing."""
    found = []
    for path in there:
        if path.suffix.lower() == ".svg":
            text = path.read_bytes().decode(errors="replace")
            source = path.relative_to(folders.root).as_posix()
            found += [Problem(source, _line(text, raw), told) for raw, told in wrong(text)]
    return found


def wrong(text: str) -> Iterator[tuple[str, str]]:
    """Yield (as it stands in the text, message) of what may not be in a drawing."""
    declared = _DECLARED.search(text)
    if declared:
        yield declared[0], f"{declared[0]} is not allowed in a drawing"
        return
    try:
        root = etree.fromstring(text.lstrip("\ufeff"))
    except etree.ParseError as error:
        yield "", f"is no SVG: {error}"
        return
    for elem in root.iter():
        space, _, tag = elem.tag.rpartition("}")
        if "svg" in space or not space:
            yield from _of(elem, tag)


def _of(elem: etree.Element, tag: str) -> Iterator[tuple[str, str]]:
    if tag not in _DRAWN and not tag.startswith("fe"):
        yield f"<{tag}", f"the tag <{tag}> is not allowed in a drawing"
    if tag == "style" and _LOADS.search(elem.text or ""):
        yield "<style", "a style of a drawing loads nothing"
    for name, value in elem.attrib.items():
        plain = name.rpartition("}")[2]
        if plain.lower().startswith("on"):
            yield plain, f"the attribute '{plain}' is not allowed in a drawing"
        leads = plain == "href" or (plain == "attributeName" and value.endswith("href"))
        if leads and not (_INSIDE.match(value) or (tag == "a" and value.startswith("https://"))):
            yield value, f"'{value}' is not allowed in a drawing; it loads nothing"
        if _LOADS.search(value):
            yield value, f"'{value}' is not allowed in a drawing; it loads nothing"


def _line(text: str, raw: str) -> int:
    place = text.find(raw) if raw else -1
    return text.count("\n", 0, place) + 1 if place >= 0 else 1
