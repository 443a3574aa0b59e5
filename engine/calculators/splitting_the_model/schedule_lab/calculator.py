"""Schedule lab: the bubble of a pipeline schedule, and the cost of removing it."""

from functools import partial

from engine.calculators.splitting_the_model.schedule_lab import charts, export
from engine.calculators.splitting_the_model.schedule_lab.advice import advice, challenge, regime
from engine.calculators.splitting_the_model.schedule_lab.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.calculators.splitting_the_model.schedule_lab.result import search as search
from engine.calculators.splitting_the_model.schedule_lab.result import solve as solve
from engine.calculators.splitting_the_model.schedule_lab.table import comparison, pieces
from engine.calculators.splitting_the_model.schedule_lab.timeline import timeline
from engine.calculators.splitting_the_model.schedule_lab.values import EQUATIONS as EQUATIONS
from engine.calculators.splitting_the_model.schedule_lab.values import formula, values
from engine.core.outputs import Presenter, Views
from engine.core.units import MILLI

TITLE = "Schedule lab"
QUESTION = "Where is a pipeline idle, and what does it cost to fill the gap?"
PRESETS_CITE = False
PRESETS = {
    "DualPipe's own table: 8 stages": {
        "schedule": "dualpipe",
        "pipeline_parallel": 8,
        "num_microbatches": 20,
    },
    "Zero bubble: ZB-H2": {"schedule": "zb_h2", "pipeline_parallel": 4, "num_microbatches": 12},
    "Interleaved, 8 stages of 4 chunks": {
        "schedule": "interleaved",
        "pipeline_parallel": 8,
        "num_microbatches": 32,
        "num_chunks": 4,
    },
    "One slow stage": {"num_microbatches": 16, "slow_stage": 2, "slowness": 0.5},
    "Light ends: 126 layers in 128 pieces": {
        "schedule": "interleaved",
        "pipeline_parallel": 16,
        "num_microbatches": 16,
        "num_chunks": 8,
        "num_layers": 126,
        "output": 0.7,
    },
    "Slow wires": {"num_microbatches": 16, "message": 1 * MILLI},
    "32 stages, 256 micro-batches": {"pipeline_parallel": 32, "num_microbatches": 256},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views of the lab, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS[:1])
    return {
        "timeline": partial(timeline, result),
        "regime": partial(regime, result),
        **values(present, result),
        "staircase": charts.staircase(result),
        "formula": formula(present, result),
        "pieces": pieces(result),
        "comparison": comparison(result),
        "pareto": charts.pareto(result),
        "over_microbatches": partial(charts.bubble_curve, result),
        "advice": partial(advice, result),
        "pytorch": partial(export.pytorch, result),
        "megatron": partial(export.megatron, result),
        "challenge": challenge(result),
    }
