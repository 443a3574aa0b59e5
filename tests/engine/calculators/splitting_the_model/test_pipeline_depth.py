"""The calculators of the depth split: one job has one answer, stages add up, layouts read back."""

import pytest

from engine.core.text import render_text
from engine.estimate import estimate
from engine.run.exporters.stage_layout import format_layout
from engine.run.stage_cut import shifted_cut
from tests.engine.calculators.asked import solved, views


def test_the_stage_lab_says_what_the_modeler_says():
    lab, modeler = solved("stage_lab"), solved("parallelism_modeler")
    assert lab.step == pytest.approx(modeler.step)
    assert lab.token_rate == pytest.approx(modeler.token_rate)
    assert lab.memory == pytest.approx(modeler.peak_memory)
    assert lab.needed == pytest.approx(modeler.needed_pipeline)
    assert lab.message == modeler.boundary == 4096 * 8192 * 2


def test_moved_layers_cost_what_the_modeler_says():
    lab = solved("stage_lab", shift_1=-2, shift_2=-1, shift_3=0)
    modeler = solved("parallelism_modeler", off_first=2)
    assert lab.cut == tuple(stage.layers for stage in modeler.plan.stages) == (18, 21, 21, 20)
    assert lab.step == pytest.approx(modeler.step)


@pytest.mark.parametrize("gpus", [8, 32, 64])
def test_the_story_says_what_the_estimate_says(gpus):
    found = solved("depth_story", num_gpus=gpus)
    for plan, time, memory in zip(
        found.now,
        (found.wide_time, found.deep_time),
        (found.wide_memory, found.deep_memory),
        strict=True,
    ):
        said = estimate(plan.run)
        assert memory == pytest.approx(said["memory_process"])
        tokens = plan.run.training.global_batch_size * plan.run.training.sequence_length
        assert time == pytest.approx(said["step_time"] * gpus / tokens * 1e6)


def test_the_story_has_four_steps():
    said = {n: views("depth_story", num_gpus=n)["regime"].text for n in (1, 8, 16, 32)}
    assert said == {
        1: "One GPU overflows",
        8: "Tensor parallel in one node",
        16: "Cut by depth, still too large",
        32: "Cut by depth",
    }


def test_stages_cost_less_gpu_time_than_a_tensor_group_over_nodes():
    found = solved("depth_story")
    for wide, deep in list(zip(found.wide, found.deep, strict=True))[4:]:
        assert deep.token_time < wide.token_time


@pytest.mark.parametrize("ranks", ["1", "2", "4"])
def test_one_micro_batch_at_a_time_keeps_one_gpu_busy(ranks):
    found = solved("depth_steps", ranks=ranks)
    assert found.busy == 1 / int(ranks)
    assert found.idle == pytest.approx(1 - found.busy)
    assert views("depth_steps", ranks=ranks)["equal"].text == "Equal to one GPU"


def test_shifts_move_boundaries_and_lose_no_layer():
    assert shifted_cut(80, 4, (0, 0, 0)) == (20, 20, 20, 20)
    assert shifted_cut(80, 4, (1, 2, 3)) == (21, 21, 21, 17)
    assert shifted_cut(32, 4, (20, -20, 0)) == (28, 0, 0, 4)
    assert sum(shifted_cut(126, 8, (-20, 5, 9, -3, 20, 1, 20))) == 126


def test_a_layout_is_written_as_megatron_reads_it():
    assert format_layout((20, 20, 20, 20)) == "Et*20|t*20|t*20|t*20L"
    assert format_layout((1, 0, 2)) == "Et||t*2L"


def test_uneven_ends_are_named_and_balance_helps():
    even = solved("stage_lab", model="llama-3-8b", tensor_parallel="1")
    moved = solved(
        "stage_lab", model="llama-3-8b", tensor_parallel="1", shift_1=1, shift_2=2, shift_3=3
    )
    assert even.plan.slowest == 3
    assert moved.step < 0.93 * even.step
    assert moved.imbalance < 1.06 < even.imbalance


def test_every_boundary_has_a_handle_and_every_stage_a_row():
    scene = views("stage_lab", stages="8")["strip"]
    shapes = scene.frames[0].shapes
    assert sum("data-grip" in shape.attributes for shape in shapes) == 7
    assert [s.text for s in shapes if s.key.startswith("name")] == [f"stage {i}" for i in range(8)]
    assert "10" in render_text(scene.frames[0].caption)
