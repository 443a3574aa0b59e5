"""The numbers of a run whose words depend on it."""

import math
from typing import Any

from engine.basis.told import Teller
from engine.basis.views import Receipt, Value
from engine.calculators.whole_runs.job_time.result import Result
from engine.catalog.accelerators import ACCELERATORS
from engine.form.job_inputs import Inputs
from engine.formulas import goodput, stragglers

Words = dict[str, Any]  # of a number, where they differ from those declared
_RAREST = 1e-6
_NEVER = "it fails before it gets anywhere"
_LONG_CHECKPOINT = Receipt(
    assumptions=(
        "A checkpoint takes twice the mean time between failures or more.",
        "Then that mean time itself is the best there is.",
    ),
    sources=("daly2006",),
)


def outcome(tell: Teller, result: Result) -> dict[str, Value]:
    """Return how long it takes, and what it takes."""
    endless: Words = {} if math.isfinite(result.wall_time) else {"note": _NEVER}
    return {
        "wall_time": tell.value("wall_time", **endless),
        **tell.values("gpu_hours", "cost", "energy"),
    }


def speed(tell: Teller, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the ideal run and the speed it rests on."""
    gpu = ACCELERATORS[inputs.gpu]
    peak: Words = {
        "assumes": (
            f"{gpu.name}, dense 16-bit peak {{peak}}.",
            "Six operations per parameter and token; attention scores left out.",
        ),
        "sources": (gpu.source,),
    }
    given = Receipt(basis="measured", assumptions=("As the reader gives it.",))
    too_fast: Words = {"note": "more than there is: check the speed"} if result.reached > 1 else {}
    return {
        **tell.values("work_time"),
        "token_rate": tell.value("token_rate", receipt=given, note="as measured")
        if inputs.speed_from == "measured"
        else tell.value("token_rate", symbols={"u": "utilization"}, **peak),
        "reached": tell.value("reached", **peak, **too_fast),
    }


def failing(tell: Teller, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return how often it fails, how often to save, and what is left."""
    endless: Words = {} if math.isfinite(result.failures) else {"note": _NEVER}
    short = inputs.checkpoint < 2 * result.mtbf
    return {
        "mtbf": tell.value("mtbf", **endless),
        "goodput": tell.value("goodput", symbols={"t": "interval"}),
        "first_order": tell.value(
            "first_order",
            equation=goodput.FIRST_ORDER_GOODPUT,
            symbols={"t": "interval"},
        ),
        "young": tell.value("young", equation=goodput.YOUNG_INTERVAL),
        "daly": tell.value("daly", equation=goodput.DALY_INTERVAL)
        if short
        else tell.value("daly", receipt=_LONG_CHECKPOINT),
        "best_goodput": tell.value("best_goodput", symbols={"t": "daly"}),
    }


def slowest(tell: Teller, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return what waiting for the slowest costs."""
    rare: Words = {"note": "less than one step in a million"} if result.all_below <= _RAREST else {}
    alike: Words = {"note": "set how much slower it is"} if inputs.slower == 0 else {}
    return {
        **tell.values("slow_down"),
        "bound": tell.value("bound", equation=stragglers.LARGEST_POSSIBLE),
        "all_below": tell.value("all_below", **rare),
        "slow_gpu": tell.value("slow_gpu", **alike),
    }
