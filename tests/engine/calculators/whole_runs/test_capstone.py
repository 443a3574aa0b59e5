"""The story: chapters, what a plan makes of them, and several ways to a good end."""

from itertools import islice, pairwise

import pytest

from engine.calculator import load
from engine.calculators.whole_runs.capstone import PRESETS, SOLUTION, START, Inputs
from engine.form.planner import story
from engine.form.planner.story import CHAPTERS, chapter_outcome, job_of_chapter
from engine.simulate.planner.search import fastest_plans
from engine.simulate.planner.why import why_not

CAPSTONE = load("capstone")


def view(name, **changes):
    return CAPSTONE.lazy(Inputs(**changes)).compute({name})[name]


def views(**changes):
    return {
        name: view() if callable(view) else view
        for name, view in CAPSTONE.compute(Inputs(**changes)).items()
    }


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_chapter_can_be_done_in_time_in_several_ways(name):
    found = views(chapter=name)
    assert found["others"].text == "Several endings"
    assert 0 < found["best_time"].value < found["deadline"].value


def test_every_preset_of_a_chapter_ends_it_in_time():
    for title in (
        "Data parallelism and ZeRO-1",
        "A sequence over eight GPUs",
        "Every axis a little",
    ):
        assert view("ending", **PRESETS[title]).text == "Done in time"


def test_the_plan_of_the_published_story_is_too_late():
    assert view("ending").text == "Too late"
    assert view("ending", chapter="context").text == "It never starts"


def test_the_table_tells_what_a_plan_makes_of_every_chapter():
    rows = view("chapters").rows
    assert [row[1] for row in rows] == ["too late", "out of memory", "too late", "too late"]


def test_a_plan_that_does_not_divide_never_starts():
    own = {"own_tensor": "64", "own_pipeline": "64"}
    assert chapter_outcome(CHAPTERS["7b"], own).ending == "does not divide"
    assert view("ending", **own).text == "It never starts"


def test_the_challenge_is_open_at_its_start_and_met_by_its_solution():
    assert not all(one.met for one in view("challenge", **START).conditions)
    assert all(one.met for one in view("challenge", **SOLUTION).conditions)


def test_half_the_network_costs_this_plan_a_few_percent():
    """Tensor parallelism stays in the node; what crosses it is small or hidden."""
    job, _, _ = job_of_chapter(CHAPTERS["70b"], {})
    half, run, _ = job_of_chapter(
        CHAPTERS["network"], {k: SOLUTION[k] for k in SOLUTION if k != "chapter"}
    )
    whole = fastest_plans(job, 1).best[0]
    slow = why_not(half, run, None).plan
    assert half.cluster.nic_bandwidth == job.cluster.nic_bandwidth / 2
    assert 1 < slow.step / whole.step < 1.05


def test_the_search_of_one_chapter_stops_between_its_slices():
    shares = [one.share for one in islice(story._best_plans(), 100)]
    assert all(before <= after for before, after in pairwise(shares))
    assert 0 < shares[-1] < 1 / (2 * len(CHAPTERS))
