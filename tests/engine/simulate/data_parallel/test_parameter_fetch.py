"""What ZeRO-3 gathers: as DeepSpeed's own coordinator does, and by hand on a toy.

The numbers of the real models are those that `PartitionedParameterCoordinator` of DeepSpeed 0.19.6
gave in its third step, its collectives replaced by notes of what they were called with.
"""

import pytest

from engine.catalog.models import MODELS
from engine.simulate.data_parallel.fetched_step import (
    FetchSettings,
    fetch_schedule,
    gathered_elements,
)
from engine.simulate.data_parallel.gradient_buckets import registration_order

SIZES = [tensor.parameters for tensor in registration_order(MODELS["llama-3-8b"])]


@pytest.mark.parametrize(
    ("knobs", "live", "calls"),
    [
        (FetchSettings(), 1_515_192_320, 241),
        (FetchSettings(prefetch=0), 525_336_576, 451),
        (FetchSettings(prefetch=3e9, reuse=1e8), 1_515_192_320, 225),
        (FetchSettings(persistent=0), 1_515_237_376, 241),
    ],
)
def test_a_step_of_8b_gathers_what_deepspeed_gathers(knobs, live, calls):
    found = fetch_schedule(SIZES, knobs)
    assert found.live == pytest.approx(live, rel=1e-3)
    assert found.calls == calls


def test_the_limit_of_live_parameters_is_overshot_by_a_large_tensor():
    assert fetch_schedule(SIZES, FetchSettings()).live > FetchSettings().live


def test_a_toy_step_by_hand():
    # Three modules of 10. Prefetch of one: the next is fetched beside each. Nothing is reused, so
    # the top module is freed at the turn although it comes next, and gathered again.
    found = fetch_schedule(
        [10.0, 10.0, 10.0], FetchSettings(prefetch=10, live=20, reuse=0, persistent=0)
    )
    assert [visit.module for visit in found.visits] == [0, 1, 2, 2, 1, 0]
    assert [visit.missing for visit in found.visits] == [True, False, False, True, False, False]
    assert [visit.ahead for visit in found.visits] == [(1,), (2,), (1,), (), (0,), ()]
    assert found.live == 20
    assert gathered_elements([10.0, 10.0, 10.0], found) == 60


def test_the_least_reuse_distance_keeps_the_top_module():
    found = fetch_schedule(
        [10.0, 10.0, 10.0], FetchSettings(prefetch=10, live=20, reuse=1, persistent=0)
    )
    assert [visit.missing for visit in found.visits] == [True] + 5 * [False]
    assert gathered_elements([10.0, 10.0, 10.0], found) == 50


def test_without_prefetch_every_module_waits_for_its_own():
    found = fetch_schedule([10.0] * 4, FetchSettings(prefetch=0, reuse=0, persistent=0))
    assert found.calls == 8
    assert all(visit.missing for visit in found.visits)
    assert found.live == 10


def test_persistent_tensors_are_never_gathered():
    found = fetch_schedule([5.0, 10.0, 5.0], FetchSettings(prefetch=0, reuse=0, persistent=5))
    assert found.persistent == 10
    assert [visit.module for visit in found.visits if visit.missing] == [1, 1]


def test_a_reuse_distance_as_long_as_the_model_gathers_everything_once():
    found = fetch_schedule([10.0] * 4, FetchSettings(prefetch=0, live=1e9, reuse=1e9, persistent=0))
    assert gathered_elements([10.0] * 4, found) == 40
    assert found.live == 40
