"""Gradient sync lab: how long the all-reduce of a data-parallel step takes, and if it matters."""

from functools import partial

from engine.calculators.moving_bytes.gradient_sync.advice import advice, challenge, regime
from engine.calculators.moving_bytes.gradient_sync.charts import (
    algorithms,
    efficiency_curve,
    parts,
    required_curve,
)
from engine.calculators.moving_bytes.gradient_sync.inputs import Inputs as Inputs
from engine.calculators.moving_bytes.gradient_sync.published import table
from engine.calculators.moving_bytes.gradient_sync.result import Result
from engine.calculators.moving_bytes.gradient_sync.solved import solve as solve
from engine.calculators.moving_bytes.gradient_sync.timeline import timeline
from engine.calculators.moving_bytes.gradient_sync.values import (
    BYTES_EQUATION,
    TIME_EQUATION,
    all_reduce_values,
    formula,
    headline,
    step_values,
    traffic,
)
from engine.core.outputs import Presenter, Views
from engine.formulas import bandwidth, overlap

TITLE = "Gradient sync lab"
QUESTION = "How long does the all-reduce of the gradients take, and does it matter?"
FORMERLY = {"scale_up": "", "utilization": ""}
PRESETS = {
    "A published calculator's inputs": {
        "published": True,
        "world_size": 8,
        "gpus_per_node": 1,
        "ports_per_node": 1,
    },
    "The same 8 GPUs in one NVLink node": {"world_size": 8},
    "Llama 3 8B on 128 nodes of 8": {
        "parameters": 8.03e9,
        "world_size": 1024,
    },
    "14B with ZeRO-1 on 64 nodes of 8": {
        "parameters": 14e9,
        "sharding": "zero1",
        "world_size": 512,
        "tokens_per_gpu": 8192,
        "bucket": 256 * 2.0**20,
    },
}
EQUATIONS = (
    *TIME_EQUATION.values(),
    *BYTES_EQUATION.values(),
    overlap.GRADIENT_SIZE,
    bandwidth.ALGORITHM_BANDWIDTH,
    bandwidth.BUS_BANDWIDTH,
    overlap.COMPUTE_TIME,
    overlap.EXPOSED_TIME,
    overlap.STEP_TIME,
    overlap.COMMUNICATION_SHARE,
    overlap.EFFICIENCY,
    overlap.REQUIRED_BANDWIDTH,
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views of the lab, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "all_reduce_time": partial(headline, present, inputs, result),
        "regime": partial(regime, present, inputs, result),
        "efficiency_curve": partial(efficiency_curve, present, inputs, result),
        "timeline": partial(timeline, present, inputs, result),
        **step_values(present, inputs, result),
        "advice": partial(advice, present, result),
        "required_curve": partial(required_curve, present, inputs, result),
        "formula": partial(formula, present, inputs, result),
        "parts": partial(parts, present, result),
        **all_reduce_values(present, inputs, result),
        "algorithms": partial(algorithms, present, result),
        "traffic": partial(traffic, result),
        "published_digits": partial(table, present, inputs, result),
        "challenge": partial(challenge, inputs, result),
    }
