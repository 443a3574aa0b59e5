"""`new guide NAME`, `new calculator ROOM/NAME`, `new words LANGUAGE`: writes starter files.

`builder.cli.new_project` uses the same templates for a whole project.
"""

import json
import keyword
import re
from collections.abc import Mapping
from pathlib import Path

from builder.core.folders import THEME
from builder.markdown import library_reference, reference_lists
from builder.project import project_file, ui_strings
from builder.project.project_file import FILE

LEAF = "calculator"  # the module that makes a package a calculator


def check_guide(root: Path, name: str) -> None:
    """Raise an error if a new guide cannot have this name.

    Raises:
        ValueError: with the reason.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"'{name}' cannot name a guide; use small letters, digits and hyphens")
    _refuse_taken(root, name, name)
    _refuse_former(root, name)


def check_calculator(root: Path, package: str, room: str, name: str) -> None:
    """Raise an error if a new calculator cannot have this name in a room.

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
    room_names = rooms(root, package)
    existing = [path for path in folder.rglob(f"{name}.py") if path.parent.name in room_names]
    existing += [path.parent for path in folder.rglob(f"{name}/{LEAF}.py")]
    if existing:
        raise ValueError(f"'{name}' is taken: {existing[0].relative_to(root)} exists")
    _refuse_equation(root, package, name)


def rooms(root: Path, package: str) -> list[str]:
    """Return the rooms: folders of calculators that are not a calculator's package."""
    inits = (root / package / "calculators").glob("*/__init__.py")
    folders = (init.parent for init in inits)
    return sorted(folder.name for folder in folders if not (folder / f"{LEAF}.py").exists())


def _check_room(root: Path, room: str, name: str, package: str) -> None:
    room_names = rooms(root, package)
    if room in room_names:
        return
    problem = f"there is no room '{room}'" if room else "a calculator stands in a room"
    raise ValueError(f"{problem}; write ROOM/{name}, ROOM one of {', '.join(room_names)}")


def _refuse_taken(root: Path, name: str, page: str) -> None:
    """Raise an error if another article has this page name."""
    taken = sorted((root / "content").rglob(f"{page}.md"))
    if taken:
        raise ValueError(f"'{name}' is taken: {taken[0].relative_to(root)} exists")


def _refuse_former(root: Path, name: str) -> None:
    """Raise an error if the name is a former URL of another page, which redirects."""
    former = re.compile(rf"^\s*was\s*=.*[\"']guides/{re.escape(name)}[\"']", re.MULTILINE)
    for path in sorted((root / "content").rglob("*.md")):
        if former.search(path.read_text("utf-8")):
            raise ValueError(f"'{name}' is taken: {path.relative_to(root).as_posix()} was there")


def _refuse_reserved(name: str) -> None:
    """Raise an error if the name is reserved by Python or the generator."""
    reasons = {
        LEAF: "it is the module that makes a folder a calculator",
        **dict.fromkeys(keyword.kwlist, "it is a word of Python"),
        "library": f"it is the reference of the library, {library_reference.PLACEMENT}",
        **dict.fromkeys(reference_lists.NAMES, f"it is a list of the generator's, [[{name}.*]]"),
    }
    if name in reasons:
        raise ValueError(f"'{name}' cannot name a calculator; {reasons[name]}")


def _refuse_equation(root: Path, package: str, name: str) -> None:
    """Raise an error if an equation has this name, which the new calculator's equation gets."""
    equation = re.compile(rf"\bEquation\(\s*[\"']{re.escape(name)}[\"']")
    for path in sorted((root / package).rglob("*.py")):
        if equation.search(path.read_text("utf-8")):
            module_path = path.relative_to(root).as_posix()
            raise ValueError(f"'{name}' is taken: the equation of {module_path} has that name")


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

CALCULATOR = r'''"""{title}: one sentence on what it computes."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.equation import Equation
from engine.core.inputs import PLAIN, Number, Unit
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import SECONDS, Seconds
from engine.core.views import Line, Lines, Scale

TITLE = "{title}"
QUESTION = "How long does this much take at this rate?"
HEADLINE = "time"
# A formula that several calculators use stands in {package}/formulas, with a test of its own.
TIME = Equation(
    "{name}",
    r"\v{{t}} = \v{{s}} + \frac{{\v{{n}}}}{{\v{{r}}}}",
    {{
        "t": ("t", "time"),
        "s": ("t_0", "start"),
        "n": ("n", "amount"),
        "r": ("r", "rate"),
    }},
)
EQUATIONS = (TIME,)
PRESETS = {{"A little": {{"amount": 10.0}}}}
WAIT = Unit(" s", 1.0, {{"ms": 1e-3, "min": 60.0, "h": 3600.0}}, quantity=SECONDS)
RATE = Unit(" per second", 1.0)
_AMOUNTS = tuple(10 ** (exponent / 10) for exponent in range(41))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    amount: Annotated[
        float, Number(label="Amount", unit=PLAIN, low=1.0, high=10_000.0, scale="log", symbol="n")
    ] = 1_000.0
    rate: Annotated[
        float, Number(label="Rate", unit=RATE, low=1.0, high=1_000.0, scale="log", symbol="r")
    ] = 50.0
    start: Annotated[
        float, Number(label="Start", unit=WAIT, low=0.0, high=60.0, symbol="t₀"), Symbol("s")
    ] = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the page."""

    time: Annotated[Seconds, Output("Time", "t", assumes=("The rate stays the same.",))]
    times: tuple[Seconds, ...]


def time_of(amount: float, rate: float, start: Seconds) -> Seconds:
    """Return how long an amount takes, with what passes before the first."""
    return start + amount / rate


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    times = (time_of(amount, inputs.rate, inputs.start) for amount in _AMOUNTS)
    return Result(time=time_of(inputs.amount, inputs.rate, inputs.start), times=tuple(times))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page; what costs time is given as a function."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {{
        **present.values("time"),
        "formula": present.formula("The time", TIME),
        "over_amount": partial(_over_amount, present, result),
    }}


def _over_amount(present: Presenter, result: Result) -> Lines:
    return present.curve(
        "Time over the amount",
        over=Scale("amount", "amount", _AMOUNTS[0], _AMOUNTS[-1], log=True),
        shows=Scale("time", "time", 1e-3, 20_000.0, log=True),
        x=_AMOUNTS,
        lines=(Line("time", "time", result.times, "compute"),),
        caption=present.say("{{amount}} in {{time}}; drag the handle."),
    )
'''

TEST = """from {package}.calculators.{room}.{name} import Inputs, solve


def test_{name}_takes_its_start_and_the_amount_over_the_rate():
    found = solve(Inputs(amount=600.0, rate=20.0, start=5.0))
    assert found.time == 5.0 + 600.0 / 20.0
"""

TOOL = """+++
title = "{title}"
question = "How long does this much take at this rate?"
summary = "One sentence for lists and search engines."
+++

[[{name}]]
"""

WORDS = """# The interface in '{language}': on the left a text as it stands there, on the right what
# a reader sees. A line that changes nothing can go. {{count}} and the like are filled in later.
"""


def make_files(root: Path, kind: str, name: str, package: str) -> list[Path]:
    """Write the files of a new guide or calculator and return their paths.

    Args:
        root: the project's folder.
        kind: "guide", "calculator" or "words".
        name: name of the guide, room and name of the calculator, or language of the words.
        package: the project's engine.

    Raises:
        ValueError: the name cannot be used or is taken.
    """
    if kind == "words":
        files = _translation_files(root, name)
    else:
        files = (
            _guide_files(root, name)
            if kind == "guide"
            else _new_calculator_files(root, name, package)
        )
    taken = [path for path in files if path.exists()]
    if taken:
        raise ValueError(f"'{name}' is taken: {taken[0].relative_to(root)} exists")
    return write_files(files)


def write_files(files: Mapping[Path, str]) -> list[Path]:
    """Write new files with their folders; return the paths."""
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(files)


def _guide_files(root: Path, name: str) -> dict[Path, str]:
    check_guide(root, name)
    folder = root / "content" / "guides"
    order = len(list(folder.glob("*.md"))) + 1
    return {folder / f"{name}.md": GUIDE.format(title=_title(name), order=order)}


def _translation_files(root: Path, language: str) -> dict[Path, str]:
    project_language = project_file.read_project(root).language
    if language != project_language:
        raise ValueError(
            f"'{language}' is not the language of {FILE}, which says '{project_language}'"
        )
    texts = (json.dumps(text, ensure_ascii=False) for text in ui_strings.texts_of_theme(THEME))
    lines = "".join(f"{text} = {text}\n" for text in texts)
    return {root / "theme" / ui_strings.FILE: WORDS.format(language=language) + lines}


def _new_calculator_files(root: Path, path: str, package: str) -> dict[Path, str]:
    room, _, name = path.rpartition("/")
    check_calculator(root, package, room, name)
    return calculator_files(root, package, room, name)


def calculator_files(root: Path, package: str, room: str, name: str) -> dict[Path, str]:
    """Return path -> text of a new calculator, its test and its page."""
    fields = {"name": name, "title": _title(name), "room": room, "package": package}
    folder, page = root / package / "calculators", name.replace("_", "-")
    return {
        folder / room / f"{name}.py": CALCULATOR.format(**fields),
        root / "tests" / package / "calculators" / room / f"test_{name}.py": TEST.format(**fields),
        root / "content" / "tools" / f"{page}.md": TOOL.format(**fields),
    }


def _title(name: str) -> str:
    return re.sub(r"[-_]", " ", name).capitalize()
