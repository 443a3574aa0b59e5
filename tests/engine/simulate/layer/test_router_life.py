"""The life of a router: loads add up, balance has its price, windows are as they say."""

import pytest

from engine.core.slices import run_to_end
from engine.simulate.layer.router import Router
from engine.simulate.layer.router_life import WINDOW, imbalance, running_router_history
from tests.each import each

SKEWED = Router(skew=1.0, gate="sigmoid", experts_per_token=2, capacity_factor=1.25)


def lived(**changes):
    fields = {name: getattr(SKEWED, name) for name in SKEWED.__slots__}
    return run_to_end(running_router_history(Router(**fields | changes), 64, 40).rest())


def test_every_step_has_all_choices():
    assert {sum(asked) for asked in lived().asked} == {128}


def test_twice_the_mean_is_an_imbalance_of_two():
    # Loads of 6, 2, 2, 2 over two steps: 6 over a mean of 3.
    assert imbalance(((4, 1, 1, 0), (2, 1, 1, 2))) == 2.0


def test_the_window_holds_the_steps_before():
    found = lived()
    assert found.imbalance(39) == imbalance(found.asked[40 - WINDOW : 40])
    assert found.imbalance(0) == imbalance(found.asked[:1])


@each("balance", ["none", "bias"])
def test_without_a_loss_no_preference_is_given_up(balance):
    assert lived(balance=balance).given_up == 0


def test_a_loss_takes_preferences_away():
    light, heavy = (lived(balance="loss", loss_weight=w).given_up for w in (0.001, 0.05))
    assert 0 < light < heavy < 1


def test_without_favorites_there_is_nothing_to_give_up():
    assert lived(skew=0.0, balance="loss").given_up == 0


def test_a_large_rate_overshoots_and_drops_more_than_a_small_one():
    small, large = (lived(balance="bias", bias_rate=u).last_dropped for u in (0.02, 0.1))
    assert large > small


def test_only_biases_have_biases():
    assert not any(map(any, lived(balance="loss").biases))
    assert any(lived(balance="bias").biases[-1])


def test_drops_are_the_mean_of_the_last_steps():
    found = lived()
    assert found.last_dropped == pytest.approx(sum(found.dropped[-WINDOW:]) / WINDOW)
