"""A calculator as the pages have it."""

import pytest

from builder.calculators import calculator_context
from builder.calculators.calculator_context import InputContext, TextInputContext, input_context
from engine import calculator as calculators
from engine.answer import solved_views
from engine.calculator import Calculator, load, make, names
from engine.core.inputs import MEGABYTES, Choice, Number, Sample, Switch, Text
from tests import lanes
from tests.each import each


def test_only_what_searches_says_so():
    searching = next(name for name in names() if load(name).search is not None)
    assert calculator_context.load_without_sources(searching)[0].searches is True
    assert calculator_context.load_without_sources("token_cost")[0].searches is False


def uncited(calculator: Calculator) -> list[dict[str, object]]:
    """Return what the build does not try: options and presets said to bring no source."""
    presets = (
        () if calculator_context.presets_may_cite(calculator.name) else calculator.presets.values()
    )
    choices = {key: one for key, one in calculator.fields.items() if isinstance(one, Choice)}
    return [
        {**calculator.small, key: option}
        for key, choice in choices.items()
        if not choice.cites
        for option in choice.options
    ] + [{**preset} for preset in presets]


ALL = [name for name in calculators.names() if uncited(calculators.load(name))]


@pytest.mark.parametrize("name", lanes.sampled(ALL, 4))
def test_an_option_that_is_not_tried_names_no_source_of_its_own(name):
    calculator = calculators.load(name)
    views = solved_views(name, make(calculator, {})).compute()
    told = calculator_context.sources_by_output(name, views)
    silent = {output for output, view in views.items() if calculator_context.names_no_source(view)}
    wrong = set()
    for values in uncited(calculator):
        lazy = solved_views(name, make(calculator, values))
        for output, view in lazy.compute(set(lazy.names) - silent).items():
            wrong |= {
                (output, key)
                for key in calculator_context.view_sources(view)
                if key not in told[output]
            }
    assert not wrong


ENTRY = {"text": "seen", "value": "kept", "position": None}
LENGTHS = {"a": "x", "b": "xx", "c": "xxx", "d": "xxxx", "e": "xxxxx", "f": "xxxxxx"}


def choice(options, value):
    return input_context("way", Choice(label="Way", options=options), {**ENTRY, "value": value})


def test_a_number_is_told_with_its_symbol_its_place_and_its_range():
    declared = Number(
        label="Size",
        unit=MEGABYTES,
        low=1e6,
        high=5e6,
        symbol="S",
        help="Of a message.",
        advanced=True,
    )
    entry = {"text": "2 MB", "value": "2e6", "position": 0.25}
    assert input_context("size", declared, entry) == InputContext(
        name="size",
        kind="number",
        label="Size",
        symbol="S",
        help="Of a message.",
        advanced=True,
        text="2 MB",
        value="2e6",
        position=0.25,
        options={},
        also={},
        range="1 MB to 5 MB",
        box=None,
        ruler=(1e6, " MB", 1e6, 5e6, False),
    )


def test_a_choice_has_options_and_their_other_names_and_no_symbol():
    declared = Choice(label="Way", options={"ring": "Ring", "tree": "Tree"}, also={"RING": "ring"})
    assert input_context("way", declared, ENTRY) == InputContext(
        name="way",
        kind="choice",
        label="Way",
        symbol="",
        help="",
        advanced=False,
        text="seen",
        value="kept",
        position=None,
        options={"ring": "Ring", "tree": "Tree"},
        also={"ring": "RING"},
        range="ring, tree",
        box=None,
    )


def test_a_switch_has_neither_options_nor_a_box():
    found = input_context("on", Switch(label="On"), ENTRY)
    assert (found.kind, found.options, found.also, found.box) == ("switch", {}, {}, None)


def test_a_text_has_a_box_whose_samples_go_by_their_titles():
    declared = Text(
        label="Log",
        longest=77,
        samples={"short": Sample(title="A short one", text="abc")},
        placeholder="Paste",
        rows=4,
        files=".txt",
        reader="trace",
    )
    found = input_context("log", declared, ENTRY)
    assert found.kind == "text"
    assert found.symbol == ""
    assert found.box == TextInputContext(
        samples={"short": "A short one"},
        placeholder="Paste",
        rows=4,
        files=".txt",
        longest=77,
        reader="trace",
    )


def test_a_page_has_five_options_from_the_start():
    five = {key: LENGTHS[key] for key in "abcde"}
    assert choice(five, "a").initial_options == five


@each(
    ("value", "kept"),
    [("a", "adef"), ("b", "bdef"), ("e", "def"), ("c", "cdef"), ("unknown", "def")],
)
def test_of_six_options_a_page_has_the_chosen_one_and_the_three_longest_in_their_order(value, kept):
    assert list(choice(LENGTHS, value).initial_options.items()) == [
        (key, LENGTHS[key]) for key in kept
    ]


def test_of_options_as_long_as_each_other_the_first_are_kept():
    assert list(choice(dict.fromkeys("abcdef", "x"), "f").initial_options) == ["a", "b", "c", "f"]


def test_how_long_an_option_is_says_what_is_read_and_not_its_key():
    options = {"a" * 9: "x", "b": "xx", "c": "xxx", "d": "xxxx", "e": "xxxxx", "f": "xxxxxx"}
    assert list(choice(options, "b").initial_options) == ["b", "d", "e", "f"]
