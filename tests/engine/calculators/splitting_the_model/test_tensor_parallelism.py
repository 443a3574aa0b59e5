"""The calculators of tensor parallelism: one job has one answer, and figures show what they say."""

import pytest

from engine.calculators.reference.claims_checked.axes import tensor_parallel_ratio
from engine.catalog.tensor_scaling import TENSOR_RUNS
from engine.core.text import render_text
from engine.estimate import estimate
from tests.engine.calculators.asked import solved, views


@pytest.mark.parametrize(
    "changes",
    [{}, {"tensor_parallel": 16}, {"nics_per_node": 1}, {"sequence_parallel": False}],
    ids=str,
)
def test_the_lab_says_what_the_modeler_and_the_estimate_say(changes):
    lab, modeler = solved("tensor_lab", **changes), solved("parallelism_modeler", **changes)
    assert lab.ratio == pytest.approx(modeler.tensor_alone)
    assert lab.step == pytest.approx(modeler.step)
    assert lab.token_rate == pytest.approx(modeler.token_rate)
    assert lab.memory == pytest.approx(modeler.peak_memory)
    assert lab.step == pytest.approx(estimate(lab.plan.run)["step_time"])


def test_the_lab_sends_per_layer_what_the_modeler_sends_in_a_step():
    lab = solved("tensor_lab")
    sent = next(axis.sent for axis in lab.plan.axes if axis.key == "tensor")
    # 8 micro-batches through 20 layers of a stage.
    assert 8 * 20 * lab.layer_bytes == pytest.approx(sent)


def test_bytes_of_a_layer_by_hand():
    # 4,096 tokens, 8,192 wide, two bytes; 8 passes of seven eighths, or 10.
    assert solved("tensor_lab", sequence_parallel=False).layer_bytes == 7 * 4096 * 8192 * 2
    assert solved("tensor_lab").layer_bytes == 10 * 7 / 8 * 4096 * 8192 * 2


@pytest.mark.parametrize(("ranks", "ports"), [(8, 8), (16, 8), (16, 1)])
def test_the_claims_page_cites_the_same_ratios(ranks, ports):
    lab = solved("tensor_lab", tensor_parallel=ranks, nics_per_node=ports)
    assert tensor_parallel_ratio(ranks, ports) == pytest.approx(lab.ratio)


def test_the_ratio_jumps_with_one_port_and_not_on_one_domain():
    found = solved("tensor_lab")
    at = {t: i for i, t in enumerate(found.ranks)}
    own, port, rack = (found.ratios[key] for key in ("own", "port", "rack"))
    assert own[at[8]] == port[at[8]] == rack[at[8]]
    assert port[at[16]] > 5 * own[at[16]]
    # Over ports NCCL takes LL128, whose steps are longer.
    assert rack[at[16]] < own[at[16]] < 1.2 * rack[at[16]]
    assert own[at[1]] == 0


def test_what_does_not_divide_is_changed_and_said():
    found = views("tensor_lab", tensor_parallel=72)
    assert found["fits"].text == "Changed"
    assert "64" in render_text(found["fits"].sentence)


def test_a_plan_that_does_not_fit_is_named_in_the_bars():
    bars = views("tensor_lab")["gpu_time"].bars
    fits = {t: plan.fit.runs for t, plan in zip(*_plans(), strict=True)}
    assert [("does not fit" in bar.label) for bar in bars] == [not fits[t] for t in fits]
    assert not fits[1]
    assert fits[8]


def _plans():
    found = solved("tensor_lab")
    return found.ranks, found.plans


@pytest.mark.parametrize("ranks", ["1", "2", "4", "8"])
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("first", [-4, 0, 3])
def test_the_matrices_are_those_of_one_gpu(ranks, split, first):
    found = views("tensor_steps", ranks=ranks, sequence_parallel=split, first=first)
    assert found["equal"].text == "Equal to one GPU"
    assert found["sent"].value == found["sent_formula"].value


def test_the_scene_shows_the_numbers_of_the_chosen_gpu():
    scene = views("tensor_steps", ranks="4", gpu=2)["scene"]
    first = {shape.key: shape.text for shape in scene.frames[0].shapes}
    # The third quarter of A: its columns 4 and 5.
    assert [first[f"tA0.{column}"] for column in range(8)] == ["", "", "", "", "1", "−2", "", ""]
    assert len({frame.caption for frame in map(_said, scene.frames)}) > 10


def _said(frame):
    return type("Said", (), {"caption": render_text(frame.caption)})


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("steps", [1, 3])
def test_training_with_cut_matrices_is_the_same_training(split, steps):
    found = views("tensor_training", sequence_parallel=split, steps=steps)
    assert found["equal"].text == "Equal to one GPU"
    result = solved("tensor_training", sequence_parallel=split, steps=steps)
    assert result.activations == result.expected
    assert (result.norms > 0) == split


def test_measured_tokens_are_those_published():
    found = solved("tensor_measured")
    assert found.measured == tuple(one.rate for one in TENSOR_RUNS)
    assert found.measured_loss == pytest.approx(1 - 6159.30 / 10888.53)
    assert found.joined_loss < found.modelled_loss < found.measured_loss


def test_pieces_hide_all_but_the_first_and_the_last():
    found = [solved("async_tensor", pieces=n) for n in (1, 2, 4, 8)]
    assert found[0].gain == 1
    assert found[0].hidden == 0
    assert found[0].time == pytest.approx(found[0].estimated)
    # Pieces without a cost are a bound: measured runs hide less.
    assert found[3].time < found[3].estimated < found[0].time
    gains = [one.gain for one in found]
    assert gains == sorted(gains)
    assert found[3].hidden == pytest.approx(1 - 1 / 8)
