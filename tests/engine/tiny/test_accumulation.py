"""Accumulation: exact where tokens weigh alike, and wrong by a computed share where they do not."""

import pytest

from engine.tiny.accumulation import LENGTHS, accumulate
from engine.tiny.matrix import dot

COUNTS = (1, 2, 4, 8)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("lengths", list(LENGTHS))
def test_a_sum_over_tokens_is_the_gradient_of_one_batch(count, lengths):
    assert accumulate(count, lengths, "tokens").off < 1e-14


@pytest.mark.parametrize("count", COUNTS)
def test_a_mean_of_means_is_exact_where_all_are_equally_long(count):
    assert accumulate(count, "even", "means").off < 1e-14


@pytest.mark.parametrize("count", COUNTS[1:])
def test_a_mean_of_means_is_wrong_where_lengths_differ(count):
    found = accumulate(count, "uneven", "means")
    assert found.off > 0.1
    # The difference of the gradients by hand: every part counts N/(g n) of what it should.
    weights = [part.weight * sum(LENGTHS["uneven"]) for part in found.parts]
    right = accumulate(count, "uneven", "tokens")
    apart = [0.0] * len(found.whole)
    for weight, part in zip(weights, right.parts, strict=True):
        apart = [a + (weight - 1) * g for a, g in zip(apart, part.gradient, strict=True)]
    assert found.off == pytest.approx((dot(apart, apart) / dot(right.whole, right.whole)) ** 0.5)


def test_weights_of_all_tokens_add_up_to_one():
    for weighting in ("tokens", "means"):
        parts = accumulate(4, "uneven", weighting).parts
        assert sum(part.weight * part.tokens for part in parts) == pytest.approx(1)


def test_a_micro_batch_keeps_the_activations_of_its_own_tokens():
    found = accumulate(4, "even", "tokens")
    assert [part.activations for part in found.parts] == [found.activations // 4] * 4
