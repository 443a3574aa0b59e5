"""A linter for DeepSpeed's JSON: every line with what it does, costs and breaks."""

from functools import partial

from engine.calculators.data_parallelism.deepspeed_linter.inputs import PRESETS as PRESETS
from engine.calculators.data_parallelism.deepspeed_linter.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.deepspeed_linter.result import Result as Result
from engine.calculators.data_parallelism.deepspeed_linter.result import solve as solve
from engine.calculators.data_parallelism.deepspeed_linter.views import (
    annotated,
    memory,
    missing,
    verdict,
)
from engine.core.outputs import Teller, Views

TITLE = "A linter for DeepSpeed"
QUESTION = "What does this DeepSpeed configuration do, line by line?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "verdict": verdict(tell, result),
        "annotated": partial(annotated, result),
        **tell.values("buffers", "states", "exposed"),
        "memory": partial(memory, result),
        "missing": partial(missing, result),
    }
