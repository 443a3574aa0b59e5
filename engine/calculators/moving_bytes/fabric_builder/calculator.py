"""The fabric builder: a fat tree from nodes, ports and switches, and traffic on its links."""

from functools import partial

from engine.calculators.moving_bytes.fabric_builder import views as fabric_views
from engine.calculators.moving_bytes.fabric_builder.inputs import Inputs as Inputs
from engine.calculators.moving_bytes.fabric_builder.values import Result as Result
from engine.calculators.moving_bytes.fabric_builder.values import search as search
from engine.calculators.moving_bytes.fabric_builder.values import solve as solve
from engine.core.outputs import Presenter, Views
from engine.formulas.fabric import BISECTION

TITLE = "Fabric builder"
QUESTION = "Which switches and cables does a cluster need, and what does its traffic do to them?"
EQUATIONS = (BISECTION,)
PRESETS = {
    "One scalable unit: 32 nodes, 8 rails": {"num_nodes": 32},
    "SuperPOD: 127 nodes, 8 rails": {"num_nodes": 127},
    "Three tiers: 1,024 nodes": {"num_nodes": 1024},
    "3:1, all-to-all": {"oversubscription": 3.0, "pattern": "all_to_all"},
    "7:1, the other half": {"oversubscription": 7.0, "pattern": "halves"},
    "No rails": {"rails": False, "pattern": "pair"},
    "16 racks of NVL72": {"machine": "gb200-nvl72", "num_nodes": 16},
    "Switches of 144 ports": {"machine": "dgx-b300", "num_nodes": 576, "radix": "144"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(fabric_views.scene, present, inputs, result),
        "verdict": fabric_views.verdict(inputs, result),
        **present.values("time", "slower", "kept", "bisection", "switches", "cables", "cost"),
        "egress": present.value("egress", sources=(result.built.node.source,)),
        **present.values("farthest", "gpus"),
        "loads": partial(fabric_views.loads, result),
        "tiers": partial(fabric_views.tiers, result),
        "reach": partial(fabric_views.hop_table, result),
        "formula": present.formula("Bisection with your numbers", BISECTION),
        "published": partial(fabric_views.published_table, result),
        "challenge": partial(fabric_views.challenge, inputs, result),
    }
