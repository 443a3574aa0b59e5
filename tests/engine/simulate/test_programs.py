"""Every program of streams keeps the same promises, and equals a closed form where there is one."""

from dataclasses import replace
from itertools import pairwise

import pytest

from engine.core import registry
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.overlap import exposed_time
from engine.run.machines import cluster_of
from engine.simulate.collectives.collective import collective_rank
from engine.simulate.layer.device_model import rank_group
from engine.simulate.streams.stream_account import step_account
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, run_program
from engine.simulate.streams.workload import Workload, nccl_group, ring_group, star_group
from tests.each import each

PACKAGE = "engine.simulate.programs"


NAMES = registry.module_names(PACKAGE)


RING = ring_group(8, 50e9)


PLAIN = Workload(
    layers=6,
    forward=2e-3,
    backward=4e-3,
    parameters=5e7,
    data=RING,
    replicas=ring_group(4, 10e9, 5e-6),
    bucket=1e8,
    tensors=4,
)


WORKLOADS = {
    "plain": PLAIN,
    "long": replace(PLAIN, forward=1.0, backward=2.0),
    "slow network": replace(PLAIN, data=ring_group(64, 1e9, 1e-5)),
    "contention": replace(PLAIN, slow_down=0.4),
    "micro-batches": replace(PLAIN, num_microbatches=3, slow_down=0.2),
    "tensor": replace(PLAIN, tensor_gather=4e-4, tensor_size=1e6, num_microbatches=2),
    "async": replace(PLAIN, tensor_gather=4e-4, tensor_chunks=4, slow_down=0.3),
    "no prefetch": replace(PLAIN, prefetch=0, num_microbatches=2),
    "kept": replace(PLAIN, reshard=False, prefetch=4, num_microbatches=2, optimizer=1e-3),
}


ALL = each("name", NAMES)


EVERY = each("work", WORKLOADS.values(), ids=WORKLOADS)


def ops(name, work):
    return registry.module(PACKAGE, name).program(work)


def step(name, work):
    return step_account(run_program(ops(name, work)))


def sent(name, work, stream=NETWORK):
    return sum(op.size for op in ops(name, work) if op.stream == stream)


@ALL
def test_a_program_says_what_it_is(name):
    assert registry.module(PACKAGE, name).TITLE


@ALL
@EVERY
def test_no_stream_does_two_things_at_once(name, work):
    lanes = {}
    for span in run_program(ops(name, work)):
        lanes.setdefault(span.op.stream, []).append(span)
    neighbors = [pair for lane in lanes.values() for pair in pairwise(lane)]
    assert all(after.start >= before.end for before, after in neighbors)


@ALL
@EVERY
def test_nothing_starts_before_what_it_waits_for_has_ended(name, work):
    spans = {span.op.key: span for span in run_program(ops(name, work))}
    waits = [(span, spans[key]) for span in spans.values() for key in span.op.after]
    assert all(span.start >= before.end for span, before in waits)


@ALL
@EVERY
def test_every_stream_is_busy_or_idle(name, work):
    found = step(name, work)
    sums = [use.busy + use.idle for use in found.streams.values()]
    assert sums == pytest.approx([found.length] * len(sums))


@ALL
@EVERY
def test_communication_is_hidden_or_exposed(name, work):
    found = step(name, work)
    assert found.hidden + found.exposed == pytest.approx(found.communication)


@ALL
@EVERY
def test_a_step_is_computation_contention_exposed_communication_and_idle_time(name, work):
    found = step(name, work)
    parts = found.compute + found.contention + found.exposed + found.idle
    assert parts == pytest.approx(found.length)


@ALL
@EVERY
def test_all_computation_is_done(name, work):
    passes = work.num_microbatches * work.layers * (work.forward + work.backward)
    assert step(name, work).compute == pytest.approx(passes + work.optimizer)


@ALL
@EVERY
def test_a_faster_network_is_never_slower(name, work):
    faster = replace(
        work, data=ring_group(work.data.ranks, 200e9), replicas=ring_group(4, 100e9, 1e-6)
    )
    assert step(name, faster).length <= step(name, work).length * (1 + 1e-12)


@ALL
@EVERY
def test_contention_is_never_faster(name, work):
    assert step(name, replace(work, slow_down=0.6)).length >= step(name, work).length


@ALL
@EVERY
def test_without_contention_computation_takes_what_it_takes_alone(name, work):
    assert step(name, replace(work, slow_down=0.0)).contention == pytest.approx(0, abs=1e-12)


@ALL
@EVERY
def test_a_step_is_no_shorter_than_its_computation_or_its_busiest_stream(name, work):
    found = step(name, work)
    busiest = max(use.busy for use in found.streams.values())
    assert found.length >= max(found.compute, busiest) * (1 - 1e-12)


@ALL
@EVERY
def test_every_operation_has_a_label(name, work):
    assert all(op.label for op in ops(name, work))


GRADIENT = PLAIN.layers * PLAIN.parameters * 2.0


REPLICATED = (
    "naive_data_parallel",
    "flat_data_parallel",
    "interleaved_data_parallel",
    "bucketed_data_parallel",
    "accumulation_no_sync",
)


@each("name", [*REPLICATED, "zero_1", "zero_2"])
def test_one_micro_batch_of_replicas_sends_one_all_reduce(name):
    assert sent(name, PLAIN) == pytest.approx(ring_bytes_sent(GRADIENT, 8))


def test_without_no_sync_every_micro_batch_sends_an_all_reduce():
    work = replace(PLAIN, num_microbatches=3)
    expected = 3 * ring_bytes_sent(GRADIENT, 8)
    assert sent("bucketed_data_parallel", work) == pytest.approx(expected)


def test_with_no_sync_only_the_last_micro_batch_does():
    work = replace(PLAIN, num_microbatches=3)
    assert sent("accumulation_no_sync", work) == pytest.approx(ring_bytes_sent(GRADIENT, 8))


def test_zero_2_scatters_every_micro_batch_and_gathers_once():
    # (3 + 1) halves of an all-reduce.
    work = replace(PLAIN, num_microbatches=3)
    assert sent("zero_2", work) == pytest.approx(4 * ring_bytes_sent(GRADIENT, 8) / 2)


@each("name", ["fully_sharded", "paired_passes"])
def test_full_sharding_sends_three_halves_of_an_all_reduce_per_micro_batch(name):
    work = replace(PLAIN, num_microbatches=3)
    assert sent(name, work) == pytest.approx(3 * 3 * ring_bytes_sent(GRADIENT, 8) / 2)


def test_parameters_that_are_kept_are_gathered_once():
    work = replace(PLAIN, reshard=False)
    assert sent("fully_sharded", work) == pytest.approx(2 * ring_bytes_sent(GRADIENT, 8) / 2)


def test_hybrid_sharding_sends_only_the_shard_across_nodes():
    inside = ring_group(8, 300e9, stream=SCALE_UP)
    work = replace(PLAIN, data=inside)
    assert sent("hybrid_sharded", work) == pytest.approx(ring_bytes_sent(GRADIENT / 8, 4))


def test_hybrid_sharding_needs_replicas():
    with pytest.raises(ValueError, match="replicas is None"):
        ops("hybrid_sharded", replace(PLAIN, replicas=None))


@each("tensors", [1, 2, 4])
@each("backward", [1e-4, 4e-3, 1.0])
@each("per_bucket", [1, 2, 3])
def test_buckets_end_when_those_of_the_two_stream_model_do(tensors, backward, per_bucket):
    one = PLAIN.parameters * 2.0 / tensors
    work = replace(PLAIN, backward=backward, tensors=tensors, bucket=per_bucket * one)
    count = PLAIN.layers * tensors // per_bucket
    size = per_bucket * one
    waits = exposed_time(count * RING.all_reduce(size), PLAIN.layers * backward, count)
    passes = PLAIN.layers * (PLAIN.forward + backward)
    assert step("bucketed_data_parallel", work).length == pytest.approx(passes + waits)


@each("tensors", [1, 4])
@each("backward", [1e-4, 4e-3, 1.0])
def test_a_message_per_tensor_is_a_bucket_per_tensor(tensors, backward):
    work = replace(PLAIN, backward=backward, tensors=tensors)
    count = PLAIN.layers * tensors
    time = count * RING.all_reduce(PLAIN.parameters * 2.0 / tensors)
    found = step("interleaved_data_parallel", work).exposed
    assert found == pytest.approx(exposed_time(time, PLAIN.layers * backward, count))


@each("name", ["naive_data_parallel", "flat_data_parallel"])
def test_what_blocks_ends_when_the_two_stream_model_does(name):
    count = 1 if name == "flat_data_parallel" else PLAIN.layers * PLAIN.tensors
    passes = PLAIN.layers * (PLAIN.forward + PLAIN.backward)
    closed = passes + count * RING.all_reduce(GRADIENT / count)
    assert step(name, PLAIN).length == pytest.approx(closed)


@each("time", [1e-4, 1e-3, 1e-2])
def test_zero_1_exposes_an_end_of_each_half(time):
    work = replace(PLAIN, forward=time, backward=2 * time, tensors=1, bucket=PLAIN.parameters * 2)
    half = PLAIN.layers * RING.scatter(PLAIN.parameters * 2.0)
    expected = exposed_time(half, 6 * time, 6) + exposed_time(half, 12 * time, 6)
    assert step("zero_1", work).exposed == pytest.approx(expected)


def test_a_star_is_slower_than_a_ring():
    star = replace(PLAIN, data=star_group(8, 50e9))
    slower = step("naive_data_parallel", star).exposed / step("naive_data_parallel", PLAIN).exposed
    assert slower == pytest.approx(2 * 7 / (2 * 7 / 8))


LONG = WORKLOADS["long"]


ONE = RING.scatter(PLAIN.parameters * 2.0)


@each("prefetch", [1, 2, 4])
def test_prefetching_leaves_the_first_gather_and_the_last_scatter(prefetch):
    work = replace(LONG, prefetch=prefetch)
    assert step("fully_sharded", work).exposed == pytest.approx(2 * ONE)


def test_without_prefetching_every_gather_is_waited_for():
    work = replace(LONG, prefetch=0)
    # Twelve gathers, and six scatters, behind which the next gather stands on the same wire.
    assert step("fully_sharded", work).exposed == pytest.approx(18 * ONE)


def test_no_parameters_are_gathered_earlier_than_memory_allows():
    spans = {
        span.op.key: span for span in run_program(ops("fully_sharded", replace(LONG, prefetch=1)))
    }
    assert spans["F0.3:parameters"].start >= spans["F0.1"].end


def test_pairing_leaves_the_collectives_of_one_forward_and_one_backward_pass():
    # Long layers: every collective of a paired pass fits behind its partner.
    work = replace(LONG, num_microbatches=4, tensor_gather=0.05, data=ring_group(1, 1.0))
    alone = replace(work, num_microbatches=1)
    paired, one = step("paired_passes", work).exposed, step("tensor_parallel", alone).exposed
    # At each of the three junctions a gather and a scatter wait for each other.
    assert paired == pytest.approx(one + 3 * 2 * 0.05)


def test_pairing_does_not_help_a_single_micro_batch():
    work = WORKLOADS["tensor"]
    single = replace(work, num_microbatches=1)
    expected = step("fully_sharded", single).length
    assert step("paired_passes", single).length == pytest.approx(expected)


def test_collectives_of_one_node_run_on_its_links():
    rank = collective_rank(cluster_of("dgx-h100"))
    groups = [nccl_group(rank, rank_group(rank, ranks, 1)) for ranks in (8, 16)]
    assert [group.stream for group in groups] == [SCALE_UP, NETWORK]


def test_the_optimizer_is_the_last_to_compute():
    found = ops("fully_sharded", replace(PLAIN, optimizer=1e-3))
    assert [op.key for op in found if op.stream == COMPUTE][-1] == "update"
