"""The order of rooms, read from the imports in the source: nothing imports from a room above."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(path.read_text("utf-8"))


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements at any depth, without their expressions, which hold no import."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, ())
            if isinstance(inner, list):  # that of a lambda or a conditional is no statement
                yield from statements(inner)


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the dotted names a file imports; `from a import b` is `a.b` if that is a module."""
    names: set[str] = set()
    for node in statements(tree_of(path).body):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {_module(node.module or "", alias.name) for alias in node.names}
    return frozenset(names)


def _module(package: str, name: str) -> str:
    inside = ROOT.joinpath(*package.split("."), name)
    is_module = inside.is_dir() or inside.with_suffix(".py").exists()
    return f"{package}.{name}" if is_module else package


def room(folder: str, dotted: str) -> str:
    """Return the room of a module below a folder: "pages" for builder.pages.page in "builder"."""
    return dotted.removeprefix(folder.replace("/", ".") + ".").partition(".")[0]


def upward(folder: str, order: tuple[str, ...]) -> Iterator[str]:
    """Yield "file imports module" for every import of a room that stands later in the order.

    Raises:
        ValueError: a room of the folder is not in the order.
    """
    package = folder.replace("/", ".") + "."
    for path in sorted((ROOT / folder).rglob("*.py")):
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        here = room(folder, dotted)
        if here == "__init__":
            continue
        for name in sorted(imports(path)):
            if name.startswith(package):
                there = room(folder, name)
                if order.index(there) > order.index(here):
                    yield f"{path.relative_to(ROOT).as_posix()} imports {name}"
