"""The planner's calculator: a plan of the reader's, the best, and what lies between."""

from dataclasses import replace

import pytest

from engine.answer import reply
from engine.calculator import load
from engine.calculators.whole_runs.planner import published_comparison, reported_of
from engine.form.planner.inputs import PRESETS, Inputs, job_of, own_run
from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run
from engine.simulate.planner.evaluate import candidate_run, run_candidate
from engine.simulate.planner.search import fastest_plans

PLANNER = load("planner")


def views(**changes):
    return {
        name: view() if callable(view) else view
        for name, view in PLANNER.compute(Inputs(**changes)).items()
    }


def view(name, **changes):
    return PLANNER.lazy(Inputs(**changes)).compute({name})[name]


DEFAULT = views()


def test_the_published_story_plan_is_twice_as_slow():
    """TP 8, PP 2, DP 4 for a 7B model, as a widely read text proposes, needs neither."""
    assert DEFAULT["why"].text == "Slower"
    assert DEFAULT["slower"].value > 1.5
    assert "DP 64, ZeRO-1" in DEFAULT["best"].sentence


def test_both_steps_are_shown_by_their_parts():
    totals = [sum(part.value for part in bar.segments) for bar in DEFAULT["versus"].bars]
    assert totals == pytest.approx([DEFAULT["own_step"].value, DEFAULT["step"].value])


def test_the_map_holds_the_best_and_marks_what_does_not_fit():
    cells = DEFAULT["map"].values
    assert max(map(max, cells)) == pytest.approx(1)
    assert min(map(min, cells)) == 0


def test_the_reader_s_split_is_framed_on_the_map():
    found = view("map", own_tensor="4", own_pipeline=4)
    (own,) = found.points
    assert (found.x[int(own.x)], found.y[int(own.y)]) == ("4", "4")


def test_a_split_outside_of_the_map_is_not_framed():
    assert not view("map", own_pipeline=64).points


def test_the_frontier_passes_through_the_best():
    front = DEFAULT["frontier"].series[0]
    assert max(front.y) == pytest.approx(1)
    assert list(front.y) == sorted(front.y)
    assert list(front.x) == sorted(front.x)


def test_more_gpus_do_more():
    best, ideal = DEFAULT["gpus"].series
    assert list(best.y) == sorted(best.y)
    assert len(ideal.y) == len(best.y) == 5


def test_a_job_that_fits_nowhere_is_told():
    found = views(model="llama-3-405b", world_size=8)
    assert found["best"].text == "No plan fits"
    assert found["step"].value == 0
    assert found["export"].text == ""


def test_a_batch_that_does_not_divide_is_told():
    found = views(global_batch_size=13, sequence_length=521, framework="fsdp")
    assert found["best"].text == "No plan fits"


def test_a_reader_who_names_the_best_is_told_so():
    found = views(own_tensor="1", own_pipeline="1")
    assert found["why"].text == "The best"
    assert found["slower"].value == 1


def test_the_published_figure_stands_beside_the_prediction():
    inputs = replace(Inputs(), **PRESETS["OLMo-core: OLMo 2 7B, FSDP on H100"])
    reported = reported_of(inputs)
    table = published_comparison(inputs, PLANNER.solve(inputs))
    assert reported.value == 10_000
    assert [row[0] for row in table.rows] == [
        "Published",
        "The published plan, predicted",
        "The planner's best",
    ]
    assert run_candidate(own_run(inputs, job_of(inputs))).fit.runs


EXPORTED = {
    "Megatron": {},
    "70B": PRESETS["70B on the same 64 GPUs"],
    "experts": {"model": "qwen3-30b-a3b", "framework": "megatron"},
}


@pytest.mark.parametrize("name", EXPORTED)
def test_the_export_of_the_best_plan_is_read_back(name):
    inputs = Inputs(**EXPORTED[name])
    job = job_of(inputs)
    best = fastest_plans(job, 1).best[0]
    text = view("export", **EXPORTED[name]).text
    back = import_run(
        text, ImportDefaults(model=inputs.model, cluster=DGX_H100, world_size=job.world_size)
    ).run
    assert back.plan == best.plan
    assert back.training.micro_batch_size == best.training.micro_batch_size
    assert back.training.recompute == best.training.recompute
    expected = candidate_run(job, best.plan, best.training)
    assert run_candidate(back).step == pytest.approx(run_candidate(expected).step, rel=1e-9)


def test_the_export_for_torchtitan_is_read_back():
    inputs = Inputs(framework="fsdp", model="llama-3-8b", global_batch_size=256)
    job = job_of(inputs)
    best = fastest_plans(job, 1).best[0]
    text = view("export", framework="fsdp", model="llama-3-8b", global_batch_size=256).text
    back = import_run(
        text, ImportDefaults(model="llama-3-8b", cluster=DGX_H100, world_size=job.world_size)
    ).run
    sizes = ("tensor_parallel", "pipeline_parallel", "context_parallel", "world_size")
    assert [getattr(back.plan, key) for key in sizes] == [getattr(best.plan, key) for key in sizes]
    assert back.training.micro_batch_size == best.training.micro_batch_size


def notes(**values):
    found = reply({"calculator": "planner", "values": values})["outputs"]
    return {name: one["note"] for name, one in found.items() if one["kind"] == "value"}


def test_numbers_of_what_does_not_run_say_so():
    impossible = notes(world_size="8", own_tensor="64")
    large = notes(world_size="8", own_tensor="1", own_pipeline="1", own_micro_batch="16")
    nothing = notes(world_size="8", model="llama-3-405b")
    for name in ("own_step", "slower", "own_held"):
        assert impossible[name] == "nothing runs this plan"
        assert large[name] == "it does not fit"
    for name in ("step", "rate", "days", "cost", "held"):
        assert nothing[name] == "no plan fits"
        assert impossible[name] != nothing[name]
