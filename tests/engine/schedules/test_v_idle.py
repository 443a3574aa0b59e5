"""Idle time of V-Half and V-Min: the tabulated forms against played steps and the authors' own."""

import pytest

from engine.formulas.v_idle import v_idle
from tests.engine.schedules.v_idle_forms import drawn_times, forms, played_idle


def error(schedule, stages, microbatches, times):
    """Forms less the played step, over that step."""
    played = played_idle(schedule, stages, microbatches, times)
    found = v_idle(schedule, stages, microbatches, *times)
    return (found - played) / (microbatches * sum(times) + played)


@pytest.mark.parametrize(("stages", "microbatches", "idle"), [(4, 8, 2.5), (8, 20, 8.5)])
def test_v_half_idles_as_the_authors_scheduler_does(stages, microbatches, idle):
    assert v_idle("v-half", stages, microbatches, 1.0, 1.0, 1.0) == pytest.approx(idle)


@pytest.mark.parametrize("schedule", ["v-half", "v-min"])
@pytest.mark.parametrize("stages", [2, 3, 4, 5, 8, 11, 16, 20])
def test_with_two_micro_batches_a_stage_it_is_within_half_a_percent(schedule, stages):
    for count in (2 * stages, 2 * stages + 1, 3 * stages):
        for times in ((1.0, 1.0, 1.0), *drawn_times(4, seed=stages + count)):
            assert abs(error(schedule, stages, count, times)) < 0.005, (count, times)


@pytest.mark.parametrize(("schedule", "bound"), [("v-half", 0.16), ("v-min", 0.015)])
def test_with_one_it_is_as_far_off_as_its_docstring_says(schedule, bound):
    errors = [
        abs(error(schedule, stages, count, times))
        for stages in (4, 6, 7, 8, 12)
        for count in (stages, stages + 1, 3 * stages // 2)
        for times in ((1.0, 1.0, 1.0), *drawn_times(4, seed=stages + count))
    ]
    assert max(errors) < bound


def test_the_table_is_what_the_orders_give():
    for schedule in ("v-half", "v-min"):
        for each, none in forms(schedule, 4):
            for times in drawn_times(6, seed=7):
                chain = sum((20 * a + b) * t for a, b, t in zip(each, none, times, strict=True))
                assert chain <= v_idle(schedule, 4, 20, *times) + 1e-9


def test_one_stage_never_idles():
    assert v_idle("v-min", 1, 4, 1.0, 2.0, 1.0) == 0.0
