"""What a step costs: the page's own numbers, and the verdicts of the checker."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.calculators.reference.run_totals import mfu_of
from engine.catalog.reported_hours import WHOLE_RUNS
from engine.core.numbers import format_value
from engine.core.text import render_text
from engine.core.units import DAY, HOUR

token_cost, run_cost, mfu_check = load("token_cost"), load("run_cost"), load("mfu_check")
tiny_token = load("tiny_token")
COST, RUN, CHECK = token_cost.inputs(), run_cost.inputs(), mfu_check.inputs()


def verdict(**changes):
    return mfu_check.compute(replace(CHECK, **changes))["verdict"]


def test_an_h100_trains_llama_3_8b_at_8200_tokens_per_second():
    assert round(run_cost.solve(RUN).rate, -2) == 8200


def test_the_attention_of_an_8b_model_costs_as_much_as_its_matrices_at_28_629_tokens():
    view = token_cost.compute(COST)["break_even"]
    assert format_value(view.value, view.quantity) == "28,629"


def test_half_of_the_pairs_doubles_the_break_even():
    causal = token_cost.solve(replace(COST, counting="causal")).break_even
    assert causal == 2 * token_cost.solve(COST).break_even


def test_more_gpus_move_the_date_and_not_the_bill():
    more = run_cost.solve(replace(RUN, num_gpus=2 * RUN.num_gpus))
    once = run_cost.solve(RUN)
    assert more.days == once.days / 2
    assert more.cost == pytest.approx(once.cost)


def test_the_published_35_ms_are_about_41_tokens():
    # 7e9 parameters, an MFU of one half: the curriculum's 41; Llama 2 7B has 6.74e9.
    found = run_cost.solve(replace(RUN, model="llama-2-7b", utilization=0.5)).printed_tokens
    assert found * 6.738e9 / 7e9 == pytest.approx(41.2, abs=0.1)


def test_the_cost_by_hand():
    found = run_cost.solve(replace(RUN, tokens=1e12, num_gpus=8, price=3 / HOUR))
    seconds = 6 * 8.030e9 * 1e12 / (0.4 * 989e12)
    assert found.gpu_time == pytest.approx(seconds, rel=1e-3)
    assert found.days == pytest.approx(seconds / 8, rel=1e-3)
    assert found.cost == pytest.approx(3 * seconds / HOUR, rel=1e-3)
    assert found.days > 100 * DAY


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("Llama 2 7B", 0.391),
        ("Llama 2 70B", 0.428),
        ("Llama 3.1 405B", 0.345),
        ("DeepSeek-V3", 0.352),
        ("Llama 3.1 70B", 0.255),
        ("Llama 3.1 8B", 0.139),
    ],
)
def test_what_whole_runs_reached(name, share):
    whole_run = next(run for run in WHOLE_RUNS if run.name == name)
    assert mfu_of(whole_run) == pytest.approx(share, abs=0.002)


def test_the_peak_with_sparsity_is_named():
    assert verdict().text == "Peak with sparsity"
    assert "2:4 sparsity" in render_text(verdict().sentence)


def test_the_right_peak_is_named():
    assert verdict(printed=0.455).text == "Right peak"


def test_another_gpus_peak_is_named():
    found = verdict(printed=1.443)
    assert found.text == "Another GPU's peak"
    assert "A100" in render_text(found.sentence)


def test_more_than_the_peak_cannot_be():
    assert verdict(rate=40_000.0).text == "Above the peak"


def test_what_nothing_explains_is_called_unexplained():
    assert verdict(printed=0.01).text == "Unexplained"


def test_without_a_printed_mfu_there_is_nothing_to_explain():
    assert verdict(printed=0.0).text == "Computed"


def test_recomputation_raises_hfu_alone():
    found = mfu_check.solve(replace(CHECK, recompute="full"))
    assert found.mfu == mfu_check.solve(CHECK).mfu
    assert 1.25 < found.hfu / found.mfu < 4 / 3


def test_the_tiny_token_costs_what_pytorch_counts():
    assert tiny_token.solve(tiny_token.inputs()).summed == 2016
