"""Tensor parallelism at real scale: communication against computation, over ranks and links."""

from functools import partial

from engine.calculators.splitting_the_model.tensor_lab import charts
from engine.calculators.splitting_the_model.tensor_lab.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.tensor_lab.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.tensor_lab.result import PREDICTED
from engine.calculators.splitting_the_model.tensor_lab.result import Result as Result
from engine.calculators.splitting_the_model.tensor_lab.result import solve as solve
from engine.calculators.splitting_the_model.tensor_lab.verdicts import challenge, fits, regime
from engine.core.outputs import Presenter, Views
from engine.form.run.prediction_text import value_with_range
from engine.formulas.axes import TENSOR_LAYER_BYTES

TITLE = "Tensor parallelism at real scale"
QUESTION = "Over how many GPUs, and over which links, is tensor parallelism worth its traffic?"
EQUATIONS = (TENSOR_LAYER_BYTES,)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "formula": present.formula("Bytes of a layer, with your numbers", TENSOR_LAYER_BYTES),
        "ratio_curve": partial(charts.ratio_curve, inputs, result),
        **present.values("ratio"),
        "regime": regime(present, result),
        **present.values("layer_bytes", "needed", "exposed", "exposed_share"),
        "token_rate": value_with_range(
            present, "token_rate", result.plan.evidence, assumes=(PREDICTED,)
        ),
        "gpu_time": partial(charts.gpu_time, result),
        **present.values("memory"),
        "fits": fits(result),
        "tiles": partial(charts.tiles, result),
        **present.values("kept"),
        "challenge": partial(challenge, inputs, result),
    }
