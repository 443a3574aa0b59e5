"""What to import again after a save of code: what has changed, and what is made of it.

While an author writes, most saves of code concern a calculator or a formula. The builder itself
imports neither, so it and all that it knows can stay.
"""

import importlib
import sys
from collections.abc import Iterable
from types import ModuleType

from builder.core.module_imports import ImportGraph, module_name


def changed_modules(previous: ImportGraph, current: ImportGraph) -> frozenset[str] | None:
    """Return the modules, by their dotted names, that do something else than before.

    None means that the builder is concerned: then all has to be imported again, for a part of it
    could hold what another part has forgotten.

    Args:
        previous: of the code as it was imported.
        current: of the code as it stands in the files.
    """
    affected = current.reuse_facts(previous)
    if any(path.startswith("builder/") for path in affected):
        return None
    return frozenset(map(module_name, affected))


def have_lines_moved(previous: ImportGraph, current: ImportGraph, reloaded: frozenset[str]) -> bool:
    """Say whether lines of what stays imported can have moved in their files.

    Args:
        previous: as in `changed_modules`.
        current: as in `changed_modules`.
        reloaded: what is imported again.
    """
    edited = (path for path, text in current.sources.items() if previous.sources.get(path) != text)
    return any(module_name(path) not in reloaded for path in edited)


def unload_modules(modules: Iterable[str], packages: tuple[str, ...]) -> None:
    """Make the next import of these modules read their files again.

    What others of their packages have computed is forgotten, too: they may have asked these.
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
