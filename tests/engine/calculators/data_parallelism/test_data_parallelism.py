"""Data parallelism on printed numbers: equal copies, shards, four loops, scaling curves."""

import math
from dataclasses import replace

import pytest

from engine.calculator import load, make
from engine.calculators.data_parallelism.data_parallel_scaling.result import job_of, tokens_of
from engine.catalog.constants import COMMON
from engine.catalog.scaling_runs import SCALED
from engine.core.text import render_text
from engine.core.units import MILLI, Gbit, MiB
from engine.formulas.scaling import blocking_step, hiding_tokens, real_step, scaling_efficiency
from engine.simulate.data_parallel import sampler
from engine.simulate.data_parallel.replicas import (
    LEARNING_RATE,
    SAMPLES,
    mean_loss,
    sample_shards,
    train_step,
    train_steps,
)
from engine.simulate.data_parallel.scaling import (
    ScalingJob,
    scaling_point,
    scaling_run,
    tokens_that_hide,
)
from engine.simulate.step.step_time import step_time
from engine.simulate.streams.ddp_variants import DdpJob as Loops
from engine.simulate.streams.ddp_variants import run_loops
from engine.simulate.streams.replica_clock import replica_times
from tests.each import each
from tests.engine.calculators.asked import views as computed

GPUS = each("num_gpus", range(1, 9))
EXTRA = each("extra", [0, 1, 3, 8])


@GPUS
@EXTRA
def test_every_sample_goes_to_one_gpu(num_gpus, extra):
    dealt = [number for part in sample_shards(num_gpus, extra) for number in part]
    assert dealt == list(range(len(SAMPLES)))


@GPUS
@EXTRA
def test_every_gpu_has_a_sample(num_gpus, extra):
    assert all(sample_shards(num_gpus, extra))


@GPUS
@EXTRA
@each("weighted", [False, True])
def test_all_copies_stay_identical(num_gpus, extra, weighted):
    replicas = train_steps(sample_shards(num_gpus, extra), 20, weighted=weighted).replicas
    assert {replica.after for replica in replicas} == {replicas[0].after}


@each("num_gpus", [1, 2, 4, 8])
def test_equal_shards_train_as_one_gpu_does(num_gpus):
    alone = train_steps(sample_shards(1, 0), 20, weighted=False).replicas[0].after
    together = train_steps(sample_shards(num_gpus, 0), 20, weighted=False).replicas[0].after
    assert together == pytest.approx(alone, abs=1e-12)


@GPUS
@EXTRA
def test_weighted_by_samples_any_shards_train_as_one_gpu_does(num_gpus, extra):
    alone = train_steps(sample_shards(1, 0), 20, weighted=True).replicas[0].after
    together = train_steps(sample_shards(num_gpus, extra), 20, weighted=True).replicas[0].after
    assert together == pytest.approx(alone, abs=1e-12)


def test_uneven_shards_that_count_alike_train_otherwise():
    alone = train_steps(sample_shards(1, 0), 1, weighted=False).replicas[0].after
    uneven = train_steps(sample_shards(4, 3), 1, weighted=False).replicas[0].after
    assert uneven != pytest.approx(alone, abs=1e-3)


def test_the_gradient_is_the_slope_of_the_loss():
    step, h = train_step(sample_shards(1, 0), (0.3, -0.2), weighted=True), 1e-6
    slope = (mean_loss((0.3 + h, -0.2)) - mean_loss((0.3 - h, -0.2))) / 2 / h
    offset = (mean_loss((0.3, -0.2 + h)) - mean_loss((0.3, -0.2 - h))) / 2 / h
    assert step.average == pytest.approx((slope, offset), rel=1e-6)


def test_the_update_is_the_gradient_times_the_rate():
    step = train_step(sample_shards(2, 0), (1.0, 1.0), weighted=False)
    expected = (1.0 - LEARNING_RATE * step.average[0], 1.0 - LEARNING_RATE * step.average[1])
    assert step.replicas[1].after == expected


def test_training_finds_the_line_behind_the_points():
    slope, _ = train_steps(sample_shards(4, 0), 200, weighted=False).replicas[0].after
    assert slope == pytest.approx(1.87, abs=0.05)


def test_an_uneven_gpu_makes_the_fastest_wait():
    # Seven samples against one, three milliseconds each.
    views = computed("data_parallel_steps", extra=3)
    assert views["waiting"].value == pytest.approx(18 * MILLI)


def test_the_scene_shows_five_phases():
    frames = computed("data_parallel_steps")["scene"].frames
    phases = {render_text(frame.caption).split(",")[0] for frame in frames}
    assert {f"Phase {number} of 5" for number in range(1, 6)} <= phases


def test_a_tile_never_changes_its_size():
    frames = computed("data_parallel_steps")["scene"].frames
    sizes = {
        shape.attributes["width"]
        for frame in frames
        for shape in frame.shapes
        if shape.key.startswith("tile") and shape.tag == "rect"
    }
    assert len(sizes) == 1


def test_the_sampler_takes_every_nth_and_fills_up_from_the_start():
    assert sampler.sampler_shards(10, 4, drop_last=False)[3] == (3, 7, 1)


def test_drop_last_leaves_the_rest_unread():
    assert sampler.sampler_shards(10, 4, drop_last=True) == ((0, 4), (1, 5), (2, 6), (3, 7))


def test_a_small_dataset_is_repeated_as_often_as_it_takes():
    assert sampler.sampler_shards(1, 3, drop_last=False) == ((0,), (0,), (0,))


def test_a_small_dataset_dropped_leaves_nothing():
    assert sampler.sampler_shards(2, 3, drop_last=True) == ((), (), ())


def test_without_a_sampler_every_gpu_reads_everything():
    views = computed("data_sampler", sampler="none", dataset=10, num_gpus=4)
    assert views["useful"].value == pytest.approx(0.25)


def loops(**inputs):
    bars = computed("data_parallel_variants", **inputs)["bars"].bars
    return {bar.key: sum(segment.value for segment in bar.segments) for bar in bars}


@each("world_size", [2, 8, 32])
def test_buckets_are_faster_than_a_blocking_ring(world_size):
    found = loops(world_size=world_size)
    assert found["buckets"] < found["ring"]


def test_small_buckets_lose_to_it_where_latencies_add_up():
    small, large = loops(world_size=64), loops(world_size=64, bucket=256 * MiB)
    assert large["buckets"] < small["ring"] < small["buckets"]


def test_a_star_takes_as_much_longer_as_it_has_ranks_to_serve():
    # 2 (n - 1) buffers through one port against 2 (n - 1)/n.
    found = loops(latency=1e-6, layers=4, forward=1e-4, backward=1e-4)
    compute = 4 * 2e-4
    assert (found["star"] - compute) / (found["ring"] - compute) == pytest.approx(8, rel=0.01)


def test_many_small_tensors_pay_their_latencies():
    found = loops(parameters=2e6, layers=80, forward=2e-4, backward=4e-4)
    assert found["buckets"] < found["interleaved"]


def test_3432_tokens_hide_an_all_reduce_between_nodes_of_a100():
    assert f"{hiding_tokens(0.55 * 312e12, 50e9, 2.0):.0f}" == "3432"


def test_2472_tokens_hide_it_at_the_peak_of_an_h100_and_400_gigabytes_per_second():
    assert f"{hiding_tokens(989e12, 400e9, 2.0):.0f}" == "2472"


def test_gradients_in_single_precision_take_twice_the_tokens():
    assert hiding_tokens(989e12, 400e9, 4.0) == 2 * hiding_tokens(989e12, 400e9, 2.0)


def test_a_blocking_step_adds_both():
    assert blocking_step(1.0, 0.5) == 1.5


def test_a_real_step_waits_and_loses():
    assert real_step(1.0, 0.5, 1.1, 0.8) == pytest.approx(2.0)


def test_efficiency_is_the_time_alone_over_that_together():
    assert scaling_efficiency(1.0, 1.25) == 0.8


# InternEvo's 7B on nodes of 8 A100 with four ports of 100 Gb/s.
JOB = ScalingJob(
    model="llama-2-7b",
    gpu="a100",
    micro_batch=4096,
    gradient="fp32",
    overlap=True,
    port=100 * Gbit,
    ports_per_node=4,
    deviation=COMMON.deviation,
    slower=0.0,
)
EVEN = replace(JOB, deviation=0.0)


def weak(job, num_gpus):
    return scaling_point(job, num_gpus, 16_384)


def kept(job, mode, num_gpus):
    changes = {"gradient": job.gradient, "overlap": job.overlap, "deviation": job.deviation}
    lab = load("data_parallel_scaling")
    return lab.solve(make(lab, {"mode": mode, "num_gpus": num_gpus, **changes})).efficiency


def test_one_gpu_has_no_loss():
    assert kept(JOB, "weak", 1) == 1


@each("mode", ["weak", "strong"])
def test_more_gpus_are_never_more_efficient_between_nodes(mode):
    found = [kept(EVEN, mode, 16 * 2**i) for i in range(11)]
    assert found == sorted(found, reverse=True)


def test_strong_scaling_ends_before_weak_scaling_does():
    assert kept(JOB, "strong", 16_384) < 0.5 * kept(JOB, "weak", 16_384)


def test_a_slow_gpu_slows_everybody():
    slow = weak(replace(EVEN, slower=0.2), 64)
    assert slow.slowest == pytest.approx(1.25)


@each("num_gpus", [1, 8, 64, 1024, 16_384])
@each("change", [*load("data_parallel_scaling").presets.values(), {"model": "llama-3-70b"}])
def test_a_step_is_the_estimate(num_gpus, change):
    lab = load("data_parallel_scaling")
    found = make(lab, {**change, "num_gpus": num_gpus, "slower": 0.0})
    run = scaling_run(job_of(found), num_gpus, tokens_of(found, found.mode, num_gpus))
    estimate = step_time(run.model, run.cluster, run.plan, run.training).total
    assert lab.solve(found).step_time == pytest.approx(estimate, rel=0.005)


def test_from_enough_tokens_on_only_the_last_buckets_wait():
    # One token less, and a bucket queues; contention is in both.
    enough = tokens_that_hide(JOB, 64)
    waits = [
        scaling_point(replace(JOB, micro_batch=tokens), 64, tokens).exposed
        for tokens in (enough / 2, enough, 2 * enough)
    ]
    assert waits[0] > 2 * waits[1]
    assert waits[1] == pytest.approx(waits[2])
    assert tokens_that_hide(JOB, 1) == 0


@each("place", [0, 1, 2])
def test_without_overlap_strong_scaling_comes_near_to_what_was_measured(place):
    # The published runs, with gradients in 16 bits, behave as if little were hidden: the model is
    # within a sixth.
    run, job = SCALED["strong"], replace(JOB, overlap=False, gradient="bf16")
    found = kept(job, "strong", run.gpus[place])
    assert found == pytest.approx(run.efficiencies[place], rel=1 / 6)


def test_replicas_hold_the_same_states_however_many_they_are():
    held = [computed("data_parallel_scaling", num_gpus=n)["states"].value for n in (1, 64, 16_384)]
    assert held == [pytest.approx(16 * 6.738e9, rel=1e-3)] * 3


def test_all_of_1024_below_their_99th_percentile_once_in_29_thousand_steps():
    views = computed("data_parallel_scaling", num_gpus=1024)
    assert f"{views['all_below'].value:.0e}" == "3e-05"


def test_crossing_f_over_w_flips_the_regime():
    few = computed("data_parallel_scaling", micro_batch=1024, tokens=1024, port=100 * Gbit)
    assert few["regime"].text == "Tokens per GPU"


def test_the_curve_and_the_step_are_one():
    lab = load("data_parallel_scaling")
    found = lab.solve(make(lab, {}))
    assert (found.efficiency, found.curves["strong"][-1]) == (
        kept(JOB, "weak", 256),
        kept(JOB, "strong", 16_384),
    )


def test_the_clock_of_a_step_by_hand():
    # Three samples against one: 3 ms a sample, then 4 ms for the sum and 1 ms for the update.
    found = replica_times([3, 1], 4 * MILLI)
    assert (found.ready, found.end, found.waiting) == pytest.approx((0.009, 0.014, 0.006))


def test_a_blocking_ring_by_hand():
    # Two layers of 7 tensors on 2 GPUs: 4 MB at 1 GB/s once around after 6 ms, no latency.
    job = Loops(
        world_size=2,
        layers=2,
        forward=1 * MILLI,
        backward=2 * MILLI,
        port=1e9,
        parameters=1e6,
        latency=0.0,
        bucket=25 * MiB,
    )
    ring = run_loops(job)["ring"]
    assert (ring.account.length, ring.sent) == pytest.approx((0.010, 4e6))
    assert (ring.collectives, ring.efficiency) == (1, pytest.approx(0.6))


def test_what_no_run_sees_is_no_number():
    assert computed("data_parallel_scaling", num_gpus=16_384)["one_in"].value == math.inf


def test_the_code_through_rank_0_is_what_is_timed():
    # Seven buffers in and seven out, one by one: no library's pipelined broadcast.
    code = computed("data_parallel_variants", variant="star")["code"].text
    assert "dist.recv(received, src=rank)" in code
    assert "broadcast" not in code
