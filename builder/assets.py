"""Assets: styles, fonts and scripts under names that carry a hash of their content."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from builder import slim
from builder.folders import digest, files
from builder.join import joined

FOLDER = "assets"
_URL = re.compile(r"""url\(\s*["']?(?!data:)([^"')]+)["']?\s*\)""")
ENTRY, WORKER = "main.js", "engine/worker.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """What every page loads; URLs are relative to the output folder, "" where there is none.

    Attributes:
        styles: the one style sheet.
        style_text: the same without fonts, for the page that knows no address of its own.
        early: the script that runs before the first paint.
        script: the entry module, with all it imports.
        worker: the Worker's module.
        runtime: the manifest of the live runtime.
        bokeh: BokehJS.
        fonts: those that text above the fold needs.
    """

    styles: str
    style_text: str
    early: str
    script: str
    worker: str
    runtime: str
    bokeh: str
    fonts: tuple[str, ...]


def hashed(name: str, content: bytes) -> str:
    """Return where an asset lies, e.g. "assets/main-0123456789abcdef.css"."""
    stem, dot, suffix = name.rpartition(".")
    return f"{FOLDER}/{stem}-{digest((content,))}{dot}{suffix}"


def styles(theme: Path) -> tuple[dict[str, bytes], str, tuple[str, ...]]:
    """Return (files, URL of the style sheet, URLs of fonts) of theme/styles and theme/fonts."""
    fonts = {path.name: path.read_bytes() for path in files(theme / "fonts") if _is_font(path)}
    placed = {name: hashed(name, content) for name, content in fonts.items()}

    def url(match: re.Match[str]) -> str:
        name = posixpath.basename(match[1])
        if name not in placed:
            there = ", ".join(placed) or "none"
            raise FileNotFoundError(f"theme/styles names the font '{name}'; there are {there}")
        return f"url({posixpath.basename(placed[name])})"

    sheet = _URL.sub(url, style_text(theme)).encode()
    found = {placed[name]: content for name, content in fonts.items()}
    where = hashed("main.css", sheet)
    upright = tuple(placed[name] for name in placed if "-normal" in name)
    return {**found, where: sheet}, where, upright


def style_text(theme: Path) -> str:
    """Return all style sheets in the order of their names, as one text."""
    return "".join(slim.style(path.read_text("utf-8")) for path in files(theme / "styles", "*.css"))


def without_fonts(text: str) -> str:
    """Return the styles without font faces, whose addresses are relative to the style sheet."""
    return re.sub(r"@font-face\s*\{[^}]*\}", "", text)


def _is_font(path: Path) -> bool:
    return path.suffix in (".woff2", ".woff")


def scripts(theme: Path, panels: Mapping[str, str]) -> tuple[dict[str, bytes], str, str]:
    """Return (files, entry, Worker) of theme/runtime, with the boxes that its scripts fetch.

    All modules keep their rooms in a folder whose name carries the hash, so that imports stay as
    written; the entry holds all it imports.
    """
    rooms = theme / "runtime"
    texts = {
        path.relative_to(rooms).as_posix(): slim.script(path.read_text("utf-8"))
        for path in files(rooms, "*.js")
    }
    if not texts:
        return {}, "", ""
    found = {**(joined(texts, ENTRY) if ENTRY in texts else texts), **panels}
    folder = f"{FOLDER}/js-{digest(part for pair in found.items() for part in pair)}"
    return (
        {f"{folder}/{name}": text.encode() for name, text in found.items()},
        f"{folder}/{ENTRY}" if ENTRY in found else "",
        f"{folder}/{WORKER}" if WORKER in found else "",
    )
