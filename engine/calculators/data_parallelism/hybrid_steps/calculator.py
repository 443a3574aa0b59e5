"""Hierarchical sharding, part by part: two nodes of two GPUs, and what crosses between them."""

from functools import partial

from engine.calculators.data_parallelism.hybrid_steps.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.hybrid_steps.inputs import Result as Result
from engine.calculators.data_parallelism.hybrid_steps.inputs import search as search
from engine.calculators.data_parallelism.hybrid_steps.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.views import Badge, Table
from engine.draw.shard_strips import shard_scene
from engine.form.sharded.steps import equal, log_table
from engine.formulas.node_volumes import NODE_BYTES

TITLE = "One step on two nodes, part by part"
QUESTION = "What crosses between nodes if each node keeps a copy of its own?"
EQUATIONS = (NODE_BYTES,)
PRESETS = {
    "Full sharding": {"scheme": "full"},
    "A second copy in the node (hpZ)": {"scheme": "second"},
    "Two micro-batches, summed once": {"micro_batches": 2},
    "Two micro-batches, summed each time": {"micro_batches": 2, "sums": "each"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(shard_scene, result.step),
        "equal": equal(tell, result.found.off),
        "verdict": _verdict(tell, inputs),
        **tell.values("held", "peak", "crossed", "crossed_formula", "less"),
        "log": partial(_log, result),
    }


def _verdict(tell: Teller, inputs: Inputs) -> Badge:
    if inputs.scheme == "node":
        return Badge(
            text="A copy in each node",
            sentence=tell.say("Only shares of the gradients cross: {crossed} instead of {full}."),
            color="data",
        )
    if inputs.scheme == "second":
        return Badge(
            text="One gather stays inside",
            sentence=tell.say("{crossed} cross instead of {full}. At most, a GPU holds {peak}."),
            color="data",
        )
    return Badge(
        text="One copy over all nodes",
        sentence=tell.say("Each GPU holds only {held}, and {crossed} leave each node."),
        color="communication",
    )


def _log(result: Result) -> Table:
    step = result.step
    return log_table(
        step, "Every event, with bytes held by GPU 0 and sent by node 0 to node 1", step.crossed
    )
