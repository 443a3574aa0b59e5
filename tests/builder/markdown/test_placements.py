"""Placements are read and matched with what their calculator has."""

from types import SimpleNamespace

import pytest

from builder.calculators import calculator_context
from builder.calculators.calculator_context import CalculatorContext
from builder.core.problem import ContentError
from builder.markdown.placements import (
    Placement,
    check_block,
    check_sentence,
    find_calculator,
    parse,
    without_outputs,
)

RING = CalculatorContext(
    name="ring",
    title="Ring",
    question="How long?",
    headline="time",
    groups={},
    fields=(
        SimpleNamespace(name="size", kind="number"),
        SimpleNamespace(name="log", kind="text"),
    ),
    outputs={
        "time": {"kind": "value", "also": ""},
        "bytes": {"kind": "value", "also": "1 GiB"},
        "verdict": {"kind": "badge"},
        "curve": {"kind": "lines"},
    },
    presets=(),
    reply={},
    views={},
    equations=(),
    sources={},
    job=(),
    searches=False,
)


def placed(member="", settings=None, also=False):
    return Placement(calculator="ring", member=member, settings=settings or {}, also=also)


@pytest.fixture
def two(monkeypatch):
    monkeypatch.setattr(calculator_context, "calculator_names", lambda: ("ring", "tree"))


@pytest.mark.parametrize(
    ("inside", "read"),
    [
        ("ring", placed()),
        (" ring ", placed()),
        ("ring.time", placed("time")),
        ("ring.time|also", placed("time", also=True)),
        ("ring|also", placed(also=True)),
        ("ring.time size=1e9  log=a=b", placed("time", {"size": "1e9", "log": "a=b"})),
        ("ring.time\tsize=1|also", placed("time", {"size": "1"}, also=True)),
        ("ring without=time,curve", placed("", {"without": "time,curve"})),
    ],
)
def test_a_placement_is_read(inside, read):
    assert parse(inside) == read


@pytest.mark.parametrize(
    "inside",
    [
        "ring.",
        "ring.time size",
        "ring.time size=",
        "ring .time",
        "ring.a.b",
        "ring|all",
        "ring time",
    ],
)
def test_what_is_no_placement_is_told_what_is(inside):
    with pytest.raises(ContentError) as told:
        parse(inside)
    assert str(told.value) == (
        f"'[[{inside}]]' is no placement; write [[calculator]], [[calculator.output]], "
        "[[calculator.input]], [[calculator.output input=value]] or [[calculator.output|also]]"
    )


@pytest.mark.parametrize("member", ["", "inputs", "size", "log", "time", "curve"])
def test_a_calculator_is_found_with_any_of_its_members(two, member):
    asked = []
    assert find_calculator(placed(member), lambda name: asked.append(name) or RING) is RING
    assert asked == ["ring"]


def test_a_calculator_that_is_not_there_is_not_loaded(two):
    unknown = Placement(calculator="rign", member="", settings={}, also=False)
    with pytest.raises(ContentError) as told:
        find_calculator(unknown, pytest.fail)
    assert str(told.value) == "no calculator 'rign'; there are ring, tree"


def test_a_project_without_calculators_has_none(monkeypatch):
    monkeypatch.setattr(calculator_context, "calculator_names", tuple)
    with pytest.raises(ContentError) as told:
        find_calculator(placed(), pytest.fail)
    assert str(told.value) == "no calculator 'ring'; there are none"


def test_a_member_that_is_not_there_is_told_all_that_are(two):
    with pytest.raises(ContentError) as told:
        find_calculator(placed("tiem"), lambda name: RING)
    assert str(told.value) == (
        "ring has no input or output 'tiem'; its inputs are size, log; its outputs are "
        "time, bytes, verdict, curve"
    )


@pytest.mark.parametrize(
    "placement",
    [
        placed(),
        placed("time"),
        placed("inputs"),
        placed("", {"without": "time"}),
    ],
)
def test_a_block_is_a_calculator_or_a_member_as_it_is(placement):
    assert check_block(placement) is None


@pytest.mark.parametrize(
    "placement",
    [
        placed("time", {"size": "1"}),
        placed("time", {"without": "curve"}),
        placed("", {"size": "1"}),
        placed("", {"without": "time", "size": "1"}),
        placed("time", also=True),
        placed(also=True),
        placed("", {"without": "time"}, also=True),
    ],
)
def test_a_block_has_no_settings_but_what_it_leaves_out(placement):
    with pytest.raises(ContentError) as told:
        check_block(placement)
    assert str(told.value) == "a placement with settings or '|also' has to stand in a sentence"


@pytest.mark.parametrize(
    ("left", "kept"),
    [
        ("time,curve", ["bytes", "verdict"]),
        ("time", ["bytes", "verdict", "curve"]),
        ("time,", ["bytes", "verdict", "curve"]),
        ("", ["time", "bytes", "verdict", "curve"]),
    ],
)
def test_what_a_placement_leaves_out_is_not_there(left, kept):
    found = without_outputs(placed("", {"without": left}), RING)
    assert list(found.outputs) == kept
    assert found.outputs == {name: RING.outputs[name] for name in kept}
    assert found.name == "ring"


def test_a_placement_that_leaves_out_nothing_has_all_outputs():
    assert without_outputs(placed(), RING) == RING


def test_an_output_that_is_not_there_cannot_be_left_out():
    with pytest.raises(ContentError) as told:
        without_outputs(placed("", {"without": "time,tiem,size"}), RING)
    assert str(told.value) == (
        "ring has no output 'tiem' to leave out; its outputs are time, bytes, verdict, curve"
    )


@pytest.mark.parametrize(
    "placement",
    [
        placed("time"),
        placed("verdict"),
        placed("size"),
        placed("time", {"size": "1"}),
        placed("bytes", also=True),
        placed("bytes", {"size": "1"}, also=True),
    ],
)
def test_a_sentence_holds_numbers_badges_and_inputs(placement):
    assert check_sentence(placement, RING) is None


@pytest.mark.parametrize(
    ("placement", "named"),
    [
        (placed(), "'ring' (calculator)"),
        (placed("inputs"), "'ring.inputs' (calculator)"),
        (placed("curve"), "'ring.curve' (lines)"),
        (placed("log"), "'ring.log' (text)"),
        (placed("", {"size": "1"}), "'ring' (calculator)"),
    ],
)
def test_a_sentence_holds_nothing_larger(placement, named):
    with pytest.raises(ContentError) as told:
        check_sentence(placement, RING)
    wanted = f"{named} cannot stand in a sentence; give it a paragraph of its own"
    assert str(told.value) == wanted


@pytest.mark.parametrize(
    ("placement", "named", "given"),
    [
        (placed("verdict", {"size": "1", "log": "a"}), "'ring.verdict' (badge)", "size=1 log=a"),
        (placed("size", {"size": "1"}), "'ring.size' (input)", "size=1"),
        (placed("size", also=True), "'ring.size' (input)", "|also"),
        (placed("verdict", also=True), "'ring.verdict' (badge)", "|also"),
        (placed("verdict", {"size": "1"}, also=True), "'ring.verdict' (badge)", "size=1"),
    ],
)
def test_settings_say_nothing_of_what_is_no_number(placement, named, given):
    with pytest.raises(ContentError) as told:
        check_sentence(placement, RING)
    assert str(told.value) == f"{named} is no computed number, so '{given}' says nothing"


def test_what_is_no_size_in_bytes_has_no_other_unit():
    with pytest.raises(ContentError) as told:
        check_sentence(placed("time", also=True), RING)
    assert str(told.value) == "'ring.time' is no size in bytes; '|also' shows GiB beside GB"
