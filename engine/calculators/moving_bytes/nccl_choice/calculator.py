"""NCCL's choice: every algorithm and protocol for one collective, and what a setting costs."""

from functools import partial

from engine.calculators.moving_bytes.nccl_choice import charts
from engine.calculators.moving_bytes.nccl_choice.inputs import PRESETS as PRESETS
from engine.calculators.moving_bytes.nccl_choice.inputs import Inputs as Inputs
from engine.calculators.moving_bytes.nccl_choice.inputs import Result as Result
from engine.calculators.moving_bytes.nccl_choice.inputs import solve as solve
from engine.core.outputs import Teller, Views

TITLE = "What NCCL would choose"
QUESTION = "Which algorithm and which protocol is fastest for this message on these machines?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        "time": tell.value("time", note=result.best),
        **tell.values("bus_bandwidth"),
        "winner": charts.winner(inputs, result),
        **tell.values("set_time", "costs"),
        "bars": partial(charts.bars, tell, result),
        "curve": partial(charts.curve, tell, inputs, result),
        "over_nodes": partial(charts.over_nodes, tell, inputs, result),
        "challenge": charts.challenge(inputs, result),
    }
