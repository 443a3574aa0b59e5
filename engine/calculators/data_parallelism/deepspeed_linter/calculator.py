"""A linter for DeepSpeed's JSON: effect, cost and errors of every line."""

from functools import partial

from engine.calculators.data_parallelism.deepspeed_linter.inputs import PRESETS as PRESETS
from engine.calculators.data_parallelism.deepspeed_linter.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.deepspeed_linter.result import Result as Result
from engine.calculators.data_parallelism.deepspeed_linter.result import solve as solve
from engine.calculators.data_parallelism.deepspeed_linter.views import (
    annotated_file,
    defaults_table,
    memory,
    verdict,
)
from engine.core.outputs import Presenter, Views

TITLE = "A linter for DeepSpeed"
QUESTION = "What does this DeepSpeed configuration do, line by line?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "verdict": verdict(present, result),
        "annotated": partial(annotated_file, result),
        **present.values("buffers", "states", "exposed"),
        "memory": partial(memory, result),
        "missing": partial(defaults_table, result),
    }
