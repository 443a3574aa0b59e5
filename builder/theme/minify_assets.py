"""Scripts and styles as they are sent: joined and made small by esbuild, or as they are written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.core.folders import files

ENTRY = "main.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slimmed:
    """What is sent.

    Attributes:
        modules: path in the folder of the modules -> text.
        texts: name -> scripts and styles that no module imports.
    """

    modules: Mapping[str, str]
    texts: Mapping[str, str]


Slim = Callable[[Path, Mapping[str, str]], Slimmed]


def as_written(rooms: Path, texts: Mapping[str, str]) -> Slimmed:
    """Return everything as it is, which an author can read in the browser."""
    return Slimmed(
        modules={name: (rooms / name).read_text("utf-8") for name in _modules(rooms)}, texts=texts
    )


def slimmed(rooms: Path, texts: Mapping[str, str]) -> Slimmed:
    """Return the modules of the folder `rooms` joined, and all as short as esbuild makes it.

    Raises:
        node.NodeError: a module imports one that does not exist, or Node is not usable.
    """
    from builder.core import node

    request = {
        "rooms": str(rooms.resolve()),
        "paths": _modules(rooms),
        "entry": ENTRY,
        "texts": texts,
    }
    made: Any = node.run(Path(__file__).with_suffix(".mjs"), request)
    return Slimmed(modules=made["modules"], texts=made["texts"])


def _modules(rooms: Path) -> list[str]:
    return [path.relative_to(rooms).as_posix() for path in files(rooms, "*.js")]
