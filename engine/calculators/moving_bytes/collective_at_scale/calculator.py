"""Collectives at scale: what each algorithm takes on a cluster, and which links it waits for."""

from engine.basis.text import Text, say
from engine.basis.units import BANDWIDTH, BYTES, COUNT, SECONDS
from engine.basis.views import Badge, Receipt, Value, View
from engine.calculators.moving_bytes.collective_at_scale.model import (
    NAMES,
    NVLINK,
    PORT,
    Scale,
    model,
)
from engine.calculators.moving_bytes.collective_at_scale.model import Inputs as Inputs
from engine.calculators.moving_bytes.collective_at_scale.views import (
    algorithms,
    challenge,
    kind_of,
    links,
    phases_table,
    table,
)
from engine.simulate.topology import CLIMB

TITLE = "Collectives at scale"
QUESTION = "Which algorithm is fastest on which cluster, and which link does it wait for?"
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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    scale = model(inputs)
    return {
        "time": _time(scale),
        "binding": _binding(scale),
        "algorithms": algorithms(scale),
        "links": links(scale),
        "fastest": _fastest(scale),
        "latency": _latency(scale),
        "table": table(scale),
        "phases": phases_table(scale),
        "challenge": challenge(inputs, scale),
    }


def _assumptions(scale: Scale) -> tuple[Text, ...]:
    topology = scale.cluster.topology
    found: tuple[Text, ...] = (
        say(
            "{n} GPUs, {g} to a node, NVLink at {u} and ports at {b}, each one way, all at their "
            "line rate.",
            n=(topology.world_size, COUNT),
            g=(topology.gpus_per_node, COUNT),
            u=(topology.nvlink, BANDWIDTH),
            b=(topology.port, BANDWIDTH),
        ),
        "Messages of a round start together and share links max-min fairly; traffic of a leaf "
        "spreads evenly over the spines.",
        say(
            "Latencies that NCCL plans with: {a} in the node, {b} between nodes; {c} more by way "
            "of a spine is assumed.",
            a=(topology.step_latency, SECONDS),
            b=(topology.network_latency, SECONDS),
            c=(CLIMB, SECONDS),
        ),
    )
    return (*found, scale.repaired) if scale.repaired else found


def _receipt(scale: Scale, *more: Text) -> Receipt:
    return Receipt(
        basis="simulated",
        assumptions=(*more, *_assumptions(scale)),
        sources=("bertsekas1992", "nvidia_pxn", NVLINK.source, PORT.source, PORT.latency_source),
    )


def _time(scale: Scale) -> Value:
    return Value(
        label=NAMES[scale.shown].capitalize(),
        value=scale.results[scale.shown].time,
        quantity=SECONDS,
        receipt=_receipt(scale),
        note=say(
            "{s} on {n} GPUs",
            s=(scale.size, BYTES),
            n=(scale.cluster.topology.world_size, COUNT),
        ),
        color="communication",
    )


def _latency(scale: Scale) -> Value:
    return Value(
        label="Of it latency",
        value=scale.results[scale.shown].latency,
        quantity=SECONDS,
        receipt=_receipt(scale, "The same rounds with an empty buffer."),
        note="what an empty buffer would take",
    )


def _fastest(scale: Scale) -> Value:
    name = min(scale.results, key=lambda one: scale.results[one].time)
    return Value(
        label="Fastest here",
        value=scale.results[name].time,
        quantity=SECONDS,
        receipt=_receipt(scale, "The least of the times of all algorithms shown."),
        note=NAMES[name],
    )


def _binding(scale: Scale) -> Badge:
    """Return the kind of link that the shown algorithm waits for."""
    result = scale.results[scale.shown]
    if result.latency > result.time / 2:
        return Badge(
            text="Latency",
            sentence=say(
                "More than half of the time is latency: {a} of {t}.",
                a=(result.latency, SECONDS),
                t=(result.time, SECONDS),
            ),
        )
    kinds = {kind_of(link) for link in result.binding}
    slow = [link for link, _ in scale.cluster.topology.slow if link in result.binding]
    if slow:
        return Badge(
            text="One slow port",
            sentence="The longest phase waits for port 2 of node 1, and everybody with it.",
            color="communication",
        )
    name, sentence = _SENTENCES[next((k for k in _SENTENCES if k in kinds), "port")]
    return Badge(text=name, sentence=sentence, color="communication")


_SENTENCES = {
    "leaf": (
        "Leaf to spine",
        "The links from the leaf switches up to the spines are full; ports wait.",
    ),
    "port": ("Network ports", "Every port is full; only more or faster ports would help."),
    "pcie": ("PCIe", "The way from the GPU to its port is full."),
    "nvlink": ("NVLink", "The longest phase stays inside the nodes, at the speed of NVLink."),
}
