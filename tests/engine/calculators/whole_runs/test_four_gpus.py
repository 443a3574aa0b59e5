"""All plans of a few GPUs, run: one training, many memories."""

from engine.calculator import load
from engine.calculators.whole_runs.four_gpus import Inputs

FOUR = load("four_gpus")


def views(**changes):
    return FOUR.compute(Inputs(**changes))


def test_all_plans_are_told_with_what_they_keep_and_send():
    found = views()
    assert len(found["plans"].rows) == len(found["held"].bars) == 7
    assert found["digits"].value >= 13
    assert found["most_held"].value == 260 * 16


def test_four_gpus_have_no_tensor_parallelism_here():
    names = [row[0] for row in views(ranks="4")["plans"].rows]
    assert "Tensor parallel" not in names
    assert views(ranks="4")["least_held"].value == 260 * 16 / 4
