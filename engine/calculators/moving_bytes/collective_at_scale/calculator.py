"""Collectives at scale: the time and the limiting link of each algorithm on a cluster."""

from functools import partial

from engine.calculators.moving_bytes.collective_at_scale.inputs import NAMES
from engine.calculators.moving_bytes.collective_at_scale.inputs import Inputs as Inputs
from engine.calculators.moving_bytes.collective_at_scale.result import ASSUMES, Result
from engine.calculators.moving_bytes.collective_at_scale.result import search as search
from engine.calculators.moving_bytes.collective_at_scale.result import solve as solve
from engine.calculators.moving_bytes.collective_at_scale.views import (
    algorithm_table,
    algorithms,
    challenge,
    links,
    phases_table,
)
from engine.core.outputs import Presenter, Views
from engine.core.views import Badge

TITLE = "Collectives at scale"
QUESTION = "Which algorithm is fastest on which cluster, and which link does it wait for?"
PRESETS_CITE = False
PRESETS = {
    "DGX H100, 8 rails, 128 nodes": {"world_size": 1024},
    "One port per node": {"ports_per_node": 1},
    "7:1 above the leaf": {"oversubscription": 7.0},
    "7:1, ranks scattered": {"oversubscription": 7.0, "scattered": True},
    "7:1, wrong rails, no PXN": {"oversubscription": 7.0, "wrong_rail": True, "pxn": False},
    "One port at a quarter": {"slow_share": 0.25},
    "All-to-all, 7:1, no PXN": {
        "operation": "all_to_all",
        "algorithm": "direct",
        "oversubscription": 7.0,
        "pxn": False,
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    common = (*ASSUMES, result.repaired) if result.repaired else ASSUMES
    shown = NAMES[result.shown].capitalize()
    least = "The least of the times of all algorithms shown.", *common
    hidden = (
        "The same hops with an empty buffer. Behind full ports much of it does not show: where a "
        "ring waits for its ports, hops inside a node run meanwhile."
    )
    empty = hidden, *common
    return {
        "time": present.value("time", label=shown, assumes=common),
        "binding": _binding(present, result),
        "algorithms": partial(algorithms, present, result),
        "links": partial(links, present, result),
        "fastest": present.value("fastest", note=NAMES[result.best], assumes=least),
        "latency": present.value("latency", assumes=empty),
        "table": partial(algorithm_table, result),
        "phases": partial(phases_table, result),
        "challenge": partial(challenge, inputs, result),
    }


def _binding(present: Presenter, result: Result) -> Badge:
    """Return the kind of link that the shown algorithm waits for."""
    own = result.played[result.shown]
    if own.is_latency_bound:
        half = present.say("More than half of the time is latency: {latency} of {time}.")
        return Badge(text="Latency", sentence=half)
    if any(link in own.timed.bottleneck for link, _ in result.cluster.topology.slow):
        return Badge(
            text="One slow port",
            sentence="The longest phase waits for port 2 of node 1, and everybody with it.",
            color="communication",
        )
    name, sentence = _SENTENCES[next((k for k in _SENTENCES if k in own.waits_for), "port")]
    return Badge(text=name, sentence=sentence, color="communication")


_SENTENCES = {
    "leaf": (
        "Leaf to spine",
        "The links from the leaf switches up to the spines are full; ports wait.",
    ),
    "port": (
        "Network ports",
        "The longest phase waits for the ports. More or faster ports would shorten it; so may "
        "another algorithm.",
    ),
    "pcie": ("PCIe", "The path from the GPU to its port is full."),
    "nvlink": ("NVLink", "The longest phase stays inside the nodes, at the speed of NVLink."),
}
