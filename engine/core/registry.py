"""Module discovery: the files of a package are its registry."""

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import FileFinder
from types import ModuleType


@cache
def module_names(package: str) -> tuple[str, ...]:
    """Return the public module names in `package` (e.g. "engine.collectives"), sorted.

    Works on a folder and inside a zip file alike.
    """
    path = importlib.import_module(package).__path__
    submodules = (module.name for module in pkgutil.iter_modules(path))
    return tuple(sorted(name for name in submodules if not name.startswith("_")))


def module(package: str, name: str) -> ModuleType:
    """Return the module `name` of `package`.

    Raises:
        LookupError: there is no such module; the message lists those there are.
    """
    if name not in module_names(package):
        raise unknown_name_error(package, name, module_names(package))
    return importlib.import_module(f"{package}.{name}")


@cache
def module_tree(package: str, leaf: str) -> dict[str, str]:
    """Return name -> dotted module for a package and its subpackages, sorted by name.

    What is a file `NAME.py`, or a package `NAME` with a module `leaf`, is called NAME.

    Raises:
        LookupError: two rooms hold the same name; they would share one address.
    """
    modules: dict[str, str] = {}
    for name, path in _walk_modules(package, leaf):
        if name in modules:
            raise LookupError(f"'{name}' stands twice: {modules[name]} and {path}")
        modules[name] = path
    return dict(sorted(modules.items()))


def _walk_modules(package: str, leaf: str) -> Iterator[tuple[str, str]]:
    for info in pkgutil.iter_modules(importlib.import_module(package).__path__):
        path = f"{package}.{info.name}"
        if info.name.startswith("_"):
            continue
        if not info.ispkg:
            yield info.name, path
        elif leaf in module_names(path):
            yield info.name, f"{path}.{leaf}"
        else:
            yield from _walk_modules(path, leaf)


def look_again() -> None:
    """Clear the caches of modules: a page adds the modules of a calculator when it is used."""
    for finder in sys.path_importer_cache.values():  # importlib's own way needs its metadata too
        if isinstance(finder, FileFinder):
            finder.invalidate_caches()
    module_names.cache_clear()
    module_tree.cache_clear()


def unknown_name_error(package: str, name: str, there: tuple[str, ...]) -> LookupError:
    """Return the error for a module name that a package does not have."""
    kind = package.rpartition(".")[2].removesuffix("s")
    return LookupError(f"no {kind} '{name}'; there are {', '.join(there)}")
