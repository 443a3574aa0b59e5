"""Checkpoints change no digit of a gradient; what they hold follows the formula."""

import pytest

from engine.formulas.recomputation import checkpoints_held
from engine.tiny.checkpoints import train

ALL = [(layers, every) for layers in (2, 6, 9) for every in range(1, layers + 1)]


@pytest.mark.parametrize(("layers", "every"), ALL)
def test_the_gradient_is_the_same_to_the_last_bit(layers, every):
    assert train(layers, every).off == 0.0


@pytest.mark.parametrize(("layers", "every"), [pair for pair in ALL if pair[0] % pair[1] == 0])
def test_what_is_held_follows_the_formula_where_segments_are_even(layers, every):
    assert train(layers, every).most == checkpoints_held(layers, every)


@pytest.mark.parametrize(("layers", "every"), ALL)
def test_what_is_held_is_never_more_than_the_formula_says(layers, every):
    assert train(layers, every).most <= checkpoints_held(layers, every)


def test_every_layer_but_the_checkpoints_and_the_ends_runs_again():
    # Nine layers in segments of three: in each, two layers make the inputs of the next two.
    assert train(9, 3).repeated == 6


def test_with_a_checkpoint_at_every_layer_nothing_runs_again():
    assert train(9, 1).repeated == 0


def test_the_root_is_the_best_distance():
    held = [train(16, every).most for every in range(1, 17)]
    assert min(held) == held[3] == 7
