"""The folder is the registry: find the modules of a package by looking at it."""

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import FileFinder
from types import ModuleType


@cache
def names(package: str) -> tuple[str, ...]:
    """Return the public module names in `package` (e.g. "engine.collectives"), sorted.

    Works on a folder and inside a zip file alike.
    """
    path = importlib.import_module(package).__path__
    found = (module.name for module in pkgutil.iter_modules(path))
    return tuple(sorted(name for name in found if not name.startswith("_")))


def module(package: str, name: str) -> ModuleType:
    """Return the module `name` of `package`.

    Raises:
        LookupError: there is no such module; the message lists those there are.
    """
    if name not in names(package):
        raise unknown(package, name, names(package))
    return importlib.import_module(f"{package}.{name}")


@cache
def tree(package: str, leaf: str) -> dict[str, str]:
    """Return name -> dotted module of all that stands in a package and its rooms, sorted by name.

    What is a file `NAME.py`, or a package `NAME` with a module `leaf`, is called NAME.

    Raises:
        LookupError: two rooms hold the same name; they would share one address.
    """
    found: dict[str, str] = {}
    for name, path in _walk(package, leaf):
        if name in found:
            raise LookupError(f"'{name}' stands twice: {found[name]} and {path}")
        found[name] = path
    return dict(sorted(found.items()))


def _walk(package: str, leaf: str) -> Iterator[tuple[str, str]]:
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        path = f"{package}.{found.name}"
        if found.name.startswith("_"):
            continue
        if not found.ispkg:
            yield found.name, path
        elif leaf in names(path):
            yield found.name, f"{path}.{leaf}"
        else:
            yield from _walk(path, leaf)


def look_again() -> None:
    """Forget what the folders held: a page adds the modules of a calculator when it is used."""
    for finder in sys.path_importer_cache.values():  # importlib's own way needs its metadata too
        if isinstance(finder, FileFinder):
            finder.invalidate_caches()
    names.cache_clear()
    tree.cache_clear()


def unknown(package: str, name: str, there: tuple[str, ...]) -> LookupError:
    """Return the error for a name that a package does not hold."""
    kind = package.rpartition(".")[2].removesuffix("s")
    return LookupError(f"no {kind} '{name}'; there are {', '.join(there)}")
