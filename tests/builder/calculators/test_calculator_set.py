"""All calculators at once: what is read, what is said of them, what is drawn and how often."""

from types import SimpleNamespace

import pytest

from builder.calculators import calculator_set
from builder.calculators.calculator_context import CalculatorContext
from builder.calculators.calculator_set import CalculatorKeys, CalculatorSet
from builder.content.library import Library
from builder.core.build_cache import BuildCache
from builder.core.problem import Problem
from tests.each import each

NAMED = {"time": ("ring",)}


def calculator(name, equations=()):
    return CalculatorContext(
        name=name,
        title=name,
        question="",
        headline="time",
        groups={},
        fields=(),
        outputs={"curve": {"kind": "lines", "of": name}, "time": {"kind": "value"}},
        presets=(),
        reply={"extra": {"spoken": {"curve": f"{name} in words"}, "table": "kept"}},
        views={},
        equations=equations,
        sources={},
        job=(),
        searches=False,
    )


class Hands:
    """Other processes that are none, and what they were given."""

    def __init__(self):
        self.given = []

    def map(self, function, items, *, serial_limit):
        self.given.append((list(items), serial_limit))
        return [function(item) for item in items]


class Room:
    """Calculators that are not there, and what is wrong with them."""

    def __init__(self):
        self.names = ["a", "b"]
        self.wrong = {}
        self.raises = {}
        self.colors = []
        self.equations = ()
        self.symbols = []
        self.read_with = []
        self.drawn = []
        self.hands = Hands()
        self.sources_read = 0

    def read(self, name, takes):
        self.read_with.append((name, takes))
        if name in self.raises:
            raise self.raises[name]
        return calculator(name, self.equations), self.wrong.get(name, [])

    def draw(self, charts):
        self.drawn.append(dict(charts))
        return {name: f"<svg>{name}" for name in charts}

    def sources_of(self, one):
        self.sources_read += 1
        return NAMED

    def all(self, memo=None, layout="look", results=lambda name: f"key of {name}", colors=()):
        keys = CalculatorKeys(results, lambda name: f"sources of {name}", layout, "takes", colors)
        return calculator_set.load_calculators(memo or BuildCache(), keys, self.draw, self.hands)


@pytest.fixture
def room(monkeypatch):
    made = Room()
    monkeypatch.setattr(
        calculator_set.calculator_context, "calculator_names", lambda: tuple(made.names)
    )
    monkeypatch.setattr(calculator_set.calculator_context, "source_path", lambda name: f"{name}.py")
    monkeypatch.setattr(calculator_set.calculator_context, "output_sources", made.sources_of)
    monkeypatch.setattr(
        calculator_set.calculator_context, "context_digest", lambda one: f"mark of {one.name}"
    )
    monkeypatch.setattr(calculator_set.calculator_checks, "load_checked", made.read)
    monkeypatch.setattr(calculator_set.calculator_checks, "view_colors", lambda views: made.colors)
    monkeypatch.setattr(calculator_set, "unknown_symbols", lambda equation: made.symbols)
    told = SimpleNamespace(find_output=lambda *words: words)
    told.problem = lambda place, message: Problem("/".join(place), 7, message)
    monkeypatch.setattr(calculator_set, "SourceLocations", lambda name: told)
    failed = lambda name, source, error: Problem(source, 3, f"{name}: {error}")  # noqa: E731
    monkeypatch.setattr(calculator_set.error_locations, "calculator_problem", failed)
    return made


def test_every_calculator_has_its_sources_and_the_pictures_of_its_charts(room):
    found = room.all()
    assert (list(found.calculators), found.problems, found.broken) == (["a", "b"], (), False)
    one = found.load("a")
    assert one.sources == NAMED
    assert one.reply["extra"] == {
        "spoken": {"curve": "a in words"},
        "table": "kept",
        "svg": {"curve": "<svg>a.curve"},
    }
    assert room.read_with == [("a", "takes"), ("b", "takes")]
    assert room.hands.given == []


def test_the_charts_of_all_are_drawn_in_one_call(room):
    room.all()
    assert room.drawn == [
        {
            f"{name}.curve": {
                "view": {"kind": "lines", "of": name},
                "spoken": f"{name} in words",
            }
            for name in "ab"
        }
    ]


def test_nothing_is_read_or_drawn_again_but_what_is_new(room):
    memo = BuildCache()
    before = room.all(memo)
    room.names.append("c")
    memo = memo.for_next_build()
    after = room.all(memo)
    assert [name for name, _ in room.read_with] == ["a", "b", "c"]
    assert [list(charts) for charts in room.drawn] == [["a.curve", "b.curve"], ["c.curve"]]
    assert room.sources_read == 3
    assert after.load("a") == before.load("a")
    assert after.digests["a"] == before.digests["a"]


def test_another_layout_draws_all_again(room):
    memo = BuildCache()
    room.all(memo)
    room.all(memo.for_next_build(), layout="other")
    assert [list(charts) for charts in room.drawn] == [["a.curve", "b.curve"]] * 2
    assert len(room.read_with) == 2


def test_each_has_a_mark_of_its_own(room):
    marks = room.all().digests
    assert list(marks) == ["a", "b"]
    assert marks["a"] != marks["b"]


def test_what_is_wrong_with_one_is_told_and_breaks_nothing(room):
    wrong = Problem("b.py", 4, "no unit")
    room.wrong = {"b": [wrong]}
    found = room.all()
    assert (found.problems, found.broken, list(found.calculators)) == ((wrong,), False, ["a", "b"])


def test_those_that_raise_are_named_and_no_others(room):
    unsound = calculator_set.calculator_checks.InvalidCalculator.__new__(
        calculator_set.calculator_checks.InvalidCalculator
    )
    unsound.problems = (Problem("c.py", 2, "unsound"),)
    room.names = ["a", "b", "c"]
    room.wrong = {"a": [Problem("a.py", 1, "not said now")]}
    room.raises = {"b": ValueError("no"), "c": unsound}
    assert room.all() == CalculatorSet(
        calculators={},
        problems=(Problem("b.py", 3, "b: no"), Problem("c.py", 2, "unsound")),
        broken=True,
        digests={},
    )
    assert room.drawn == []


def test_one_whose_code_cannot_be_read_is_told(room):
    def results(name):
        if name == "b":
            raise SyntaxError("bad")
        return name

    assert room.all(results=results).problems == (Problem("b.py", 3, "b: bad"),)


@each(("count", "shared"), [(8, False), (9, True)])
def test_more_than_eight_that_are_new_are_shared_out(room, count, shared):
    room.names, room.read_with = [f"n{at}" for at in range(count)], []
    before = len(room.hands.given)
    found = room.all()
    assert list(found.calculators) == room.names
    assert room.hands.given[before:] == ([(room.names, 8)] if shared else [])
    assert room.read_with == [(name, "takes") for name in room.names]  # each once
    assert found.load("n7").sources == NAMED


def test_only_new_ones_are_shared_out(room):
    memo = BuildCache()
    room.all(memo)
    room.names = ["a", "b", *(f"n{at}" for at in range(8))]
    memo = memo.for_next_build()
    room.all(memo)
    assert room.hands.given == []
    room.names += [f"m{at}" for at in range(9)]
    room.all(memo.for_next_build())
    assert room.hands.given == [([f"m{at}" for at in range(9)], 8)]


def test_one_that_raises_elsewhere_is_told_where_it_is_read_again(room):
    room.names = [f"n{at}" for at in range(9)]
    room.raises = {"n4": ValueError("no")}
    assert room.all().problems == (Problem("n4.py", 3, "n4: no"),)
    assert [name for name, _ in room.read_with] == [*room.names, "n4"]


@each(
    ("colors", "known", "told"),
    [
        ([("curve", "Lines", "pink")], ("red", "blue"), True),
        ([("curve", "Lines", "red")], ("red", "blue"), False),
        ([("curve", "Lines", "pink")], (), False),
    ],
)
def test_a_color_that_the_theme_has_not_is_told(room, colors, known, told):
    room.names, room.colors = ["a"], colors
    message = "output 'curve' has the color 'pink'; there are red, blue"
    expected = (Problem("curve/Lines/pink", 7, message),) if told else ()
    assert room.all(colors=known).problems == expected


def test_a_symbol_that_an_equation_does_not_list_is_told(room):
    room.names, room.equations, room.symbols = ["a"], (SimpleNamespace(name="law"),), ["T", "S"]
    assert room.all().problems == tuple(
        Problem("a.py", 1, f"equation 'law' uses \\v{{{symbol}}}, not among its symbols")
        for symbol in "TS"
    )


def test_a_receipt_names_sources_that_are_known(room):
    def one(**sources):
        return SimpleNamespace(sources=sources)

    tools = CalculatorSet(
        calculators={"a": one(time=("ring", "gone"), size=("lost",)), "b": one(time=("ring",))},
        problems=(),
    )
    library = Library(references={"ring": None}, terms={})
    assert calculator_set.source_problems(tools, library) == [
        Problem("a.py", 1, "output 'time' cites 'gone', not in content/references.toml"),
        Problem("a.py", 1, "output 'size' cites 'lost', not in content/references.toml"),
    ]


def test_a_calculator_that_no_page_shows_is_told(room):
    room.names = ["c", "a", "b"]
    assert calculator_set.unplaced_problems(iter(["b", "elsewhere"])) == [
        Problem("a.py", 1, "calculator 'a' is placed on no page"),
        Problem("c.py", 1, "calculator 'c' is placed on no page"),
    ]
    assert calculator_set.unplaced_problems(["a", "b", "c"]) == []


def test_a_toolbox_is_whole_and_without_marks_unless_told_otherwise():
    found = CalculatorSet(calculators={}, problems=())
    assert (found.broken, found.digests) == (False, {})
    marks = CalculatorKeys(str, str, "look")
    assert (marks.takes, marks.colors) == ("", ())
