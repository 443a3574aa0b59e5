"""Theme assets: style sheets, fonts and scripts, minified, under content-hashed names."""

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.core.folders import digest, files

FOLDER = "assets"
_URL = re.compile(r"""url\(\s*["']?(?!data:)([^"')]+)["']?\s*\)""")
MAIN_SHEET, EARLY, WORKER = "main.css", "early.js", "engine/worker.js"
CONDITIONAL = "with"  # folder of style sheets that only some pages load


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleSheet:
    """A style sheet that is loaded only by pages with one of the classes in its first line.

    Attributes:
        classes: of the elements that it styles.
        address: its path in the output folder.
    """

    classes: tuple[str, ...]
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """The assets that every page loads; URLs are relative to the output folder, "" if missing.

    Attributes:
        styles: the style sheet of every page.
        style_text: its CSS, which 404.html inlines.
        conditional_styles: style sheets of pages with certain classes.
        early: the script that runs before the first paint.
        script: the entry module, with all it imports.
        worker: the Worker's module.
        runtime: the manifest of the live runtime.
        bokeh: BokehJS.
        fonts: preloaded fonts.
    """

    styles: str
    style_text: str
    early: str
    script: str
    worker: str
    runtime: str
    bokeh: str
    fonts: tuple[str, ...]
    conditional_styles: tuple[StyleSheet, ...] = ()


def hashed_path(name: str, content: bytes) -> str:
    """Return the hashed path of an asset, such as "assets/main-0123456789abcdef.css"."""
    stem, dot, suffix = name.rpartition(".")
    return f"{FOLDER}/{stem}-{digest((content,))}{dot}{suffix}"


def fonts(theme: Path) -> dict[str, tuple[str, bytes]]:
    """Return name -> (hashed path, content) of every font of the theme."""
    contents = {path.name: path.read_bytes() for path in files(theme / "fonts") if _is_font(path)}
    return {name: (hashed_path(name, content), content) for name, content in contents.items()}


def style_sheets(theme: Path, fonts: Mapping[str, tuple[str, bytes]]) -> dict[str, str]:
    """Return name -> CSS of the theme's style sheets, with hashed font URLs.

    All of `styles` are concatenated in the order of their names; those of its folder `with`, which
    only some pages load, stay separate.
    """

    def url(match: re.Match[str]) -> str:
        name = posixpath.basename(match[1])
        if name not in fonts:
            known = ", ".join(fonts) or "none"
            raise FileNotFoundError(f"theme/styles names the font '{name}'; there are {known}")
        return f"url({posixpath.basename(fonts[name][0])})"

    sheets = {MAIN_SHEET: ""}
    for path in files(theme / "styles", "*.css"):
        is_conditional = path.parent.name == CONDITIONAL
        name = f"{CONDITIONAL}/{path.name}" if is_conditional else MAIN_SHEET
        sheets[name] = sheets.get(name, "") + _URL.sub(url, path.read_text("utf-8"))
    return sheets


def sheet_classes(text: str) -> tuple[str, ...]:
    """Return the classes in the first line of a conditional style sheet: "/* With: a b. ..."."""
    match = re.match(r"/\* With: ([\w -]+)\.", text)
    return tuple(match[1].split()) if match else ()


def without_fonts(text: str) -> str:
    """Return the CSS without font faces, whose URLs are relative to the style sheet."""
    return re.sub(r"@font-face\s*\{[^}]*\}", "", text)


def _is_font(path: Path) -> bool:
    return path.suffix in (".woff2", ".woff")


def scripts(modules: Mapping[str, str]) -> tuple[dict[str, bytes], str, str]:
    """Return (files, entry path, Worker path) of the modules and the panels that they fetch.

    They keep their paths in one hashed folder, so imports stay as written.
    """
    folder = f"{FOLDER}/js-{digest(part for pair in modules.items() for part in pair)}"
    return (
        {f"{folder}/{name}": text.encode() for name, text in modules.items()},
        f"{folder}/{ENTRY}" if ENTRY in modules else "",
        f"{folder}/{WORKER}" if WORKER in modules else "",
    )


# Minifies scripts and styles with esbuild, or leaves them readable.

ENTRY = "main.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class MinifiedAssets:
    """Minified scripts and styles.

    Attributes:
        modules: path in the folder of modules -> text.
        texts: name -> text of scripts and styles that no module imports.
    """

    modules: Mapping[str, str]
    texts: Mapping[str, str]


Minifier = Callable[[Path, Mapping[str, str]], MinifiedAssets]


def unminified(folder: Path, texts: Mapping[str, str]) -> MinifiedAssets:
    """Return all scripts and styles unchanged, so an author can read them in the browser."""
    return MinifiedAssets(
        modules={name: (folder / name).read_text("utf-8") for name in _modules(folder)}, texts=texts
    )


def minify(folder: Path, texts: Mapping[str, str]) -> MinifiedAssets:
    """Return the modules of a folder bundled, and all scripts and styles minified by esbuild.

    Raises:
        node.NodeError: a module imports one that does not exist, or Node is not usable.
    """
    from builder.core import node

    request = {
        "rooms": str(folder.resolve()),
        "paths": _modules(folder),
        "entry": ENTRY,
        "texts": texts,
    }
    minified: Any = node.run(Path(__file__).with_name("minify_assets.mjs"), request)
    return MinifiedAssets(modules=minified["modules"], texts=minified["texts"])


def _modules(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in files(folder, "*.js")]
