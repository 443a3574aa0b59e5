"""Feeding and saving: what the calculators say, in every state that they can be in."""

import pytest

from engine.calculators.whole_runs import loader_queue, reshard_pieces
from engine.calculators.whole_runs.checkpoint_lab import calculator as lab
from engine.core.numbers import DEFAULT
from engine.core.text import render_text
from engine.draw.reply_extras import chart_alt_text
from engine.run.problems import problems
from engine.simulate.job.saved_run import CheckpointStorage


def told(module, **given):
    inputs = module.Inputs(**given)
    return module.views(inputs, module.solve(inputs))


def verdict(module, **given):
    return told(module, **given)["verdict"].text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "Too few workers"),
        ({"workers": 0}, "One after the other"),
        ({"workers": 3}, "Always fed"),
        ({"workers": 3, "prefetch": 1}, "Too little ahead"),
        ({"workers": 3, "every": 12}, "One worker has the slow batches"),
    ],
)
def test_the_queue_says_what_keeps_the_gpu_waiting(given, text):
    assert verdict(loader_queue, **given) == text


def test_a_gpu_that_waits_is_not_said_to_be_busy():
    assert "GPU busy for 1.60 s;" in chart_alt_text(
        told(loader_queue)["timeline"](), DEFAULT
    )  # 16 of 100 ms


def test_the_queue_draws_every_wait_and_at_most_six_workers():
    timeline = told(loader_queue, workers=8, prefetch=1)["timeline"]()
    assert [lane.key for lane in timeline.lanes] == ["gpu", *(f"w{i}" for i in range(6))]
    assert "Six of the workers" in timeline.caption
    waits = [span for span in timeline.spans if span.label == "waits"]
    assert waits
    assert all(span.lane == "gpu" for span in waits)


def test_a_loader_without_workers_prepares_in_the_lane_of_the_gpu():
    timeline = told(loader_queue, workers=0)["timeline"]()
    assert {span.lane for span in timeline.spans} == {"gpu"}
    assert {span.color for span in timeline.spans} == {"memory", "compute"}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "Too rarely"),
        ({"interval": 75.0}, "Near the best interval"),
        ({"background": False, "interval": 300.0}, "Too often"),
        ({"optimizer": "no"}, "Not enough to go on"),
        ({"storage": 1e9, "interval": 300.0}, "Storage too slow"),
        ({"world_size": 64, "zero_stage": "0", "pipeline_parallel": 1}, "Does not fit"),
    ],
)
def test_the_lab_says_what_is_wrong_with_the_checkpoints(given, text):
    assert verdict(lab, **given) == text


@pytest.mark.parametrize("name", lab.PRESETS)
def test_every_preset_fits_and_asks_for_nothing_that_cannot_be(name):
    result = lab.solve(lab.Inputs(**lab.PRESETS[name]))
    run = result.evidence().run
    assert result.fit.runs
    assert not problems(run.model, run.cluster, run.plan, run.training)


def test_what_was_published_stands_beside_what_is_computed_whatever_the_job():
    rows = [told(lab, **given)["published"]().rows for given in ({}, {"model": "llama-3-8b"})]
    assert rows[0] == rows[1]
    assert [row[1] for row in rows[0]][:3] == ["2.3 TB", "329 GB", "40 s"]


def test_the_fuller_of_storage_and_node_is_named():
    assert told(lab)["write"].note == "the storage sets the pace"
    assert told(lab, storage=1e13)["write"].note == "the ports of a node set the pace"


def test_the_chart_has_its_lowest_point_where_the_lab_says():
    for background in (False, True):
        result = lab.solve(lab.Inputs(background=background))
        curve = [pair[background] for pair in result.curve]
        best = lab.INTERVALS[curve.index(max(curve))]
        assert best == pytest.approx(result.daly, rel=0.25)


def test_a_host_holds_a_copy_only_if_it_is_written_in_the_background():
    assert lab.solve(lab.Inputs(background=False)).host == 0
    result = lab.solve(lab.Inputs())
    assert result.host == result.per_gpu * 8
    assert isinstance(result.saved.copy, float)
    assert result.stall == result.per_gpu / CheckpointStorage(rate=1.0, node=1.0, host=63e9).host


def test_the_pieces_are_the_same_training_on_any_number_of_gpus():
    assert verdict(reshard_pieces) == "The same training"
    values = told(reshard_pieces, before=8, after=3)
    assert values["off"].value == 0
    assert values["forgotten"].value > 0.01
    assert values["most"].value == 4


def test_a_piece_that_nobody_reads_is_empty_in_the_map():
    heatmap = told(reshard_pieces, before=4, after=4)["pieces_map"]()
    kept = [[value == value for value in row] for row in heatmap.values]
    assert kept == [[i == j for j in range(4)] for i in range(4)]


def test_a_plan_that_does_not_divide_is_said_to_be_another():
    sentence = told(lab, pipeline_parallel=7)["verdict"].sentence
    said = "Computed with 1,008 for GPUs: 1,024 is no multiple of the ranks of a replica."
    assert said in render_text(sentence)
    assert "Computed" not in render_text(told(lab)["verdict"].sentence)
