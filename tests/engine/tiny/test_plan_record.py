"""All plans of the tiny model train the same model, and differ in what they hold and send."""

from engine.core.slices import run_to_end
from engine.core.text import render_text
from engine.tiny.plan_record import start_plans


def test_every_plan_trains_the_same_model():
    for ranks in (2, 4):
        found = run_to_end(start_plans(ranks, 2).rest())
        assert len(found) == (7 if ranks == 2 else 6)
        assert all(one.digits >= 13 for one in found)


def test_plans_hold_what_their_formulas_say():
    """260 parameters with 16 bytes each; on two ranks ZeRO-1 keeps 4 + 12/2, ZeRO-3 8."""
    held = {one.name: one.held for one in run_to_end(start_plans(2, 2).rest())}
    assert held["Data parallel"] == 260 * 16
    assert held["ZeRO-1"] == 260 * (4 + 6)
    assert held["ZeRO-2"] == 260 * (2 + 7)
    assert held["ZeRO-3"] < 0.6 * held["Data parallel"]
    assert held["Context parallel"] == held["Data parallel"]
    assert held["Pipeline parallel"] < held["Data parallel"]


def test_plans_send_different_amounts():
    """A ring's all-reduce of 260 numbers over two ranks sends 260 from each."""
    sent = {one.name: one.sent for one in run_to_end(start_plans(2, 2).rest())}
    assert sent["Data parallel"] == sent["ZeRO-1"] == 260
    assert sent["ZeRO-3"] > sent["ZeRO-1"]
    assert sent["Pipeline parallel"] != sent["Tensor parallel"]


def test_a_plan_is_told_and_left_between_two_steps_of_it():
    told = [render_text(progress.text) for progress in start_plans(2, 3).rest()]
    assert told == [f"Plan {place} of 7" for place in range(8) for _ in range(3)]
