"""The step composer: order the operations of a sharded step on two streams, and see what it costs.

Three layers, one micro-batch, parameters sharded as by ZeRO-3 or FSDP.
"""

from functools import partial

from engine.calculators.whole_runs.step_composer.challenge import challenge
from engine.calculators.whole_runs.step_composer.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.step_composer.inputs import Inputs as Inputs
from engine.calculators.whole_runs.step_composer.result import Result as Result
from engine.calculators.whole_runs.step_composer.result import solve as solve
from engine.calculators.whole_runs.step_composer.strip import strip
from engine.calculators.whole_runs.step_composer.views import regime, timeline, verdict
from engine.core.outputs import Teller, Views
from engine.formulas.issue_order import LEAST_STEP

TITLE = "Compose a step"
QUESTION = "In which order should gathers and reductions stand?"
EQUATIONS = (LEAST_STEP,)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "step_time": tell.value("step_time"),
        "regime": regime(tell, result),
        "strip": partial(strip, inputs, result.step),
        "verdict": verdict(result.step.plan),
        "timeline": partial(timeline, tell, result),
        **tell.values("exposed", "peak", "least"),
        "challenge": partial(challenge, inputs, result),
    }
