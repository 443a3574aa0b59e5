"""The pages of number formats: bits that are pressed, published limits, bytes that are halved."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.core.numbers import format_value
from engine.core.units import SHARE, with_digits
from engine.simulate.numerics.number_format import FORMATS, round_to_format

bits, update, scales = load("bit_fields"), load("vanishing_update"), load("block_scales")
ledger = load("dtype_ledger")


def press(inputs, key):
    """Inputs after a press on a bit."""
    shapes = bits.compute(inputs)["bits"].frames[0].shapes
    attributes = next(one for one in shapes if one.key == f"bit-{key}").attributes
    name, value = attributes["data-grip"], attributes["data-press"]
    field = bits.fields[name]
    return replace(inputs, **{name: field.read(value, typed=True)})


def test_the_last_bit_of_bf16_is_worth_two_half_steps():
    start = replace(bits.inputs(), size=1.0)
    assert press(start, "bf16.15").size == 1 + 2 * FORMATS["bf16"].half_step


def test_a_bit_pressed_twice_gives_the_rounded_number_back():
    start = bits.inputs()
    once = press(start, "fp16.9")
    assert press(once, "fp16.9").size == pytest.approx(
        round_to_format(FORMATS["fp16"], 0.1), rel=1e-6
    )


def test_the_sign_is_a_bit_too():
    assert press(bits.inputs(), "e4m3.0").negative


def test_a_bit_that_would_leave_the_range_cannot_be_pressed():
    shapes = bits.compute(replace(bits.inputs(), size=1.0))["bits"].frames[0].shapes
    # The top bit of the exponent of 1 in bf16: together with the others it would be infinity.
    top = next(one for one in shapes if one.key == "bit-bf16.1")
    assert "data-press" not in top.attributes


def test_below_0_39_percent_an_update_vanishes_in_bf16():
    result = update.solve(update.inputs())
    assert format_value(result.limit, with_digits(SHARE, 3)) == "0.391 %"
    assert (result.nearest, result.exact) == (1.0, 2.0)


def test_nvfp4_is_the_four_bit_recipe_that_loses_least():
    found = scales.solve(scales.inputs()).all
    assert found["nvfp4"].error < found["mxfp4"].error < found["fp4"].error


def test_only_what_is_sent_in_fp8_is_halved():
    start = ledger.inputs()
    plain, products, wire = (
        ledger.solve(one)
        for one in (start, replace(start, weights="fp8"), replace(start, activations="fp8"))
    )
    assert products.saved == 0
    assert wire.tensor_sent == plain.tensor_sent / 2
    assert wire.data_sent == plain.data_sent


def test_mixed_precision_takes_18_bytes_with_fp32_gradients_and_16_with_bf16():
    start = ledger.inputs()
    assert ledger.solve(start).per_parameter == 18
    assert ledger.solve(replace(start, gradients="bf16")).per_parameter == 16
