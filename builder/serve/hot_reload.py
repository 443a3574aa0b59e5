"""Hot reload: finds modules whose behavior changed and unloads them.

While an author writes, most saves of code concern a calculator or a formula. The builder itself
imports neither, so it and all that it knows can stay.
"""

import importlib
import sys
from collections.abc import Iterable
from types import ModuleType

from builder.core.module_imports import ImportGraph, module_name


def changed_modules(previous: ImportGraph, current: ImportGraph) -> frozenset[str] | None:
    """Return the dotted names of modules whose behavior changed.

    None means that the builder itself changed: then all code has to be imported again, since one
    module could hold objects of a module that was unloaded.

    Args:
        previous: imports of the code as it was imported.
        current: imports of the code as it is in the files.
    """
    affected = current.reuse_facts(previous)
    if any(path.startswith("builder/") for path in affected):
        return None
    return frozenset(map(module_name, affected))


def have_lines_moved(previous: ImportGraph, current: ImportGraph, reloaded: frozenset[str]) -> bool:
    """Return whether line numbers of modules that stay imported may have changed.

    Args:
        previous: as in `changed_modules`.
        current: as in `changed_modules`.
        reloaded: modules that are imported again.
    """
    edited = (path for path, text in current.sources.items() if previous.sources.get(path) != text)
    return any(module_name(path) not in reloaded for path in edited)


def unload_modules(modules: Iterable[str], packages: tuple[str, ...]) -> None:
    """Remove modules from `sys.modules`, so that the next import reads their files.

    Function caches of the other modules in their packages are cleared, too.
    """
    for name in modules:
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        attributes = vars(sys.modules.get(package, sys))
        if isinstance(attributes.get(last), ModuleType):
            del attributes[last]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages:
            for value in list(vars(module).values()):
                # What it imports is cleared where it stands.
                if getattr(value, "__module__", "") == name and hasattr(value, "cache_clear"):
                    value.cache_clear()
    importlib.invalidate_caches()
