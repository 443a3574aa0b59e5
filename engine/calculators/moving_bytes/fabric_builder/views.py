"""The fabric builder: the drawing, the heat map of loads, tables, the challenge."""

from collections.abc import Mapping

from engine.calculators.moving_bytes.fabric_builder.inputs import Inputs
from engine.calculators.moving_bytes.fabric_builder.values import Result
from engine.core.inputs import Scalar
from engine.core.outputs import Teller
from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE, as_given
from engine.core.views import Badge, Challenge, Cite, Condition, Heatmap, Scene, Table
from engine.draw.fabric import Look, all_wires, drawn_of, fabric_scene, wires_of
from engine.form.plural import noun
from engine.simulate.collectives.fabric_flows import PATTERNS, Painted
from engine.simulate.network.fabric_design import Fabric

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


def scene(tell: Teller, inputs: Inputs, result: Result) -> Scene:
    """Return the fabric, and the load of its links in every phase of the traffic."""
    found = result.built
    gpus = found.node.gpus_per_node
    drawn = drawn_of(found.fabric, gpus, "node" if gpus <= 16 else "rack")
    switch = noun(result.switches, "switch")
    frames: list[tuple[Look, Text]] = [
        (
            {},
            tell.say(f"The fabric: {{switches}} {switch} and {{cables}} cables for {{gpus}} GPUs."),
        )
    ]
    if inputs.pattern == "pair":
        frames.append(
            (
                wires_of(drawn, result.way.links),
                tell.say("One message crosses these links: {time}."),
            )
        )
    else:
        for part in result.played[inputs.pattern].phases:
            frames.append((all_wires(drawn, part.loads), _phase(part)))
    count = found.fabric.plan.num_nodes
    name = PATTERNS[inputs.pattern]
    title = f"{name[0].upper()}{name[1:]} on {count:,} {noun(count, 'node')}"
    return fabric_scene(drawn, title, frames, opening=len(frames) - 1)


def _phase(part: Painted) -> Text:
    kinds = {kind: load for kind, load in part.loads.items() if kind in _KINDS and load > 0}
    words = ", ".join(f"{_KINDS[kind]} {{{kind}}}" for kind in kinds)
    numbers = {kind: (load, SHARE) for kind, load in kinds.items()}
    label = part.label.capitalize()
    return say(f"{label}: {{t}}. Full for: {words}.", t=(part.time, SECONDS), **numbers)


def verdict(inputs: Inputs, result: Result) -> Badge:
    """Return what the traffic waits for, and what had to be changed."""
    text, sentence, color = _WAITS[result.played[inputs.pattern].binding]
    words = " ".join((sentence, *result.built.changes))
    return Badge(text=text, sentence=words, color=color)


def loads(result: Result) -> Heatmap:
    """Return how full the busiest link of each kind is, for every traffic."""
    rows = tuple(
        tuple(_mean(result.played[name].phases, kind) for name in _SHORT) for kind in _KINDS
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


def _mean(phases: tuple[Painted, ...], kind: str) -> float:
    return sum(one.loads[kind] * one.time for one in phases) / sum(one.time for one in phases)


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


def reach(result: Result) -> Table:
    """Return how far the other GPUs are from the first one."""
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


def published(result: Result) -> Table:
    """Return printed reference designs beside what this page counts."""
    return Table(
        title="Printed designs, beside the count of this page",
        columns=("Design", "Nodes", "Printed: leaves, spines, cores", "Counted", "Source"),
        rows=tuple(
            (
                one.name,
                f"{one.num_nodes:,}",
                f"{one.leaves}, {one.spines}, {one.cores}; {one.cables:,} cables",
                _ours(counted),
                Cite((one.source,)),
            )
            for one, counted in result.published.items()
        ),
        caption="Cables between switches. Switches of 64 ports; B300: 144 ports.",
    )


def _ours(found: Fabric) -> str:
    cables = found.to_spines + found.to_cores
    return f"{found.leaves}, {found.spines}, {found.cores}; {cables:,} cables"


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
                text=say("the job keeps {k} of its speed", k=(_KEPT, as_given(SHARE))),
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
