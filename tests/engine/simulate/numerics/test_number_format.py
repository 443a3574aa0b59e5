"""Number formats against the tables of IEEE 754 and of the OCP specifications, and by hand."""

import math
import random
import struct

import pytest

from engine.simulate.numerics.block_scaling import (
    RECIPES,
    SIZE,
    block_scales,
    quantize,
    sample_tensor,
)
from engine.simulate.numerics.number_format import (
    FORMATS,
    decode_bits,
    encode_bits,
    round_to_format,
    spacing_at,
)
from engine.simulate.numerics.small_updates import accumulate_updates

E4M3, E5M2, E2M1 = FORMATS["e4m3"], FORMATS["e5m2"], FORMATS["e2m1"]
CHANCE = random.Random("numbers")
SOME = [CHANCE.uniform(-1, 1) * 10 ** CHANCE.uniform(-9, 5) for _ in range(400)]


@pytest.mark.parametrize(
    ("name", "largest", "normal", "smallest"),
    [
        # IEEE 754, table 3.5, and OCP OFP8 table 2, OCP MX table 5.
        ("fp32", (2 - 2**-23) * 2.0**127, 2.0**-126, 2.0**-149),
        ("bf16", (2 - 2**-7) * 2.0**127, 2.0**-126, 2.0**-133),
        ("fp16", 65_504.0, 2.0**-14, 2.0**-24),
        ("e5m2", 57_344.0, 2.0**-14, 2.0**-16),
        ("e4m3", 448.0, 2.0**-6, 2.0**-9),
        ("e2m1", 6.0, 1.0, 0.5),
    ],
)
def test_the_ends_of_every_format_are_those_of_its_specification(name, largest, normal, smallest):
    form = FORMATS[name]
    assert (form.largest, form.smallest_normal, form.smallest) == (largest, normal, smallest)


def test_fp4_has_these_numbers():
    codes = [f"{code:04b}" for code in range(8)]
    assert [decode_bits(E2M1, code) for code in codes] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


@pytest.mark.parametrize("form", [E4M3, E5M2, E2M1], ids=lambda form: form.name)
def test_every_number_of_a_small_format_keeps_its_bits_and_its_value(form):
    for code in (f"{number:0{form.bits}b}" for number in range(1 << form.bits)):
        value = decode_bits(form, code)
        if math.isfinite(value):
            assert (encode_bits(form, value), round_to_format(form, value)) == (code, value)


@pytest.mark.parametrize(("name", "letter"), [("fp32", "f"), ("fp16", "e")])
def test_rounding_is_that_of_the_machine(name, letter):
    form = FORMATS[name]
    inside = [value for value in SOME if abs(value) < form.largest]
    machine = [struct.unpack(f"<{letter}", struct.pack(f"<{letter}", v))[0] for v in inside]
    assert [round_to_format(form, value) for value in inside] == machine


def test_the_bits_of_fp32_are_those_of_the_machine():
    for value in SOME:
        single = round_to_format(FORMATS["fp32"], value)
        code = f"{struct.unpack('>I', struct.pack('>f', single))[0]:032b}"
        assert encode_bits(FORMATS["fp32"], single) == code


def test_bf16_is_the_upper_half_of_fp32():
    for value in SOME:
        half = round_to_format(FORMATS["bf16"], value)
        assert encode_bits(FORMATS["fp32"], half) == encode_bits(FORMATS["bf16"], half) + 16 * "0"


@pytest.mark.parametrize(
    ("form", "value", "expected"),
    [
        (E4M3, 449.0, 448.0),
        (E4M3, 1000.0, 448.0),
        (E5M2, 1e6, 57_344.0),
        (E2M1, 5.0, 4.0),  # halfway between 4 and 6: the even mantissa
        (E2M1, 2.5, 2.0),
        (E2M1, 3.5, 4.0),
        (E2M1, 0.25, 0.0),
        (E4M3, 2.0**-10, 0.0),
        (FORMATS["fp16"], 70_000.0, math.inf),
        (FORMATS["bf16"], 1 + 2.0**-8, 1.0),
        (FORMATS["bf16"], 1 + 3 * 2.0**-8, 1 + 2.0**-6),
    ],
)
def test_rounding_by_hand(form, value, expected):
    assert round_to_format(form, value) == expected
    assert round_to_format(form, -value) == -expected


def test_stochastic_rounding_is_right_on_average():
    form, value = FORMATS["bf16"], 1.001
    found = [round_to_format(form, value, at / 1000) for at in range(1000)]
    assert sum(found) / 1000 == pytest.approx(value, abs=1e-5)
    assert set(found) == {1.0, 1 + spacing_at(form, 1.0)}


def test_an_update_below_half_a_step_vanishes_in_bf16():
    half = FORMATS["bf16"].half_step
    assert half == 2.0**-8
    assert accumulate_updates("bf16", 1.0, 0.99 * half, 50).nearest[-1] == 1.0
    assert accumulate_updates("bf16", 1.0, 1.01 * half, 50).nearest[-1] > 1.0


def test_a_copy_in_fp32_follows_the_exact_sum():
    found = accumulate_updates("bf16", 1.0, 0.001, 1000)
    assert found.nearest[-1] == 1.0
    assert found.master[-1] == pytest.approx(2.0, rel=2**-8)
    assert found.stochastic[-1] == pytest.approx(2.0, rel=0.1)


def test_mx_scales_are_powers_of_two_by_the_rule_of_the_specification():
    # The largest value of the block is 5: 2^(2 - 2) for FP4, 2^(2 - 8) for E4M3.
    values = (5.0, *(0.1 for _ in range(31)))
    assert (block_scales(values, "mxfp4"), block_scales(values, "mxfp8")) == ([1.0], [2.0**-6])


def test_nvfp4_has_two_levels_of_scales():
    values = (*(6.0 * 448 for _ in range(16)), *(12.0 for _ in range(16)))
    # The tensor's scale is 1; the blocks' are 448 and 2, both numbers of E4M3.
    assert block_scales(values, "nvfp4") == [448.0, 2.0]
    assert quantize(values, "nvfp4").error == 0


def test_bits_per_value_count_the_scales():
    bits = {key: recipe.bits for key, recipe in RECIPES.items()}
    assert (bits["mxfp8"], bits["mxfp4"], bits["nvfp4"], bits["row"]) == (8.25, 4.25, 4.5, 8.25)


def test_blocks_keep_what_one_scale_loses_beside_outliers():
    values = sample_tensor(1.0, 3000.0)
    lost = {key: quantize(values, key).lost for key in ("fp4", "mxfp4", "nvfp4")}
    assert lost["fp4"] > 0.9
    assert max(lost["mxfp4"], lost["nvfp4"]) < lost["fp4"] - 0.3


def test_small_gradients_vanish_in_unscaled_fp8_and_not_in_bf16():
    values = sample_tensor(1e-5, 1.0)
    assert (quantize(values, "e4m3").lost, quantize(values, "bf16").lost) == (1.0, 0.0)


def test_the_tensor_is_the_same_every_time():
    assert sample_tensor(1.0, 10.0) is sample_tensor(1.0, 10.0)
    assert len(sample_tensor(1.0, 10.0)) == SIZE
