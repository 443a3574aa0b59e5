"""The fabric builder: a fat tree from nodes, ports and switches, and traffic on its links."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.moving_bytes.fabric_builder.result import Inputs, Result
from engine.calculators.moving_bytes.fabric_builder.result import search as search
from engine.calculators.moving_bytes.fabric_builder.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE, with_digits
from engine.core.views import Badge, Challenge, Citation, Condition, Heatmap, Scene, Table
from engine.draw.fabric import WireLoads, crossed_wires, fabric_layout, fabric_scene, wire_loads
from engine.form.plural import pluralize
from engine.formulas.fabric import BISECTION
from engine.simulate.collectives.fabric_flows import PATTERNS, TrafficPhase
from engine.simulate.network.fabric_design import Fabric

TITLE = "Fabric builder"
QUESTION = "Which switches and cables does a cluster need, and what does its traffic do to them?"
HEADLINE = "slower"
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
        "scene": partial(scene, present, inputs, result),
        "verdict": verdict(inputs, result),
        **present.values("time", "slower", "kept", "bisection", "switches", "cables", "cost"),
        "egress": present.value("egress", sources=(result.built.node.source,)),
        **present.values("farthest", "gpus"),
        "loads": partial(loads, result),
        "tiers": partial(tiers, result),
        "reach": partial(hop_table, result),
        "formula": present.formula("Bisection with these numbers", BISECTION),
        "published": partial(published_table, result),
        "challenge": partial(challenge, inputs, result),
    }


# The fabric builder: the drawing, the heat map of loads, tables, the challenge.

_KINDS: Mapping[str, str] = {
    "nvlink": "NVLink",
    "port": "port",
    "leaf": "spines",
}
# Long names apart, so that all of them stand under the columns on a phone.
_SHORT: Mapping[str, str] = {
    "all_reduce": "all-reduce",
    "pair": "one pair",
    "all_to_all": "all-to-all",
    "halves": "far half",
}
_WAITS: Mapping[str, tuple[str, str, str]] = {
    "leaf": (
        "The middle is too narrow",
        "The links from leaves to spines are full, and ports wait for them.",
        "communication",
    ),
    "port": ("Ports are full", "More spines would not help; the ports are the limit.", "data"),
    "pcie": ("PCIe is full", "The way from the GPU to its port is the limit.", "memory"),
    "nvlink": ("NVLink is full", "The longest phase stays inside the nodes.", "tensor"),
    "": ("Latency", "More than half of the time is latency; links make up the rest.", "muted"),
}


def scene(present: Presenter, inputs: Inputs, result: Result) -> Scene:
    """Return the fabric, and the load of its links in every phase of the traffic."""
    build = result.built
    gpus = build.node.gpus_per_node
    drawn = fabric_layout(build.fabric, gpus, "node" if gpus <= 16 else "rack")
    switch = pluralize(result.switches, "switch")
    frames: list[tuple[WireLoads, Text]] = [
        (
            {},
            present.say(
                f"The fabric: {{switches}} {switch} and {{cables}} cables for {{gpus}} GPUs."
            ),
        )
    ]
    if inputs.pattern == "pair":
        frames.append(
            (
                crossed_wires(drawn, result.way.links),
                present.say("One message crosses these links: {time}."),
            )
        )
    else:
        for part in result.played[inputs.pattern].phases:
            frames.append((wire_loads(drawn, part.loads), _phase(part)))
    count = build.fabric.plan.num_nodes
    name = PATTERNS[inputs.pattern]
    title = f"{name[0].upper()}{name[1:]} on {count:,} {pluralize(count, 'node')}"
    return fabric_scene(drawn, title, frames, opening=len(frames) - 1)


def _phase(part: TrafficPhase) -> Text:
    kinds = {kind: load for kind, load in part.loads.items() if kind in _KINDS and load > 0}
    words = ", ".join(f"{_KINDS[kind]} {{{kind}}}" for kind in kinds)
    numbers = {kind: (load, SHARE) for kind, load in kinds.items()}
    label = part.label.capitalize()
    return say(f"{label}: {{t}}. Full for: {words}.", t=(part.time, SECONDS), **numbers)


def verdict(inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the limit of the traffic, with the adjusted inputs."""
    text, sentence, color = _WAITS[result.played[inputs.pattern].bottleneck]
    words = " ".join((sentence, *result.built.changes))
    return Badge(text=text, sentence=words, color=color)


def loads(result: Result) -> Heatmap:
    """Return the load of the busiest link of each kind, for every traffic."""
    rows = tuple(
        tuple(_mean_load(result.played[name].phases, kind) for name in _SHORT) for kind in _KINDS
    )
    return Heatmap(
        title="Load of the busiest link",
        x_label="traffic",
        y_label="link",
        x=tuple(_SHORT.values()),
        y=tuple(_KINDS.values()),
        values=rows,
        quantity=SHARE,
        caption="Share of the time for which it is full, from the first byte to the last: NVLink "
        "of a GPU, its port, the links from leaves to spines.",
    )


def _mean_load(phases: tuple[TrafficPhase, ...], kind: str) -> float:
    return sum(phase.loads[kind] * phase.time for phase in phases) / sum(
        phase.time for phase in phases
    )


def tiers(result: Result) -> Table:
    """Return the switches and cables of every tier."""
    fabric = result.built.fabric
    rows = (
        ("leaves", fabric.leaves, "nodes", fabric.to_leaves),
        ("spines", fabric.spines, "leaves", fabric.to_spines),
        ("cores", fabric.cores, "spines", fabric.to_cores),
    )
    return Table(
        title="Switches and cables",
        columns=("Tier", "Switches", "Cables below it", "Lead to"),
        rows=tuple(
            (name, say("{n}", n=(count, COUNT)), say("{n}", n=(cables, COUNT)), below)
            for name, count, below, cables in rows
            if count
        ),
        caption=say(
            "A leaf has {d} ports to nodes and {u} links upward, "
            f"{fabric.oversubscription:.3g}:1.",
            d=(fabric.down, COUNT),
            u=(fabric.up, COUNT),
        )
        if fabric.spines
        else "One leaf takes all ports; there is no spine.",
    )


def hop_table(result: Result) -> Table:
    """Return the table of hop counts from the first GPU to the others."""
    names = {0: "NVLink only", 1: "one leaf", 3: "leaf, spine, leaf", 5: "by a core switch"}
    total = result.gpus - 1
    return Table(
        title="From GPU 0 to the others",
        columns=("Way", "Switches of the network", "GPUs", "Of all others"),
        rows=tuple(
            (
                names[switches],
                f"{switches}",
                say("{n}", n=(count, COUNT)),
                say("{s}", s=(count / total, SHARE)),
            )
            for switches, count in result.reach.items()
        ),
    )


def published_table(result: Result) -> Table:
    """Return the table of published reference designs beside the counts of this page."""
    return Table(
        title="Printed designs, beside the count of this page",
        columns=("Design", "Nodes", "Printed: leaves, spines, cores", "Counted", "Source"),
        rows=tuple(
            (
                reference.name,
                f"{reference.num_nodes:,}",
                f"{reference.leaves}, {reference.spines}, {reference.cores}; "
                f"{reference.cables:,} cables",
                _fabric_words(counted),
                Citation((reference.source,)),
            )
            for reference, counted in result.published.items()
        ),
        caption="Cables between switches. Switches of 64 ports; B300: 144 ports.",
    )


def _fabric_words(fabric: Fabric) -> str:
    cables = fabric.to_spines + fabric.to_cores
    return f"{fabric.leaves}, {fabric.spines}, {fabric.cores}; {cables:,} cables"


START: Mapping[str, Scalar] = {"num_nodes": 512, "pattern": "all_to_all"}
SOLUTION: Mapping[str, Scalar] = {**START, "oversubscription": 2.0, "radix": "128"}
_COST, _KEPT = 2.0, 0.97


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: half of the fabric, at little cost for the job."""
    plan = result.built.fabric.plan
    fixed = plan.num_nodes == 512 and inputs.machine == "dgx-h100" and inputs.size >= 1e9
    job = inputs.pattern == "all_to_all" and inputs.exposed >= 0.1
    prices = inputs.cable == 1 and plan.ports_per_node == 8
    return Challenge(
        title="Challenge: the same job on half of the fabric",
        goal="A tenth of the step of a mixture-of-experts job waits for its all-to-all, on 4,096 "
        "GPUs. Find a fabric at half of the price that the job hardly notices.",
        conditions=(
            Condition(text="512 DGX H100 with 8 ports each, 1 GB per GPU", met=fixed and prices),
            Condition(text="all-to-all, and a tenth of the step waits for it", met=job),
            Condition(
                text=say("a cost index of {c} or less", c=(_COST, RATIO)), met=result.cost <= _COST
            ),
            Condition(
                text=say("the job keeps {k} of its speed", k=(_KEPT, with_digits(SHARE))),
                met=result.kept >= _KEPT,
            ),
        ),
        hints=(
            "Count the cables of the third tier. When is it not needed?",
            "Which links are not full in this traffic? Look at the heat map.",
        ),
        start=START,
        solution=SOLUTION,
    )
