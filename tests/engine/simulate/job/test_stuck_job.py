"""Hung jobs: what waits for what, when the watchdog fires, and the seven runs of the guide."""

from math import inf

import pytest

from engine.calculators.whole_runs import stuck_job as calculator
from engine.calculators.whole_runs.stuck_job import Inputs
from engine.simulate.job.stuck_cases import CASES, CAUSES, RANKS, simulate_case
from engine.simulate.job.stuck_job import (
    COLLECTIVE,
    COMPUTE,
    DEATH,
    SYNCHRONIZE,
    WORLD,
    Operation,
    simulate_job,
)
from tests.each import each

WAIT = Operation(kind=SYNCHRONIZE, frame="item")


def _compute(seconds):
    return Operation(kind=COMPUTE, seconds=seconds)


def _call(name="ALLREDUCE", elements=1, seconds=1.0, group=WORLD):
    return Operation(kind=COLLECTIVE, name=name, elements=elements, seconds=seconds, group=group)


def _play(*programs, timeout=100.0, groups=None):
    return simulate_job(programs, groups or {WORLD: range(len(programs))}, timeout)


def test_a_collective_begins_when_its_last_member_arrives():
    job = _play([_compute(1.0), _call(), WAIT], [_compute(5.0), _call(), WAIT])
    # Rank 1 comes after 5 s, and the collective takes 1 s.
    assert [own[0].end for own in job.works] == [6.0, 6.0]
    assert job.fired == inf
    assert job.end == 6.0


def test_collectives_of_a_group_run_one_after_the_other():
    job = _play([_call(), _call(seconds=2.0), WAIT], [_call(), _call(seconds=2.0), WAIT])
    assert [work.end for work in job.works[0]] == [1.0, 3.0]
    assert [work.sequence for work in job.works[0]] == [1, 2]


def test_a_host_goes_on_after_it_has_issued_a_collective():
    job = _play([_call(), _compute(3.0), WAIT], [_compute(2.0), _call(), WAIT])
    # Rank 0 computes from 0 to 3 s beside its collective, which is done after 2 + 1 s.
    assert job.hosts[0][0].end == 3.0
    assert job.end == 3.0


def test_a_member_that_never_comes_makes_the_watchdog_of_the_others_fire():
    job = _play([_compute(2.0), _call(), WAIT], [_compute(1.0), _call(), WAIT], [_compute(1.0)])
    assert job.fired == 101.0  # rank 1 issued first
    assert job.groups(2) == ()
    (state,) = job.groups(0)
    assert (state.issued, state.completed, state.waiting.sequence) == (1, 0, 1)


def test_a_timeout_shorter_than_a_pause_ends_a_healthy_job():
    programs = ([_call(), WAIT], [_compute(50.0), _call(), WAIT])
    assert _play(*programs, timeout=40.0).fired == 40.0
    assert _play(*programs, timeout=60.0).fired == inf


def test_another_type_or_another_size_never_ends():
    for other in (_call("BROADCAST"), _call(elements=2)):
        job = _play([_call(), WAIT], [other, WAIT])
        assert job.works[0][0].end == inf


def test_two_groups_in_another_order_wait_for_each_other():
    groups = {"a": (0, 1), "b": (0, 1)}
    one = [_call(group="a"), WAIT, _call(group="b"), WAIT]
    other = [_call(group="b"), WAIT, _call(group="a"), WAIT]
    assert _play(one, one, groups=groups).fired == inf
    assert _play(one, other, groups=groups).fired == 100.0
    # Without the wait between them the same order of calls is no fault: each group has a stream.
    free = [_call(group="a"), _call(group="b"), WAIT]
    assert _play(free, [*free[1::-1], WAIT], groups=groups).fired == inf


def test_a_dead_rank_has_no_watchdog():
    job = _play([_call(), WAIT], [_call(), WAIT, Operation(kind=DEATH)], [Operation(kind=DEATH)])
    assert job.dead == {2}
    assert job.fired == 100.0  # that of rank 0, which lives


@each("case", CASES)
def test_every_run_hangs_by_its_own_cause_and_is_solved_by_it(case):
    job = simulate_case(case, 600.0)
    assert 600.0 < job.fired < 610.0
    known = CASES[case]
    assert known.cause in CAUSES
    rank = str(next(iter(known.ranks))) if known.ranks else "none"
    inputs = Inputs(run=case, diagnosis=known.cause, culprit=rank)
    verdict = calculator.views(inputs, calculator.solve(inputs))["verdict"]
    assert verdict.text == "Right"
    for cause in set(CAUSES) - {known.cause}:
        wrong = Inputs(run=case, diagnosis=cause, culprit=rank)
        assert calculator.views(wrong, calculator.solve(wrong))["verdict"].text == "Not this cause"


def test_what_the_tools_show_differs_as_the_table_says():
    def states(case):
        job = simulate_case(case, 600.0)
        return [job.groups(rank)[0] for rank in range(RANKS)]

    assert {state.issued for state in states("1")} == {8, 6}
    assert states("1")[6].waiting is None
    assert states("2")[0].waiting.operation.name == "BROADCAST"
    assert {state.waiting.sequence for state in states("2")} == {7}
    assert states("4")[5].waiting.operation.elements == 1
    assert {(state.issued, state.completed) for state in states("5")} == {(8, 6)}


def test_the_saving_run_goes_on_with_a_timeout_above_the_save():
    assert simulate_case("7", 700.0).fired < inf
    assert simulate_case("7", 1800.0).fired == inf


def test_what_is_lost_is_the_wait_times_the_gpus():
    found = calculator.solve(Inputs(num_gpus=1024))
    # Issued 0.8 s after the last completed collective: 600.8 s x 1,024 GPUs.
    assert found.idle == pytest.approx(600.8)
    assert found.lost / 3600 == pytest.approx(170.9, abs=0.1)
    assert (found.waiting, found.silent) == (7, 1)


def test_ras_counts_each_type_and_names_the_one_rank_that_differs():
    def text(case):
        inputs = Inputs(run=case)
        return calculator.views(inputs, calculator.solve(inputs))["ras"]().text

    assert "  7 ranks have launched up to operation 8\n  Rank 6 has launched up to" in text("1")
    assert "different Broadcast operation counts\n  7 ranks have not launched" in text("2")
    assert "INCOMPLETE\n  Missing communicator data from 1 rank\n  The missing rank: 3" in text("3")
    assert text("5").endswith("RUNNING  OK")


@each("run, words", [("1", "What are the others doing"), ("4", "Which one"), ("6", "Which one")])
def test_nobody_is_asked_about_ranks_that_are_none(run, words):
    inputs = Inputs(run=run)
    sentence = calculator.views(inputs, calculator.solve(inputs))["verdict"].sentence
    assert words in (sentence if isinstance(sentence, str) else sentence.template)
