"""Batches for a router: queues hold every choice once, kept ones first; seeds and preferences."""

from statistics import fmean

import pytest

from engine.simulate.layer.routed_batch import (
    expert_queues,
    lost_tokens,
    route_batch,
    sample_logits,
)
from engine.simulate.layer.router import Router, route_tokens

FLAT = (0.0,) * 8
ROUTER = Router(experts_per_token=2, capacity_factor=1.0)


def test_the_queues_hold_every_choice_once():
    _, routing = route_batch(ROUTER, FLAT, 64)
    pairs = [pair for queue in expert_queues(routing) for pair in queue]
    assert sorted(pairs) == [(token, slot) for token in range(64) for slot in range(2)]


def test_a_queue_has_its_kept_tokens_first_and_no_more_than_its_capacity():
    _, routing = route_batch(ROUTER, FLAT, 64)
    for queue in expert_queues(routing):
        kept = [routing.kept[token][slot] for token, slot in queue]
        assert kept == sorted(kept, reverse=True)
        assert sum(kept) <= routing.capacity


def test_a_preferred_expert_is_asked_more():
    _, plain = route_batch(ROUTER, FLAT, 64)
    _, favored = route_batch(ROUTER, (2.0, *FLAT[1:]), 64)
    assert favored.asked[0] > plain.asked[0]


def test_the_noise_has_no_preference_of_its_own():
    rows = sample_logits(FLAT, 4096, seed=3)
    assert [fmean(column) for column in zip(*rows, strict=True)] == pytest.approx(
        [0.0] * 8, abs=0.1
    )


def test_a_token_is_lost_if_no_expert_of_it_has_room():
    # Room for one each: the second token finds its only expert full, the third has one of its own.
    rows = ((1.0, 0.0), (2.0, 0.0), (0.0, 1.0))
    routing = route_tokens(Router(num_experts=2, capacity_factor=0.5), rows)
    assert (routing.capacity, lost_tokens(routing)) == (1, 1)
