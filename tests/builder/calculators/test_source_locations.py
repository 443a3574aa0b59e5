"""Where in its source a calculator says what."""

from types import SimpleNamespace

import pytest

from builder.calculators import source_locations
from builder.calculators.source_locations import SourceLocations
from builder.core.problem import Problem

SPEED = """TITLE = "Speed"
PRESETS: Any = {
    "Small": {"size": 1},
    "Large": {
        "size": 2,
    },
}
TIME = SAME = Equation(
    "move_time",
    "second",
    sources=("a", "b"),
)
bare: int


class Inputs:
    note = 1
    size: Number(label="Size", low=1) = 1
    link: Number(label="Link", low=2) = 2


class Result:
    size: float


def views(inputs, result):
    return {
        "time":
            Value(label="Time"),
        "curve": _curve(result),
        "rows":
            shown.Table(
                rows=1, head="Head",
            ),
        **more,
    }


def _curve(result):
    note = ""
    fast = Series(key="fast", color="c1")
    slow = Series(key="slow", color="c2")
    return Lines(title="T", series=(fast, slow))


def unused(result):
    return Lines(title="Other")
"""
FILE = "tiny/calculators/speed.py"
PACKAGE = "tiny/calculators/ring"


def read(monkeypatch, tmp_path, name, source, **texts):
    """The places of a calculator whose modules lie in a folder of their own."""
    for stem, text in texts.items():
        (tmp_path / f"{stem}.py").write_text(text)
    asked = {"tiny." + name: SimpleNamespace(__file__=str(tmp_path / source.rpartition("/")[2]))}
    monkeypatch.setattr(
        source_locations.calculator_context, "source_path", {name: source}.__getitem__
    )
    monkeypatch.setattr(source_locations.calculators, "module_of", lambda one: f"tiny.{one}")
    monkeypatch.setattr(source_locations, "import_module", asked.__getitem__)
    return SourceLocations(name)


@pytest.fixture
def speed(monkeypatch, tmp_path):
    return read(monkeypatch, tmp_path, "speed", FILE, speed=SPEED, other='class Gone: pass\n"far"')


def package(monkeypatch, tmp_path, **texts):
    return read(monkeypatch, tmp_path, "ring", f"{PACKAGE}/calculator.py", **texts)


def test_a_problem_stands_at_its_place_or_at_the_beginning(speed):
    assert speed.problem(("a.py", 7), "is wrong") == Problem("a.py", 7, "is wrong")
    assert speed.problem(None, "is wrong") == Problem(FILE, 1, "is wrong")


@pytest.mark.parametrize(
    ("record", "field", "line"),
    [
        ("Inputs", "size", 18),
        ("Inputs", "link", 19),
        ("Result", "size", 23),
        ("Inputs", "", 16),
        ("Inputs", "note", 16),
        ("Result", "link", 22),
    ],
)
def test_a_field_is_found_in_its_class_or_the_class_itself(speed, record, field, line):
    assert speed.find_field(record, field) == (FILE, line)


def test_a_class_alone_is_found_where_it_begins(speed):
    assert speed.find_field("Inputs") == (FILE, 16)


def test_a_class_that_is_not_there_has_no_place(speed):
    assert speed.find_field("Gone", "size") is None
    assert speed.find_field("views") is None


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (("size",), 3),
        (("Speed",), 1),
        (("color",), 41),
        (("sources",), 11),
        (("size", "Small"), 3),
        (("size", "Large"), 5),
        (("size", "PRESETS", "Large"), 5),
        (("size", "nowhere", "Large"), 5),
        (("size", "Large", "nowhere"), 5),
        (("sources", "TIME"), 11),
        (("sources", "SAME"), 11),
        (("b", "sources"), 11),
        (("color", "fast"), 41),
        (("color", "slow"), 42),
        (("c2", "slow", "color"), 42),
        (("a", "move_time"), 11),
        (("label", "time"), 29),
        (("title", "bare"), 43),
    ],
)
def test_a_text_is_found_within_what_has_the_names(speed, asked, line):
    assert speed.find_text(*asked) == (FILE, line)


@pytest.mark.parametrize("name", ["second", "c2", "Head"])
def test_only_the_first_that_a_call_is_given_names_it(speed, name):
    assert speed.find_text("size", name) == (FILE, 3)


def test_a_text_that_is_not_there_has_no_place(speed):
    assert speed.find_text("nowhere") is None
    assert speed.find_text("far") is None
    assert speed.find_text("Link", "Large") is None


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (("time",), 28),
        (("time", "Value"), 29),
        (("time", "Lines"), 28),
        (("rows", "Table"), 32),
        (("rows", "Table", "head"), 33),
        (("rows", "Lines", "head"), 33),
        (("rows", "Table", "nowhere"), 32),
        (("curve", "Lines"), 43),
        (("curve", "Lines", "slow"), 42),
        (("curve", "Lines", "fast"), 41),
        (("curve", "Value"), 30),
        (("curve", "_curve"), 30),
    ],
)
def test_an_output_is_found_where_its_view_is_made(speed, asked, line):
    assert speed.find_output(*asked) == (FILE, line)


def test_an_output_that_is_not_there_has_no_place(speed):
    assert speed.find_output("nowhere", "Value") is None


def test_a_file_beside_a_calculator_is_not_its_own(speed):
    assert speed.find_field("Gone") is None


def test_the_modules_of_a_package_are_read_behind_its_calculator(monkeypatch, tmp_path):
    found = package(
        monkeypatch,
        tmp_path,
        calculator='x = "of all"\n',
        b='"of all"\n"of two"\n',
        a='\n"of all"\n"of two"\nclass Inputs:\n    size: float\n',
    )
    assert found.find_text("of all") == (f"{PACKAGE}/calculator.py", 1)
    assert found.find_text("of two") == (f"{PACKAGE}/a.py", 3)
    assert found.find_field("Inputs", "size") == (f"{PACKAGE}/a.py", 5)


def test_what_makes_an_output_is_found_in_whichever_module_it_stands(monkeypatch, tmp_path):
    found = package(
        monkeypatch,
        tmp_path,
        calculator='\ndef curve():\n    return Lines("T")\n',
        shown='made = {"curve": curve(), "time": Value("t")}\n',
    )
    assert found.find_output("curve", "Lines") == (f"{PACKAGE}/calculator.py", 3)
    assert found.find_output("curve", "curve") == (f"{PACKAGE}/shown.py", 1)
    assert found.find_output("time", "Value") == (f"{PACKAGE}/shown.py", 1)
    assert found.find_output("time", "Lines") == (f"{PACKAGE}/shown.py", 1)


def test_the_file_in_which_an_entry_stands_is_read_before_the_functions_it_names(
    monkeypatch, tmp_path
):
    found = package(
        monkeypatch,
        tmp_path,
        calculator='def curve():\n    return Lines("T")\n\nmade = {"curve": Lines(curve())}\n',
    )
    assert found.find_output("curve", "Lines") == (f"{PACKAGE}/calculator.py", 4)
