"""Minifies scripts and styles with esbuild, or leaves them readable."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.core.folders import files

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
    answer: Any = node.run(Path(__file__).with_suffix(".mjs"), request)
    return MinifiedAssets(modules=answer["modules"], texts=answer["texts"])


def _modules(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in files(folder, "*.js")]
