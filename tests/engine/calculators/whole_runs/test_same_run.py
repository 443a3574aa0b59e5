"""A resumed run and a lost node: what is the same, and what each choice costs."""

import pytest

from engine.calculator import load
from engine.calculators.whole_runs.lost_node import (
    Inputs,
    after_the_loss,
    behind,
    solve,
    views,
)
from engine.calculators.whole_runs.resumed_run import Inputs as Resumed
from engine.core.units import HOUR
from engine.form import short_job
from engine.simulate.step.what_if import run_step_time
from tests.each import each

NODE = load("lost_node")
RESUMED = load("resumed_run")


def test_what_is_behind_by_hand():
    # Six hours of repair, a quarter of an hour to restart, a tenth of the speed lost.
    wait, on, spare = behind(6 * HOUR, HOUR / 4, 0.1)
    assert wait == 6.25 * HOUR
    assert on == pytest.approx((0.25 + 5.75 * 0.1 + 0.25) * HOUR)
    assert spare == HOUR / 4


@each("slowdown", [0.0, 0.1, 0.5])
def test_going_on_pays_once_the_repair_takes_longer_than_a_restart(slowdown):
    for repair, better in ((0.9 * HOUR, False), (1.1 * HOUR, True)):
        wait, on, _ = behind(repair, HOUR, slowdown)
        assert (on < wait) == better


def test_a_whole_replica_stands_still():
    inputs = Inputs(
        model="llama-3-405b",
        world_size=2048,
        tensor_parallel=8,
        pipeline_parallel=16,
        global_batch_size=2048,
    )
    fewer, notes = after_the_loss(short_job.job_run(inputs))
    assert (fewer.plan.world_size, notes) == (1920, ())
    # 2048 / 15 = 136.5: the slowest of 15 replicas has 137 sequences where it had 128.
    assert fewer.training.global_batch_size == 137 * 15


def test_the_slowdown_is_that_of_the_slowest_replica_by_the_estimate():
    result = solve(Inputs())
    assert (result.before, result.each, result.left) == (16, 17, 504)
    assert result.step == run_step_time(result.run).total
    assert result.fewer_step == run_step_time(result.fewer).total
    assert result.slowdown == pytest.approx(1 - 16 / 17, abs=0.01)


def test_one_replica_alone_has_to_wait():
    result = solve(Inputs(world_size=8, global_batch_size=16))
    assert result.fewer is None
    assert result.lost_on == result.lost_wait
    views = NODE.lazy(Inputs(world_size=8, global_batch_size=16)).compute({"verdict"})
    assert views["verdict"].text == "It has to wait"


def test_a_spare_node_pays_while_it_saves_more_than_it_costs():
    result = solve(Inputs())
    saved = (result.lost_on - result.lost_spare) * 512
    assert result.spare_pays * 8 == pytest.approx(saved)


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"missing": "nothing"}, "The same training, to the last bit"),
        ({"missing": "nothing", "ranks": 3}, "The same training, but for rounding"),
        ({"missing": "nothing", "ranks": 2, "batch": "gpu"}, "Another training"),
        ({"missing": "moments"}, "Another training"),
    ],
)
def test_verdicts_of_a_resumed_run(inputs, text):
    assert RESUMED.lazy(Resumed(**inputs)).compute({"verdict"})["verdict"].text == text


def test_a_repair_of_five_minutes_can_be_typed_and_is_waited_for():
    inputs = NODE.inputs(repair=NODE.fields["repair"].read("5 min", typed=True))
    verdict = views(inputs, solve(inputs))["verdict"]
    assert inputs.repair == 300
    assert verdict.text == "Wait"


def test_what_is_left_may_lack_the_memory():
    job = {"world_size": 16, "tensor_parallel": 1, "zero_stage": "3", "framework": "fsdp"}
    inputs = Inputs(**job, global_batch_size=1024, recompute="full")
    assert views(inputs, solve(inputs))["verdict"].text == "Does not fit"
