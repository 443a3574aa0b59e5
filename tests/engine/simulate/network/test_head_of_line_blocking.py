"""Head-of-line blocking: what a victim gets under every control, by hand."""

import pytest

from engine.core.units import KiB
from engine.simulate.network.head_of_line_blocking import (
    CELL,
    CONTROLS,
    FRAMES,
    Incast,
    simulate_incast,
)
from tests.each import each

SENDERS = (2, 4, 8)


def run(senders, control, **changes):
    return simulate_incast(Incast(senders=senders, control=control, **changes))


# The full port divides itself among the senders; in one queue the victim gets what its neighbor
# gets, cell by cell.
@each("senders", SENDERS)
def test_a_paused_victim_gets_the_share_of_its_neighbor(senders):
    found = run(senders, "pause")
    assert found.victim == pytest.approx(1 / senders, abs=0.03)
    assert found.hot == pytest.approx(1 / senders, abs=0.03)
    assert found.full_port == pytest.approx(1, abs=0.01)
    assert found.paused == pytest.approx(1 - 1 / senders, abs=0.04)


@each("senders", SENDERS)
def test_without_pause_the_victim_is_not_held_up_and_the_rest_is_lost(senders):
    found = run(senders, "drop")
    assert found.victim == 1
    assert found.hot == pytest.approx(1 / senders, abs=0.03)
    assert found.lost == pytest.approx(1 - 1 / senders, abs=0.01)


@each("senders", SENDERS)
def test_in_its_own_class_the_victim_passes_while_the_link_is_paused(senders):
    found = run(senders, "own_class")
    assert found.victim == 1
    assert found.paused > 0.4


@each("senders", SENDERS)
def test_marks_slow_the_senders_down_before_the_link_is_paused(senders):
    found = run(senders, "ecn")
    assert found.victim > 0.95
    assert found.paused < 0.05
    assert found.full_port > 0.5


@each("control", CONTROLS)
def test_one_sender_blocks_nobody(control):
    found = run(1, control)
    assert (found.victim, found.lost) == (1, 0)
    assert found.hot == pytest.approx(1)


@each("control", tuple(name for name in CONTROLS if name != "drop"))
def test_a_lossless_queue_is_bounded_by_its_thresholds(control):
    found = run(4, control, pause_at=256 * KiB)
    assert found.lost == 0
    # Two cells may be on their way when a link is paused.
    assert found.longest <= 4 * (256 * KiB + 3 * CELL)


def test_a_moment_holds_what_happened_since_the_last():
    found = run(4, "pause")
    assert len(found.moments) == FRAMES
    late = found.moments[FRAMES // 2 :]
    assert sum(one.victim for one in late) / len(late) == pytest.approx(found.victim)
