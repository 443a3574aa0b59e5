"""The plans of a job: all that divide, each once, none that nothing would run."""

from dataclasses import replace
from itertools import product

import pytest

from engine.run.limits import indivisible_sizes
from engine.run.parallelism import Plan
from engine.run.plan_space import divisors, plans, shapes
from engine.run.problems import problems
from tests.engine.run.planner_jobs import JOBS, job


@pytest.mark.parametrize("name", JOBS)
def test_software_would_run_every_plan(name):
    job = JOBS[name]
    found = list(plans(job))
    assert len(found) > 20
    for plan, training in found:
        assert not indivisible_sizes(job.model, plan, training)
        assert not problems(job.model, job.cluster, plan, training)


@pytest.mark.parametrize("name", JOBS)
def test_no_plan_comes_twice(name):
    found = list(plans(JOBS[name]))
    assert len(set(found)) == len(found)


def test_nothing_that_divides_is_left_out():
    """Every combination of sizes of a small job, kept where nothing speaks against it."""
    asked = job("llama-3-8b", 16, 8192, 64, frameworks=("megatron",), recomputes=("full",))
    sizes = (1, 2, 4, 8, 16)
    expected = set()
    for tensor, stages, context, batch in product(sizes, sizes, sizes, (*sizes, 32, 64)):
        for pieces in range(1, 33):
            plan = Plan(
                world_size=16,
                tensor_parallel=tensor,
                pipeline_parallel=stages,
                context_parallel=context,
                virtual_pipeline=pieces,
                sequence_parallel=tensor > 1,
            )
            schedule = "interleaved" if pieces > 1 else "1f1b"
            training = replace(
                asked.training, micro_batch_size=batch, recompute="full", schedule=schedule
            )
            notes = indivisible_sizes(asked.model, plan, training)
            if notes or problems(asked.model, asked.cluster, plan, training):
                continue
            if 32 % (stages * pieces) == 0:
                expected.add((tensor, stages, context, pieces, batch))
    found = {
        (p.tensor_parallel, p.pipeline_parallel, p.context_parallel, p.virtual_pipeline, t)
        for p, t in ((plan, training.micro_batch_size) for plan, training in plans(asked))
        if not p.stage_layers
    }
    assert found == expected


def test_a_choice_of_axes_and_software_is_kept():
    asked = job("llama-3-8b", 16, 8192, 64, tensor_parallel=(2,), frameworks=("fsdp",))
    found = list(plans(asked))
    assert {plan.tensor_parallel for plan, _ in found} == {2}
    assert {training.framework for _, training in found} == {"fsdp"}
    assert {plan.zero_stage for plan, _ in found} == {2, 3}


def test_groups_that_share_one_copy_span_whole_nodes():
    asked = job("llama-3-8b", 64, 8192, 64, frameworks=("fsdp",))
    groups = {(p.shard_group * p.tensor_parallel) for p, _ in plans(asked) if p.shard_group}
    assert groups == {8, 16, 32}


def test_layers_that_do_not_divide_are_cut_by_hand_for_megatron():
    cut = [plan for plan, _ in plans(JOBS["layers"]) if plan.stage_layers]
    assert cut
    for plan in cut:
        assert sum(plan.stage_layers) == 126
        assert len(plan.stage_layers) == plan.pipeline_parallel * plan.virtual_pipeline
    # Llama 3's own: 16 ranks with 8 pieces of a layer, none in the first and in the last piece.
    assert any((0, *[1] * 126, 0) == plan.stage_layers for plan in cut)


def test_a_batch_that_no_split_divides_has_no_plan():
    assert not list(
        plans(
            job(
                "llama-3-8b",
                64,
                8192,
                7,
                tensor_parallel=(8,),
                context_parallel=(1,),
                pipeline_parallel=(1,),
            )
        )
    )


def test_shapes_come_without_a_pipeline():
    found = list(shapes(JOBS["7b"]))
    assert {plan.pipeline_parallel for plan, _ in found} == {1}


def test_divisors():
    assert divisors(12) == (1, 2, 3, 4, 6, 12)
    assert divisors(12, 4) == (1, 2, 3, 4)
