"""`new project DIR`: writes a working starter project with a guide and a calculator."""

import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from builder.cli.new_files import calculator_files, write_files

ROOM, CALCULATOR = "examples", "duration"
SITE = """# What belongs to this site; the rest is the generator's.
name = "{title}"
engine = "{package}"
summary = "One sentence for lists and search engines."
language = "en"

[checks]
placed = true
"""
HOME = """+++
title = "{title}"
question = "What does this site answer?"
summary = "One sentence for lists and search engines."
+++

[[duration.amount]] take [[duration.time]]. Drag the underlined number.

[[duration.over_amount]]
"""
GUIDE = """+++
title = "A first guide"
question = "When does the start matter?"
summary = "How long an amount takes at a rate, with what passes before the first."
path = "A First steps"
order = 1
updated = 2026-01-01
minutes = 2
+++

[[duration.amount]] at [[duration.rate]] take [[duration.time]]. Ten take
[[duration.time amount=10]].

[[duration]]
"""
MAIN = '''"""The calculators in a terminal: `python -m {package} list`."""

import sys

from engine.core import active_project
from engine.terminal import run_piped

if __name__ == "__main__":
    active_project.CALCULATORS = "{package}.calculators"
    sys.exit(run_piped(sys.argv[1:]))
'''
PYTEST = """[tool.pytest.ini_options]
pythonpath = ["."]
testpaths = ["tests"]
addopts = "--import-mode=importlib"
"""
IGNORED = "/.cache/\n/site/\n__pycache__/\n"


def make_project(folder: Path) -> list[Path]:
    """Write the files of a new project and return their paths.

    Raises:
        ValueError: the folder holds something already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not empty; name a new or an empty folder")
    package = package_name(folder.name)
    fields = {"package": package, "title": re.sub(r"[-_]+", " ", folder.name).strip().capitalize()}
    calculators_folder = folder / package / "calculators"
    files = {
        folder / "site.toml": SITE,
        folder / "content" / "index.md": HOME,
        folder / "content" / "guides" / "first-guide.md": GUIDE,
        folder / package / "__init__.py": '"""The engine of this site."""\n',
        folder / package / "__main__.py": MAIN,
        calculators_folder / "__init__.py": '"""The calculators, in rooms."""\n',
        calculators_folder / ROOM / "__init__.py": '"""Calculators to begin with."""\n',
        folder / "pyproject.toml": PYTEST,
        folder / ".gitignore": IGNORED,
    }
    filled = {path: _fill_template(text, fields) for path, text in files.items()}
    return write_files({**filled, **calculator_files(folder, package, ROOM, CALCULATOR)})


def package_name(name: str) -> str:
    """Return a free Python package name for a folder."""
    package = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    package = package if package.isidentifier() else f"site_{package}".strip("_")
    is_taken = package in sys.stdlib_module_names or PathFinder.find_spec(package) is not None
    return f"{package}_engine" if is_taken else package


def _fill_template(text: str, fields: dict[str, str]) -> str:
    for key, value in fields.items():
        text = text.replace(f"{{{key}}}", value)
    return text
