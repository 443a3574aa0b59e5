"""Work in slices finds what it finds at once, however often it is interrupted."""

import pytest

from engine.core.slices import (
    Progress,
    SlicedFunction,
    SlicedRun,
    partial_progress,
    run_to_end,
    step_progress,
)
from engine.core.text import render_text


def counting(to):
    total = 0
    for number in range(to):
        total += number
        yield Progress(share=number / to, text=f"{number} of {to}")
    return total


def around(running):
    return 1 + (yield from running.rest())


def test_it_runs_to_its_end_at_once():
    assert run_to_end(counting(5)) == 10


def test_it_stops_when_it_is_enough_and_goes_on_there():
    running = SlicedRun(counting(5))
    assert running.until(lambda: True) is None
    assert running.progress == Progress(share=0.0, text="0 of 5")
    assert running.until(lambda: True) is None
    assert running.progress.text == "1 of 5"
    assert running.until(lambda: False) == 10
    assert running.until(lambda: True) == 10


def test_it_can_be_a_part_of_other_work_and_is_done_once():
    running = SlicedRun(counting(3))
    assert run_to_end(around(running)) == run_to_end(around(running)) == 4


def test_parts_one_after_the_other_tell_one_share():
    def both():
        first = yield from partial_progress(counting(2), 0, 2)
        return first + (yield from partial_progress(counting(4), 1, 2))

    running, shares = SlicedRun(both()), []
    while (found := running.until(lambda: True)) is None:
        shares.append(running.progress.share)
    assert found == 1 + 6
    assert shares == [0.0, 0.25, 0.5, 0.625, 0.75, 0.875]


def test_a_part_may_be_several():
    slices = partial_progress(counting(2), 1, 4, count=3)
    assert [one.share for one in slices] == [0.25, 0.625]


def test_steps_are_counted_in_words():
    assert render_text(step_progress(3, 48).text) == "Step 3 of 48"


def test_a_failure_is_told():
    def failing():
        yield Progress(share=0.0, text="")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_to_end(failing())
    running = SlicedRun(failing())
    for _ in range(2):  # and again, not forever on its way
        with pytest.raises(ValueError, match="no"):
            running.until(lambda: False)


@SlicedFunction
def sum_of(count, *, first=0):
    total = first
    for step in range(count):
        yield step_progress(step, count)
        total += step
    return total


def test_what_works_in_slices_is_called_as_a_whole_or_slice_by_slice():
    assert sum_of(4, first=10) == 16
    running = SlicedRun(sum_of.slices(4, first=10))
    seen = []
    while (found := running.until(lambda: True)) is None:
        seen.append(running.progress.share)
    assert (seen, found) == ([0.0, 0.25, 0.5, 0.75], 16)
