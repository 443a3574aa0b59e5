"""Two counts of parameters: as published, and what each decides."""

import pytest

from engine.calculator import load, make
from engine.core.units import GB

SIZE = load("mixture_size")


def solved(**values):
    return SIZE.solve(make(SIZE, values))


def test_mixtral_is_46_7_billion_and_12_9_at_work():
    # Jiang et al. 2024, section 1: 47B, of which 13B are used for a token.
    found = solved()
    assert [f"{x / 1e9:.1f}" for x in (found.total, found.active)] == ["46.7", "12.9"]


def test_states_are_16_bytes_per_parameter_whether_it_works_or_not():
    found = solved(model="deepseek-v3")
    assert found.states == 16 * found.total
    assert found.mistaken / found.states == pytest.approx(found.share)


def test_two_experts_cost_twice_one():
    assert solved().width == 2.0


def test_deepseek_has_eight_routed_and_one_shared():
    assert solved(model="deepseek-v3").width == 9.0


def test_a_dense_model_is_all_at_work():
    found = solved(model="llama-3-8b")
    assert (found.active, found.share, found.width) == (found.total, 1.0, 1.0)


def test_the_bars_add_up():
    parts = SIZE.compute(make(SIZE, {}))["parts"]
    bars = (parts() if callable(parts) else parts).bars
    total = sum(segment.value for bar in bars for segment in bar.segments)
    assert total == pytest.approx(solved().total)


def test_the_gpus_hold_the_states():
    found = solved()
    assert found.num_gpus * 85.9 * GB > found.states
