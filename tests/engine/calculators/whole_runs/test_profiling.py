"""The profiling toolkit: the tree of causes, the commands, the planted faults, the three meters."""

import re
from dataclasses import replace

import pytest

from engine.calculator import load
from engine.calculators.reference.claims_checked.waiting import waiting_claim
from engine.calculators.whole_runs import command_builder, three_meters, trace_hunt
from engine.calculators.whole_runs.profile_tree import calculator as profile_tree
from engine.calculators.whole_runs.profile_tree.rules import RULES, guilty_nodes
from engine.calculators.whole_runs.trace_hunt import SIGNS
from engine.core.numbers import format_value
from engine.core.text import render_text
from engine.core.units import GB, SECONDS
from engine.form.commands import LAYERS
from engine.simulate.data_parallel.peak_account import JobReadings
from engine.simulate.data_parallel.trace_hunt import CASES, FAULTS, SLOW_RANK, simulate_case
from engine.simulate.streams.multi_rank import multi_rank_program, rank_kernels
from engine.simulate.streams.streams import COMPUTE, NETWORK, StreamOp, run_program
from tests.each import each

PLACE = re.compile("<([a-z_]+)>")
TREE = profile_tree.Inputs()
METERS = three_meters.Inputs()
WELL = {**profile_tree.PRESETS["Healthy"]}
# Readings that break one limit each, on an otherwise healthy job.
SICK = {
    "loading": {"loading": 0.2, "mfu": 0.35},
    "bubble": {"bubble": 0.3, "mfu": 0.3},
    "skew": {"exposed": 0.3, "skew": 0.2, "mfu": 0.35},
    "busbw": {"exposed": 0.3, "busbw": 100 * GB, "mfu": 0.35},
    "link": {"exposed": 0.3, "busbw": 100 * GB, "link_errors": 3, "mfu": 0.35},
    "utilization": {"exposed": 0.9, "tensor_active": 0.02, "mfu": 0.04},
    "overlap": {"exposed": 0.3, "mfu": 0.35},
    "gaps": {"gaps": 0.3, "mfu": 0.32},
    "efficiency": {"mfu": 0.3},
    "sm_active": {"mfu": 0.3, "sm_active": 0.4},
    "clock": {"clock": 0.6, "mfu": 0.4},
}


def readings(**changes):
    values = {key: getattr(TREE, key) for key in TREE.__dataclass_fields__ if key != "everything"}
    return JobReadings(**{**values, **changes})


def tree(**changes):
    return load("profile_tree").compute(replace(TREE, **changes))


def hunt(**changes):
    return load("trace_hunt").compute(replace(trace_hunt.Inputs(), **changes))


def meters(**changes):
    return load("three_meters").compute(replace(METERS, **changes))


@each(("rule", "changes"), SICK.items())
def test_every_cause_can_be_the_first(rule, changes):
    assert guilty_nodes(readings(**{**WELL, **changes}))[0] == rule


def test_every_rule_is_tried_or_leads_to_one_that_is():
    assert set(RULES) == set(SICK) | {"exposed"}


def test_a_healthy_job_breaks_no_limit():
    assert guilty_nodes(readings(**WELL)) == []


def test_every_rule_names_a_tool_and_a_layer_that_exist():
    assert all(r.tool in command_builder.COMMANDS and r.layer in LAYERS for r in RULES.values())


def test_the_losses_and_what_is_achieved_make_up_the_peak():
    yours = tree()["waterfall"].bars[0]
    assert sum(part.value for part in yours.segments) == pytest.approx(1.0)


def test_the_healthy_job_is_all_of_its_peak_too():
    bar = tree()["waterfall"].bars[1]
    assert sum(part.value for part in bar.segments) == pytest.approx(1.0)


def test_efficiency_while_computing_worked_by_hand():
    # Half of the step computes, at the full clock: an MFU of 30 % is 60 % of the peak meanwhile.
    found = tree(mfu=0.3, exposed=0.5, gaps=0.0, loading=0.0, clock=1.0)
    assert found["efficiency"].value == pytest.approx(0.6)


def test_repeating_the_forward_pass_adds_a_third():
    found = tree(mfu=0.3, exposed=0.5, gaps=0.0, loading=0.0, clock=1.0, recomputed=1.0)
    assert found["efficiency"].value == pytest.approx(0.8)


def test_readings_that_clash_are_said_to():
    assert tree(mfu=0.6, exposed=0.6)["next"].text == "Measure again"


def test_a_closed_tree_is_shorter_than_an_open_one():
    assert len(tree()["tree"].rows) < len(tree(everything=True)["tree"].rows) == len(RULES)


@each("tool", command_builder.COMMANDS)
def test_a_command_is_filled_completely(tool):
    filled = command_builder.fill_command(replace(command_builder.Inputs(), tool=tool))
    assert not PLACE.search(filled)


@each(("tool", "command"), command_builder.COMMANDS.items())
def test_a_command_lists_the_fields_it_uses(tool, command):
    assert set(PLACE.findall(command.text)) == set(command.fields)


@each(
    ("tool", "changes", "expected"),
    [
        ("dcgmi", {"gpu": 3, "interval": 0.5}, "-i 3 -d 500 -c 20"),
        ("nccl_tests", {"size": 2.0**32}, "-e 4096M"),
        ("nsys", {"duration": 30}, "--duration=30"),
        ("perfquery", {"device": "mlx5_4"}, "perfquery -x -C mlx5_4 -P 1"),
    ],
)
def test_what_a_reader_fills_in_is_in_the_command(tool, changes, expected):
    inputs = replace(command_builder.Inputs(), tool=tool, **changes)
    assert expected in command_builder.fill_command(inputs)


def test_nccl_tests_run_on_all_nodes_with_one_process_for_every_gpu():
    inputs = replace(command_builder.Inputs(), tool="nccl_tests", ranks=128, gpus_per_node=8)
    text = command_builder.fill_command(inputs)
    assert "make -j MPI=1" in text
    assert "mpirun -np 128 -N 8 --hostfile hosts" in text
    assert "-g 1" in text


def test_every_layer_has_a_command():
    assert {one.layer for one in command_builder.COMMANDS.values()} == set(LAYERS)


def test_a_collective_begins_on_each_rank_as_soon_as_it_is_ready():
    ops = (
        StreamOp(key="work", stream=COMPUTE, time=2.0),
        StreamOp(key="sum", stream=NETWORK, time=1.0, after=("work",)),
    )
    found = rank_kernels(run_program(multi_rank_program(ops, (1.0, 2.0))))
    assert [(k.begin, k.moved, k.end) for k in found if k.op.key == "sum"] == [
        (2.0, 4.0, 5.0),
        (4.0, 4.0, 5.0),
    ]


@each(("case", "faults"), CASES.items())
def test_only_the_planted_faults_cost_time(case, faults):
    helps = {
        f
        for f in FAULTS
        if simulate_case(case, frozenset({f})).step < simulate_case(case).step * 0.999
    }
    assert helps == set(faults)


@each(("case", "faults"), CASES.items())
def test_a_planted_fault_costs_a_tenth_of_the_step_or_more(case, faults):
    assert simulate_case(case, frozenset(faults)).step < 0.9 * simulate_case(case).step


def test_every_fault_is_planted_somewhere():
    assert {fault for faults in CASES.values() for fault in faults} == set(FAULTS) == set(SIGNS)


def test_the_slow_rank_is_the_one_that_waits_least():
    played = simulate_case("3")
    waits = [rank.exposed for rank in played.ranks]
    assert min(waits) == waits[SLOW_RANK] < 0.2 * waits[0]


def test_a_slow_link_leaves_utilization_full():
    assert simulate_case("2").ranks[0].utilization > 0.99


@each(
    ("answer", "verdict"),
    [
        ({}, "Unsolved"),
        ({"diagnosis": "loader"}, "Right"),
        ({"diagnosis": "link"}, "Not guilty"),
        ({"case": "8", "diagnosis": "loader"}, "Half of it"),
    ],
)
def test_an_answer_is_judged(answer, verdict):
    assert hunt(**answer)["verdict"].text == verdict


def test_a_wrong_answer_is_told_what_the_step_would_still_take():
    sentence = render_text(hunt(diagnosis="link")["verdict"].sentence)
    assert f"still takes {format_value(simulate_case('1').step, SECONDS)}" in sentence


def test_no_trace_has_too_many_spans():
    assert max(len(hunt(case=case)["timeline"].spans) for case in CASES) <= 800


def test_three_meters_worked_by_hand():
    # 1 s of computing, 8 s of spinning and 0.02 s of sending on 16 of 132 SMs, 1 s of computing.
    found = meters(sm_busy=1.0)
    assert found["sm_active"].value == pytest.approx((2 + 8.02 * 16 / 132) / 10.02)


def test_tensor_active_is_nothing_while_a_collective_runs():
    assert meters()["tensor_active"].value == pytest.approx(2 * 0.5 / 10.02)


def test_utilization_is_full_however_long_the_gpu_waits():
    assert meters(late=30.0)["utilization"].value == pytest.approx(1.0)


def test_a_rank_that_is_not_late_makes_nobody_wait():
    assert meters(late=0.0)["waiting"].value == 0


def test_every_field_of_a_command_is_an_input():
    hints = set(command_builder.Inputs.__dataclass_fields__)
    assert all(set(one.fields) <= hints for one in command_builder.COMMANDS.values())


def test_the_curves_of_the_meters_stay_within_their_axis():
    view = meters()["timeline"]
    assert all(0 <= y <= view.curve_axis.high for curve in view.curves for y in curve.y)


def test_the_claim_about_utilization_shows_the_three_meters():
    right = render_text(waiting_claim().right)
    assert right.startswith("100.0 % utilization, but 28.7 % SM active and 10.0 % tensor active")
