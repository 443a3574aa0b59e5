"""Tensor parallelism at real scale: communication against computation, over ranks and links."""

from functools import partial

from engine.calculators.splitting_the_model.tensor_lab import charts
from engine.calculators.splitting_the_model.tensor_lab.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.tensor_lab.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.tensor_lab.result import PREDICTED
from engine.calculators.splitting_the_model.tensor_lab.result import Result as Result
from engine.calculators.splitting_the_model.tensor_lab.result import solve as solve
from engine.calculators.splitting_the_model.tensor_lab.verdicts import challenge, fits, regime
from engine.core.outputs import Teller, Views
from engine.form.run.prediction_text import ranged
from engine.formulas.axes import TENSOR_LAYER_BYTES

TITLE = "Tensor parallelism at real scale"
QUESTION = "Over how many GPUs, and over which links, is tensor parallelism worth its traffic?"
EQUATIONS = (TENSOR_LAYER_BYTES,)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "formula": tell.formula("Bytes of a layer, with your numbers", TENSOR_LAYER_BYTES),
        "ratio_curve": partial(charts.ratio_curve, inputs, result),
        **tell.values("ratio"),
        "regime": regime(tell, result),
        **tell.values("layer_bytes", "needed", "exposed", "exposed_share"),
        "token_rate": ranged(tell, "token_rate", result.plan.evidence, assumes=(PREDICTED,)),
        "gpu_time": partial(charts.gpu_time, result),
        **tell.values("memory"),
        "fits": fits(tell, result),
        "tiles": partial(charts.tiles, result),
        **tell.values("kept"),
        "challenge": partial(challenge, inputs, result),
    }
