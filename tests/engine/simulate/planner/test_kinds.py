"""One rule for lists of plans: no near-copies, ties by the error of pairs, the simplest first."""

import math
from dataclasses import replace
from functools import cache
from itertools import permutations

import pytest

from engine.catalog.gain_errors import GAIN_ERROR
from engine.core.slices import run_to_end
from engine.core.units import GB
from engine.form.job_planner.inputs import PRESETS, Inputs, request_of
from engine.form.planner.best_plan_text import others_text
from engine.run.parallelism import Plan
from engine.simulate.memory.allocator import Memory
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.planner.kinds import TIE, is_tie, keep_fastest, kind_of, simplicity
from engine.simulate.planner.search import fastest_plans, ordered_shapes
from engine.simulate.planner.ties import find_ties, listed_plans, tied_kinds
from engine.simulate.step.step_time import StepTime
from tests.engine.run.planner_jobs import JOBS

TRAINING = JOBS["7b"].training


def plan(step, micro_batch=1, recompute="none", room=80 * GB, **sizes):
    """Return a hand-made plan on 16 GPUs that takes `step` seconds."""
    zero = dict.fromkeys(StepTime.__dataclass_fields__, 0.0)
    held = dict.fromkeys(Memory.__dataclass_fields__, 0.0) | {"activations": 40 * GB, "stage": 0}
    return Candidate(
        plan=Plan(world_size=16, **sizes),
        training=replace(TRAINING, micro_batch_size=micro_batch, recompute=recompute),
        memory=Memory(**held),
        room=room,
        device=80 * GB,
        time=StepTime(**zero | {"compute": step}),
    )


FASTEST = plan(10.0, pipeline_parallel=2, virtual_pipeline=16)
FEWER_STAGES = plan(10.2, pipeline_parallel=2, virtual_pipeline=2, recompute="selective")
NO_STAGES = plan(10.4, pipeline_parallel=2, recompute="full")
LARGER = plan(10.1, pipeline_parallel=2, virtual_pipeline=16, micro_batch=2)
DATA_ALONE = plan(10.6, zero_stage=3, recompute="full")
TENSOR = plan(10.3, tensor_parallel=2)
TENSOR_REPEATED = plan(10.2, tensor_parallel=2, recompute="selective")
BOTH = plan(10.05, tensor_parallel=2, pipeline_parallel=2)
SLOWER = plan(11.0, tensor_parallel=4)
TIED = [FASTEST, FEWER_STAGES, NO_STAGES, LARGER, DATA_ALONE, TENSOR, TENSOR_REPEATED, BOTH]


def test_a_tie_is_the_error_of_published_pairs():
    assert math.exp(GAIN_ERROR) == TIE
    assert 1.05 < TIE < 1.1
    assert is_tie(10.0 * TIE, 10.0)
    assert not is_tie(10.0 * TIE * 1.001, 10.0)
    assert all(is_tie(one.step, FASTEST.step) for one in TIED)
    assert not is_tie(SLOWER.step, FASTEST.step)


def test_the_same_ranks_are_one_kind_whatever_else_differs():
    near = {kind_of(one) for one in (FASTEST, FEWER_STAGES, NO_STAGES, LARGER)}
    assert len(near) == 1
    assert len({kind_of(one) for one in (*TIED, SLOWER)}) == 5


def test_a_list_keeps_the_fastest_of_each_kind_in_any_order():
    for order in permutations((FASTEST, LARGER, TENSOR, TENSOR_REPEATED, SLOWER)):
        kept: list[Candidate] = []
        for one in order:
            keep_fastest(kept, one, 2)
        assert kept == [FASTEST, TENSOR_REPEATED]


def test_the_simplest_has_the_fewest_kinds_of_parallelism_then_stages_then_recomputation():
    order = sorted(TIED, key=simplicity)
    assert order == [
        *(DATA_ALONE, TENSOR, TENSOR_REPEATED, NO_STAGES),
        *(FEWER_STAGES, FASTEST, LARGER, BOTH),
    ]
    tight = replace(DATA_ALONE, room=30 * GB)
    assert max([*TIED, tight], key=simplicity) is tight


def test_a_kind_says_what_others_of_it_have():
    kinds = {kind_of(one.simplest): one for one in tied_kinds(TIED)}
    stages = kinds[kind_of(FASTEST)]
    assert stages.simplest is NO_STAGES
    assert stages.plans == 4
    said = "1 or 2 virtual stages; a micro-batch of 2; selective recomputation; full recomputation"
    assert sorted(others_text(stages.others(FASTEST)).split("; ")) == sorted(said.split("; "))
    assert others_text(kinds[kind_of(BOTH)].others(BOTH)) == ""


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"virtual_pipeline": (1,)}, "1 virtual stage"),
        ({"virtual_pipeline": (16, 20, 24)}, "16, 20 or 24 virtual stages"),
        ({"virtual_pipeline": (2, 4, 5, 8)}, "2 to 8 virtual stages"),
        ({"zero_stage": (0, 3)}, "nothing sharded; ZeRO-3"),
        ({"shard_group": (0, 8, 16)}, "one group of all replicas; groups of 8 or 16"),
        ({"recompute": ("none", "mla_up_proj")}, "nothing recomputed; mla_up_proj recomputed"),
    ],
)
def test_others_in_words(values, said):
    assert others_text(values) == said


def test_a_list_is_the_fastest_then_ties_by_simplicity_then_slower_ones():
    best: list[Candidate] = []
    for one in (*TIED, SLOWER):
        keep_fastest(best, one, 5)
    listed = listed_plans(best, tied_kinds(TIED), 5)
    assert [one.candidate for one in listed] == [FASTEST, DATA_ALONE, TENSOR, BOTH, SLOWER]
    assert [one.tied for one in listed] == [True, True, True, True, False]
    assert listed_plans(best, tied_kinds(TIED), 2) == listed[:2]
    assert listed_plans((), (), 5) == ()


@cache
def found(name):
    """Return the list of a job and its ties."""
    job = request_of(Inputs(**PRESETS[name])).job
    shapes = ordered_shapes(job)
    search = fastest_plans(job, 8, shapes)
    tie = run_to_end(find_ties(search.job, search.best[0], shapes))
    return search, tie, listed_plans(search.best, tie.kinds, 8)


REAL = (
    "Llama 3 70B for 15T tokens on 2,048 H100",
    "Qwen3 235B on 512 H200 over EFA",
    "LoRA of 70B on two GPUs",
)


@pytest.mark.parametrize("name", REAL)
def test_a_real_list_has_no_near_copies_and_is_ordered(name):
    search, tie, listed = found(name)
    kinds = [kind_of(one.candidate) for one in listed]
    assert len(set(kinds)) == len(kinds)
    assert listed[0].candidate is search.best[0]
    ties = [one.candidate for one in listed if one.tied]
    assert [one.tied for one in listed] == sorted((one.tied for one in listed), reverse=True)
    assert ties[1:] == sorted(ties[1:], key=simplicity)
    assert all(one.step <= ties[0].step * TIE for one in ties)
    assert all(one.candidate.step > ties[0].step * TIE for one in listed if not one.tied)
    assert all(one.candidate.memory.total <= one.candidate.device for one in listed)
    assert len(tie.kinds) < 30  # 130,758 plans tied by the width of one range


def test_no_one_is_told_to_run_32_virtual_stages_for_adapters():
    _, tie, listed = found("LoRA of 70B on two GPUs")
    assert tie.simplest.plan.virtual_pipeline == 1
    assert all(one.candidate.plan.virtual_pipeline == 1 for one in listed)
