"""Ring buffers: blocks of keys and values travel while others are computed on, or they do not."""

from functools import partial

from engine.calculators.splitting_the_model.ring_buffers import charts
from engine.calculators.splitting_the_model.ring_buffers.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.ring_buffers.inputs import Result as Result
from engine.calculators.splitting_the_model.ring_buffers.inputs import solve as solve
from engine.core.outputs import Teller, Views

TITLE = "One, two or three buffers"
QUESTION = "How many blocks of keys and values must a GPU hold so that nothing waits?"
EQUATIONS = ()
PRESETS = {
    "One buffer": {"num_buffers": 1},
    "Slow links": {"hop": 1.5e-3},
    "Uneven steps": {"jitter": 0.3, "hop": 0.9e-3, "ranks": "8"},
    "Contiguous pieces": {"layout": "contiguous"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the timeline, the sums, and the same ring with other numbers of buffers."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "timeline": partial(charts.timeline, inputs, result),
        **tell.values("end", "waits", "idle", "ratio"),
        "regime": charts.regime(tell, inputs, result),
        "by_buffers": partial(charts.by_buffers, inputs, result),
    }
