"""Which files a mutant can stand in, and which tests ought to notice it."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine import calculator

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "calculators": "engine/calculators",
    "form": "engine/form",
    "run": "engine/run",
    "builder": "builder",
}
EVERY = (
    "tests/engine/calculators/test_calculators.py",
    "tests/engine/calculators/test_receipts.py",
    "tests/engine/calculators/test_approved.py",
    "tests/engine/calculators/test_relations.py",
)
# What builds a whole tiny site tries nearly all of the builder.
SITES = (
    "tests/builder/test_problems.py",
    "tests/builder/pages/test_all_pages.py",
    "tests/builder/test_hostile.py",
    "tests/builder/calculators/test_calculator_checks.py",
)
# It renders the whole formula sheet, for many seconds.
SLOW = ("test_reference.py",)
# A form is shared by many, and a survivor alone costs all of them.
MOST_USERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tests:
    """What pytest is asked to run: whole files, then the promises of some calculators."""

    files: tuple[str, ...]
    calculators: tuple[str, ...] = ()


def sources(room: str) -> list[str]:
    """Return the modules of a room, from the project's folder."""
    found = (ROOT / ROOMS[room]).rglob("*.py")
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name != "__init__.py")


def tests_of(source: str) -> Tests:
    """Return the tests of the room and the name that a module belongs to."""
    if source.startswith("builder/"):
        return Tests(files=(*_naming(Path(source).stem, "tests/builder"), *SITES))
    users = _users(source)
    if source.startswith("engine/calculators/"):
        files = [path for name in users[:1] for path in _naming(name, "tests/engine")]
    else:
        mirror = ROOT / "tests" / Path(source).parts[0] / Path(source).parts[1]
        files = sorted(str(path.relative_to(ROOT)) for path in mirror.rglob("test_*.py"))
        files += [*_naming(_dotted(source), "tests/engine"), "tests/engine/test_estimate.py"]
    files = [path for path in dict.fromkeys(files) if path not in EVERY]
    return Tests(files=tuple(files), calculators=tuple(users[:MOST_USERS]))


def _naming(name: str, folder: str) -> list[str]:
    """Return the test files that name something or are named after it, the latter first."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    found = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / folder).rglob("test_*.py"))
        if path.name not in SLOW
        and (path.stem == f"test_{name}" or word.search(path.read_text("utf-8")))
    ]
    return sorted(found, key=lambda path: (name.split(".")[-1] not in path, path))


def _users(source: str) -> list[str]:
    """Return the calculators that a module is part of, by their imports."""
    return [name for name in calculator.names() if source in _needed(_file(name))]


def _file(name: str) -> str:
    return calculator.module_of(name).replace(".", "/") + ".py"


def _dotted(source: str) -> str:
    return source.removesuffix(".py").replace("/", ".")


@cache
def _needed(source: str) -> frozenset[str]:
    """Return a module and those of the rooms of mutants that it imports, directly or not."""
    found, todo = {source}, [source]
    while todo:
        for one in _imported(todo.pop()) - found:
            found.add(one)
            todo.append(one)
    return frozenset(found)


@cache
def _imported(source: str) -> frozenset[str]:
    named = set()
    for node in ast.walk(ast.parse((ROOT / source).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("engine"):
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    paths = {name.replace(".", "/") + ".py" for name in named}
    return frozenset(path for path in paths if (ROOT / path).is_file())
