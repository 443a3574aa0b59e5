"""The size of a picture, so that the page keeps its place before it is loaded."""

import re
import struct
from collections.abc import Mapping

_BOX = re.compile(rb"<svg\b[^>]*\bviewBox=[\"']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)")


def size(data: bytes) -> tuple[int, int] | None:
    """Return (width, height) of a PNG or SVG in CSS pixels, None where it cannot be read."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    box = _BOX.search(data)
    return (round(float(box[1])), round(float(box[2]))) if box else None


def with_sizes(html: str, pictures: Mapping[str, bytes]) -> str:
    """Return the HTML with width and height on every image that has none.

    Args:
        html: of a page.
        pictures: address as it stands in `src` -> content.
    """

    def one(match: re.Match[str]) -> str:
        found = size(pictures.get(match[1], b""))
        if found is None or " width=" in match[0]:
            return match[0]
        return f'<img width="{found[0]}" height="{found[1]}" loading="lazy"{match[0][4:]}'

    return re.sub(r'<img\b[^>]*?\bsrc="([^"]*)"[^>]*>', one, html)
