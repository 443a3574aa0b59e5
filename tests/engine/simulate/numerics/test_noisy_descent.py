"""The noise scale: published shares, limits, and the formula against simulated descents."""

import math

import pytest

from engine.formulas.batch_noise import (
    batch_steps,
    batch_tokens,
    kaplan_critical_batch,
    progress,
)
from engine.simulate.numerics.noisy_descent import (
    START,
    descend,
    estimate_noise_scale,
    gradient_noise,
    loss,
    mean_progress,
    noise_scale_at,
    squared_gradient,
)


@pytest.mark.parametrize(("ratio", "share"), [(0.25, 0.2), (1, 0.5), (4, 0.8)])
def test_the_published_shares(ratio, share):
    assert progress(ratio * 1e6, 1e6) == pytest.approx(share)


def test_steps_and_tokens_lie_on_a_hyperbola():
    # (S/S_min - 1)(E/E_min - 1) = 1, with E_min = S_min B_noise.
    for batch in (1e3, 1e6, 1e9):
        steps, tokens = batch_steps(batch, 2e6, 100), batch_tokens(batch, 2e6, 100)
        assert (steps / 100 - 1) * (tokens / (100 * 2e6) - 1) == pytest.approx(1)
        assert tokens == pytest.approx(steps * batch)


def test_the_two_batch_formulas_undo_what_noise_adds():
    # Squared lengths grow by S/B: G² = 3, S = 100.
    small, big = 3 + 100 / 4, 3 + 100 / 64
    assert squared_gradient(small, big, 4, 64) == pytest.approx(3)
    assert gradient_noise(small, big, 4, 64) == pytest.approx(100)


def test_kaplan_by_hand():
    assert kaplan_critical_batch(1.0) == 2e8
    assert kaplan_critical_batch(2.0) == pytest.approx(2e8 / 2 ** (1 / 0.21))


@pytest.mark.parametrize("batch", [4, 64, 1024])
def test_the_simulated_first_step_gains_what_the_formula_says(batch):
    noise = 20.0
    expected = progress(batch, noise_scale_at(*START, noise))
    assert mean_progress(batch, noise, 40_000) == pytest.approx(expected, rel=0.06)


def test_without_noise_the_way_leads_to_the_bottom():
    assert descend(16, 0.0).losses[-1] < 1e-6 * loss(*START)


def test_a_larger_batch_gets_further_down():
    ends = [descend(batch, 20.0).losses[-1] for batch in (1, 64, 4096)]
    assert ends == sorted(ends, reverse=True)


def test_the_same_seed_gives_the_same_way():
    assert descend(8, 5.0) == descend(8, 5.0)
    assert descend(8, 5.0, seed=2) != descend(8, 5.0)


@pytest.mark.parametrize("scale", [100.0, 10_000.0])
def test_many_measurements_find_the_true_noise_scale(scale):
    found = estimate_noise_scale(scale, round(scale / 10), round(scale), 400)
    assert found.scale == pytest.approx(scale, rel=0.15)
    assert found.square == pytest.approx(1, rel=0.15)


def test_an_estimate_has_an_answer_for_every_measurement():
    found = estimate_noise_scale(1000.0, 8, 64, 50)
    assert len(found.running) == 50
    assert all(math.isfinite(one) for one in found.running)
