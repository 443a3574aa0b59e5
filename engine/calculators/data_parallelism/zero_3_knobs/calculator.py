"""The settings of ZeRO-3 in DeepSpeed, each with what it costs and what it gains."""

from functools import partial

from engine.calculators.data_parallelism.zero_3_knobs.challenge import challenge
from engine.calculators.data_parallelism.zero_3_knobs.charts import board, curve, memory, regime
from engine.calculators.data_parallelism.zero_3_knobs.inputs import PRESETS as PRESETS
from engine.calculators.data_parallelism.zero_3_knobs.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.zero_3_knobs.result import Result as Result
from engine.calculators.data_parallelism.zero_3_knobs.result import solve as solve
from engine.core.outputs import Teller, Views
from engine.form.sharded.lab import simulated_step

TITLE = "Settings of ZeRO-3 in DeepSpeed"
QUESTION = "What does each setting of ZeRO-3 cost in memory, calls and time?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "live_curve": partial(curve, "live", inputs, result),
        **tell.values("exposed", "buffers"),
        "regime": regime(tell, inputs, result),
        "prefetch_curve": partial(curve, "prefetch", inputs, result),
        "bucket_curve": partial(curve, "bucket", inputs, result),
        "reuse_curve": partial(curve, "reuse", inputs, result),
        "persistent_curve": partial(curve, "persistent", inputs, result),
        "memory": partial(memory, result),
        "board": partial(board, result),
        **tell.values("calls", "most", "states", "sent"),
        "step_time": simulated_step(tell, result.step.evidence),
        "challenge": partial(challenge, inputs, result),
    }
