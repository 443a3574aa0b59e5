"""Published GPU-hours beside the forecast of their steps, and the factor between them."""

import pytest

from engine.catalog.reported_hours import WHOLE_RUNS
from engine.core.units import HOUR
from engine.form import plan_to_reality
from engine.formulas.parameters import total_parameters
from tests.validation.whole_runs import forecast_hours, run_of

BY_NAME = {run.name: run for run in WHOLE_RUNS}


@pytest.mark.parametrize("name", BY_NAME)
def test_the_forecast_is_the_step_models(name):
    # Written by `python -m tests.validation.whole_runs`: run it after a change of the step model.
    assert BY_NAME[name].forecast / HOUR == pytest.approx(forecast_hours(BY_NAME[name]), rel=5e-3)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_plan_is_possible_as_it_stands(name):
    assert run_of(BY_NAME[name])[1]


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("Llama 3.1 8B", 1.46e6),
        ("Llama 3.1 70B", 7.0e6),
        ("Llama 3.1 405B", 30.84e6),
        ("DeepSeek-V3", 2.664e6),
        ("BLOOM 176B", 1_082_990),
        ("LLaMA 65B", 1_022_362),
        ("MPT-7B", 440 * 9.5 * 24),
        ("Phi-4", 1920 * 21 * 24),
        ("Llama 2 34B", 1_038_336),
        ("Llama 3.2 1B", 370_000),
        ("Llama 3.2 3B", 460_000),
        ("Phi-3 mini", 512 * 10 * 24),
        ("Phi-3 medium", 512 * 42 * 24),
        ("Phi-3.5 MoE", 512 * 23 * 24),
        ("GRIN MoE", 512 * 18 * 24),
        ("GPT-NeoX 20B", 1830 * 96),
        ("StarCoderBase 15.5B", 320_256),
        ("BloombergGPT 50B", 651_264),
        ("SmolLM3 3B", 221_184),
        ("Apertus 70B", 6e6),
    ],
)
def test_the_hours_are_the_sources(name, hours):
    assert BY_NAME[name].gpu_time / HOUR == pytest.approx(hours)


def test_the_factors_are_those_of_the_runs():
    # Pages that need the factor alone take it from the small table.
    assert pytest.approx([run.factor for run in WHOLE_RUNS], rel=1e-5) == plan_to_reality.FACTORS
    assert set(plan_to_reality.SOURCES) == {run.source for run in WHOLE_RUNS}


def test_the_inconvenient_runs_are_in_the_table():
    assert BY_NAME["Llama 3.1 8B"].factor > 2.5
    assert BY_NAME["Llama 3.2 1B"].factor > 4
    assert BY_NAME["Falcon 180B"].factor < 1


def test_the_factor_is_the_median_and_the_middle_eight_tenths():
    # Of 35 sorted factors: the 18th; four tenths between the 4th and the 5th, and likewise above.
    factors = sorted(run.factor for run in WHOLE_RUNS)
    assert len(factors) == 35
    assert pytest.approx(factors[17]) == plan_to_reality.MEDIAN
    assert pytest.approx(0.6 * factors[3] + 0.4 * factors[4]) == plan_to_reality.LOW
    assert pytest.approx(0.4 * factors[30] + 0.6 * factors[31]) == plan_to_reality.HIGH


def test_what_runs_took_in_the_end_is_the_steps_times_the_factor():
    low, median, high = plan_to_reality.in_the_end(100.0)
    assert low < median < high
    assert median == pytest.approx(100 * plan_to_reality.MEDIAN)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Phi-3 medium", 13.96e9),
        ("StarCoderBase 15.5B", 15.5e9),
        ("BloombergGPT 50B", 50.6e9),
        ("SmolLM3 3B", 3.075e9),
        ("Apertus 70B", 70.6e9),
    ],
)
def test_the_shape_of_a_model_without_a_row_has_its_parameters(name, parameters):
    assert total_parameters(BY_NAME[name].shape) == pytest.approx(parameters, rel=0.02)
