"""Values of job time whose wording depends on the run."""

import math
from typing import Any

from engine.calculators.whole_runs.job_time.result import Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.publications import LLAMA_3_405B
from engine.core.outputs import Figure, Presenter
from engine.core.units import SECONDS
from engine.core.views import Published, Receipt, Value
from engine.form.job_inputs import Inputs
from engine.form.saving_inputs import LONG_CHECKPOINT_RECEIPT
from engine.formulas import goodput, stragglers

Words = dict[str, Any]  # of a number, where they differ from those declared
_RAREST = 1e-6
_NEVER = "it fails before it gets anywhere"
_SHORT = Receipt(
    assumptions=(
        "The run is over before the first checkpoint is due, and hardly anything can fail in it.",
    ),
)


def _published_figure(
    present: Presenter, inputs: Inputs, text: str, reason: str, source: str
) -> Words:
    """Return the published figure, if the inputs match a published run."""
    known = LLAMA_3_405B
    asked = inputs.num_gpus, inputs.gpu, inputs.tokens, inputs.parameters
    if asked != (known.world_size, known.gpu, known.tokens, known.parameters):
        return {}
    return {"published": Published(text=present.say(text), reason=reason, source=source)}


def outcome_values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return wall time, GPU hours, cost and energy."""
    words: Words = {} if math.isfinite(result.wall_time) else {"note": _NEVER}
    if result.short:
        words = {"note": "over before the first checkpoint is due"}
    words |= _published_figure(
        present,
        inputs,
        "the model card of Llama 3.1 405B gives {known_hours}, {known_wall} of all its GPUs",
        "Those are all hours of the run, also of its start with a smaller batch.",
        "llama31_card",
    )
    return {
        "wall_time": present.value("wall_time", symbols={"m": "slow_factor"}, **words),
        **present.values("gpu_hours", "in_the_end", "cost", "energy"),
        **_singular(present, inputs),
    }


def _singular(present: Presenter, inputs: Inputs) -> dict[str, Value]:
    """Return the wording in the singular if the job has a single GPU."""
    if inputs.num_gpus > 1:
        return {}
    return {
        "gpu_hours": present.value("gpu_hours", note="one GPU for the whole run"),
        "energy": present.value("energy", note="one GPU draws {draw} with its building"),
    }


def speed_value(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the ideal run time and its throughput."""
    gpu = ACCELERATORS[inputs.gpu]
    peak: Words = {
        "assumes": (
            f"{gpu.name}, dense 16-bit peak {{peak}}.",
            "Six operations per parameter and token; attention scores left out.",
        ),
        "sources": (gpu.source,),
    }
    receipt = Receipt(basis="measured", assumptions=("As the reader gives it.",))
    source: Words = (
        {"note": "at the MFU that the step model gives Llama 3 405B's published plan"}
        if inputs.speed_from == "model"
        else {}
    )
    too_fast: Words = {"note": "more than there is: check the speed"} if result.reached > 1 else {}
    return {
        **present.values("work_time"),
        "token_rate": present.value("token_rate", receipt=receipt, note="as measured")
        if inputs.speed_from == "measured"
        else present.value("token_rate", symbols={"u": "reached"}, **source, **peak),
        "reached": present.value("reached", **peak, **too_fast),
    }


def _segment_words(inputs: Inputs, result: Result) -> dict[str, Figure | str]:
    """Return the work between checkpoints and a checkpoint's time, in words."""
    if result.steps <= inputs.interval:
        return {"t": "steps", "d": (0.0, SECONDS)}
    return {"t": "interval"}


def failure_values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return failure rate, checkpoint interval and goodput."""
    words: Words = {} if math.isfinite(result.failures) else {"note": _NEVER}
    if result.failures < 1:
        words = {"note": "{chance} chance of a failure in the run"}
    meta = _published_figure(
        present,
        inputs,
        "Meta reports more than {known_effective} effective training time for Llama 3 405B",
        "Its interval, its checkpoints and its restarts are not published; those set here are "
        "round numbers, and shorter ones give as much.",
        "dubey2024",
    )
    short = inputs.checkpoint < 2 * result.mtbf
    return {
        "mtbf": present.value("mtbf", **words),
        "goodput": present.value("goodput", receipt=_SHORT, note="nothing is likely to fail")
        if result.short
        else present.value("goodput", symbols=_segment_words(inputs, result), **meta),
        "first_order": present.value(
            "first_order",
            equation=goodput.FIRST_ORDER_GOODPUT,
            symbols={"t": "interval"},
        ),
        "young": present.value("young", equation=goodput.YOUNG_INTERVAL),
        "daly": present.value("daly", equation=goodput.DALY_INTERVAL)
        if short
        else present.value("daly", receipt=LONG_CHECKPOINT_RECEIPT),
        "best_goodput": present.value("best_goodput", symbols={"t": "daly"}),
    }


def straggler_values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the cost of waiting for stragglers."""
    rare: Words = {"note": "less than one step in a million"} if result.all_below <= _RAREST else {}
    alike: Words = {"note": "set how much slower it is"} if inputs.slower == 0 else {}
    return {
        **present.values("slow_down"),
        "bound": present.value("bound", equation=stragglers.LARGEST_POSSIBLE),
        "all_below": present.value("all_below", **rare),
        "slow_gpu": present.value("slow_gpu", **alike),
    }
