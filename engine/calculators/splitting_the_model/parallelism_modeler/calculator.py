"""Parallelism modeler: links needed by each axis of a plan, and exposed time of a step."""

from functools import partial

from engine.calculators.splitting_the_model.parallelism_modeler import (
    charts,
    values,
    verdicts,
)
from engine.calculators.splitting_the_model.parallelism_modeler.advice import advice, challenge
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.published import table
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.calculators.splitting_the_model.parallelism_modeler.result import solve as solve
from engine.calculators.splitting_the_model.parallelism_modeler.stages import (
    stage_memory_bars,
    strip,
)
from engine.core.outputs import Presenter, Views

TITLE = "Bandwidth and efficiency of a parallel plan"
QUESTION = "Which axis needs which link, and how much of its traffic does a step wait for?"
EQUATIONS = values.EQUATIONS


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, result.asked, equations=values.EQUATIONS)
    plan = result.plan
    of_step, of_memory = values.step_values(present, result), values.memory_values(present, result)
    return {
        "ratio": values.ratio_value(present, result),
        "goal": verdicts.goal(inputs, result),
        "regime": verdicts.regime(result),
        "possible": verdicts.possible(inputs, result),
        "bandwidths": charts.bandwidths(plan),
        "axes": charts.axes(plan),
        **of_step,
        **values.pipeline_values(present, inputs, result),
        "tensor_alone": values.tensor_alone(present),
        **of_memory,
        "breakdown": charts.breakdown(plan),
        "strip": partial(strip, inputs, result),
        "stage_memory": stage_memory_bars(plan),
        "utilization_curve": partial(charts.utilization_curve, result),
        "advice": partial(advice, inputs, result),
        "formula": values.bubble_formula(present, result),
        "same_batch": partial(charts.same_batch, result),
        "published_digits": table(present, inputs, result),
        "challenge": challenge(inputs, result),
    }
