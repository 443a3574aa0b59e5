"""Assets: styles, fonts and scripts under names that carry a hash of their content."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from builder import slim
from builder.folders import digest, files

FOLDER = "assets"
_URL = re.compile(r"""url\(\s*["']?(?!data:)([^"')]+)["']?\s*\)""")
_IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"';]*?["'](\./[\w./-]+\.js)["']""", re.MULTILINE)
ENTRY = "main.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """What every page loads; URLs are relative to the output folder, "" where there is none.

    Attributes:
        styles: the one style sheet.
        style_text: the same without fonts, for the page that knows no address of its own.
        script: the entry module.
        preload: the modules it imports, directly or not.
        worker: the Worker's module.
        runtime: the manifest of the live runtime.
        bokeh: BokehJS.
        fonts: those that text above the fold needs.
    """

    styles: str
    style_text: str
    script: str
    preload: tuple[str, ...]
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


def scripts(theme: Path) -> tuple[dict[str, bytes], str, tuple[str, ...], str]:
    """Return (files, entry, modules it imports, Worker) of theme/runtime.

    All modules lie in one folder whose name carries the hash, so that imports stay as written.
    """
    found = {
        path.name: slim.script(path.read_text("utf-8")).encode()
        for path in files(theme / "runtime", "*.js")
    }
    if not found:
        return {}, "", (), ""
    parts = [part for name, content in found.items() for part in (name, content)]
    folder = f"{FOLDER}/js-{digest(parts)}"
    needed = [name for name in _closure(ENTRY, found) if name != ENTRY]
    return (
        {f"{folder}/{name}": content for name, content in found.items()},
        f"{folder}/{ENTRY}" if ENTRY in found else "",
        tuple(f"{folder}/{name}" for name in needed),
        f"{folder}/worker.js" if "worker.js" in found else "",
    )


def _closure(entry: str, modules: Mapping[str, bytes]) -> list[str]:
    seen: dict[str, None] = {}
    waiting = [entry] if entry in modules else []
    while waiting:
        name = waiting.pop()
        seen[name] = None
        imports = [path.removeprefix("./") for path in _IMPORT.findall(modules[name].decode())]
        waiting += [found for found in imports if found in modules and found not in seen]
    return sorted(seen)
