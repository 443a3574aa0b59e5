"""The pages of recomputation: published numbers, tiles that do what they say, code that follows."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.calculators.one_gpu.recompute_board.result import KEPT_KEYS, NAMES, keep_inputs
from engine.core.numbers import format_value
from engine.core.text import render_text
from engine.core.units import BYTES, SHARE

board, measured = load("recompute_board"), load("recompute_measured")
chain = load("tiny_checkpoints")
START = board.inputs()
GPT = replace(START, **board.presets["GPT 22B on 8 A100, as in 2022"])


def test_the_published_example_of_the_gpt_formula():
    # An 8B model, 8,192 tokens: 380, 36.5 and 2.1 GB for none, selective and full.
    found = board.solve(replace(START, micro_batch_size=1))
    texts = [
        format_value(one, BYTES) for one in (found.gpt_none, found.gpt_selective, found.gpt_full)
    ]
    assert texts == ["380 GB", "36.5 GB", "2.15 GB"]


def test_selective_recomputation_of_a_gpt_keeps_34_bytes_per_token_and_width_over_tensor_ranks():
    # Korthikanti 2022, table 2: 34 s b h / t with sequence parallelism.
    found = board.solve(GPT)
    assert found.kept_layer == pytest.approx(34 * 2048 * 4 * 6144 / 8)


def test_full_recomputation_took_39_percent_longer():
    result = measured.solve(measured.inputs())
    assert format_value(result.measured, SHARE) == "38.8 %"
    assert abs(result.modelled - result.measured) < 0.05


def test_every_switch_has_a_tile_in_some_layer():
    layers = [
        board.solve(one).job.layer
        for one in (
            START,
            replace(START, framework="megatron"),
            GPT,
            replace(GPT, flash_attention=True),
        )
    ]
    keys = {one.key for layer in layers for one in layer.tensors}
    assert keys == set(NAMES)


def pressed(inputs, key):
    """Inputs after a press on a tile."""
    shapes = board.compute(inputs)["board"].frames[0].shapes
    tile = next(one for one in shapes if one.key == f"tile-{key}")
    name, value = tile.attributes["data-grip"], tile.attributes["data-press"]
    return replace(inputs, **{name: value == "on"})


def test_a_press_drops_a_tile_and_another_keeps_it_again():
    once = pressed(START, "gate")
    assert (once.keep_gate, pressed(once, "gate")) == (False, START)


def test_dropping_a_tile_frees_its_bytes_in_every_layer():
    before, after = board.solve(START), board.solve(pressed(START, "gate"))
    assert before.kept - after.kept == 32 * 2 * 8192 * 14_336 * 2


def test_the_policy_saves_what_the_board_keeps():
    kept = replace(START, **keep_inputs("query", "value", "gate", "normalizer", "attended"))
    text = board.compute(kept)["policy"].text
    assert "PRODUCTS = {0, 2, 4}" in text
    assert "ATTENTION = True" in text


@pytest.mark.parametrize(
    ("kept", "line"),
    [
        (KEPT_KEYS, "leave --recompute-granularity out"),
        ((), "--recompute-granularity full"),
        (set(KEPT_KEYS) - {"normed", "normed_2"}, "--recompute-modules layernorm"),
        (set(KEPT_KEYS) - {"gate", "up", "product"}, "--recompute-modules mlp"),
    ],
)
def test_the_options_of_megatron_follow_the_board(kept, line):
    views = board.compute(replace(START, **keep_inputs(*kept)))
    assert line in views["megatron"].text


def test_the_readers_ring_is_never_below_the_stair():
    chart = board.compute(replace(START, keep_key=False, keep_product=False))["pareto"]
    stair = list(zip(chart.series[0].x, chart.series[0].y, strict=True))
    for point in chart.points:
        reached = [y for x, y in stair if x <= point.x * (1 + 1e-9)]
        assert point.y >= min(reached) * (1 - 1e-9)


def test_memory_over_the_step_peaks_at_the_number_that_is_told():
    result = board.solve(START)
    curve = board.compute(START)["over_step"].series[0]
    assert max(curve.y) == pytest.approx(result.total)


def test_the_same_gradient_is_said_of_the_chain():
    assert render_text(chain.compute(chain.inputs())["equal"].text) == "The same gradient"
