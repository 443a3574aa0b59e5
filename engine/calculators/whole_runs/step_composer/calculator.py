"""The step composer: order the operations of a sharded step on two streams, and see what it costs.

Three layers, one micro-batch, parameters sharded as by ZeRO-3 or FSDP.
"""

from engine.basis.views import View
from engine.calculators.whole_runs.step_composer.challenge import challenge
from engine.calculators.whole_runs.step_composer.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.step_composer.inputs import Inputs as Inputs
from engine.calculators.whole_runs.step_composer.model import composed
from engine.calculators.whole_runs.step_composer.strip import strip
from engine.calculators.whole_runs.step_composer.views import regime, timeline, values, verdict
from engine.formulas.issue_order import LEAST_STEP

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
