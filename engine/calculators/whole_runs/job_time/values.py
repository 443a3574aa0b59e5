"""The numbers of a run whose words depend on it."""

import math
from typing import Any

from engine.calculators.whole_runs.job_time.result import Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.publications import LLAMA_3_405B
from engine.core.outputs import Figure, Teller
from engine.core.units import SECONDS
from engine.core.views import Published, Receipt, Value
from engine.form.job_inputs import Inputs
from engine.formulas import goodput, stragglers

Words = dict[str, Any]  # of a number, where they differ from those declared
_RAREST = 1e-6
_NEVER = "it fails before it gets anywhere"
_SHORT = Receipt(
    assumptions=(
        "The run is over before the first checkpoint is due, and hardly anything can fail in it.",
    ),
)
_LONG_CHECKPOINT = Receipt(
    assumptions=(
        "A checkpoint takes twice the mean time between failures or more.",
        "Then that mean time itself is the best there is.",
    ),
    sources=("daly2006",),
)


def _published(tell: Teller, inputs: Inputs, text: str, reason: str, source: str) -> Words:
    """Return what was published of the run, where the inputs describe one that was."""
    known = LLAMA_3_405B
    asked = inputs.num_gpus, inputs.gpu, inputs.tokens, inputs.parameters
    if asked != (known.world_size, known.gpu, known.tokens, 405e9):
        return {}
    return {"published": Published(text=tell.say(text), reason=reason, source=source)}


def outcome(tell: Teller, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return how long it takes, and what it takes."""
    words: Words = {} if math.isfinite(result.wall_time) else {"note": _NEVER}
    if result.short:
        words = {"note": "over before the first checkpoint is due"}
    words |= _published(
        tell,
        inputs,
        "the model card of Llama 3.1 405B gives {known_hours}, {known_wall} of all its GPUs",
        "Those are all hours of the run, also of its start with a smaller batch.",
        "llama31_card",
    )
    return {
        "wall_time": tell.value("wall_time", **words),
        **tell.values("gpu_hours", "cost", "energy"),
        **_alone(tell, inputs),
    }


def _alone(tell: Teller, inputs: Inputs) -> dict[str, Value]:
    """Return in the singular what is said of the GPUs, where there is only one."""
    if inputs.num_gpus > 1:
        return {}
    return {
        "gpu_hours": tell.value("gpu_hours", note="one GPU for the whole run"),
        "energy": tell.value("energy", note="one GPU draws {draw} with its building"),
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


def _segment(inputs: Inputs, result: Result) -> dict[str, Figure | str]:
    """Return the work between two checkpoints and the time of one; a run within one has none."""
    if result.steps <= inputs.interval:
        return {"t": "steps", "d": (0.0, SECONDS)}
    return {"t": "interval"}


def failing(tell: Teller, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return how often it fails, how often to save, and what is left."""
    words: Words = {} if math.isfinite(result.failures) else {"note": _NEVER}
    if result.failures < 1:
        words = {"note": "{chance} chance of a failure in the run"}
    meta = _published(
        tell,
        inputs,
        "Meta reports more than {known_effective} effective training time for Llama 3 405B",
        "Its interval, its checkpoints and its restarts are not published; those set here are "
        "round numbers, and shorter ones give as much.",
        "dubey2024",
    )
    short = inputs.checkpoint < 2 * result.mtbf
    return {
        "mtbf": tell.value("mtbf", **words),
        "goodput": tell.value("goodput", receipt=_SHORT, note="nothing is likely to fail")
        if result.short
        else tell.value("goodput", symbols=_segment(inputs, result), **meta),
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
