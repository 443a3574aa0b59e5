"""Checkpoints of runs: published sizes, and the closed form of goodput against many lives."""

import random

import pytest

from engine.calculators.whole_runs.checkpoint_lab.result import BLOOM, LLAMA_3, PRESETS, Inputs
from engine.core.units import GB, HOUR
from engine.form.short_job import job_run
from engine.simulate.job.saved_run import (
    Checkpoint,
    CheckpointStorage,
    checkpoint_cost,
    checkpoint_writers,
    run_checkpoint,
    run_token_rate,
)
from tests.each import each

STORAGE = CheckpointStorage(rate=40 * GB, node=20 * GB, host=63 * GB)
SLOW = Checkpoint(
    weight=2.0,
    optimizer=12.0,
    whole=1e12,
    writers=64,
    per_gpu=1e12 / 64,
    per_node=1e12 / 8,
    write=100.0,
    copy=5.0,
    rank_0=400.0,
)


def run_of(**given):
    return job_run(Inputs(**given))


def test_a_checkpoint_of_bloom_is_as_large_as_published():
    # 2.3 TB and 329 GB, as `du` counts: binary units, rounded up to the next digit.
    one = run_checkpoint(run_of(**PRESETS[BLOOM]), STORAGE)
    assert (one.weight, one.optimizer) == (2.0, 12.0)
    assert 2.2 < one.whole / 2**40 < 2.3
    assert one.whole / 7 / 2**30 == pytest.approx(329, rel=0.005)


def test_one_gpu_of_llama_3_writes_what_was_published():
    one = run_checkpoint(run_of(**PRESETS[LLAMA_3]), STORAGE)
    assert 1e6 < one.per_gpu < 4e9
    assert one.whole == pytest.approx(5.7e12, rel=0.01)


def test_fsdp_saves_its_weights_as_the_full_precision_copy():
    one = run_checkpoint(run_of(framework="fsdp", zero_stage="3", tensor_parallel=1), STORAGE)
    assert (one.weight, one.optimizer) == (4.0, 8.0)


def test_weights_alone_leave_out_the_states():
    run = run_of()
    assert (
        run_checkpoint(run, STORAGE, optimizer=False).whole * 7
        == run_checkpoint(run, STORAGE).whole
    )


@pytest.mark.parametrize(("zero", "number"), [("0", 16), ("1", 1024)])
def test_all_gpus_write_where_states_are_sharded_else_one_replica(zero, number):
    assert checkpoint_writers(run_of(zero_stage=zero)) == number


@each("given", [{}, {"zero_stage": "0"}, *PRESETS.values()])
def test_the_parts_of_the_writers_are_the_whole(given):
    run = run_of(**given)
    one = run_checkpoint(run, STORAGE)
    assert one.per_gpu * one.writers == pytest.approx(one.whole)
    assert one.per_node <= one.per_gpu * run.cluster.gpus_per_node
    assert one.write <= one.rank_0


def test_tokens_are_read_in_steps():
    run = run_of()
    rate = run_token_rate(run)
    assert rate > 0
    assert run_token_rate(run_of(global_batch_size=2048)) > rate


def test_steps_wait_for_the_copy_or_for_the_write():
    behind = checkpoint_cost(SLOW, HOUR, 600.0, 30 * HOUR, background=True)
    waits = checkpoint_cost(SLOW, HOUR, 600.0, 30 * HOUR, background=False)
    assert (behind.stall, behind.behind) == (5.0, 95.0)
    assert (waits.stall, waits.behind) == (100.0, 0.0)
    assert behind.goodput > waits.goodput


def test_no_checkpoint_begins_before_the_last_one_is_written():
    often = checkpoint_cost(SLOW, 1.0, 600.0, 30 * HOUR, background=True)
    assert often.goodput == checkpoint_cost(SLOW, 100.0, 600.0, 30 * HOUR, background=True).goodput
    assert checkpoint_cost(SLOW, 1.0, 600.0, 60.0, background=True).daly == 100.0


@pytest.mark.parametrize("background", [False, True])
def test_no_interval_is_better_than_the_best(background):
    one = checkpoint_cost(SLOW, HOUR, 600.0, 30 * HOUR, background=background)
    for factor in (0.25, 0.5, 2.0, 4.0):
        other = checkpoint_cost(SLOW, one.daly * factor, 600.0, 30 * HOUR, background=background)
        assert other.goodput <= one.best + 1e-6


def lived(interval, restart, mtbf, *, background):
    """Play one long life, event by event: the share of the time spent on work that lasts."""
    dice = random.Random(7)
    stall, behind = (5.0, 95.0) if background else (100.0, 0.0)
    now, kept, end = 0.0, 0.0, 40_000 * mtbf
    done, since = 0.0, []  # work of this life, and (when it is safe, how much) of its checkpoints
    failure = dice.expovariate(1 / mtbf)
    while now < end:
        ready = now + interval + stall
        if ready <= failure:
            now, done = ready, done + interval
            since.append((now + behind, done))
            continue
        kept += max((work for safe, work in since if safe <= failure), default=0.0)
        now = failure
        failure = now + dice.expovariate(1 / mtbf)
        while now + restart > failure:  # a restart that fails itself
            now = failure
            failure = now + dice.expovariate(1 / mtbf)
        now += restart
        done, since = 0.0, []
    return (kept + done) / now


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("interval", [400.0, 1800.0, 2 * HOUR])
def test_goodput_is_that_of_many_lives_played(interval, background):
    mtbf, restart = 10 * HOUR, 600.0
    closed = checkpoint_cost(SLOW, interval, restart, mtbf, background=background).goodput
    played = lived(interval, restart, mtbf, background=background)
    assert closed == pytest.approx(played, abs=0.003)
