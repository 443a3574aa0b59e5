"""Page and terminal search one space of plans, and published plans are in it."""

from dataclasses import replace
from functools import cache

import pytest

from engine.catalog.models import MODELS
from engine.catalog.published_recipes_table import TEXT
from engine.catalog.published_runs import published_rows
from engine.form.job_planner.inputs import PRESETS, request_document
from engine.form.job_planner.inputs import Inputs as ToolInputs
from engine.form.planner.inputs import Inputs, job_of
from engine.plan_run import answer_json, best_plans
from engine.run.offered_plans import offered_plans
from engine.run.plan_request import read_request
from engine.run.plan_space import SCHEDULES, PlanningJob, recipe_plans
from engine.run.published import read_published_runs
from engine.simulate.planner.evaluate import run_candidate
from engine.simulate.planner.ranked import with_layer_cut, with_room_for
from engine.simulate.planner.search import fastest_plans
from engine.simulate.step.step_time import step_time
from tests.each import each
from tests.engine.catalog import write_published_recipes
from tests.lanes import SAMPLED, sampled

PUBLISHED = read_published_runs(published_rows())[0]
# The published runs of a mixture of the catalog, all steps of which are Megatron's.
RECIPES = [one for one in PUBLISHED if one.run.model in MODELS.values()]
GRID = [
    (model, gpu, world, length)
    for model in ("llama-2-7b", "llama-3-70b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3")
    for gpu in ("H100-SXM", "B200")
    for world, length in ((64, 4096), (256, 32_768))
]


def inputs_of(model, gpu, world, length, **more):
    chosen = {"model": model, "gpu": gpu, "world_size": world, "sequence_length": length}
    return replace(Inputs(), **chosen, global_batch_size=512, **more)


def request_of(inputs):
    """The request that asks what the page's inputs ask."""
    return {
        "model": inputs.model,
        "sequence_length": inputs.sequence_length,
        "cluster": {
            "gpu": inputs.gpu,
            "gpus_per_node": 8,
            "nics_per_node": 8,
            "nic_bandwidth": inputs.nic_bandwidth,
            "price_per_hour": inputs.price * 3600,
        },
        "world_size": inputs.world_size,
        "global_batch_size": inputs.global_batch_size,
        "choose": {"precisions": [inputs.precision]},
    }


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_page_and_terminal_choose_the_same_plan(precision):
    for asked in GRID:
        inputs = inputs_of(*asked, precision=precision)
        job = job_of(inputs)
        request = read_request(request_of(inputs))
        assert replace(job, cluster=request.job.cluster) == request.job
        for part in ("gpu", "gpus_per_node", "nics_per_node", "nic_bandwidth", "transport"):
            assert getattr(job.cluster, part) == getattr(request.job.cluster, part)
    inputs = inputs_of(*GRID[-1], precision=precision)
    page = fastest_plans(job_of(inputs), 8).best
    terminal = best_plans(read_request(request_of(inputs)))[0].best
    assert page
    assert [one.plan for one in page] == [one.plan for one in terminal[:8]]
    assert [one.step for one in page] == [one.step for one in terminal[:8]]


def test_recipes_are_the_plans_of_the_published_rows():
    assert write_published_recipes.text() == TEXT


@cache
def published_jobs():
    """Every published run once (of twelve one in the short lane), with the job that it is of."""
    found = {}
    for one in PUBLISHED:
        run = with_layer_cut(one.run)
        if repr(run) not in found:
            job = with_room_for(offered_job(run), run)
            found[repr(run)] = pytest.param(run, job, id=one.row["row_id"])
    return sampled([*found.values()], SAMPLED)


def offered_job(run):
    """Return the job of a run with what is offered unasked, in its software and precision."""
    unset = {"micro_batch_size": 1, "recompute": "none", "recompute_modules": ()}
    training = replace(run.training, **unset, schedule="1f1b")
    chosen = {"frameworks": (run.training.framework,), "precisions": (run.training.precision,)}
    if run.training.schedule not in SCHEDULES[run.training.framework]:
        chosen["schedules"] = (*SCHEDULES[run.training.framework], run.training.schedule)
    return PlanningJob(
        model=run.model,
        cluster=run.cluster,
        world_size=run.plan.world_size,
        training=training,
        **{**offered_plans(run.model, run.cluster, training), **chosen},
    )


@each("run, job", published_jobs)
def test_the_best_plan_loses_to_no_published_one(run, job):
    """By the model's own word, with the memory that the published plan takes."""
    own = run_candidate(run)
    assert fastest_plans(job, 1).best[0].step <= own.step * (1 + 1e-9)


@pytest.mark.parametrize("row", ["mbridge-091", "mbridge-090", "mbridge-276"])
def test_the_best_plan_never_loses_to_the_published_one_by_the_models_word(row):
    """NVIDIA's DeepSeek-V3 on 256 B200, 256 B300 and 1,024 H100; the first measured 19.7 s."""
    published = next(one for one in RECIPES if one.row["row_id"] == row)
    run = published.run
    fixed = ("overlap_tensor_parallel", "overlap_expert_parallel", "gradient_precision")
    keys = (*fixed, "quantized_weights", "cuda_graphs", "fused_experts")
    cluster = run.cluster
    request = read_request(
        {
            "model": "deepseek-v3",
            "sequence_length": run.training.sequence_length,
            "cluster": published.document["cluster"],
            "world_size": run.plan.world_size,
            "global_batch_size": run.training.global_batch_size,
            "training": {key: getattr(run.training, key) for key in keys},
            "choose": {"precisions": [run.training.precision]},
        }
    )
    assert request.job.cluster == cluster
    own = step_time(run.model, cluster, run.plan, run.training).total
    tried = [
        run_candidate(replace(run, plan=plan, training=training)).step
        for plan, training in recipe_plans(request.job)
    ]
    assert min(abs(step / own - 1) for step in tried) < 1e-9
    best = fastest_plans(request.job, 1).best[0]
    assert best.step <= own


def test_who_names_choices_gets_only_those():
    document = request_of(inputs_of("deepseek-v3", "B200", 256, 4096))
    assert read_request(document).job.recipes
    document["choose"]["recompute"] = ["full"]
    job = read_request(document).job
    assert not job.recipes
    assert not list(recipe_plans(job))
    assert job.recomputes == ("full",)


def test_a_recipe_among_the_best_is_written_as_a_run_file_says_it():
    asked = ToolInputs(**PRESETS["DeepSeek-V3 on 256 B200 in FP8"])
    request = read_request(request_document(asked))
    plans = answer_json(request, best_plans(request))["plans"]
    named = [plan["training"]["recompute"] for plan in plans]
    assert any(isinstance(word, list) and "mla_up_proj" in word for word in named)
