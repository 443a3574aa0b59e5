"""What an author's calculator does wrongly beyond its defaults is told with its line."""

import textwrap

import pytest

from builder.calculators.author_checks import source_faults
from builder.core import time_limit
from builder.project.activate_project import activate_project
from builder.project.project_file import ProjectError
from tests.each import each

SPEED = "tiny_calculators/speed.py"
SOLVE = "    return Result(time=inputs.size / inputs.bandwidth)"


def replaced(live, code):
    """Replace the computation; return the problems that the build tells."""
    live.edit(SPEED, SOLVE, textwrap.indent(textwrap.dedent(code).strip(), "    "))
    return live.problems()


def test_an_exception_beyond_the_defaults_is_told_with_the_input(live):
    problems = replaced(
        live,
        """
        if inputs.size > 500e6:
            raise ArithmeticError("too many")
        return Result(time=inputs.size / inputs.bandwidth)
        """,
    )
    assert problems == [
        f"{SPEED}:47: calculator 'speed' raises ArithmeticError: too many, with size = 1,000 MB"
    ]


def test_a_refusal_at_the_end_of_a_range_is_none(live):
    code = """
    from engine.core.inputs import InputError
    if inputs.size > 500e6:
        raise InputError("size: too large; allowed is up to 500 MB")
    return Result(time=inputs.size / inputs.bandwidth)
    """
    assert replaced(live, code) == []


def test_a_unit_that_is_a_text_is_told_with_its_input(live):
    live.edit(SPEED, "unit=MEGABYTES", "unit='per hour'")
    (problem,) = live.problems()
    assert problem.startswith(f"{SPEED}:29: input 'size' has the unit 'per hour'; it has to be")


def test_different_answers_to_the_same_inputs_are_told(live):
    live.edit(SPEED, "EQUATIONS = (TIME,)", "EQUATIONS = (TIME,)\nCALLS = []")
    code = "CALLS.append(1)\nreturn Result(time=inputs.size / inputs.bandwidth * len(CALLS))"
    problems = replaced(live, code)
    lines = (live.root / SPEED).read_text("utf-8").splitlines()
    line = next(at for at, text in enumerate(lines, 1) if text.startswith("def solve"))
    assert problems == [
        f"{SPEED}:{line}: calculator 'speed' answers differently to the same inputs"
    ]


SHAPES = """
from engine.core.views import Frame, Scene, Shape
shapes = tuple(Shape(key=str(at), tag={tag!r}, attributes={attributes}) for at in range({count}))
frames = (Frame(caption="", shapes=shapes),) * {frames}
extra = {{"drawing": Scene(title="Mine", width=10, height=10, frames=frames)}}
return extra | {{"""


@pytest.mark.parametrize(
    ("tag", "attributes", "count", "frames", "said"),
    [
        ("script", {}, 1, 1, "shape: the tag <script> is not allowed in a drawing"),
        ("rect", {"onclick": "x()"}, 1, 1, "the attribute 'onclick' is not allowed"),
        ("image", {"href": "https://e.org/"}, 1, 2, "'https://e.org/' is not allowed in a drawing"),
        ("rect", {"a b": "1"}, 1, 1, "shape: is no SVG: "),
        ("rect", {}, 7_000, 3, "has 21,000 shapes; a scene may have 20,000"),
    ],
)
def test_a_shape_that_is_more_than_a_drawing_is_told(live, tag, attributes, count, frames, said):
    code = SHAPES.format(tag=tag, attributes=attributes, count=count, frames=frames).strip()
    live.edit(SPEED, "    return {\n", textwrap.indent(code, "    ") + "\n")
    problems = live.problems()
    assert len(problems) == 1, problems
    assert problems[0].startswith(f"{SPEED}:")
    assert f"output 'drawing' {'' if 'shapes' in said else 'holds a '}" in problems[0]
    assert said in problems[0]


def test_a_loop_that_never_ends_is_stopped_and_told(live, monkeypatch):
    monkeypatch.setattr(time_limit.time_limit.__wrapped__, "__defaults__", (0.3,))
    problems = replaced(live, "while True:\n    pass")
    assert len(problems) == 1
    assert problems[0].startswith(f"{SPEED}:4")
    assert "calculator 'speed' raises TooSlowError: has computed for 0.3 seconds" in problems[0]


@each(
    ("code", "line", "said"),
    [
        ("import os, subprocess", 1, "imports 'os'"),
        ("\nfrom random import random", 2, "imports 'random'"),
        ("import time", 1, "imports 'time'"),
        ("def solve():\n    print(1)", 2, "calls print()"),
        ("x = open('f')", 1, "calls open()"),
    ],
)
def test_effects_are_told_with_their_line(code, line, said):
    found = source_faults(code)
    assert found[0][0] == line
    assert found[0][1].startswith(said)


@each(
    "code",
    ["from urllib.parse import unquote", "x.open()", "import math, re, json", "time = 3", "def ("],
)
def test_what_has_no_effect_passes(code):
    assert source_faults(code) == []


def test_effects_stop_the_build(live):
    live.edit(SPEED, "from typing import Annotated", "import random\nfrom typing import Annotated")
    assert any(one.startswith(f"{SPEED}:4: imports 'random'") for one in live.problems())


def test_an_equation_with_the_symbol_of_no_field_is_told(live):
    live.edit(
        SPEED,
        "EQUATIONS = (TIME,)",
        'LOAD = Equation(name="load", tex=r"\\v{rho} = \\v{l} / \\v{m}", symbols={'
        '"rho": ("r", "load"), "l": ("l", "arrivals"), "m": ("m", "rate")})\n'
        "EQUATIONS = (TIME, LOAD)",
    )
    problems = live.problems()
    assert len(problems) == 3
    assert "equation 'load' uses \\v{l}, the symbol of no field" in problems[0]


def test_a_chart_with_too_many_points_is_told(live):
    live.edit(SPEED, "x=(1e6, 1e9), y=(2e-5, 2e-2)", "x=(1e6,) * 30_000, y=(2e-5,) * 30_000")
    (problem,) = live.problems()
    assert "output 'curve' has 30,000 points; a chart may have 20,000" in problem


def test_a_text_that_is_too_long_is_told_before_it_is_drawn(live):
    live.edit(SPEED, 'sentence="The link is slow."', 'sentence="slow " * 6_000_000')
    (problem,) = live.problems()
    assert "output 'regime' has a text of 30,000,000 letters; it may have 10,000" in problem


def test_two_pages_that_say_the_same_are_told(live):
    first = (live.root / "content/guides/first.md").read_text("utf-8").splitlines()
    lines = [line for line in first if line.startswith(("title =", "question ="))]
    path = live.root / "content/guides/second.md"
    kept = [
        line
        for line in path.read_text("utf-8").splitlines()
        if not line.startswith(("title =", "question ="))
    ]
    path.write_text("\n".join([kept[0], *lines, *kept[1:]]) + "\n", "utf-8")
    said = "has the title and the question of content/guides/first.md"
    assert any(said in problem for problem in live.problems())


def test_two_calculators_of_one_name_are_told_with_their_file(tmp_path):
    (tmp_path / "content").mkdir()
    (tmp_path / "site.toml").write_text('name = "Queues"\nengine = "twice_engine"\n')
    for room in ("examples", "other"):
        folder = tmp_path / "twice_engine/calculators" / room
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / "mm1.py").touch()
    (tmp_path / "twice_engine/__init__.py").touch()
    (tmp_path / "twice_engine/calculators/__init__.py").touch()
    with pytest.raises(ProjectError) as caught:
        activate_project(tmp_path)
    (problem,) = caught.value.problems
    assert str(problem) == (
        "twice_engine/calculators/other/mm1.py:1: the name 'mm1' stands twice: "
        "twice_engine.calculators.examples.mm1 and twice_engine.calculators.other.mm1; give one "
        "another"
    )
