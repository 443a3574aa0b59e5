"""The step composer: order the operations of a sharded step on two streams, and see what it costs.

Three layers, one micro-batch, parameters sharded as by ZeRO-3 or FSDP.
"""

from engine.calculators._composer_challenge import challenge
from engine.calculators._composer_inputs import PRESETS as PRESETS
from engine.calculators._composer_inputs import Inputs as Inputs
from engine.calculators._composer_model import composed
from engine.calculators._composer_strip import strip
from engine.calculators._composer_views import regime, timeline, values, verdict
from engine.formulas.issue_order import LEAST_STEP
from engine.views import View

TITLE = "Compose a step"
QUESTION = "In which order should gathers and reductions stand?"
EQUATIONS = (LEAST_STEP,)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    step = composed(inputs)
    found = values(step)
    return {
        "step_time": found.pop("step_time"),
        "regime": regime(step),
        "strip": strip(inputs, step),
        "verdict": verdict(step),
        "timeline": timeline(step),
        **found,
        "challenge": challenge(inputs, step),
    }
