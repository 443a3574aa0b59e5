import math
from dataclasses import replace
from itertools import pairwise

import pytest

from engine.calculator import load
from engine.calculators.whole_runs.stack_explorer.calculator import SOLUTION, solve
from engine.calculators.whole_runs.stack_explorer.inputs import (
    EVENT_NAMES,
    LAYER_NAMES,
    PRESETS,
    Inputs,
    job,
)
from engine.calculators.whole_runs.stack_explorer.ruler import _spread, events, scene
from engine.core.text import render_text
from engine.core.units import HOUR
from engine.form.run.form_values import inputs_of

PLAIN = Inputs()
compute = load("stack_explorer").compute


def times(inputs):
    return solve(inputs).times


def cost(inputs):
    return solve(inputs).cost_of_tokens


def heights(inputs):
    shapes = scene(inputs, events(found := solve(inputs)), found.ruler).frames[0].shapes
    return {shape.key: float(shape.attributes["cy"]) for shape in shapes if shape.tag == "circle"}


def labels(inputs):
    shapes = scene(inputs, events(found := solve(inputs)), found.ruler).frames[0].shapes
    return [
        float(shape.attributes["y"]) for shape in shapes if shape.key.startswith("n") and shape.text
    ]


def test_the_job_of_the_start_fails_as_often_as_the_published_one():
    assert times(PLAIN)["mtbf"] == pytest.approx(54 * 24 / 419 * HOUR, rel=1e-3)


def test_more_than_ten_orders_of_magnitude_lie_between_a_memory_access_and_a_failure():
    # 11,135 s over 348.5 ns.
    assert compute(PLAIN)["decades"].value == pytest.approx(10.5045, abs=0.0005)


def test_the_run_is_tokens_over_tokens_per_second():
    assert times(PLAIN)["run"] * job(PLAIN).rate == pytest.approx(15.6e12)


def test_a_billion_tokens_cost_what_the_gpus_of_their_time_do():
    found = job(PLAIN)
    seconds = 1e9 / (2048 * 8192 / found.step.total)
    assert cost(PLAIN) == pytest.approx(seconds * 16_384 * 2 / 3600)


def test_the_step_is_the_one_of_the_estimate():
    assert times(PLAIN)["step"] == job(PLAIN).estimate.step_time


def test_half_as_many_gpus_fail_half_as_often():
    half = times(replace(PLAIN, world_size=8192))
    assert half["mtbf"] == pytest.approx(2 * times(PLAIN)["mtbf"])


def test_a_layer_is_longer_than_its_largest_product():
    assert times(PLAIN)["layer"] > times(PLAIN)["gemm"]


def test_one_stage_sends_no_message_to_the_next():
    assert times(replace(PLAIN, **PRESETS["8B on one node"]))["send"] == 0.0


@pytest.mark.parametrize("preset", ["", *PRESETS])
def test_events_lie_on_the_ruler_in_the_order_of_their_times(preset):
    inputs = replace(PLAIN, **PRESETS.get(preset, {}))
    at = heights(inputs)
    placed = [at[f"o{event.key}"] for event in events(solve(inputs)) if event.time > 0]
    assert placed == sorted(placed)


@pytest.mark.parametrize("preset", ["", *PRESETS])
def test_names_on_the_ruler_do_not_touch(preset):
    found = sorted(labels(replace(PLAIN, **PRESETS.get(preset, {}))))
    assert min(b - a for a, b in pairwise(found)) >= 20


def test_names_that_do_not_touch_stay_where_they_belong():
    assert _spread([30.0, 100.0, 200.0]) == [30.0, 100.0, 200.0]


def test_an_event_beyond_the_ruler_says_so():
    inputs = replace(PLAIN, ruler_to=10 * HOUR)
    shapes = scene(inputs, events(found := solve(inputs)), found.ruler).frames[0].shapes
    assert next(s.text for s in shapes if s.key == "nrun").endswith("beyond the axis")


def test_every_layer_has_an_event():
    assert {event.layer for event in events(solve(PLAIN))} == set(LAYER_NAMES)


@pytest.mark.parametrize("event", EVENT_NAMES)
def test_every_event_can_be_explained(event):
    assert len(compute(replace(PLAIN, event=event))["event_panel"].rows) == 8


def test_a_pipeline_across_nodes_costs_less_than_a_quarter_of_sharding_across_them():
    start = replace(PLAIN, **PRESETS["13B on eight nodes with one port of 100 Gb/s"])
    other = replace(PLAIN, **SOLUTION)
    assert cost(other) < cost(start) / 4


def test_the_levers_of_the_frontier_are_those_of_the_same_job():
    found = solve(PLAIN).job
    assert found.levers.step.total == pytest.approx(found.step.total)


def test_overlapping_more_never_makes_the_step_longer():
    steps = [step.total for _, _, step in job(PLAIN).variants]
    assert steps == sorted(steps, reverse=True)


def test_the_default_job_stands_beside_its_publication():
    shown = compute(PLAIN)
    assert render_text(shown["mfu"].note).endswith("published: 41.0 %")
    assert render_text(shown["published"].rows[1][1]) == "30.84M GPU h, 78.4 days of all GPUs"


def test_another_job_has_no_publication():
    rows = compute(replace(PLAIN, world_size=8192))["published"].rows
    assert rows[0][1] == "no publication of this job"


def test_the_mfu_is_that_of_the_estimate_of_the_same_job():
    found = load("estimate_run")
    given = inputs_of(job(PLAIN).run)
    assert found.compute(given, only=["mfu"])["mfu"].value == compute(PLAIN)["mfu"].value


def test_a_job_that_does_not_fit_has_no_rate_and_no_price():
    crowded = compute(replace(PLAIN, world_size=128, pipeline_parallel=1))
    assert (crowded["fits"].text, crowded["token_rate"].value) == ("Does not fit", 0.0)
    assert crowded["cost_of_tokens"].value == math.inf


def test_the_bars_of_the_waterfall_are_as_long_as_their_messages_take():
    bars = {bar.label: bar for bar in compute(PLAIN)["waterfall"].bars}
    messages = solve(PLAIN).messages
    for name, message in messages.items():
        assert sum(part.value for part in bars[name].segments) == pytest.approx(message.time)


def test_uneven_pieces_are_said():
    assert compute(PLAIN)["possible"].text == "Uneven"


def test_what_does_not_fit_says_so_beside_its_mfu():
    crowded = compute(replace(PLAIN, world_size=128, pipeline_parallel=1))
    notes = {render_text(crowded[name].note) for name in ("mfu", "step_time", "token_rate")}
    assert notes == {"it does not fit"}


def test_one_node_is_measured_without_mpirun():
    alone = compute(replace(PLAIN, **PRESETS["8B on one node"]), only=["commands"])["commands"]
    assert "mpirun" not in alone.text


def test_two_nodes_are_measured_with_a_process_for_every_gpu():
    shown = compute(PLAIN, only=["commands"])["commands"]
    assert "mpirun -np 16 --map-by ppr:8:node all_reduce_perf" in shown.text
