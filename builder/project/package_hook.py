"""Build hook of hatchling: the packages of both distributions, made from the repository's folders.

The folder `engine/` becomes the package `wallclock`: every reference to a module of `engine` is
renamed in the copy. The generator keeps its names, in a folder of its own, `wallclock_site`.
"""

import ast
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE, SITE_PACKAGE = "wallclock", "wallclock_site"
# In the repository the engine exports nothing, so that pages load only what they use.
_EXPORTS = "library/package.py"
# The colors of results in a notebook: style sheets of the theme, confined to the class `wallclock`.
_STYLES, _DRAWING = ("10-colors.css", "45-scene.css"), "library/drawing.css"
_NOTEBOOK_DARK = 'body:is([data-jp-theme-light="false"], .vscode-dark) .wallclock'
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", ".*", "pyproject.toml")
_DATA = (".tsv", ".json", ".js")


class PackageHook(BuildHookInterface[Any]):
    """Adds the files of a package to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the package to a temporary folder, from where the wheel takes it.

        Raises:
            ValueError: an editable installation, whose modules would have other names.
        """
        if version == "editable":
            raise ValueError(
                "an editable installation is not possible, since the folder engine/ becomes the "
                f"package {PACKAGE}; in the repository use python -m engine, or pip install ."
            )
        self._folder = Path(tempfile.mkdtemp())
        root = Path(self.root)
        if root.name == "builder":
            name, paths = SITE_PACKAGE, write_site_package(root.parent, self._folder)
        else:
            name, paths = PACKAGE, write_package(root, self._folder, self.metadata.version)
        for path in paths:
            module_path = path.relative_to(self._folder).as_posix()
            build_data["force_include"][str(path)] = f"{name}/{module_path}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        shutil.rmtree(self._folder)


def write_package(root: Path, target: Path, version: str) -> list[Path]:
    """Write the engine as the package `wallclock`; return its files, sorted.

    Raises:
        ValueError: a module imports `engine` in a way that is not renamed.
    """
    engine = root / "engine"
    rooms = [path.stem for path in engine.iterdir() if path.is_dir() or path.suffix == ".py"]
    for path in _package_files(engine):
        module_path = path.relative_to(engine).as_posix()
        text = path.read_text("utf-8")
        if path.suffix == ".py":
            text = renamed(text, rooms, module_path)
        if module_path == _EXPORTS:
            module_path, text = "__init__.py", text.replace('"source"', f'"{version}"')
        (target / module_path).parent.mkdir(parents=True, exist_ok=True)
        (target / module_path).write_text(text, "utf-8", newline="\n")
    sheets = [(root / "theme/styles" / name).read_text("utf-8") for name in _STYLES]
    (target / _DRAWING).write_text(confined("\n".join(sheets)), "utf-8", newline="\n")
    (target / "py.typed").touch()
    return _files(target)


def confined(css: str) -> str:
    """Return style rules that hold inside `.wallclock` only, the dark ones in dark editors too."""
    css = re.sub(r"/\*.*?\*/\s*", "", css, flags=re.DOTALL)
    dark_part = r"@media \(prefers-color-scheme: dark\) (\{.*?\n\}\n)"
    colors, dark, rest = re.split(dark_part, css, maxsplit=1, flags=re.DOTALL)
    dark_rule = dark.strip()[1:-1].strip()
    rules = rest[rest.index(".scene text") :]
    scenes = re.sub(r"^(?=\.scene|:where\(\.scene)", ".wallclock ", rules, flags=re.MULTILINE)
    parts = (
        colors.replace(":root", ".wallclock"),
        f"@media (prefers-color-scheme: dark) {{\n  {dark_rule}\n}}".replace(":root", ".wallclock"),
        dark_rule.replace(":root", _NOTEBOOK_DARK),
        scenes,
        ".wallclock { color: var(--ink); background: var(--paper); padding: 0.5em; }",
        ".wallclock :is(th, td) { text-align: left; }",
    )
    return "\n".join(parts) + "\n"


def write_site_package(root: Path, target: Path) -> list[Path]:
    """Write the generator with its engine and theme; return the files, sorted."""
    for name in ("engine", "builder", "theme"):
        shutil.copytree(root / name, target / name, ignore=_LEFT_OUT)
    shutil.move(target / "builder/cli/installed.py", target / "__init__.py")
    return _files(target)


def renamed(text: str, rooms: list[str], module_path: str) -> str:
    """Return a module's text with `wallclock` in place of `engine` wherever that is the package.

    Args:
        text: of the module.
        rooms: modules and packages directly in `engine`.
        module_path: its path in the package, for errors.

    Raises:
        ValueError: an import of `engine` is left.
    """
    children = "|".join(map(re.escape, sorted(rooms, reverse=True)))
    text = re.sub(rf"(?<![\w./])engine(?=\.(?:{children})\b)", PACKAGE, text)
    text = re.sub(r"\bfrom engine import\b", f"from {PACKAGE} import", text)
    text = text.replace("python -m engine", PACKAGE).replace('"engine"', f'"{PACKAGE}"')
    left = [name for name in _imports(ast.parse(text)) if name.partition(".")[0] == "engine"]
    if left:
        raise ValueError(f"engine/{module_path} imports {left[0]} in a way that is not renamed")
    return text


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _package_files(engine: Path) -> Iterator[Path]:
    """Yield the modules and data files of the engine, but its own `__init__.py`."""
    for path in _files(engine):
        hidden = any(
            part.startswith((".", "__pycache__")) for part in path.relative_to(engine).parts
        )
        if path.suffix in (".py", *_DATA) and not hidden and path != engine / "__init__.py":
            yield path


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
