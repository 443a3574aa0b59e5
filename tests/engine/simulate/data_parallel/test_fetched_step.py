"""A step of ZeRO-3: its streams agree with the general simulator, and settings do what they say."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS
from engine.form.sharded.knobs import knob_job
from engine.simulate.data_parallel import fetched_step
from engine.simulate.data_parallel.deepspeed_cost import smallest_matrix
from engine.simulate.data_parallel.fetched_step import (
    FetchSettings,
    ReduceBuckets,
    canonical_settings,
    fetch_schedule,
)
from engine.simulate.data_parallel.gradient_buckets import registration_order
from engine.simulate.data_parallel.sharded_step import setting_run
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.step.step_time import step_time
from engine.simulate.streams.stream_account import step_account
from engine.simulate.streams.streams import COMPUTE, NETWORK, StreamOp, run_program
from tests.each import each

JOB = knob_job("llama-3-8b", "h100", 64, 4096, 50e9)
STEP = fetched_step.fetched_step(JOB, FetchSettings(), ReduceBuckets())


# Of one micro-batch: forward and backward pass, and collectives by latency and bandwidth.
PASSES = 0.14, 0.28


def gather(elements):
    return 1e-4 + 2 * elements / 40e9


def reduce(elements):
    return 1e-4 + 4 * elements / 40e9


def program(tensors, seen, buckets):
    """The operations of a step in the order of its host, for the general simulator."""
    *closed, (_, last) = fetched_step._bucket_boundaries(tensors, seen, buckets.size)
    full, work = dict(closed), sum(tensor.work for tensor in tensors)
    ops, fetch_of, before = [], {}, ()

    def send(key, time, after):
        ops.append(StreamOp(key=key, stream=NETWORK, time=time, after=after))
        return key

    for place, visit in enumerate(seen.visits):
        tensor, waits = tensors[visit.module], before
        if visit.missing:
            fetch_of[visit.module] = send(f"{place}:own", gather(tensor.parameters), waits)
        if visit.module in fetch_of:
            waits = (*waits, fetch_of[visit.module])
        if visit.ahead:
            size = sum(tensors[module].parameters for module in visit.ahead)
            ahead = send(f"{place}:ahead", gather(size), waits)
            fetch_of |= dict.fromkeys(visit.ahead, ahead)
        if place in full:
            reduced = send(f"{place}:bucket", reduce(full[place]), before)
            waits = waits if buckets.overlap else (*waits, reduced)
        time = PASSES[visit.backward] * tensor.work / work
        ops.append(StreamOp(key=f"{place}:compute", stream=COMPUTE, time=time, after=waits))
        before = (f"{place}:compute",)
        if visit.released:
            fetch_of.pop(visit.module, None)
    send("last bucket", reduce(last), before)
    send("persistent", gather(seen.persistent), before)
    return ops


@each(
    "knobs",
    [
        FetchSettings(),
        FetchSettings(prefetch=1e6),
        FetchSettings(prefetch=0),
        FetchSettings(live=1e8),
        FetchSettings(reuse=1e10),
    ],
)
@each("buckets", [ReduceBuckets(), ReduceBuckets(size=5e7), ReduceBuckets(overlap=False)])
def test_a_schedule_plays_as_in_the_general_simulator(knobs, buckets):
    tensors, seen = fetched_step._tensors_and_schedule("llama-3-8b", knobs)
    played = fetched_step.play_fetches(tensors, seen, buckets, PASSES, gather, reduce)
    whole = step_account(run_program(program(tensors, seen, buckets)))
    assert played.length == pytest.approx(whole.length, rel=1e-12)
    assert played.compute == pytest.approx(sum(PASSES), rel=1e-9)
    assert played.exposed == pytest.approx(whole.exposed, rel=1e-9)


@each("name", ["reuse", "persistent"])
@each("value", [1e3, 4096, 1e5, 58720256, 1e9, 3e9, 1e10])
def test_thresholds_that_let_the_same_through_fetch_the_same(name, value):
    sizes = [tensor.parameters for tensor in registration_order(MODELS["llama-3-8b"])]
    knobs = replace(FetchSettings(), **{name: value})
    assert fetch_schedule(sizes, canonical_settings(sizes, knobs)) == fetch_schedule(sizes, knobs)


@each("ranks", [8, 64, 1024])
@each("port", [12.5e9, 50e9])
@each("tokens", [4096, 65536])
def test_at_the_defaults_the_step_is_the_estimate(ranks, port, tokens):
    job = knob_job("llama-3-8b", "h100", ranks, tokens, port)
    step = fetched_step.fetched_step(job, FetchSettings(), ReduceBuckets())
    run = setting_run(job)
    assert step.step == step_time(run.model, run.cluster, run.plan, run.training).total


def test_between_nodes_all_takes_one_port_and_half_of_the_computation_hides_some():
    # Two gathers and a scatter of 16 GB over one port of 50 GB/s that reaches 0.88 of it.
    rank = rank_rates(setting_run(JOB).cluster, setting_run(JOB).training)
    assert 0.8 * 50e9 < rank.port < 0.95 * 50e9
    serial = 3 * 2 * 8.03e9 * 63 / 64 / rank.port
    hidden = rank.common.fetch_ahead * STEP.estimate.compute
    assert STEP.exposed == pytest.approx(serial - hidden, rel=0.01)


def test_gradients_in_fp32_take_as_long_again_on_the_wire():
    wide = fetched_step.fetched_step(
        replace(JOB, gradient="fp32"), FetchSettings(), ReduceBuckets()
    )
    more = 2 * 8.03e9 * 63 / 64 / (0.88 * 50e9)
    assert wide.exposed - STEP.exposed == pytest.approx(more, rel=0.1)


def test_buckets_of_the_default_size_cut_the_gradients_of_8b():
    # 8.03e9 / 5e8 is 17 with the embedding and the output layer in buckets of their own.
    assert STEP.reductions == 17
    assert STEP.bucket == 1e9


def test_without_prefetch_computation_hides_no_gather():
    without = fetched_step.fetched_step(JOB, FetchSettings(prefetch=0), ReduceBuckets())
    # What stays hidden are reductions, a third of the bytes.
    assert without.exposed > STEP.exposed + 2 / 3 * STEP.estimate.compute


def test_a_small_prefetch_fills_up_to_the_same_limit():
    little = fetched_step.fetched_step(JOB, FetchSettings(prefetch=1e6), ReduceBuckets())
    assert little.live == pytest.approx(STEP.live, rel=0.05)
    assert little.gathers > 1.5 * STEP.gathers


def test_fewer_live_parameters_are_less_memory_and_a_little_waiting():
    less = fetched_step.fetched_step(JOB, FetchSettings(live=1e8), ReduceBuckets())
    assert less.buffers < 0.6 * STEP.buffers
    assert STEP.exposed < less.exposed < 1.1 * STEP.exposed


def test_reuse_beyond_the_limit_keeps_parameters_and_gathers_less():
    kept = fetched_step.fetched_step(JOB, FetchSettings(reuse=1e10), ReduceBuckets())
    assert kept.live > 3 * STEP.live
    assert kept.sent < 0.85 * STEP.sent
    assert kept.exposed < STEP.exposed


def test_where_the_wire_is_not_the_limit_reuse_beyond_the_limit_stops_prefetches():
    job = knob_job("llama-3-8b", "h100", 8, 4096, 50e9)
    usual = fetched_step.fetched_step(job, FetchSettings(), ReduceBuckets())
    kept = fetched_step.fetched_step(job, FetchSettings(reuse=1e10), ReduceBuckets())
    assert kept.exposed > usual.exposed + 0.01


def test_without_overlap_reductions_stop_the_backward_pass():
    apart = fetched_step.fetched_step(JOB, FetchSettings(), ReduceBuckets(overlap=False))
    assert apart.exposed > STEP.exposed + 0.05
    assert apart.played.compute == pytest.approx(STEP.played.compute)


def test_the_smallest_matrix_of_8b_holds_keys():
    assert smallest_matrix("llama-3-8b") == 4096 * 1024
