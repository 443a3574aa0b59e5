"""Weights gathered or activations added: the same result, and the numbers that formulas say."""

from engine.catalog.models import TINY_260
from engine.formulas.inference import gathered_weights, summed_activations
from engine.formulas.parameters import dense_layer_parameters
from engine.tiny.two_ways import RANKS, two_ways
from tests.each import each

LAYER = dense_layer_parameters(TINY_260).total


@each("tokens", [1, 2, 8, 16])
def test_both_ways_give_the_result_of_one_gpu(tokens):
    assert two_ways(tokens).off <= 1e-12


@each("tokens", [1, 2, 8, 16])
def test_gathering_sends_as_much_whatever_the_tokens(tokens):
    assert two_ways(tokens).weights_sent == 2 * gathered_weights(LAYER, RANKS, 1.0)


@each("tokens", [1, 2, 8, 16])
def test_adding_up_sends_as_much_as_there_are_tokens(tokens):
    expected = 2 * summed_activations(tokens, TINY_260.hidden_size, RANKS, 1.0)
    assert two_ways(tokens).activations_sent == expected
