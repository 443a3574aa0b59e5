"""Closed forms of data-parallel communication against the programs that they are the length of."""

import random
from dataclasses import replace

import pytest

from engine.core.registry import module
from engine.simulate.step.exposed_exchange import ShardedUnits, bucketed_wait, sharded_time
from engine.simulate.streams.streams import NETWORK, SCALE_UP, program_length
from engine.simulate.streams.workload import CollectiveGroup, Workload


def group(scatter: float, all_reduce: float, stream: str) -> CollectiveGroup:
    return CollectiveGroup(
        ranks=8,
        all_reduce=lambda size: all_reduce,
        scatter=lambda size: scatter,
        gather=lambda size: scatter / 3,
        stream=stream,
        sent=lambda size: size,
    )


def sharded_workload(units: ShardedUnits, microbatches: int) -> Workload:
    return Workload(
        layers=units.count,
        forward=units.forward,
        backward=units.backward,
        parameters=1.0,
        data=group(units.scatter, 0.0, SCALE_UP),
        replicas=group(0.0, units.copy, NETWORK) if units.copy else None,
        element=2.0,
        gradient=4.0,
        num_microbatches=microbatches,
    )


@pytest.mark.parametrize("seed", range(200))
def test_sharded_time_is_the_length_of_the_played_program(seed):
    draw = random.Random(seed)
    scatter = draw.choice([0.3, 1.0, 3.0, 9.0])
    units = ShardedUnits(
        count=draw.choice([1, 2, 3, 7, 12]),
        forward=draw.uniform(0.5, 2),
        backward=draw.uniform(1, 4),
        gather=scatter / 3,
        scatter=scatter,
        copy=draw.choice([0.0, 0.0, 0.5, 5.0]),
    )
    microbatches = draw.choice([1, 2, 3])
    name = "hybrid_sharded" if units.copy else "fully_sharded"
    program = module("engine.simulate.programs", name).program(
        sharded_workload(units, microbatches)
    )
    assert sharded_time(units, microbatches) == pytest.approx(program_length(program))


def test_two_units_by_hand():
    # Gather 1, forward 2 and 2 hide the gathers, backward 4 and 4 likewise, last scatter 3.
    units = ShardedUnits(count=2, forward=2.0, backward=4.0, gather=1.0, scatter=3.0)
    assert sharded_time(units) == 1 + 2 + 2 + 4 + 4 + 3
    # Three times the gather: 3 + 3 + 3 forward, gathers 3 and 3 and scatters 3 and 3 backward.
    slow = replace(units, gather=6.0, scatter=6.0)
    assert sharded_time(slow) == 6 + 6 + 6 + 6 + 6 + 6


@pytest.mark.parametrize("last", [0.0, 0.8])
@pytest.mark.parametrize(("communication", "computation"), [(4.0, 20.0), (40.0, 20.0), (21.0, 20)])
def test_buckets_wait_as_a_queue_does(communication, computation, last):
    buckets, free = 5, 0.0
    for number in range(1, buckets + 1):
        ready = number * computation / buckets
        free = max(free, ready) + (communication - last) / buckets
    free = max(free, computation) + last
    waits = bucketed_wait(communication, buckets, computation, last)
    assert waits == pytest.approx(free - computation)
