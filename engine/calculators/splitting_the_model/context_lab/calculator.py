"""Context parallelism at real scale: bytes of a step, where overlap ends, memory, and the step."""

from functools import partial

from engine.calculators.splitting_the_model.context_lab import charts, maps, verdicts
from engine.calculators.splitting_the_model.context_lab.attention import measured_attention
from engine.calculators.splitting_the_model.context_lab.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.context_lab.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.context_lab.result import Result as Result
from engine.calculators.splitting_the_model.context_lab.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.form.run.prediction_text import value_with_range
from engine.formulas.context import OVERLAP_TOKENS, RING_BUFFER, RING_STEP_BYTES

TITLE = "Context parallelism at real scale"
QUESTION = "Can a sequence this long be shared by this many GPUs without waiting?"
EQUATIONS = (RING_STEP_BYTES, OVERLAP_TOKENS, RING_BUFFER)
_COUNTED = "All operations of the model over the step and the GPUs."


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "ratio_curve": partial(charts.ratio_curve, present, inputs, result),
        **present.values("ratio", "computes", "block"),
        "threshold": present.value("threshold", symbols={"c": "threshold"}),
        **present.values("unmasked"),
        "regime": verdicts.regime(present, inputs, result),
        **present.values("waits", "merged", "layer", "layer_share", "step_share"),
        "formula": present.formula("With your numbers", OVERLAP_TOKENS, c="threshold"),
        "regime_map": partial(maps.regime_map, inputs, result),
        "exposed_map": partial(maps.exposed_map, inputs, result),
        "by_way": partial(charts.attention_by_method, result),
        **present.values("buffer", "held"),
        "buffers": partial(charts.buffers, result),
        "rate": value_with_range(
            present,
            "rate",
            result.evidence,
            published=verdicts.published_run(inputs),
            assumes=(_COUNTED,),
        ),
        "names": partial(verdicts.parallelism_names, result),
        "measured": partial(verdicts.measured_rings, result),
        "attention": partial(measured_attention, result),
        "challenge": partial(verdicts.challenge, inputs, result),
    }
