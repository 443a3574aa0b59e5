"""Data-parallel scaling: how many times faster n GPUs are, weak and strong, beside measurements."""

from functools import partial

from engine.calculators.data_parallelism.data_parallel_scaling.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.data_parallel_scaling.result import Result
from engine.calculators.data_parallelism.data_parallel_scaling.result import solve as solve
from engine.calculators.data_parallelism.data_parallel_scaling.views import (
    challenge,
    curve,
    regime,
)
from engine.core.outputs import Presenter, Views
from engine.core.views import Published
from engine.form.run.prediction_text import value_with_range
from engine.formulas.overlap import EFFICIENCY, EXPOSED_TIME, STEP_TIME
from engine.formulas.scaling import BLOCKING_STEP, HIDING_TOKENS, REAL_STEP
from engine.formulas.stragglers import ALL_BELOW

FORMERLY = {"parameters": "", "utilization": "", "scale_up": "", "bucket": ""}
TITLE = "Scaling curves"
QUESTION = "How many times faster are n GPUs, and where does it end?"
EQUATIONS = (
    BLOCKING_STEP,
    STEP_TIME,
    REAL_STEP,
    HIDING_TOKENS,
    EFFICIENCY,
    EXPOSED_TIME,
    ALL_BELOW,
)
PRESETS = {
    "4M tokens on 1,024 GPUs": {"mode": "strong", "num_gpus": 1024},
    "No overlap": {"overlap": False},
    "H100, eight ports of 400 Gb/s": {
        "gpu": "h100",
        "port": 5e10,
        "ports_per_node": 8,
    },
    "One slow GPU": {"slower": 0.2},
    "Gradients in bf16": {"gradient": "bf16"},
}
_RECEIPTS = (HIDING_TOKENS, ALL_BELOW)
_CLAIM = Published(
    text="a published page says: 8 GPUs should be 8x faster",
    reason="Only if nothing is exposed and nobody is late.",
    source="pingdo_job",
    claim="E2.4",
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=_RECEIPTS)
    title = "Version {}: {}".format
    wall = title(3, "jitter, and failures that cost a twentieth of the time")
    return {
        "speedup": present.value("speedup", published=_CLAIM),
        **present.values("efficiency", "tokens_per_gpu", "hiding_tokens", "enough"),
        "step_time": value_with_range(
            present,
            "step_time",
            result.evidence,
            assumes=("The range is of the step with the jitter of the estimate.",),
        ),
        **present.values(
            "exposed", "waiting", "optimizer", "host", "all_below", "one_in", "states", "link"
        ),
        "regime": regime(present, inputs, result),
        "curve": partial(curve, present, inputs, result),
        **present.values("measured_weak", "measured_sharded", "measured_strong"),
        "without_overlap": present.formula(title(1, "no overlap"), BLOCKING_STEP),
        "with_overlap": present.formula(title(2, "overlap"), STEP_TIME, Ts="with_overlap"),
        "on_the_wall": present.formula(wall, REAL_STEP),
        "challenge": partial(challenge, inputs, result),
    }
