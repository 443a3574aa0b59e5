"""Every number of micro-batches that a framework takes can be played, and no other is refused."""

from itertools import product

import pytest

from engine.core import registry
from engine.schedules import interleaved
from engine.simulate.pipeline.pipeline import PACKAGE
from tests.each import each

SIZES = list(product(range(2, 17), range(1, 70)))


def rounds(p, m):
    """PyTorch 2.13, ScheduleInterleaved1F1B and ScheduleInterleavedZeroBubble."""
    return m % max(1, m // p) == 0


def groups(p, m, size):
    """Megatron Core 0.19, forward_backward_pipelining_with_interleaving: two refusals."""
    return p <= size <= m and not 0 < m % size < p


def any_group(p, m):
    return any(groups(p, m, size) for size in range(1, m + 1))


def always(p, m):
    return True


# What each framework takes of (stages, micro-batches), from its source.
TAKEN = [
    ("gpipe", "ScheduleGPipe of PyTorch 2.13", always),
    ("one_f_one_b", "Schedule1F1B of PyTorch 2.13", lambda p, m: m >= p),
    ("one_f_one_b", "TrainSchedule of DeepSpeed 0.19", always),
    ("one_f_one_b", "1F1B of Megatron Core 0.19", always),
    ("interleaved", "ScheduleInterleaved1F1B of PyTorch 2.13", rounds),
    ("interleaved", "interleaving of Megatron Core 0.19", any_group),
    ("breadth_first", "ScheduleLoopedBFS of PyTorch 2.13", always),
    ("zb_h1", "ScheduleInterleavedZeroBubble of PyTorch 2.13, one stage per rank", rounds),
    ("zb_v", "ScheduleZBVZeroBubble of PyTorch 2.13", always),
    ("dualpipe_v", "ScheduleDualPipeV of PyTorch 2.13", lambda p, m: m >= 2 * p),
    ("dualpipe", "dualpipe.py of DeepSeek", lambda p, m: p % 2 == m % 2 == 0 and m >= 2 * p),
]


@each("name, framework, takes", TAKEN)
def test_what_a_framework_takes_can_be_played(name, framework, takes):
    schedule = registry.module(PACKAGE, name)
    assert [(p, m) for p, m in SIZES if takes(p, m) and schedule.obstacle(p, m)] == []


@each("name", ["dualpipe", "dualpipe_v"])
def test_what_their_only_program_refuses_is_refused(name):
    schedule = registry.module(PACKAGE, name)
    takes = next(rule for other, _, rule in TAKEN if other == name)
    assert [(p, m) for p, m in SIZES if not takes(p, m) and not schedule.obstacle(p, m)] == []


def test_the_groups_are_pytorchs_rounds_or_megatrons():
    for p, m in SIZES:
        size = interleaved.group(p, m)
        if rounds(p, m):
            assert size == m // max(1, m // p)
        else:
            assert groups(p, m, size)


@pytest.mark.parametrize(("p", "m", "size"), [(4, 11, 6), (4, 8, 4), (8, 20, 10), (4, 3, 3)])
def test_the_group_by_hand(p, m, size):
    # 11 by 4 leaves 3 and by 5 leaves 1, fewer than the stages; by 6 it leaves 5.
    assert interleaved.group(p, m) == size


def test_the_order_of_megatrons_example():
    # model_parallel_config.py: PP=2 VP=2, groups of 3, 5 micro-batches: 0 1 2 0 1 2 3 4 3 4.
    assert interleaved.group(2, 5) == 3
    ops = interleaved.order(0, 2, 5, 2)
    ahead = [op.microbatch for op in ops if op.kind == interleaved.FORWARD]
    assert ahead == [0, 1, 2, 0, 1, 2, 3, 4, 3, 4]
