"""A number is told once: by its field's type, its symbol's equation, and sentences that name it."""

from dataclasses import dataclass
from typing import Annotated

import pytest

from engine.core.equation import Equation
from engine.core.inputs import GBITS, PERCENT, Choice, Number, Unit
from engine.core.outputs import Output, Presenter, Symbol
from engine.core.text import Sentence, render_text
from engine.core.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    LINK_SPEED,
    RATIO,
    SECONDS,
    SHARE,
    Bytes,
    Count,
    Seconds,
    with_digits,
)
from engine.core.views import Line, Published, Receipt, Rule, Scale

MEANINGS = {"T": ("T", "time"), "S": ("S", "size"), "n": ("n", "GPUs"), "b": (r"\beta", "rate")}


def equation(name, tex, *keys):
    return Equation(name=name, tex=tex, symbols={key: MEANINGS[key] for key in keys})


TIME = equation("time", r"\v{T} = \frac{\v{S}}{\v{b}}", "T", "S", "b")
OTHER_TIME = equation("other_time", r"\v{T} = \v{n}\,\v{S}", "T", "n", "S")
SIZE = equation("size", r"\v{S} = \v{n}\,\v{b}", "S", "n", "b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    num_gpus: Annotated[int, Number(label="GPUs", low=1, high=64, whole=True, symbol="n")] = 8
    port: Annotated[
        float,
        Number(label="Port", unit=GBITS, low=1e9, high=1e12, symbol=r"\beta"),
        BANDWIDTH,
        Symbol("b"),
    ] = 5e10
    loss: Annotated[float, Number(label="Loss", unit=PERCENT, low=0, high=1)] = 0.25
    factor: Annotated[float, Number(label="Factor", low=0, high=9)] = 2.0
    link: Annotated[float, Number(label="Link", unit=GBITS, low=1e9, high=1e12)] = 1e9
    kind: Annotated[str, Choice(label="Kind", options={"a": "A"})] = "a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    size: Annotated[Bytes, Output("Size", "S")] = 1e9
    time: Annotated[
        Seconds,
        Output(
            "Time",
            "T",
            "of {num_gpus} GPUs",
            "communication",
            assumes=("It has {num_gpus} GPUs.", "Nothing else."),
            sources=("a_paper",),
            basis="measured",
        ),
    ] = 0.02
    rounds: Annotated[Count, Output("Rounds", color="data")] = 3
    bare: Seconds = 7.0
    counted: int = 5
    used: Annotated[Count, Output(of="num_gpus")] = 4
    column: tuple[Seconds, ...] = (1.0, 2.0)
    note: str = "no number"
    num_gpus: Seconds = 999.0  # hidden: the inputs are asked first


def teller(*equations):
    return Presenter(Inputs(), Result(), equations=equations)


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("size", (1e9, BYTES)),  # from the type
        ("rounds", (3, COUNT)),
        ("bare", (7.0, SECONDS)),  # a type without `Output`
        ("counted", (5, COUNT)),  # a whole number counts something
        ("column", ((1.0, 2.0), SECONDS)),  # a column measures what its items do
        ("port", (5e10, with_digits(BANDWIDTH))),  # a quantity beside a unit goes before it
        ("link", (1e9, with_digits(LINK_SPEED))),  # from the unit
        ("loss", (0.25, with_digits(SHARE))),
        ("factor", (2.0, with_digits(RATIO))),  # a bare number is a ratio
        ("num_gpus", (8, with_digits(COUNT))),  # the first record that has it
    ],
)
def test_a_field_is_measured_by_its_type_or_unit(name, figure):
    assert teller().number(name) == figure


@pytest.mark.parametrize("name", ["kind", "note"])
def test_what_is_no_number_is_not_told(name):
    with pytest.raises(LookupError, match=name):
        teller().number(name)


def test_a_value_is_told_as_its_field_declares():
    made = teller(TIME).value("time")
    assert (made.label, made.value, made.quantity) == ("Time", 0.02, SECONDS)
    assert (made.color, render_text(made.note)) == ("communication", "of 8 GPUs")
    receipt = made.receipt
    assert (receipt.basis, receipt.sources, receipt.published) == ("measured", ("a_paper",), None)
    assert [render_text(text) for text in receipt.assumptions] == [
        "It has 8 GPUs.",
        "Nothing else.",
    ]


def test_the_receipt_is_of_the_equation_that_begins_with_the_symbol():
    receipt = teller(SIZE, TIME).value("time").receipt
    assert receipt.equation is TIME
    assert receipt.symbols == {
        "T": (0.02, SECONDS),
        "S": (1e9, BYTES),
        "b": (5e10, with_digits(BANDWIDTH)),
    }


def test_only_inputs_are_linked():
    assert teller(TIME).value("time").receipt.inputs == {"b": "port"}


def test_what_follows_from_an_input_lights_up_with_it():
    receipt = teller().value("size", equation=SIZE, symbols={"n": "used"}).receipt
    assert (receipt.symbols["n"][0], receipt.inputs["n"]) == (4, "num_gpus")


def test_of_two_equations_with_one_left_side_the_first_counts():
    assert teller(TIME, OTHER_TIME).value("time").receipt.equation is TIME
    assert teller(OTHER_TIME, TIME).value("time").receipt.equation is OTHER_TIME


def test_an_equation_can_be_named_instead():
    receipt = teller(TIME).value("time", equation=OTHER_TIME).receipt
    assert receipt.equation is OTHER_TIME
    assert receipt.symbols == {
        "T": (0.02, SECONDS),
        "n": (8, with_digits(COUNT)),
        "S": (1e9, BYTES),
    }
    assert receipt.inputs == {"n": "num_gpus"}


def test_a_field_without_equation_has_a_receipt_without():
    receipt = teller(TIME).value("rounds").receipt
    assert (receipt.equation, receipt.symbols, receipt.inputs) == (None, {}, {})


def test_an_equation_without_symbols_belongs_to_no_field():
    words_only = Equation(name="words", tex=r"\text{all} = \text{parts}", symbols={})
    assert teller(words_only).value("rounds").receipt.equation is None


def test_a_symbol_can_stand_for_another_field_or_a_figure():
    receipt = teller(TIME).value("time", symbols={"S": (5.0, BYTES), "b": "link"}).receipt
    assert receipt.symbols["S"] == (5.0, BYTES)
    assert receipt.symbols["b"] == (1e9, with_digits(LINK_SPEED))
    assert receipt.inputs == {"b": "link"}


def test_a_field_told_of_another_symbol_fills_its_own_left_side():
    receipt = teller(TIME).value("bare", equation=TIME, symbols={"T": "bare"}).receipt
    assert receipt.symbols["T"] == (7.0, SECONDS)


def test_what_depends_on_the_inputs_can_be_changed():
    printed = Published(text="3 s", reason="Why.", source="a_text")
    own = Receipt(basis="datasheet")
    changed = teller(TIME).value("time", label="Now", note="plain", value=4.0, published=printed)
    assert (changed.label, changed.note, changed.value) == ("Now", "plain", 4.0)
    assert changed.receipt.published is printed
    assert teller().value("time", receipt=own).receipt is own


def test_values_are_told_in_the_order_given():
    assert list(teller(TIME).values("time", "size")) == ["time", "size"]
    assert teller(TIME).values("size")["size"] == teller(TIME).value("size")


def test_a_sentence_names_fields_and_figures():
    said = teller().say("{num_gpus} GPUs, {rounds} or {many}, {same}", many=(2, COUNT), same="bare")
    assert isinstance(said, Sentence)
    assert render_text(said) == "8 GPUs, 3 or 2, 7.00 s"


def test_a_text_without_fields_stays_itself():
    assert teller().fill_text("No field.") == "No field."
    assert render_text(teller().fill_text("{num_gpus} fields")) == "8 fields"


def test_a_formula_has_the_records_numbers():
    made = teller().formula("Title", TIME, T=(1.0, SECONDS))
    assert (made.title, made.equation) == ("Title", TIME)
    assert made.symbols == {
        "T": (1.0, SECONDS),
        "S": (1e9, BYTES),
        "b": (5e10, with_digits(BANDWIDTH)),
    }
    assert made.inputs == {"b": "port"}


def test_an_axis_measures_what_its_field_does():
    made = teller().axis("column", "time", low=1, high=9, scale="log")
    assert (made.label, made.quantity) == ("time", SECONDS)
    assert (made.low, made.high, made.scale) == (1, 9, "log")
    assert teller().axis("size", "size", low=0, high=1).scale == "linear"


def test_a_curve_over_an_input_has_its_handle_and_a_point_at_its_value():
    inputs_last = Presenter(Result(), Inputs())  # the result hides `num_gpus`; the point does not
    made = inputs_last.curve(
        "Time over GPUs",
        over=Scale("num_gpus", "GPUs", 1, 64, log=True),
        shows=Scale("time", "time", 0.0, 1.0),
        x=range(1, 3),
        lines=(
            Line("time", "time", [3, 2], "compute"),
            Line("own", "measured", (1,), "ink", dashed=True, x=(2,)),
        ),
        rules=(Rule(key="node", label="", axis="x", at=8.0),),
    )
    assert (made.handle, made.x.label, made.x.scale, made.y.quantity) == (
        "num_gpus",
        "GPUs",
        "log",
        SECONDS,
    )
    assert [(line.x, line.y, line.dashed) for line in made.series] == [
        ((1.0, 2.0), (3.0, 2.0), False),
        ((2.0,), (1.0,), True),
    ]
    (point,) = made.points
    assert (point.key, point.x, point.y, render_text(point.label)) == (
        "now",
        8,
        0.02,
        "20.0 ms",
    )
    assert [rule.key for rule in made.rules] == ["node"]


def test_a_curve_of_a_quantity_says_whose_handle_it_has_and_where_its_point_is():
    made = teller().curve(
        "Share over GPUs",
        over=Scale(COUNT, "GPUs", 1, 64),
        shows=Scale(SHARE, "share", 0.0, 1.0),
        lines=(),
        handle="num_gpus",
        at=0.5,
    )
    assert (made.handle, made.x.quantity, made.y.quantity) == ("num_gpus", COUNT, SHARE)
    assert [(p.x, p.y, render_text(p.label)) for p in made.points] == [(8, 0.5, "50.0 %")]
    scales = {"over": Scale("num_gpus", "", 1, 2), "shows": Scale("time", "", 0, 1)}
    told = teller().curve("Time", **scales, lines=(), now="{size} sent", points=made.points)
    assert [render_text(point.label) for point in told.points][1:] == ["1.00 GB sent"]
    assert teller().curve("Time", **scales, lines=(), marked=False).points == ()


def test_a_symbol_that_no_field_has_is_named():
    unknown = Equation(name="odd", tex=r"\v{T} = \v{x}", symbols={"T": ("T", ""), "x": ("x", "")})
    with pytest.raises(LookupError, match="no field has the symbol 'x'; there are n, b, S, T"):
        teller(unknown).value("time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kettle:
    """Inputs whose units belong to no field of this project."""

    water: Annotated[float, Number(label="Water", unit=Unit(" L", 1.0), low=0.1, high=2.0)] = 1.5
    salt: Annotated[float, Number(label="Salt", unit=Unit(" mg", 1e-6), low=0.0, high=1e-3)] = 5e-4
    cups: Annotated[
        int, Number(label="Cups", unit=Unit(" cups", 1.0), low=1, high=9, whole=True)
    ] = 4


def test_an_input_is_told_in_the_unit_that_is_its_own():
    said = Presenter(Kettle()).say("{water}, {salt}, {cups}")
    assert render_text(said).replace("\u00a0", " ") == "1.5 L, 500 mg, 4 cups"
