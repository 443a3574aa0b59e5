"""A router in training: its loads step by step, balanced by a loss, by biases, or not at all."""

from functools import partial

from engine.calculators.splitting_the_model.router_lab import charts
from engine.calculators.splitting_the_model.router_lab.challenge import challenge
from engine.calculators.splitting_the_model.router_lab.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.router_lab.inputs import Result as Result
from engine.calculators.splitting_the_model.router_lab.inputs import search as search
from engine.calculators.splitting_the_model.router_lab.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.views import Badge
from engine.draw.load_histogram import histogram_scene

TITLE = "A router in training"
QUESTION = "How do experts get even loads, and what does that cost?"
EQUATIONS = ()
PRESETS_CITE = False
PRESETS = {
    "Left alone": {"balance": "none"},
    "Biases": {"balance": "bias"},
    "Biases that overshoot": {"balance": "bias", "bias_rate": 0.1},
    "A loss ten times as heavy": {"loss_weight": 0.1},
    "Dropless, 16 experts": {"capacity_factor": 0.0, "num_experts": 16},
}
_EVEN, _UNEVEN = 1.15, 1.4
_MANY = 0.05  # of the choices: loads that are even only over several steps


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("imbalance", "dropped", "given_up", "loss"),
        "verdict": _verdict(tell, result),
        "histogram": partial(histogram_scene, result.life),
        "loads": partial(charts.loads, inputs, result),
        "ways": partial(charts.ways, tell, inputs, result),
        "published": partial(charts.published, tell, result),
        "challenge": challenge(inputs, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    """Return how even the loads have become."""
    if result.imbalance >= _UNEVEN:
        return Badge(
            text="Uneven",
            sentence=tell.say(
                "Spread over GPUs, all of them wait until the busiest has done {imbalance} its "
                "share."
            ),
            color="communication",
        )
    if result.imbalance > _EVEN:
        return Badge(
            text="On the way",
            sentence=tell.say("The busiest expert still works {imbalance} the mean."),
            color="expert",
        )
    if result.dropped > _MANY:
        return Badge(
            text="Even on average",
            sentence=tell.say(
                "Over ten steps the loads are even, within a step they are not: {dropped} of the "
                "choices are dropped."
            ),
            color="expert",
        )
    return Badge(
        text="Even",
        sentence=tell.say("For this, {given_up} of the preferences' spread was given up."),
        color="compute",
    )
