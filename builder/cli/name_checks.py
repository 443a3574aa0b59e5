"""What a new guide or calculator can be called: nothing that is taken or means something else."""

import keyword
import re
from pathlib import Path

from builder.markdown import reference_lists

LEAF = "calculator"  # the module that makes a package a calculator


def check_guide(root: Path, name: str) -> None:
    """Refuse what cannot name a new guide.

    Raises:
        ValueError: with the reason.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"'{name}' cannot name a guide; use small letters, digits and hyphens")
    _refuse_taken(root, name, name)
    _refuse_former(root, name)


def check_calculator(root: Path, package: str, room: str, name: str) -> None:
    """Refuse what cannot name a new calculator of a room.

    Raises:
        ValueError: with the reason.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise ValueError(
            f"'{name}' cannot name a calculator; use small letters, digits and underscores"
        )
    _refuse_reserved(name)
    _check_room(root, room, name, package)
    _refuse_taken(root, name, name.replace("_", "-"))
    folder = root / package / "calculators"
    known = rooms(root, package)
    there = [path for path in folder.rglob(f"{name}.py") if path.parent.name in known]
    there += [path.parent for path in folder.rglob(f"{name}/{LEAF}.py")]
    if there:
        raise ValueError(f"'{name}' is taken: {there[0].relative_to(root)} exists")
    _refuse_equation(root, package, name)


def rooms(root: Path, package: str) -> list[str]:
    """Return the rooms of the calculators, the folders that are no calculator themselves."""
    inits = (root / package / "calculators").glob("*/__init__.py")
    folders = (init.parent for init in inits)
    return sorted(folder.name for folder in folders if not (folder / f"{LEAF}.py").exists())


def _check_room(root: Path, room: str, name: str, package: str) -> None:
    there = rooms(root, package)
    if room in there:
        return
    problem = f"there is no room '{room}'" if room else "a calculator stands in a room"
    raise ValueError(f"{problem}; write ROOM/{name}, ROOM one of {', '.join(there)}")


def _refuse_taken(root: Path, name: str, page: str) -> None:
    """Refuse a name whose page another article has: guides and tools share one list of names."""
    taken = sorted((root / "content").rglob(f"{page}.md"))
    if taken:
        raise ValueError(f"'{name}' is taken: {taken[0].relative_to(root)} exists")


def _refuse_former(root: Path, name: str) -> None:
    """Refuse the former address of a page, which leads on to that page."""
    former = re.compile(rf"^\s*was\s*=.*[\"']guides/{re.escape(name)}[\"']", re.MULTILINE)
    for path in sorted((root / "content").rglob("*.md")):
        if former.search(path.read_text("utf-8")):
            raise ValueError(f"'{name}' is taken: {path.relative_to(root).as_posix()} was there")


def _refuse_reserved(name: str) -> None:
    """Refuse what Python or the generator takes for something else."""
    why = {
        LEAF: "it is the module that makes a folder a calculator",
        **dict.fromkeys(keyword.kwlist, "it is a word of Python"),
        **dict.fromkeys(reference_lists.NAMES, f"it is a list of the generator's, [[{name}.*]]"),
    }
    if name in why:
        raise ValueError(f"'{name}' cannot name a calculator; {why[name]}")


def _refuse_equation(root: Path, package: str, name: str) -> None:
    """Refuse the name of an equation: that of the new calculator has it, too."""
    equation = re.compile(rf"\bEquation\(\s*[\"']{re.escape(name)}[\"']")
    for path in sorted((root / package).rglob("*.py")):
        if equation.search(path.read_text("utf-8")):
            place = path.relative_to(root).as_posix()
            raise ValueError(f"'{name}' is taken: the equation of {place} has that name")
