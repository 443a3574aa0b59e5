"""Enter a project: read what it says of itself, make its engine importable, lay its theme."""

import sys
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path

from builder.core import folders
from builder.core.folders import GENERATOR, Folders
from builder.core.problem import Problem
from builder.project import project_file, python_packages, theme_overlay
from builder.project.project_file import FILE, ProjectError
from engine import calculator
from engine.core import active_project, registry

# Where Python looked before any project was entered.
_BASE = tuple(sys.path)
_entered: list[str] = []


def enter(root: Path, cache: Path | None = None) -> Folders:
    """Return the folders of the project in `root`, whose calculators are from now on known.

    Args:
        root: its folder.
        cache: another folder than its own for what is expensive to make again.

    Raises:
        ProjectError: it is no project that could be used.
    """
    project = project_file.read(root)
    _refuse_another(root, project.engine)
    _leave()
    # At the end: a project hides nothing that is there.
    if root != GENERATOR and str(root) not in sys.path:
        sys.path.append(str(root))
        _entered.append(str(root))
    active_project.CALCULATORS = project.calculators
    found = folders.of(project, root, cache)
    wheels = python_packages.ready(project, root, found.cache)
    for folder in map(str, wheels.here):
        if folder not in sys.path:
            sys.path.append(folder)
            _entered.append(folder)
    found = replace(found, groups=wheels.groups)
    theme_overlay.lay(found)
    return found


def _refuse_another(root: Path, name: str) -> None:
    """Refuse the name of a package that Python finds elsewhere."""
    spec = PathFinder.find_spec(name, [*_BASE, str(GENERATOR)])
    known = name in sys.stdlib_module_names
    elsewhere = spec and spec.origin and Path(spec.origin).parent != root / name
    if known or elsewhere:
        message = f"'{name}' is the name of another package; give yours a name of its own"
        raise ProjectError([Problem(FILE, project_file.line_of(root, "engine"), message)])


def _leave() -> None:
    """Forget what was entered before, so that two projects may call their packages the same."""
    package = active_project.package()
    for path in _entered:
        sys.path.remove(path)
        for name in [one for one in sys.modules if one.partition(".")[0] == package]:
            del sys.modules[name]
        sys.path_importer_cache.pop(path, None)
    _entered.clear()
    registry.look_again()
    calculator.load.cache_clear()
