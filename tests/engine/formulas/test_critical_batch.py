"""The critical batch and the optimizer at another batch size, worked by hand."""

import math

import pytest

from engine.calculators.one_gpu import batch_growth
from engine.core.numbers import format_value
from engine.formulas.batch_noise import (
    batch_tokens,
    critical_batch,
    rescaled_decay,
    tokens_over_least,
)


def test_ten_times_the_data_allow_three_times_the_batch():
    # 10 to the power 0.47 (Zhang et al. 2024) is 2.95.
    assert critical_batch(1e12, 1e6, 1e11, 0.47) == pytest.approx(2.951e6, rel=1e-3)
    assert critical_batch(1e11, 1e6, 1e11, 0.47) == 1e6


def test_the_critical_batch_needs_a_fifth_more_tokens():
    assert tokens_over_least(3e6, 3e6) == 1.2
    # The same as McCandlish's tokens with a noise scale of five critical batches.
    assert batch_tokens(3e6, 15e6, 1.0) / 15e6 == pytest.approx(1.2)


def test_the_half_life_stays_in_tokens():
    # 0.95 a step at a million tokens: half after 13.5 steps. At four millions, after 3.38.
    other = rescaled_decay(0.95, 4.0)
    assert 1e6 * math.log(0.5) / math.log(0.95) == pytest.approx(
        4e6 * math.log(0.5) / math.log(other)
    )


def test_unlimited_gpus_leave_the_steps_that_remain():
    found = batch_growth.solve(batch_growth.Inputs())
    # A fifth of a trillion tokens in batches of 2.95 million, each step 8,192 / 8,000 s long.
    steps = 0.2 * 1e12 / found.critical
    assert found.floor == pytest.approx(steps * 8192 / 8000, rel=1e-6)


def test_adam_takes_the_root_and_sgd_the_ratio():
    four = {"num_gpus": 512, "tokens_per_gpu": 8192, "tuned_batch": 1_048_576.0, "tokens": 15e12}
    adam = batch_growth.solve(batch_growth.Inputs(**four))
    sgd = batch_growth.solve(batch_growth.Inputs(**four, optimizer="sgd"))
    assert adam.rate == pytest.approx(6e-4)
    assert sgd.rate == pytest.approx(12e-4)
    assert adam.rescaled == pytest.approx(0.95**4)


def test_nothing_is_scaled_past_the_critical_batch():
    # 1e6 times 10 to the power 0.47 tokens are critical, whatever more the GPUs bring.
    many = batch_growth.solve(batch_growth.Inputs(num_gpus=65_536))
    more = batch_growth.solve(batch_growth.Inputs(num_gpus=512))
    assert many.scaled == more.scaled == many.critical == pytest.approx(2.951e6, rel=1e-3)
    assert many.rate == more.rate == pytest.approx(3e-4 * math.sqrt(2.951), rel=1e-3)
    assert many.rescaled == more.rescaled == pytest.approx(0.95**2.951, rel=1e-3)
    # Tuned above it and run above it: nothing changes.
    above = batch_growth.solve(batch_growth.Inputs(num_gpus=1024, tuned_batch=4e6))
    assert above.rate == 3e-4


def test_a_learning_rate_is_no_multiple():
    inputs = batch_growth.Inputs()
    rate = batch_growth.views(inputs, batch_growth.solve(inputs))["rate"]
    assert format_value(rate.value, rate.quantity) == "0.000515"
