"""Activates a project: reads its settings, makes its engine importable, merges its theme."""

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

# `sys.path` before any project was activated.
_ORIGINAL_PATH = tuple(sys.path)
_added_paths: list[str] = []
OWN_PACKAGE = "engine"


def activate_project(root: Path, cache: Path | None = None) -> Folders:
    """Activate the project in `root` and return its folders.

    Args:
        root: its folder.
        cache: a cache folder other than the project's own.

    Raises:
        ProjectError: its settings, packages or theme are invalid.
    """
    project = project_file.read_project(root)
    _refuse_taken_package_name(root, project.engine)
    _deactivate()
    # At the end: a project shadows no installed package.
    if root != GENERATOR and str(root) not in sys.path:
        sys.path.append(str(root))
        _added_paths.append(str(root))
    active_project.CALCULATORS = project.calculators
    project_paths = folders.project_folders(project, root, cache)
    wheels = python_packages.load_wheels(project, root, project_paths.cache)
    for folder in map(str, wheels.local_folders):
        if folder not in sys.path:
            sys.path.append(folder)
            _added_paths.append(folder)
    project_paths = replace(project_paths, groups=wheels.groups)
    _refuse_duplicate_names(project.calculators)
    theme_overlay.update_overlay(project_paths)
    return project_paths


def _refuse_taken_package_name(root: Path, name: str) -> None:
    """Raise an error if Python finds another package of this name."""
    spec = PathFinder.find_spec(name, [*_ORIGINAL_PATH, str(GENERATOR)])
    is_stdlib = name in sys.stdlib_module_names
    elsewhere = spec and spec.origin and Path(spec.origin).parent != root / name
    if is_stdlib or elsewhere:
        message = f"'{name}' is the name of another package; give yours a name of its own"
        raise ProjectError(
            [Problem(FILE, project_file.line_in_project_file(root, "engine"), message)]
        )


def _refuse_duplicate_names(package: str) -> None:
    """Raise an error if two rooms hold a calculator of one name, which is its address."""
    try:
        registry.module_tree(package, calculator.PACKAGE_MODULE)
    except LookupError as error:
        path = str(error).rpartition(" ")[2].replace(".", "/") + ".py"
        raise ProjectError([Problem(path, 1, f"the name {error}; give one another")]) from None
    except Exception:  # whatever an author's code may raise; told where calculators are loaded
        return


def _deactivate() -> None:
    """Unload the previous project, so that two projects can use the same package names."""
    package = active_project.package()
    for path in _added_paths:
        sys.path.remove(path)
        sys.path_importer_cache.pop(path, None)
    if package != OWN_PACKAGE:  # the generator itself has imported that
        for name in [module for module in sys.modules if module.partition(".")[0] == package]:
            del sys.modules[name]
    _added_paths.clear()
    registry.look_again()
    calculator.load.cache_clear()
