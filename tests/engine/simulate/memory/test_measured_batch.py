"""The line through two measured peaks, and the rows of the device that it is made of."""

import statistics

import pytest

from engine.catalog.constants import ALLOWANCES
from engine.catalog.measured_steps import OWN_STEPS, OWN_STEPS_DATE, OWN_STEPS_MODEL
from engine.simulate.memory.measured_batch import line_through, steps_of_length, token_rate
from tests.validation.device.tables import machines, table


@pytest.mark.parametrize("one", OWN_STEPS, ids=lambda one: f"{one.micro_batch_size}x{one.length}")
def test_a_step_is_a_row_of_the_device(one):
    wanted = {
        "device": "H100-SXM",
        "model": OWN_STEPS_MODEL,
        "batch": str(one.micro_batch_size),
        "length": str(one.length),
        "compiled": "1",
        "recompute": "none",
    }
    (row,) = [r for r in table("steps") if all(r[key] == cell for key, cell in wanted.items())]
    assert float(row["time"]) == one.time
    measured = [int(row[key]) for key in ("allocated", "reserved", "used")]
    assert measured == [one.allocated, one.reserved, one.used]


def test_the_date_is_that_of_the_steps():
    assert {machine["later"]["steps"] for machine in machines()} == {OWN_STEPS_DATE}


def test_the_line_goes_through_both_peaks_and_nearly_through_the_third():
    one, two, four = steps_of_length(4096)
    line = line_through(one, two)
    # By hand: 29,718,764,544 - 22,578,404,352, and 22,578,404,352 less that.
    assert line.per_sequence == 7_140_360_192
    assert line.fixed == 15_438_044_160
    assert line.at(2) == two.allocated
    assert abs(line.at(4) - four.allocated) < 0.001 * four.allocated


def test_one_long_sequence_takes_as_much_as_two_of_half_its_length():
    (long,) = steps_of_length(8192)
    assert long.allocated == pytest.approx(steps_of_length(4096)[1].allocated, rel=1e-3)


def test_the_rate_counts_all_tokens_of_the_step():
    assert token_rate(steps_of_length(4096)[2]) == pytest.approx(4 * 4096 / 0.29966)


def test_the_context_is_what_our_steps_held_beside_the_allocator():
    outside = [int(row["used"]) - int(row["reserved"]) for row in table("steps")]
    assert len(outside) == 24
    assert statistics.median(outside) == pytest.approx(ALLOWANCES.context, rel=2e-3)
    assert max(outside) < 1.005 * ALLOWANCES.context
