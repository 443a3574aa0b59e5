import re
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace

import pytest

from engine.calculator import load, make, names
from tests import lanes, units
from tests.browser.pages import SOURCES

NAMES = frozenset(names())
PLACED = re.compile(r"(?:\[\[|^/// predict \| )([a-z_]\w*)", re.MULTILINE)
BLOCK = re.compile(r"^/// (\w+)", re.MULTILINE)


@cache
def kinds_of_calculator(name: str) -> frozenset[str]:
    """Return the kinds of inputs and views of a calculator."""
    return frozenset(_kinds(name))


def _kinds(name: str) -> Iterator[str]:
    calculator = load(name)
    yield from (f"input {type(field).__name__}" for field in calculator.fields.values())
    views = calculator.compute(make(calculator, {})).values()
    for view in (one for one in views if not callable(one)):
        kind = type(view).__name__
        yield kind
        yield from (
            f"{kind} with {part}" for part in ("player", "handle") if getattr(view, part, 0)
        )
    if calculator.search:
        yield "search"
    if calculator.presets:
        yield "presets"


def kinds_of_page(address: str) -> Iterator[str]:
    """Yield the template, blocks, lists and kinds of figures of a page."""
    text = SOURCES[address].read_text("utf-8")
    yield f"template of {address.partition('/')[0]}"
    yield from (f"block {name}" for name in BLOCK.findall(text))
    yield from (f"list {name}" for name in PLACED.findall(text) if name not in NAMES)
    for name in NAMES.intersection(PLACED.findall(text)):
        yield from kinds_of_calculator(name)


def test_the_pages_of_the_short_lane_have_every_kind_of_thing():
    everything = {kind for address in SOURCES for kind in kinds_of_page(address)}
    covered = {kind for address in lanes.PAGES for kind in kinds_of_page(address)}
    assert everything - covered == set()


def test_the_short_lane_leaves_out_pages_that_are_like_another():
    page = "tests/browser/test_every_page.py::test_a_page_reports_no_error"
    assert lanes.is_short(f"{page}[tools/trace/]", ())
    assert not lanes.is_short(f"{page}[tools/log/]", ())
    assert lanes.is_short("tests/builder/test_pages.py::test_a[tools/log/]", ())


def test_of_calculators_in_pyodide_the_short_lane_takes_a_fixed_sample():
    test = f"{units.PARITY}::test_the_same"
    chosen = [name for name in names() if lanes.is_short(f"{test}[{name}]", tuple(names()))]
    assert len(chosen) == -(-len(names()) // lanes.SAMPLED)


def test_of_cases_between_others_the_short_lane_takes_none_unless_each_is_a_kind():
    test = "tests/browser/test_a11y.py::test_nothing_moves"
    cases = [f"{test}[{width}]" for width in (390, 820, 1440)]
    page = [f"tests/browser/test_every_page.py::test_a[{name}]" for name in "abc"]
    key = [f"tests/browser/test_keys.py::test_a_key[{name}]" for name in "abc"]
    single = ["tests/builder/test_pages.py::test_a[1]", "tests/browser/test_a11y.py::test_b"]
    assert lanes.repetitions([*cases, *page, *key, *single]) == {cases[1]}


def test_what_is_left_to_all_says_what_stands_for_it():
    def marked(*words):
        mark = pytest.mark.left_to_all(*words).mark
        return SimpleNamespace(nodeid="tests/test_a.py::test_b", get_closest_marker=lambda _: mark)

    assert lanes.is_left_to_all(marked("test_c shows it at one width"))
    assert not lanes.is_left_to_all(SimpleNamespace(get_closest_marker=lambda _: None))
    with pytest.raises(pytest.UsageError, match="test_b: left_to_all"):
        lanes.is_left_to_all(marked())
