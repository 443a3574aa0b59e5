"""A step of ZeRO-3: its streams agree with the general simulator, and settings do what they say."""

from dataclasses import replace

import pytest

from engine.form.sharded.knobs import knob_job
from engine.simulate.deepspeed_cost import smallest_matrix
from engine.simulate.fetched_step import Buckets, fetched_step
from engine.simulate.parameter_fetch import Knobs
from engine.simulate.sharded_step import sharded
from engine.simulate.streams import COMPUTE, NETWORK, Op, run, run_listed

JOB = knob_job("llama-3-8b", "h100", 64, 4096, 50e9)
STEP = fetched_step(JOB, Knobs(), Buckets())


def test_the_quick_run_of_streams_is_the_general_one():
    ops = [
        Op(
            key=str(n),
            stream=COMPUTE if n % 3 else NETWORK,
            time=(n * 7919 % 13) / 10,
            after=tuple(str(n - k) for k in (2, 5) if n >= k),
        )
        for n in range(200)
    ]
    slow, quick = run(ops), run_listed(ops)
    assert [one.start for one in quick] == pytest.approx([one.start for one in slow])
    assert [one.end for one in quick] == pytest.approx([one.end for one in slow])


def test_computation_is_that_of_fsdp_plus_the_output_layer():
    fsdp = sharded(JOB, 3).seen.compute
    assert fsdp < STEP.seen.compute < 1.1 * fsdp


def test_buckets_of_the_default_size_cut_the_gradients_of_8b():
    # 8.03e9 / 5e8 is 17 with the embedding and the output layer in buckets of their own.
    assert STEP.reductions == 17
    assert STEP.bucket == 1e9


def test_no_prefetch_waits_for_every_gather():
    without = fetched_step(JOB, Knobs(prefetch=0), Buckets())
    assert without.seen.exposed > 10 * STEP.seen.exposed


def test_a_small_prefetch_fills_up_to_the_same_limit():
    little = fetched_step(JOB, Knobs(prefetch=1e6), Buckets())
    assert little.live == pytest.approx(STEP.live, rel=0.05)
    assert little.gathers > 1.5 * STEP.gathers


def test_fewer_live_parameters_are_less_memory_and_a_little_waiting():
    less = fetched_step(JOB, Knobs(live=1e8), Buckets())
    assert less.buffers < 0.6 * STEP.buffers
    assert STEP.seen.exposed < less.seen.exposed < 0.1 * less.seen.length


def test_reuse_beyond_the_limit_stops_prefetches():
    kept = fetched_step(JOB, Knobs(reuse=1e10), Buckets())
    assert kept.live > 3 * STEP.live
    assert kept.seen.exposed > 3 * STEP.seen.exposed


def test_without_overlap_reductions_stop_the_backward_pass():
    apart = fetched_step(JOB, Knobs(), Buckets(overlap=False))
    assert apart.seen.exposed > 5 * STEP.seen.exposed
    assert apart.seen.compute == pytest.approx(STEP.seen.compute)


def test_the_smallest_matrix_of_8b_holds_keys():
    assert smallest_matrix("llama-3-8b") == 4096 * 1024


def test_a_unit_of_several_layers_moves_the_same_bytes_in_fewer_calls():
    one, four = sharded(JOB, 3), sharded(replace(JOB, unit=4), 3)
    assert four.sent == one.sent
    assert len(four.spans) == pytest.approx(len(one.spans) / 4, abs=2)
    assert four.peak - four.states.total > 3 * (one.peak - one.states.total)


def test_a_second_gather_inside_the_node_costs_an_eighth_of_the_parameters():
    slow = replace(JOB, port=12.5e9)
    whole, inside = sharded(slow, 3), sharded(replace(slow, again=8), 3)
    assert inside.seen.exposed < whole.seen.exposed
    layers = whole.work.work.parameters * whole.work.work.layers
    assert inside.peak - whole.peak == pytest.approx(2 * layers / 8, rel=0.1)
