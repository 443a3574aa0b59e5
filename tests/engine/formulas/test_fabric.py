"""Fat trees in closed form: published claims, and limits."""

import pytest

from engine.formulas.fabric import (
    bisection_bandwidth,
    break_even_price,
    exposed_for,
    kept_speed,
    waiting_step,
)


def test_half_of_a_superpod_sends_half_of_its_ports():
    assert bisection_bandwidth(128, 8, 50e9, 1) == 25.6e12


# What is said to cost half of the speed at 3:1 does so only if half of the step is exposed.
@pytest.mark.parametrize(("exposed", "kept"), [(0.05, 0.909), (0.10, 0.833), (0.50, 0.50)])
def test_three_to_one_keeps_what_the_exposed_share_leaves(exposed, kept):
    assert kept_speed(exposed, 3.0) == pytest.approx(kept, abs=5e-4)


def test_nothing_is_lost_without_oversubscription_or_without_exposure():
    assert kept_speed(0.6, 1.0) == kept_speed(0.0, 7.0) == 1


def test_the_exposed_share_is_the_inverse():
    assert exposed_for(kept_speed(0.2, 7.0), 7.0) == pytest.approx(0.2)


def test_a_fabric_that_is_not_oversubscribed_keeps_all():
    with pytest.raises(ValueError, match="must be above 1"):
        exposed_for(0.5, 1.0)


def test_late_messages_lengthen_only_what_the_step_waits_for():
    assert waiting_step(1.0, 0.1, 3.0) == pytest.approx(1.2)
    assert waiting_step(1.0, 0.1, 1.0) == 1


def test_a_slower_network_has_to_be_cheaper():
    assert break_even_price(2.0, 0.9, 1.0) == pytest.approx(1.8)
