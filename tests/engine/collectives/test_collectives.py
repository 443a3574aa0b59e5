from functools import cache
from types import SimpleNamespace

import pytest

from engine.collectives import (
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
    star_all_reduce,
    tree_all_reduce,
)
from engine.core import registry
from engine.core.message import Transfer
from engine.formulas import communication
from engine.simulate.collectives.collective_execution import (
    OPERATION_NAMES,
    initial_value,
)
from engine.simulate.collectives.collective_execution import run_collective as run_anew
from engine.simulate.collectives.collective_trace import port_bytes
from tests.each import each
from tests.engine.collectives.runs import is_complete, synchronous_time

SIZE, BANDWIDTH, LATENCY = 14e9, 50e9, 5e-6
WORLDS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 31, 64)
NAMES = registry.module_names("engine.collectives")


kept = cache(run_anew)


def run(collective, *size):
    """A run; those of the folder are kept, since many tests look at the same one."""
    return (run_anew if isinstance(collective, SimpleNamespace) else kept)(collective, *size)


def broken(*rounds):
    return SimpleNamespace(
        TITLE="Broken",
        OPERATION="all_reduce",
        chunks=lambda world_size: 1,
        rounds=lambda world_size: rounds,
    )


@pytest.fixture(params=NAMES)
def collective(request):
    return registry.module("engine.collectives", request.param)


@each("world_size", WORLDS)
def test_every_rank_ends_with_exactly_what_the_operation_promises(collective, world_size):
    assert is_complete(run(collective, world_size))


@each("world_size", WORLDS)
def test_the_rounds_are_as_many_as_the_closed_form_says(collective, world_size):
    assert len(collective.rounds(world_size)) == collective.num_rounds(world_size)


@each("world_size", WORLDS)
def test_the_busiest_rank_sends_what_the_closed_form_says(collective, world_size):
    trace = run(collective, world_size)
    sent = max(sent for sent, _ in port_bytes(trace, -1, SIZE))
    assert sent == pytest.approx(collective.bytes_sent(world_size, SIZE), rel=1e-12)


@each("world_size", WORLDS)
def test_what_all_ranks_send_is_what_all_ranks_receive(collective, world_size):
    last = run(collective, world_size).frames[-1]
    assert sum(last.sent) == sum(last.received)


def test_one_rank_has_nothing_to_do(collective):
    assert collective.rounds(1) == ()


def test_the_operation_is_a_known_one(collective):
    assert collective.OPERATION in OPERATION_NAMES


def test_titles_are_different():
    modules = [registry.module("engine.collectives", name) for name in NAMES]
    assert len({module.TITLE for module in modules}) == len(NAMES)


@each("world_size", range(2, 17))
def test_sums_on_the_screen_have_at_most_three_digits(collective, world_size):
    trace = run(collective, world_size)
    assert max(cell.value for row in trace.frames[-1].state for cell in row) < 1000


@each("world_size", [2, 5, 8, 16])
@each("seed", [1, 7, 999])
def test_other_numbers_are_summed_as_exactly(collective, world_size, seed):
    trace = run(collective, world_size, seed)
    assert is_complete(trace)
    assert max(cell.value for row in trace.frames[-1].state for cell in row) < 1000


def test_every_operation_has_an_algorithm():
    found = {registry.module("engine.collectives", name).OPERATION for name in NAMES}
    assert found == set(OPERATION_NAMES)


def test_the_parts_of_one_chunk_all_differ():
    assert len({initial_value(rank, 15, 16, 16) for rank in range(16)}) == 16


def test_all_parts_differ_on_eight_ranks():
    assert len({initial_value(rank, chunk, 8, 8) for rank in range(8) for chunk in range(8)}) == 64


def test_a_ring_reduce_scatter_leaves_rank_r_with_chunk_r():
    final = run(ring_reduce_scatter, 5).frames[-1].state
    assert all(len(final[rank][rank].ranks) == 5 for rank in range(5))


def test_half_way_a_ring_all_reduce_is_a_reduce_scatter():
    half = run(ring_all_reduce, 6).frames[5]
    assert half.state == run(ring_reduce_scatter, 6).frames[-1].state


@each("world_size", WORLDS)
@each(
    ("module", "closed_form"),
    [
        (ring_all_reduce, communication.ring_all_reduce_time),
        (ring_reduce_scatter, communication.ring_reduce_scatter_time),
        (ring_all_gather, communication.ring_all_gather_time),
        (star_all_reduce, communication.star_all_reduce_time),
    ],
)
def test_rings_and_stars_take_the_time_of_their_closed_form(module, closed_form, world_size):
    simulated = synchronous_time(run(module, world_size), SIZE, BANDWIDTH, LATENCY)
    assert simulated == pytest.approx(closed_form(SIZE, world_size, BANDWIDTH, LATENCY), rel=1e-12)


@each("world_size", [4, 5, 8, 16, 33])
def test_a_tree_takes_at_least_the_time_of_its_closed_form(world_size):
    simulated = synchronous_time(run(tree_all_reduce, world_size), SIZE, BANDWIDTH, LATENCY)
    formula = communication.tree_all_reduce_time(SIZE, world_size, BANDWIDTH, LATENCY)
    assert simulated >= formula


@each("world_size", [4, 5, 8, 16, 33])
@each("pieces", [1, 4, 32])
def test_a_tree_takes_at_most_all_its_rounds_at_full_load(world_size, pieces):
    rounds = tree_all_reduce.pipelined_rounds(world_size, pieces)
    limit = len(rounds) * (LATENCY + 2 * SIZE / pieces / BANDWIDTH)
    assert synchronous_time(run_tree(world_size, pieces), SIZE, BANDWIDTH, LATENCY) <= limit * (
        1 + 1e-12
    )


@each("pieces", [1, 2, 16])
def test_a_tree_in_k_pieces_needs_k_minus_1_rounds_more_than_twice_its_depth(pieces):
    depth = communication.tree_depth(12)
    assert len(tree_all_reduce.pipelined_rounds(12, pieces)) == 2 * depth + pieces - 1


def test_without_latency_more_pieces_fill_the_pipeline_of_a_tree_better():
    times = [synchronous_time(run_tree(8, pieces), SIZE, BANDWIDTH, 0.0) for pieces in (1, 8, 64)]
    assert times == sorted(times, reverse=True)


def test_without_latency_a_tree_in_512_pieces_is_within_a_hundredth_of_its_closed_form():
    formula = communication.tree_all_reduce_time(SIZE, 8, BANDWIDTH)
    assert synchronous_time(run_tree(8, 512), SIZE, BANDWIDTH, 0.0) < formula * (1 + 5 / 512)


@each("world_size", range(2, 65))
def test_no_node_of_a_tree_has_more_than_two_children(world_size):
    parents = [tree_all_reduce.parent_of(node, world_size) for node in range(1, world_size)]
    assert max(parents.count(parent) for parent in parents) <= 2


def test_a_tree_is_never_deeper_than_its_closed_form():
    depths = {
        world_size: max(hops(node, world_size) for node in range(world_size))
        for world_size in range(2, 130)
    }
    assert depths == {n: communication.tree_depth(n) for n in depths}


def hops(node, world_size):
    return 1 + hops(tree_all_reduce.parent_of(node, world_size), world_size) if node else 0


def run_tree(world_size, pieces):
    collective = SimpleNamespace(
        TITLE="Double tree",
        OPERATION="all_reduce",
        chunks=lambda _: 2 * pieces,
        rounds=lambda _: tree_all_reduce.pipelined_rounds(world_size, pieces),
    )
    return run(collective, world_size)


def send(source, target, chunk=0, *, reduce=True):
    return Transfer(source=source, target=target, chunk=chunk, reduce=reduce)


@each(
    ("rounds", "message"),
    [
        (((send(0, 2),),), "only ranks 0 to 1"),
        (((send(1, 1),),), "does not send to itself"),
        (((send(0, 1, chunk=1),),), "only chunks 0 to 0"),
        (((send(0, 1),), (send(1, 0),)), "rank 0 is added twice"),
        (((send(0, 1, reduce=False), send(0, 1)),), "replaces or adds there as well"),
        (((send(0, 1), send(0, 1, reduce=False)),), "replaces or adds there as well"),
    ],
)
def test_a_broken_collective_is_named(rounds, message):
    with pytest.raises(ValueError, match=message):
        run(broken(*rounds), 2)


def test_every_message_of_a_round_reads_the_state_before_it():
    swap = broken((send(0, 1), send(1, 0)))
    assert is_complete(run(swap, 2))


def test_nobody_sends_what_it_does_not_hold():
    gather = broken((send(0, 1, reduce=False),))
    gather.OPERATION, gather.chunks = "all_gather", lambda _: 2
    gather.rounds = lambda _: ((send(0, 1, chunk=1, reduce=False),),)
    with pytest.raises(ValueError, match="holds nothing"):
        run(gather, 2)


def test_a_collective_that_stops_early_is_not_finished():
    assert not is_complete(run(broken((send(0, 1),)), 2))


def test_a_world_without_ranks_is_refused():
    with pytest.raises(ValueError, match="world_size is 0; it must be 1 or more"):
        run(ring_all_reduce, 0)
