"""Assets: styles, fonts and scripts under names that carry a hash of their content."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from builder.core.folders import digest, files
from builder.theme.minify_assets import ENTRY

FOLDER = "assets"
_URL = re.compile(r"""url\(\s*["']?(?!data:)([^"')]+)["']?\s*\)""")
_CLASS = re.compile(r'\bclass="([^"]*)"')
SHEET, EARLY, WORKER = "main.css", "early.js", "engine/worker.js"
SOME = "with"  # the folder of style sheets that not every page needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A style sheet of pages with any of the classes that its first line names.

    Attributes:
        classes: of the elements that it styles.
        address: where it lies, relative to the output folder.
    """

    classes: tuple[str, ...]
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """What every page loads; URLs are relative to the output folder, "" where there is none.

    Attributes:
        styles: the style sheet of every page.
        style_text: the same without fonts, for the page that knows no address of its own.
        some: style sheets for pages with certain classes.
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
    some: tuple[Sheet, ...] = ()


def hashed(name: str, content: bytes) -> str:
    """Return where an asset lies, e.g. "assets/main-0123456789abcdef.css"."""
    stem, dot, suffix = name.rpartition(".")
    return f"{FOLDER}/{stem}-{digest((content,))}{dot}{suffix}"


def fonts(theme: Path) -> dict[str, tuple[str, bytes]]:
    """Return the name of every font of the theme -> (where it lies, content)."""
    found = {path.name: path.read_bytes() for path in files(theme / "fonts") if _is_font(path)}
    return {name: (hashed(name, content), content) for name, content in found.items()}


def sheets(theme: Path, placed: Mapping[str, tuple[str, bytes]]) -> dict[str, str]:
    """Return name -> style sheet that names the `fonts`.

    All of `styles` in the order of their names are one; those of its folder `with`, which not every
    page needs, stay apart.
    """

    def url(match: re.Match[str]) -> str:
        name = posixpath.basename(match[1])
        if name not in placed:
            there = ", ".join(placed) or "none"
            raise FileNotFoundError(f"theme/styles names the font '{name}'; there are {there}")
        return f"url({posixpath.basename(placed[name][0])})"

    found = {SHEET: ""}
    for path in files(theme / "styles", "*.css"):
        apart = path.parent.name == SOME
        name = f"{SOME}/{path.name}" if apart else SHEET
        found[name] = found.get(name, "") + _URL.sub(url, path.read_text("utf-8"))
    return found


def classes(text: str) -> tuple[str, ...]:
    """Return the classes that the first line of a style sheet apart names: "/* With: a b. ..."."""
    said = re.match(r"/\* With: ([\w -]+)\.", text)
    return tuple(said[1].split()) if said else ()


def needed(html: str, some: tuple[Sheet, ...]) -> str:
    """Return a page's HTML without links to the style sheets of classes that it has none of."""
    found = {name for one in _CLASS.findall(html) for name in one.split()} if some else set()
    for sheet in some:
        if not found.intersection(sheet.classes):
            html = re.sub(
                rf'<link rel="stylesheet" href="[^"]*{re.escape(sheet.address)}">\n?', "", html
            )
    return html


def without_fonts(text: str) -> str:
    """Return the styles without font faces, whose addresses are relative to the style sheet."""
    return re.sub(r"@font-face\s*\{[^}]*\}", "", text)


def _is_font(path: Path) -> bool:
    return path.suffix in (".woff2", ".woff")


def scripts(modules: Mapping[str, str]) -> tuple[dict[str, bytes], str, str]:
    """Return (files, entry, Worker) of the modules and of the boxes that they fetch.

    All keep their rooms in a folder whose name carries the hash, so that imports stay as written.
    """
    folder = f"{FOLDER}/js-{digest(part for pair in modules.items() for part in pair)}"
    return (
        {f"{folder}/{name}": text.encode() for name, text in modules.items()},
        f"{folder}/{ENTRY}" if ENTRY in modules else "",
        f"{folder}/{WORKER}" if WORKER in modules else "",
    )
