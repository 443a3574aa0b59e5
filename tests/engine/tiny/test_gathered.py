"""Sharding over nodes on the tiny model: the same training, and what crosses between the nodes."""

from engine.formulas.node_volumes import node_bytes_sent
from engine.tiny import gathered, single
from engine.tiny.exchange import Exchange
from engine.tiny.gathered import Groups, Sharding, numbers_crossing
from engine.tiny.job import TinyJob, example_batch
from engine.tiny.layout import part_range
from engine.tiny.result import parameter_difference
from engine.tiny.zero_record import memory_of, node_record
from tests.each import each

WAYS = [
    {"shard": 4},
    {"shard": 2},
    {"shard": 2, "sum_once": True},
    {"shard": 4, "second": True},
    {"shard": 2, "reshard": False},
    {"shard": 1},
]


def left(micro=1, **way):
    """Numbers that node 0 has sent to node 1 in a step of four ranks."""
    return node_record(4, Sharding(gpus_per_node=2, **way), micro).trace[-1].crossed


@each("way", WAYS, ids=str)
@each("micro", [1, 2])
def test_every_way_trains_as_one_gpu_does(way, micro):
    job = TinyJob(batch=example_batch(8, 4), num_microbatches=micro)
    found = gathered.train(job, 4, Sharding(gpus_per_node=2, **way))
    assert parameter_difference(found, single.train(TinyJob(batch=job.batch))) <= 1e-12


# By hand: of four ranks, three quarters of a gather cross each edge; the output part, 36 numbers,
# is gathered once for both of its passes; two copies add their gradients as a ring of two does.
OUTPUT = 36 * 3 / 4


@each(
    ("way", "micro", "numbers"),
    [
        ({"shard": 4}, 1, 3 * 260 * 3 / 4 - OUTPUT),
        ({"shard": 4}, 2, 2 * (3 * 260 * 3 / 4 - OUTPUT)),
        ({"shard": 4, "second": True}, 1, 2 * 260 * 3 / 4),
        ({"shard": 2}, 1, 260),
        ({"shard": 2}, 2, 2 * 260),
        ({"shard": 2, "sum_once": True}, 2, 260),
    ],
    ids=str,
)
def test_what_crosses_between_two_nodes_by_hand(way, micro, numbers):
    assert left(micro, **way) == numbers


@each(("shard", "crossings"), [(2, (0, 0, 1)), (1, (0, 0, 1))])
def test_what_crosses_is_what_the_formula_says(shard, crossings):
    copies = 4 // shard
    assert left(shard=shard) == node_bytes_sent(
        *(260 * times for times in crossings), shard, copies, 2
    )


def test_every_node_sends_as_much_as_the_first():
    world = Exchange(8)
    Groups(world, 4).all_gather([[float(rank)] for rank in range(8)], "x")
    assert [numbers_crossing(world, 2, node) for node in range(4)] == [3, 3, 3, 3]


def test_a_sum_across_joins_those_with_the_same_place():
    world = Exchange(4)
    found = Groups(world, 2).sum_across([[1.0], [2.0], [10.0], [20.0]], "x")
    assert found == [[11.0], [22.0], [11.0], [22.0]]
    assert set(world.pairs) == {(0, 2), (2, 0), (1, 3), (3, 1)}


def test_a_copy_in_each_node_keeps_twice_as_much_as_one_copy_over_both():
    node, whole = (
        memory_of(node_record(4, Sharding(shard=shard, gpus_per_node=2), 1))[1] for shard in (2, 4)
    )
    assert (node, whole) == (2080, 1040)


def test_the_second_copy_adds_its_share_at_the_turn():
    memory, held = memory_of(node_record(4, Sharding(shard=4, gpus_per_node=2, second=True), 1))
    plain, _ = memory_of(node_record(4, Sharding(shard=4, gpus_per_node=2), 1))
    assert held == 1040
    # All parts but the output: half of 224 numbers, of which rank 0 owns a quarter of the places.
    assert max(memory) > max(plain)
    output = len(part_range(TinyJob(batch=()).model, "output"))
    assert max(memory) - max(plain) <= 2 * (260 - output) / 2


def test_the_curve_of_the_scene_never_falls():
    trace = node_record(4, Sharding(shard=2, gpus_per_node=2), 2).trace
    sizes = [now.crossed for now in trace]
    assert sizes == sorted(sizes)


def test_more_ranks_than_one_node_are_needed_to_cross():
    found = node_record(2, Sharding(shard=2, gpus_per_node=2), 1)
    assert found.trace[-1].crossed == 0
