"""What to import again after a save of code: what has changed, and what is made of it.

While an author writes, most saves of code concern a calculator or a formula. The builder itself
imports neither, so it and all that it knows can stay.
"""

import importlib
import sys
from collections.abc import Iterable
from types import ModuleType

from builder.core.module_imports import Imports, dotted


def concerned(before: Imports, now: Imports) -> frozenset[str] | None:
    """Return the modules, by their dotted names, that do something else than before.

    None means that the builder is concerned: then all has to be imported again, for a part of it
    could hold what another part has forgotten.

    Args:
        before: of the code as it was imported.
        now: of the code as it stands in the files.
    """
    found = now.follow(before)
    if any(path.startswith("builder/") for path in found):
        return None
    return frozenset(map(dotted, found))


def shifted(before: Imports, now: Imports, again: frozenset[str]) -> bool:
    """Say whether lines of what stays imported can have moved in their files.

    Args:
        before: as in `concerned`.
        now: as in `concerned`.
        again: what is imported again.
    """
    moved = (path for path, text in now.sources.items() if before.sources.get(path) != text)
    return any(dotted(path) not in again for path in moved)


def forget(modules: Iterable[str], packages: tuple[str, ...]) -> None:
    """Make the next import of these modules read their files again.

    What others of their packages have computed is forgotten, too: they may have asked these.
    """
    for name in modules:
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        held = vars(sys.modules.get(package, sys))
        if isinstance(held.get(last), ModuleType):
            del held[last]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages:
            for one in list(vars(module).values()):
                # What it imports is cleared where it stands.
                if getattr(one, "__module__", "") == name and hasattr(one, "cache_clear"):
                    one.cache_clear()
    importlib.invalidate_caches()
