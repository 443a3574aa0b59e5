"""Schedule lab: where the bubble of a pipeline is, and what removing it costs."""

from engine.basis.units import MILLI
from engine.basis.views import View
from engine.calculators.splitting_the_model.schedule_lab.advice import advice, challenge, regime
from engine.calculators.splitting_the_model.schedule_lab.charts import (
    over_microbatches,
    pareto,
    staircase,
)
from engine.calculators.splitting_the_model.schedule_lab.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.schedule_lab.model import (
    beside,
    measured,
    play,
    setting_of,
)
from engine.calculators.splitting_the_model.schedule_lab.table import comparison
from engine.calculators.splitting_the_model.schedule_lab.timeline import timeline
from engine.calculators.splitting_the_model.schedule_lab.values import EQUATIONS as EQUATIONS
from engine.calculators.splitting_the_model.schedule_lab.values import formula, values

TITLE = "Schedule lab"
QUESTION = "Where does a pipeline idle, and what does it cost to fill the gap?"
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
    "Slow wires": {"num_microbatches": 16, "message": 1 * MILLI},
    "32 stages, 256 micro-batches": {"pipeline_parallel": 32, "num_microbatches": 256},
}


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views of the lab, in the order of the page."""
    setting = setting_of(inputs)
    run = play(inputs, setting)
    own = measured(inputs, setting, run)
    found = beside(inputs, own)
    return {
        "timeline": timeline(own, run),
        "regime": regime(inputs, own),
        **values(inputs, own),
        "staircase": staircase(run),
        "formula": formula(inputs, own),
        "comparison": comparison(found, own),
        "pareto": pareto(inputs, found, own),
        "over_microbatches": over_microbatches(inputs, own),
        "advice": advice(inputs, own, found),
        "challenge": challenge(inputs, own),
    }
