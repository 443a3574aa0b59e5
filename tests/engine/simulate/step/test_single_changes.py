from dataclasses import replace

import pytest

from engine.run.file import read_run
from engine.run.importers.assemble import DGX_H100
from engine.simulate.step.single_changes import best_changes, gpu_multiple_that_fits
from engine.simulate.step.what_if import run_fit, run_step_time


def run_of(model="llama-3-70b", *, batch=128, **plan):
    return read_run(
        {
            "model": model,
            "sequence_length": 8192,
            "cluster": DGX_H100,
            "parallelism": {"world_size": 64, **plan},
            "training": {
                "micro_batch_size": 1,
                "global_batch_size": batch,
                "precision": "bf16",
                "recompute": "full",
            },
        }
    )


FITS = run_of(tensor_parallel=8, pipeline_parallel=2)
FULL = run_of(tensor_parallel=4)


def test_a_change_fits_and_is_faster_by_more_than_half_a_percent():
    changes = best_changes(FITS)
    assert len(changes) == 3
    for one in changes:
        assert run_fit(one.run).verdict == "fits"
        assert one.step < 0.995 * run_step_time(FITS).total
        assert one.step == run_step_time(one.run).total


def test_the_best_change_stands_first():
    steps = [one.step for one in best_changes(FITS, 50)]
    assert steps == sorted(steps)


def test_recomputing_less_is_among_them_where_it_fits():
    settings = {(one.setting, one.before, one.after) for one in best_changes(FITS, 50)}
    assert ("recompute", "full", "selective") in settings


def test_gpus_batch_and_model_stay():
    for one in best_changes(FITS, 50):
        assert one.run.model == FITS.model
        assert one.run.plan.world_size == FITS.plan.world_size
        assert one.run.training.global_batch_size == FITS.training.global_batch_size


def test_what_mends_a_job_that_does_not_fit_fits():
    assert not run_fit(FULL).runs
    found = best_changes(FULL)
    assert found
    assert all(run_fit(one.run).verdict == "fits" for one in found)


def test_a_cut_by_hand_is_left_when_the_stages_change():
    plan = {"tensor_parallel": 8, "pipeline_parallel": 2, "pipeline_layout": [38, 42]}
    for one in best_changes(run_of(**plan), 50):
        cut = one.run.plan.stage_layers
        assert len(cut) in (0, one.run.plan.pipeline_parallel)


@pytest.mark.parametrize(("plan", "gpus"), [({"zero_stage": 3}, 8), ({"zero_stage": 3}, 16)])
def test_more_gpus_are_as_many_as_it_takes(plan, gpus):
    run = run_of(world_size=gpus, **plan)
    run = replace(run, training=replace(run.training, framework="fsdp"))
    more = gpu_multiple_that_fits(run)
    assert more >= 2
    for times, fits in ((more, True), (more // 2, False)):
        grown = replace(run, plan=replace(run.plan, world_size=gpus * times))
        assert (run_fit(grown).verdict == "fits") is fits


def test_no_number_of_gpus_helps_a_job_that_shards_nothing():
    assert gpu_multiple_that_fits(run_of("llama-3-405b", zero_stage=0)) == 0
