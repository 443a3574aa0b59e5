"""`new guide NAME` and `new calculator NAME`: files that build and pass, to be rewritten."""

import re
from pathlib import Path

GUIDE = """+++
title = "{title}"
question = "What does this guide answer?"
summary = "One sentence for lists and search engines."
path = "Z Drafts"
order = {order}
updated = 2026-01-01
minutes = 5
draft = true
+++

Say in two sentences what the reader will be able to do.

## First section

Place a calculator in a paragraph of its own with double brackets around its name, and its
outputs and inputs inside sentences with `[[calculator.output]]` and `[[calculator.input]]`.
"""

CALCULATOR = '''"""{title}: one sentence on what it computes."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import GBITS, MEGABYTES, Number
from engine.basis.units import MB, SECONDS, Gbit
from engine.basis.views import Receipt, Value, View

TITLE = "{title}"
QUESTION = "How long does it take to move this many bytes?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a reader can change."""

    size: Annotated[
        float, Number(label="Size", unit=MEGABYTES, low=1 * MB, high=1000 * MB, scale="log")
    ] = 100 * MB
    bandwidth: Annotated[
        float, Number(label="Link", unit=GBITS, low=1 * Gbit, high=1600 * Gbit, scale="log")
    ] = 400 * Gbit


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views of these inputs."""
    receipt = Receipt(assumptions=("The link is used by nothing else.",))
    time = Value(
        label="Time", value=inputs.size / inputs.bandwidth, quantity=SECONDS, receipt=receipt
    )
    return {{"time": time}}
'''

TEST = """from engine.answer import reply


def test_{name}_takes_two_milliseconds_for_a_hundred_megabytes_at_400_gigabits():
    assert reply({{"calculator": "{name}"}})["outputs"]["time"]["text"] == "2.000 ms"
"""

TOOL = """+++
title = "{title}"
question = "How long does it take to move this many bytes?"
summary = "One sentence for lists and search engines."
+++

[[{name}]]
"""


def make(root: Path, kind: str, name: str) -> list[Path]:
    """Write the files of a new guide or calculator and return their paths.

    Raises:
        ValueError: the name cannot be used or is taken.
    """
    files = _guide(root, name) if kind == "guide" else _calculator(root, name)
    taken = [path for path in files if path.exists()]
    if taken:
        raise ValueError(f"'{name}' is taken: {taken[0].relative_to(root)} exists")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(files)


def _guide(root: Path, name: str) -> dict[Path, str]:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"'{name}' cannot name a guide; use small letters, digits and hyphens")
    folder = root / "content" / "guides"
    order = len(list(folder.glob("*.md"))) + 1
    return {folder / f"{name}.md": GUIDE.format(title=_title(name), order=order)}


def _calculator(root: Path, name: str) -> dict[Path, str]:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise ValueError(
            f"'{name}' cannot name a calculator; use small letters, digits and underscores"
        )
    words = {"name": name, "title": _title(name)}
    return {
        root / "engine" / "calculators" / f"{name}.py": CALCULATOR.format(**words),
        root / "tests" / "engine" / f"test_{name}.py": TEST.format(**words),
        root / "content" / "tools" / f"{name.replace('_', '-')}.md": TOOL.format(**words),
    }


def _title(name: str) -> str:
    return re.sub(r"[-_]", " ", name).capitalize()
