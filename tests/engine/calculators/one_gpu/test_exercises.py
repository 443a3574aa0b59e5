"""The exercises of path A up to number formats: what each answer says, worked by hand."""

import math
import struct

import pytest

from engine.calculator import load
from engine.catalog.constants import ACHIEVED, ALLOWANCES
from tests.engine.calculators.asked import solved

LLAMA_8B, LLAMA_70B = 8.0303e9, 70.554e9
H100, A100, B200 = 989e12, 312e12, 2250e12
MEMORY = 79.11 * 2**30


def close(value, rel=1e-3):
    return pytest.approx(value, rel=rel)


# The cost of a training step


def test_seven_million_hours_for_15_trillion_tokens_are_an_mfu_of_25_percent():
    rate = 15e12 / (7.0e6 * 3600)
    found = solved(
        "mfu_check", model="llama-3-70b", gpu="H100-SXM", rate=595.238, counting="six"
    ).mfu
    assert rate == close(595.238, 1e-6)
    assert found == close(6 * LLAMA_70B * rate / H100)
    assert found == close(0.2548)


def test_the_published_hours_are_more_by_the_ratio_of_the_utilizations():
    hours = solved("run_cost", model="llama-3-70b", tokens=15e12, utilization=0.4).gpu_time / 3600
    assert hours == close(6 * LLAMA_70B * 15e12 / (0.4 * H100) / 3600)
    mfu = 6 * LLAMA_70B * 595.238 / H100
    assert 7.0e6 / hours == close(0.4 / mfu)
    assert hours < 7.0e6


def test_sixteen_times_the_context_takes_a_token_four_times_as_long():
    matrices = 6 * (LLAMA_8B - 128_256 * 4096)
    short, long = 12 * 32 * 4096 * 8192, 12 * 32 * 4096 * 131_072
    before, after = (
        solved("token_cost", model="llama-3-8b", sequence_length=n) for n in (8192, 131_072)
    )
    assert before.operations == close(matrices + short)
    assert after.operations == close(matrices + long)
    assert after.operations / before.operations == close(4.337)
    assert (before.longer, after.longer) == (1, close(4.337))
    assert after.attention == close(long / (matrices + long))


def test_with_half_of_the_pairs_half_of_the_attention_is_left_and_six_per_parameter_knows_none():
    causal = solved(
        "token_cost", model="llama-3-8b", sequence_length=131_072, counting="causal"
    ).operations
    half = 6 * 32 * 4096 * 131_072
    assert causal == close(6 * (LLAMA_8B - 128_256 * 4096) + half)
    for length in (8192, 131_072):
        found = solved("token_cost", model="llama-3-8b", sequence_length=length)
        assert found.six == close(6 * LLAMA_8B)


# Where the memory goes


def test_five_gpus_are_the_least_that_fit_and_four_are_tight():
    found = {n: solved("memory_ledger", ranks=n) for n in (1, 4, 5, 6, 8)}
    shown = {n: one.process for n, one in found.items()}
    assert found[5].capacity == MEMORY == close(84.94e9)
    assert found[5].usable == close(0.95 * MEMORY)
    assert shown[1] > 16 * LLAMA_8B > MEMORY
    assert shown[4] > MEMORY > found[5].usable > shown[5] > shown[6] > shown[8]
    assert [found[n].fit.verdict for n in (1, 4, 5)] == ["does not fit", "tight", "fits"]
    # Only the states are divided, and the allocator reserves a share beyond what is in use.
    saved = (1 + ALLOWANCES.fragments) * 16 * LLAMA_8B
    assert shown[4] - shown[5] == close(saved * (1 / 4 - 1 / 5))
    assert shown[5] - shown[6] == close(saved * (1 / 5 - 1 / 6))
    assert shown[6] - shown[8] == close(saved * (1 / 6 - 1 / 8))


def test_three_gpus_are_enough_where_every_layer_is_recomputed():
    two, three = (solved("memory_ledger", ranks=n, recompute="full") for n in (2, 3))
    assert (two.fit.verdict, three.fit.verdict) == ("tight", "fits")
    assert MEMORY > two.process > 0.95 * MEMORY > three.process
    saved = (1 + ALLOWANCES.fragments) * 16 * LLAMA_8B
    assert two.process - three.process == close(saved * (1 / 2 - 1 / 3))


def test_activations_and_logits_double_with_the_sequence_and_states_and_the_total_do_not():
    once = solved("memory_ledger", ranks=8)
    twice = solved("memory_ledger", ranks=8, sequence_length=16_384)
    logits = {n: solved("memory_ledger", sequence_length=n).logits for n in (8192, 16_384)}
    assert logits == {8192: close(4 * 8192 * 128_256), 16_384: close(4 * 16_384 * 128_256)}
    # No GPU shares a sequence, so that the number of GPUs changes no logits.
    assert (once.logits, twice.logits) == (logits[8192], logits[16_384])
    assert once.activations > once.logits
    assert twice.activations == close(2 * once.activations)
    assert once.states == twice.states == close(16 * LLAMA_8B / 8)
    assert twice.total - once.total == close(once.activations)
    assert once.total < twice.total < 2 * once.total


# Rooflines


def test_a_b200_has_nearly_the_ridge_of_an_h100_and_so_needs_nearly_as_many_tokens():
    ridges = {"B200": B200 / 8e12, "H100-SXM": H100 / 3.35e12}
    assert solved("roofline_point", gpu="B200").ridge == close(ridges["B200"])
    assert ridges["B200"] / ridges["H100-SXM"] == close(0.9527)
    for gpu, ridge in ridges.items():
        # 2 m n k operations over 2 (m k + k n + m n) bytes, n = k = 4,096, solved for m.
        rows = 4096 * ridge / (4096 - 2 * ridge)
        assert solved("product_roofline", gpu=gpu).enough == math.ceil(rows) > 64


def test_64_tokens_get_faster_by_the_ratio_of_the_bandwidths():
    per_byte = 2 * 64 * 4096**2 / (2 * (2 * 64 * 4096 + 4096**2))
    new, old = (solved("product_roofline", gpu=gpu).rate for gpu in ("B200", "H100-SXM"))
    assert new == close(per_byte * 8e12)
    assert old == close(per_byte * 3.35e12)
    assert new < B200
    assert old < H100
    assert new / old == close(8 / 3.35)
    assert new / old > 2


# Of a layer of Llama 3 8B: elements that each token moves, one by one. Fused, two norms read and
# write, two additions read twice and write, a rotation of queries and keys reads and writes, and
# the gate's activation reads twice and writes. Unfused, a norm takes 18 passes (to fp32 3, square
# 4, mean 2, scale 4, back 3, weight 2), the rotation 12.5 and the activation 5.
FUSED = 4096 * 2 * (2 + 3) + 40 * 128 * 2 + 14_336 * 3
UNFUSED = 4096 * 2 * (18 + 3) + 40 * 128 * 12.5 + 14_336 * 5
# Of the same layer: operations of a token, whose attention sees half of 8,192 others.
OPERATIONS = 2 * (4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14_336) + 4 * 4096 * 8192 / 2


def waiting(elements, peak, bandwidth):
    swept, computed = 2 * elements / bandwidth, OPERATIONS / peak
    return swept / (swept + computed)


def test_a_fused_layer_still_waits_for_the_fewer_passes_over_its_elements():
    before = solved("layer_roofline", gpu="A100-SXM-80GB").waiting
    after = solved("layer_roofline", gpu="A100-SXM-80GB", fused=True).waiting
    assert before == close(waiting(UNFUSED, A100, 2.039e12))
    assert after == close(waiting(FUSED, A100, 2.039e12))
    assert after < before


def test_what_waits_for_memory_weighs_more_on_an_h100_although_its_memory_is_faster():
    ampere = solved("layer_roofline", gpu="A100-SXM-80GB", fused=True)
    hopper = solved("layer_roofline", fused=True)
    assert hopper.waiting == close(waiting(FUSED, H100, 3.35e12))
    assert hopper.waiting > ampere.waiting
    assert hopper.peak / ampere.peak == close(989 / 312)
    assert hopper.bandwidth / ampere.bandwidth == close(3.35 / 2.039)
    assert hopper.peak / ampere.peak > hopper.bandwidth / ampere.bandwidth > 1


# Inside the GPU


def test_three_percent_fewer_multiprocessors_cost_half_of_the_speed():
    alone = solved("tile_scheduler", rows=1408, columns=3072)
    beside = solved("tile_scheduler", rows=1408, columns=3072, sms=128)
    assert (1408 // 128) * (3072 // 256) == 132 == alone.tiles
    # What an H100 reaches in large products and the wait of a wave are measured.
    reached = ACHIEVED["H100 SXM"]
    wave = 2 * 128 * 256 * 4096 / (H100 * reached.matmul / 132) + reached.fill
    assert alone.rate == close(2 * 1408 * 3072 * 4096 / wave)
    assert beside.rate == close(2 * 1408 * 3072 * 4096 / (2 * wave))
    assert beside.rate == close(alone.rate / 2)


def test_132_tiles_use_half_of_two_waves_of_128():
    found = solved("wave_quantization", tiles=132, sms=128)
    assert found.waves == 2
    assert found.efficiency == close(132 / 256)


def test_smaller_tiles_soften_the_loss():
    whole, fewer = (
        solved(
            "tile_scheduler", rows=1408, columns=3072, sms=sms, tile_rows=64, tile_columns=128
        ).rate
        for sms in (132, 128)
    )
    # 22 by 24 tiles are four waves of 132, and four waves of 128 and 16 tiles more.
    assert fewer / whole == close(4 / 5)


def test_from_896_tokens_on_nine_tenths_of_the_gpu_are_in_use():
    found = {n: solved("wave_quantization", tiles=112 * n, sms=132) for n in range(1, 67)}
    used = {128 * n: one.efficiency for n, one in found.items()}
    assert all((one.waves >= 6) == (n > 5) for n, one in found.items())
    for tokens, share in used.items():
        tiles = tokens // 128 * (28_672 // 256)
        assert share == close(tiles / (132 * math.ceil(tiles / 132)))
    assert [used[n] for n in (128, 256, 512)] == [close(112 / 132)] * 3
    assert used[768] < 0.9
    assert used[896] == close(784 / 792)
    from_there = {tokens: share for tokens, share in used.items() if tokens >= 896}
    assert min(from_there, key=lambda tokens: from_there[tokens]) == 1664
    assert from_there[1664] == close(1456 / (12 * 132))
    assert from_there[1664] > 0.9
    # Beyond, all waves but one are full.
    assert 112 * 67 // 132 / (112 * 67 // 132 + 1) > 0.98


# Number formats


def in_fp16(value):
    return struct.unpack("e", struct.pack("e", value))[0]


def test_what_is_added_to_a_weight_of_1_must_be_more_than_half_of_a_step():
    half, eighth = (solved("vanishing_update", number_format=n).limit for n in ("fp16", "e4m3"))
    assert half == 2**-10 / 2
    assert (in_fp16(1 + half), in_fp16(1 + 1.001 * half)) == (1, 1 + 2**-10)
    # The next number after 1 with three mantissa bits is 1.125.
    assert eighth == (1.125 - 1) / 2


def test_subtracting_more_than_half_as_much_moves_a_weight_of_1():
    half = solved("vanishing_update", number_format="fp16").limit
    assert (in_fp16(1 - half / 2), in_fp16(1 - 1.001 * half / 2)) == (1, 1 - 2**-11)


def test_a_thousand_updates_of_a_percent_leave_a_weight_of_eight_bits_where_it_was():
    found = solved("vanishing_update", number_format="e4m3", update=0.01, steps=1000)
    assert found.exact == close(11)
    assert found.nearest == 1
    assert found.stochastic > 2


def zeros(values, width, off=1.0):
    """Values below a quarter of their scale: four bits have 0.5 above 0, and 6 is the largest."""
    blocks = [values[at : at + width] for at in range(0, len(values), width)]
    return [sum(abs(one) <= off * max(map(abs, some)) / 6 / 4 for one in some) for some in blocks]


@pytest.mark.parametrize("placed", [{"outlier": 1.0}, {}])
def test_four_bits_make_zero_of_what_is_below_a_quarter_of_the_scale(placed):
    one = solved("block_scales", recipe="fp4", **placed)
    assert one.lost == sum(zeros(one.values, 1024)) / 1024
    many = solved("block_scales", recipe="nvfp4", **placed)
    # A scale in E4M3, of three mantissa bits, is off by up to a sixteenth.
    low, high = (sum(zeros(many.values, 16, off)) / 1024 for off in (15 / 16, 17 / 16))
    assert low <= many.lost <= high
    assert many.lost < one.lost


def test_with_one_scale_an_outlier_column_leaves_nothing_but_itself():
    assert solved("block_scales", recipe="fp4").lost == 1 - (1024 // 128) / 1024


def test_with_nvfp4_only_the_blocks_that_hold_an_outlier_suffer():
    def lost(**placed):
        values = solved("block_scales", recipe="nvfp4", **placed).all["nvfp4"].values
        return [values[at : at + 16].count(0) for at in range(0, 1024, 16)]

    before, after = lost(outlier=1.0), lost()
    assert load("block_scales").defaults["outlier"] == 100
    # Outliers are the 38th of each row of 128: in the third of its eight blocks.
    held = range(2, 64, 8)
    assert [at for at in range(64) if after[at] != before[at]] == list(held)
    assert all(after[at] > before[at] for at in held)
