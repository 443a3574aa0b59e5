"""The folder is the registry: find the modules of a package by looking at it."""

import importlib
import pkgutil
from functools import cache
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
        kind = package.rpartition(".")[2].removesuffix("s")
        raise LookupError(f"no {kind} '{name}'; there are {', '.join(names(package))}")
    return importlib.import_module(f"{package}.{name}")
