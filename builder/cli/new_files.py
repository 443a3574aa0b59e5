"""`new guide NAME`, `new calculator ROOM/NAME`, `new words LANGUAGE`: files to be rewritten.

`builder.cli.new_project` begins a whole project with the same.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from builder.cli import name_checks
from builder.cli.starter_templates import CALCULATOR, GUIDE, TEST, TOOL, WORDS
from builder.core.folders import THEME
from builder.project import project_file, ui_strings
from builder.project.project_file import FILE


def make(root: Path, kind: str, name: str, package: str) -> list[Path]:
    """Write the files of a new guide or calculator and return their paths.

    Args:
        root: the project's folder.
        kind: "guide", "calculator" or "words".
        name: of what is new; of a calculator with its room, of words their language.
        package: the project's engine.

    Raises:
        ValueError: the name cannot be used or is taken.
    """
    if kind == "words":
        files = _words(root, name)
    else:
        files = _guide(root, name) if kind == "guide" else _calculator(root, name, package)
    taken = [path for path in files if path.exists()]
    if taken:
        raise ValueError(f"'{name}' is taken: {taken[0].relative_to(root)} exists")
    return write(files)


def write(files: Mapping[Path, str]) -> list[Path]:
    """Write texts into new files, with their folders; return the paths."""
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(files)


def _guide(root: Path, name: str) -> dict[Path, str]:
    name_checks.check_guide(root, name)
    folder = root / "content" / "guides"
    order = len(list(folder.glob("*.md"))) + 1
    return {folder / f"{name}.md": GUIDE.format(title=_title(name), order=order)}


def _words(root: Path, language: str) -> dict[Path, str]:
    known = project_file.read(root).language
    if language != known:
        raise ValueError(f"'{language}' is not the language of {FILE}, which says '{known}'")
    texts = (json.dumps(text, ensure_ascii=False) for text in ui_strings.of_theme(THEME))
    lines = "".join(f"{text} = {text}\n" for text in texts)
    return {root / "theme" / ui_strings.FILE: WORDS.format(language=language) + lines}


def _calculator(root: Path, given: str, package: str) -> dict[Path, str]:
    room, _, name = given.rpartition("/")
    name_checks.check_calculator(root, package, room, name)
    return calculator_files(root, package, room, name)


def calculator_files(root: Path, package: str, room: str, name: str) -> dict[Path, str]:
    """Return path -> text of a calculator, its test and its page."""
    words = {"name": name, "title": _title(name), "room": room, "package": package}
    folder, page = root / package / "calculators", name.replace("_", "-")
    return {
        folder / room / f"{name}.py": CALCULATOR.format(**words),
        root / "tests" / package / "calculators" / room / f"test_{name}.py": TEST.format(**words),
        root / "content" / "tools" / f"{page}.md": TOOL.format(**words),
    }


def _title(name: str) -> str:
    return re.sub(r"[-_]", " ", name).capitalize()
