"""A step of ZeRO-3: its streams agree with the general simulator, and settings do what they say."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS
from engine.form.sharded.knobs import knob_job
from engine.simulate.data_parallel import fetched_step
from engine.simulate.data_parallel.deepspeed_cost import smallest_matrix
from engine.simulate.data_parallel.fetched_step import ReduceBuckets
from engine.simulate.data_parallel.gradient_buckets import registration_order
from engine.simulate.data_parallel.parameter_fetch import (
    FetchSettings,
    canonical_settings,
    fetch_schedule,
)
from engine.simulate.overlap.overlap_job import build_overlap_job
from engine.simulate.streams.stream_account import step_account
from engine.simulate.streams.streams import COMPUTE, NETWORK, StreamOp, run_program
from tests.each import each

JOB = knob_job("llama-3-8b", "h100", 64, 4096, 50e9)
STEP = fetched_step.fetched_step(JOB, FetchSettings(), ReduceBuckets())


def program(setting, knobs, buckets):
    """The operations of a step in the order of its host, for the general simulator."""
    base, (tensors, seen) = (
        build_overlap_job(setting),
        fetched_step._tensors_and_schedule(setting.model, knobs),
    )
    *closed, (_, last) = fetched_step._bucket_boundaries(tensors, seen, buckets.size)
    full, matrices = dict(closed), base.work.parameters / base.layers
    ops, fetch_of, before = [], {}, ()

    def send(key, elements, after):
        time = base.work.data.scatter(2.0 * elements)
        ops.append(StreamOp(key=key, stream=NETWORK, time=time, after=after))
        return key

    for place, visit in enumerate(seen.visits):
        tensor, waits = tensors[visit.module], before
        if visit.missing:
            fetch_of[visit.module] = send(f"{place}:own", tensor.parameters, waits)
        if visit.module in fetch_of:
            waits = (*waits, fetch_of[visit.module])
        if visit.ahead:
            size = sum(tensors[module].parameters for module in visit.ahead)
            fetch_of |= dict.fromkeys(visit.ahead, send(f"{place}:ahead", size, waits))
        if place in full:
            reduced = send(f"{place}:bucket", full[place], before)
            waits = waits if buckets.overlap else (*waits, reduced)
        one = base.layer.backward if visit.backward else base.layer.forward
        time = one * tensor.work / matrices
        ops.append(StreamOp(key=f"{place}:compute", stream=COMPUTE, time=time, after=waits))
        before = (f"{place}:compute",)
        if visit.released:
            fetch_of.pop(visit.module, None)
    send("last bucket", last, before)
    send("persistent", seen.persistent, before)
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
def test_a_step_is_that_of_the_general_simulator(knobs, buckets):
    step = fetched_step.fetched_step(JOB, knobs, buckets).times
    whole = step_account(run_program(program(JOB, knobs, buckets)))
    assert step.length == pytest.approx(whole.length, rel=1e-12)
    assert step.compute == pytest.approx(whole.compute, rel=1e-9)
    assert step.exposed == pytest.approx(whole.exposed, rel=1e-9)


@each("name", ["reuse", "persistent"])
@each("value", [1e3, 4096, 1e5, 58720256, 1e9, 3e9, 1e10])
def test_thresholds_that_let_the_same_through_fetch_the_same(name, value):
    sizes = [tensor.parameters for tensor in registration_order(MODELS["llama-3-8b"])]
    knobs = replace(FetchSettings(), **{name: value})
    assert fetch_schedule(sizes, canonical_settings(sizes, knobs)) == fetch_schedule(sizes, knobs)


def test_buckets_of_the_default_size_cut_the_gradients_of_8b():
    # 8.03e9 / 5e8 is 17 with the embedding and the output layer in buckets of their own.
    assert STEP.reductions == 17
    assert STEP.bucket == 1e9


def test_no_prefetch_waits_for_every_gather():
    without = fetched_step.fetched_step(JOB, FetchSettings(prefetch=0), ReduceBuckets())
    assert without.times.exposed > 10 * STEP.times.exposed


def test_a_small_prefetch_fills_up_to_the_same_limit():
    little = fetched_step.fetched_step(JOB, FetchSettings(prefetch=1e6), ReduceBuckets())
    assert little.live == pytest.approx(STEP.live, rel=0.05)
    assert little.gathers > 1.5 * STEP.gathers


def test_fewer_live_parameters_are_less_memory_and_a_little_waiting():
    less = fetched_step.fetched_step(JOB, FetchSettings(live=1e8), ReduceBuckets())
    assert less.buffers < 0.6 * STEP.buffers
    assert STEP.times.exposed < less.times.exposed < 0.1 * less.times.length


def test_reuse_beyond_the_limit_stops_prefetches():
    kept = fetched_step.fetched_step(JOB, FetchSettings(reuse=1e10), ReduceBuckets())
    assert kept.live > 3 * STEP.live
    assert kept.times.exposed > 3 * STEP.times.exposed


def test_without_overlap_reductions_stop_the_backward_pass():
    apart = fetched_step.fetched_step(JOB, FetchSettings(), ReduceBuckets(overlap=False))
    assert apart.times.exposed > 5 * STEP.times.exposed
    assert apart.times.compute == pytest.approx(STEP.times.compute)


def test_the_smallest_matrix_of_8b_holds_keys():
    assert smallest_matrix("llama-3-8b") == 4096 * 1024
