"""What a calculator declares wrongly is named on its line, before anything is computed with it."""

import pytest

from builder.calculators import calculator_checks, calculator_context
from builder.cli import commands, parser
from builder.core import error_locations
from builder.core.problem import Problem
from tests.builder.conftest import forget_calculators

OVEN = "tiny_calculators/oven.py"
TEXT = '''"""Heats an oven."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.equation import Equation
from engine.core.inputs import Choice, Number, Switch, Unit
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import Quantity, Seconds
from engine.core.views import Challenge, Condition, Lines, Series, Table

TITLE = "Oven"
QUESTION = "When is it hot?"
HEADLINE = "time"
WARM = Equation(
    "oven_time",
    r"\\v{T} = \\v{Q}",
    {
        "T": ("T", "time"),
        "Q": ("Q", "heat"),
    },
)
DEGREES, PERCENT = Unit(" °C", 1.0), Unit(" %", 0.01)
PRESETS = {
    "Pizza": {"heat": 250.0, "kind": "gas"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a reader can change."""

    heat: Annotated[
        float, Number(label="Heat", unit=DEGREES, low=50.0, high=300.0, symbol="Q")
    ] = 180.0
    share: Annotated[float, Number(label="Share", unit=PERCENT, low=0.0, high=1.0)] = 0.5
    kind: Annotated[str, Choice(label="Kind", options={"gas": "gas", "power": "power"})] = "gas"
    fan: Annotated[bool, Switch(label="Fan")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What follows."""

    time: Annotated[Seconds, Output("Time", "T")]
    times: tuple[Seconds, ...]


def solve(inputs: Inputs) -> Result:
    """Return the time."""
    return Result(time=inputs.heat * 2, times=(100.0, 600.0))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views."""
    present = Presenter(inputs, result, equations=(WARM,))
    return {
        **present.values("time"),
        "curve": partial(_curve, present, result),
        "table": Table(
            title="Times", columns=("heat", "time"), rows=(("50 °C", "100 s"), ("300 °C", "600 s"))
        ),
        "challenge": Challenge(
            title="Hot",
            goal="Soon.",
            conditions=(Condition(text=present.say("{time} or so"), met=result.time < 300),),
            hints=(),
            start={"heat": 200.0},
            solution={"heat": 100.0},
        ),
    }


def _curve(present: Presenter, result: Result) -> Lines:
    line = Series(key="time", label="time", x=(50.0, 300.0), y=result.times, color="compute")
    return Lines(
        title="Time by heat",
        x=present.axis("heat", "heat", low=50.0, high=300.0),
        y=present.axis("time", "time to heat", low=0.0, high=600.0),
        series=(line,),
        handle="heat",
    )


EQUATIONS = (WARM,)
'''


@pytest.fixture
def oven(live):
    (live.root / OVEN).write_text(TEXT, "utf-8")
    live.append("content/guides/second.md", "[[oven]]")
    return live


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def problems(name: str) -> list[Problem]:
    """As the toolbox gathers them."""
    try:
        return calculator_checks.load_checked(name)[1]
    except calculator_checks.InvalidCalculator as error:
        return [*error.problems]
    except Exception as error:
        return [
            error_locations.calculator_problem(name, calculator_context.source_path(name), error)
        ]


def test_a_calculator_without_a_fault_has_none(oven):
    assert oven.problems() == []


WRONG = [
    (
        'HEADLINE = "time"',
        'HEADLINE = "curve"',
        "HEADLINE =",
        "HEADLINE 'curve' names no number and no verdict; there are time",
    ),
    (
        "] = 180.0",
        "] = 400.0",
        "heat: Annotated",
        "the default of input 'heat': '400 °C' is outside the range 50 °C to 300 °C",
    ),
    (
        "= 0.5",
        '= "0.5"',
        "share: Annotated",
        "the default of input 'share': '0.5' is a str, not a number",
    ),
    (
        "high=1.0)",
        "high=0.0)",
        "share: Annotated",
        "input 'share' goes from 0 to 0; its high has to be above its low",
    ),
    (
        '] = "gas"',
        '] = "wood"',
        "kind: Annotated",
        "the default of input 'kind': 'wood' is not among gas, power",
    ),
    (
        "fan: Annotated[bool",
        "fan: Annotated[str",
        "fan: Annotated",
        "input 'fan' is a Switch of the type str; it has to be bool",
    ),
    (
        'fan: Annotated[bool, Switch(label="Fan")]',
        "fan: bool",
        "fan: bool",
        "input 'fan' is no input; it takes an Annotated[...] with Number",
    ),
    (" = 0.5", "", "share: Annotated", "input 'share' has no default"),
    (
        "@dataclass(frozen=True, slots=True, kw_only=True)",
        "@dataclass(slots=True, kw_only=True)",
        "class Inputs",
        "Inputs is no frozen dataclass; write @dataclass(frozen=True",
    ),
    (
        '{"heat": 250.0',
        '{"heat": 350.0',
        '{"heat": 350',
        "preset 'Pizza': heat: '350 °C' is outside the range 50 °C to 300 °C",
    ),
    (
        '{"heat": 250.0',
        '{"heet": 250.0',
        '{"heet": 250',
        "preset 'Pizza': oven has no input 'heet'; there are heat, share, kind, fan",
    ),
    (
        '"kind": "gas"}',
        '"kind": "wood"}',
        '{"heat": 250',
        "preset 'Pizza': kind: 'wood' is not among gas, power",
    ),
    (
        '"Q": ("Q", "heat")',
        '"P": ("Q", "heat")',
        '"P": (',
        "equation 'oven_time': no field has the symbol 'P'; there are Q, T",
    ),
    (
        "time=inputs.heat * 2",
        'time="soon"',
        "time: Annotated",
        "field 'time' of Result is 'soon'; it has to hold numbers only",
    ),
    (  # 40 characters are shown, and of more as many
        "time=inputs.heat * 2",
        f'time="{"x" * 38}"',
        "time: Annotated",
        f"field 'time' of Result is '{'x' * 38}'; it has to hold numbers only",
    ),
    (
        "time=inputs.heat * 2",
        f'time="{"x" * 39}"',
        "time: Annotated",
        f"field 'time' of Result is '{'x' * 38}…; it has to hold numbers only",
    ),
    (
        "times=(100.0, 600.0)",
        'times=(100.0, "600")',
        "times: tuple",
        "field 'times' of Result is (100.0, '600'); it has to hold numbers only",
    ),
    (
        'present.values("time")',
        'present.values("tyme")',
        'present.values("tyme")',
        "'tyme' is no field of Inputs or Result; there are heat, share, time, times",
    ),
    (
        'present.values("time")',
        'present.values("kind")',
        'present.values("kind")',
        "'kind' is no number of Inputs or Result; there are heat",
    ),
    (
        'present.say("{time} or so")',
        'present.say("{tyme} or so")',
        "{tyme}",
        "'tyme' is no field of Inputs or Result; there are heat",
    ),
    (
        "low=0.0, high=600.0",
        "low=600.0, high=600.0",
        '"time to heat"',
        "output 'curve': the axis 'time to heat' goes from 10.0 min to 10.0 min; "
        "its high has to be above its low",
    ),
    (
        "low=50.0, high=300.0),\n        y",
        'low=0.0, high=300.0, scale="log"),\n        y',
        'present.axis("heat"',
        "output 'curve': the axis 'heat' goes from 0 °C to 300 °C on a logarithmic scale",
    ),
    (
        "x=(50.0, 300.0)",
        "x=(50.0, 200.0, 300.0)",
        "line = Series",
        "output 'curve': series 'time' has 3 x and 2 y; they have to be as many",
    ),
    (
        'handle="heat"',
        'handle="heet"',
        'handle="heet"',
        "output 'curve': handle='heet' names no input; there are heat, share",
    ),
    (
        'handle="heat"',
        'handle="kind"',
        'handle="kind"',
        "output 'curve': handle='kind' names no number; there are heat, share",
    ),
    (
        '("300 °C", "600 s")',
        '("300 °C",)',
        '"table": Table(',
        "output 'table': row 2 has 1 cells and the table 2 columns: heat, time",
    ),
    (
        'solution={"heat"',
        'solution={"heet"',
        'solution={"heet"',
        "output 'challenge': its solution: oven has no input 'heet'; there are heat",
    ),
    (
        'solution={"heat": 100.0',
        'solution={"heat": 10.0',
        'solution={"heat"',
        "output 'challenge': its solution: heat: '10 °C' is outside the range",
    ),
    (
        'solution={"heat": 100.0',
        'solution={"heat": 250.0',
        "solution={",
        "output 'challenge': its solution does not meet '8.33 min or so'",
    ),
    (
        'start={"heat": 200.0',
        'start={"heat": 60.0',
        "start={",
        "output 'challenge': its start meets all conditions already",
    ),
]


@pytest.mark.parametrize(("old", "new", "where", "message"), WRONG)
def test_what_is_declared_wrongly_is_named_on_its_line(oven, old, new, where, message):
    oven.edit(OVEN, old, new)
    line = line_of((oven.root / OVEN).read_text("utf-8"), where)
    (found,) = problems("oven")
    assert str(found).startswith(f"{OVEN}:{line}: {message}")


def test_a_color_that_the_theme_does_not_know(oven):
    styles = oven.root / "theme/styles/50-colors.css"
    styles.write_text(
        ".c-compute { color: blue }\n.c-ink { color: black }\n.c-communication { color: red }\n",
        "utf-8",
    )
    assert oven.problems() == []
    oven.edit(OVEN, 'color="compute"', 'color="compote"')
    forget_calculators()
    line = line_of(TEXT, "line = Series")
    message = "output 'curve' has the color 'compote'; there are compute, ink, communication"
    assert oven.problems() == [f"{OVEN}:{line}: {message}"]


def test_every_view_says_its_colors(oven):
    named = calculator_checks.view_colors(calculator_context.load_without_sources("oven")[0].views)
    assert named == (("time", "Value", "ink"), ("curve", "Lines", "compute"))


def test_the_build_tells_what_the_calculator_lacks(oven):
    oven.edit(OVEN, "= 0.5", "= 50.0")
    (found,) = oven.problems()
    assert "input 'share': '5,000 %' is outside the range 0 % to 100 %" in found


def test_a_calculator_in_a_package_of_its_own(live):
    room = live.root / "tiny_calculators/oven"
    room.mkdir()
    (room / "__init__.py").touch()
    start, end = (
        TEXT.index("DEGREES, PERCENT"),
        TEXT.index("@dataclass", TEXT.index("class Inputs")),
    )
    head = TEXT[: TEXT.index("TITLE")]
    (room / "inputs.py").write_text(head + TEXT[start:end], "utf-8")
    own = "from tiny_calculators.oven.inputs import PRESETS, Inputs\n\n"
    (room / "calculator.py").write_text(head + own + TEXT[len(head) : start] + TEXT[end:], "utf-8")
    assert problems("oven") == []
    path = "tiny_calculators/oven/inputs.py"
    live.edit(path, "= 0.5", "= 50.0")
    forget_calculators()
    (found,) = problems("oven")
    line = line_of((live.root / path).read_text("utf-8"), "share:")
    assert (found.path, found.line) == (path, line)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def solve(", "def solve(:", ": SyntaxError: invalid syntax"),
        ("= 0.5", "= 50.0", ": the default of input 'share': '5,000 %' is outside"),
        ("inputs.heat * 2", "inputs.heat / 0", ": calculator 'oven' raises ZeroDivisionError: "),
        ("return {", "return {\n        **present.values('x'),", ": 'x' is no field of Inputs"),
    ],
)
def test_show_says_in_one_line_why_a_calculator_cannot_be_asked(
    oven, old, new, message, capsys, monkeypatch
):
    oven.edit(OVEN, old, new)
    monkeypatch.setattr(parser, "open_project", lambda _: oven.folders)
    assert commands.main(["show", "oven"]) == commands.WRONG_CONTENT
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"{OVEN}:")
    assert message in told[0]
    assert told[1:] == ["1 problem; nothing was written"]
