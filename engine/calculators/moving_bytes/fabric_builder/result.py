"""The fabric builder: counts of the fabric, and the time of traffic on it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nodes import NODES, Node
from engine.catalog.published_fabrics import PUBLISHED_FABRICS, PublishedFabric
from engine.core.inputs import MEGABYTES, PERCENT, Choice, Number, Switch
from engine.core.outputs import Output
from engine.core.slices import Slices, run_to_end, step_progress
from engine.core.units import GB, KB, Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.fabric import kept_speed
from engine.simulate.collectives.fabric_flows import (
    PATTERNS,
    FabricTraffic,
    fabric_topology,
    fabric_traffic,
)
from engine.simulate.network.fabric_design import (
    Fabric,
    FabricPlan,
    cost_index,
    design_fabric,
    gpus_by_switches,
)
from engine.simulate.network.topology import Route, Topology, route

# The fabric builder: the inputs, and the nearest fabric that can be built.

_MACHINES = ("dgx-h100", "dgx-b300", "gb200-nvl72", "gb300-nvl72")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    machine: Annotated[
        str, Choice(label="Machine", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h100"
    num_nodes: Annotated[
        int,
        Number(
            label="Nodes",
            low=1,
            high=2048,
            scale="log2",
            whole=True,
            symbol="N",
            help="Of an NVL72: racks.",
        ),
    ] = 128
    rails_per_eight: Annotated[
        int,
        Number(
            label="Ports per 8 GPUs",
            low=1,
            high=16,
            scale="log2",
            whole=True,
            help="With 8, every GPU has a port, and every port number is a rail.",
        ),
    ] = 8
    oversubscription: Annotated[
        float,
        Number(
            label="Oversubscription",
            low=1.0,
            high=8.0,
            step=0.5,
            help="Ports below a leaf over its links upward.",
        ),
    ] = 1.0
    radix: Annotated[
        str,
        Choice(label="Ports of a switch", options={n: n for n in ("32", "64", "128", "144")}),
    ] = "64"
    rails: Annotated[
        bool,
        Switch(label="Rails", help="Port k of every node is on leaf k. Off: a leaf takes nodes."),
    ] = True
    pattern: Annotated[str, Choice(label="Traffic", options=PATTERNS)] = "all_reduce"
    exposed: Annotated[
        float,
        Number(
            label="Share of the step that waits for it",
            unit=PERCENT,
            low=0.0,
            high=0.6,
            step=0.01,
            symbol="f",
            help="On a fabric that is not oversubscribed.",
        ),
    ] = 0.1
    size: Annotated[
        float,
        Number(
            label="Buffer of a GPU",
            unit=MEGABYTES,
            low=64 * KB,
            high=1000 * GB,
            scale="log",
            advanced=True,
        ),
    ] = 1 * GB
    pxn: Annotated[
        bool,
        Switch(label="PXN", help="Messages change rails over NVLink.", advanced=True),
    ] = True
    cable: Annotated[
        float,
        Number(
            label="Price of a cable, in switch ports",
            low=0.1,
            high=5.0,
            step=0.1,
            help="With the transceivers at both ends. Assumed.",
            advanced=True,
        ),
    ] = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltFabric:
    """A valid fabric, and the adjustments to the inputs.

    Attributes:
        fabric: it.
        even: the same one without oversubscription.
        node: the machine.
        nvlink: of one GPU, one way.
        size: buffer of a GPU.
        changes: sentences.
    """

    fabric: Fabric
    even: Fabric
    node: Node
    nvlink: Bandwidth
    size: Bytes
    changes: tuple[str, ...]


def build_fabric(inputs: Inputs) -> BuiltFabric:
    """Return the fabric of the inputs, or the nearest valid fabric."""
    node, changes = NODES[inputs.machine], []
    ports = _ports(node, inputs.rails_per_eight)
    if ports * 8 != node.gpus_per_node * inputs.rails_per_eight:
        changes.append(
            f"{inputs.rails_per_eight} ports per 8 GPUs do not divide evenly; drawn with {ports} "
            "in a node."
        )
    wanted_plan = FabricPlan(
        num_nodes=inputs.num_nodes,
        ports_per_node=ports,
        port=node.nic_bandwidth,
        radix=int(inputs.radix),
        oversubscription=inputs.oversubscription,
        rails=inputs.rails,
    )
    plan, words = _nearest_plan(wanted_plan)
    return BuiltFabric(
        fabric=design_fabric(plan),
        even=design_fabric(replace(plan, oversubscription=1.0)),
        node=node,
        nvlink=ACCELERATORS[node.gpu].scale_up,
        size=inputs.size,
        changes=(*changes, *words),
    )


def _ports(node: Node, per_eight: Count) -> Count:
    """Return the ports of a node: a power of two for every eight GPUs."""
    return node.gpus_per_node * (1 << (per_eight.bit_length() - 1)) // 8


def _nearest_plan(plan: FabricPlan) -> tuple[FabricPlan, tuple[str, ...]]:
    """Return the plan, with rails or with fewer nodes where it cannot be built otherwise."""
    words = []
    while (problem := _problem(plan)) is not None:
        if plan.rails is False and "do not fit" in problem:
            plan = replace(plan, rails=True)
            words.append(f"{problem}. Drawn with rails.")
        else:
            plan = replace(plan, num_nodes=max(1, plan.num_nodes // 2))
            words = [f"{problem}. Drawn with {plan.num_nodes} nodes."]
    return plan, tuple(words)


def _problem(plan: FabricPlan) -> str | None:
    """Return the reason why a fabric, or the same without oversubscription, cannot be built."""
    for variant in (plan, replace(plan, oversubscription=1.0)):
        try:
            design_fabric(variant)
        except ValueError as error:
            return str(error)
    return None


COUNT_ASSUMES = (
    "A leaf has its ports below and above in the ratio asked for, as whole numbers allow: "
    "{down} and {up}.",
    "Every leaf has equally many links to each spine; with three tiers nothing is oversubscribed "
    "above the leaves.",
)
TRAFFIC_ASSUMES = (
    "Messages of a round start together and share links max-min fairly, at line rate; traffic of a "
    "leaf spreads evenly over the spines.",
    "The ranks are numbered along the nodes. Of three tiers the upper two count as one.",
)
_TREE_SOURCES = ("leiserson1985", "dgx_superpod")
_TRAFFIC_SOURCES = ("bertsekas1992", "nvidia_pxn", "nccl_tuning")


def _counted_output(label: str, note: str) -> Output:
    return Output(label, note=note, assumes=COUNT_ASSUMES, sources=_TREE_SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The fabric, its price and its traffic; `way` is that of the single message."""

    built: BuiltFabric
    played: Mapping[str, FabricTraffic]
    reach: Mapping[Count, Count]
    way: Route
    published: Mapping[PublishedFabric, Fabric]
    gpus: Annotated[Count, Output("GPUs", assumes=("Nodes times GPUs of a node.",))]
    nodes: Annotated[Count, Output(symbol="N", of="num_nodes")]
    ports: Annotated[Count, Output(symbol="k", of="rails_per_eight")]
    port: Annotated[Bandwidth, Output(symbol="b", of="machine")]
    over: Annotated[Ratio, Output(symbol="o", of="oversubscription")]
    down: Count
    up: Count
    switches: Annotated[
        Count, _counted_output("Switches", "{leaves} leaves, {spines} spines, {cores} cores")
    ]
    leaves: Count
    spines: Count
    cores: Count
    cables: Annotated[Count, _counted_output("Cables", "{to_leaves} of them to the nodes")]
    to_leaves: Count
    bisection: Annotated[
        Bandwidth,
        Output(
            "Bisection",
            "W",
            "between two halves, one way",
            "communication",
            assumes=("Halves of whole leaf groups; one leaf group alone is not oversubscribed.",),
        ),
    ]
    egress: Annotated[
        Bandwidth,
        Output(
            "A node into the fabric",
            note="{ports} ports, one way; NVLink of one GPU: {nvlink}",
            basis="datasheet",
        ),
    ]
    nvlink: Bandwidth
    cost: Annotated[
        Ratio,
        Output(
            "Cost index",
            note="{even_cost} without oversubscription; 1× is one giant switch for all ports",
            assumes=(
                "Ports of all switches and all cables, over those of one switch that takes all "
                "ports of the nodes. A port costs the same in every switch, and a cable costs "
                "{cable} the price of a port (1× unless you change it). Assumed; machines, power "
                "and space are left out.",
            ),
        ),
    ]
    even_cost: Ratio
    time: Annotated[
        Seconds,
        Output(
            "The traffic takes",
            note="{size} per GPU",
            color="communication",
            basis="simulated",
            assumes=TRAFFIC_ASSUMES,
            sources=_TRAFFIC_SOURCES,
        ),
    ]
    slower: Annotated[
        Ratio,
        Output(
            "Over the time on a non-blocking fabric",
            note="{even_time} there",
            basis="simulated",
            assumes=TRAFFIC_ASSUMES,
            sources=_TRAFFIC_SOURCES,
        ),
    ]
    even_time: Seconds
    kept: Annotated[
        Share,
        Output(
            "Speed of the job that is kept",
            note="if {exposed} of its step waits for this traffic",
            color="compute",
            assumes=("Amdahl's law: the waiting share takes {slower} as long.",),
        ),
    ]
    farthest: Annotated[
        Count,
        Output(
            "Switches on the longest way",
            note="between two GPUs of different nodes",
            assumes=COUNT_ASSUMES,
            sources=_TREE_SOURCES,
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the fabric for the inputs, and all traffic on it."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate each traffic pattern on the fabric of the inputs in turn."""
    build = build_fabric(inputs)
    fabric, plan = build.fabric, build.fabric.plan
    played = {}
    for done, name in enumerate(PATTERNS, start=1):
        yield step_progress(done, len(PATTERNS), "Pattern")
        played[name] = _simulate(build, fabric, name, pxn=inputs.pxn)
    even = _simulate(build, build.even, inputs.pattern, pxn=inputs.pxn).time
    pattern_time = played[inputs.pattern].time
    return Result(
        built=build,
        played=played,
        way=route(
            _topology(build, fabric, pxn=inputs.pxn),
            *_message_pair(fabric, build.node.gpus_per_node),
        ),
        published={
            design_name: _published_fabric(design_name) for design_name in PUBLISHED_FABRICS
        },
        reach=gpus_by_switches(fabric, build.node.gpus_per_node, pxn=inputs.pxn),
        gpus=plan.num_nodes * build.node.gpus_per_node,
        nodes=plan.num_nodes,
        ports=plan.ports_per_node,
        port=plan.port,
        over=fabric.oversubscription if fabric.groups > 1 else 1.0,
        down=fabric.down,
        up=fabric.up,
        switches=fabric.switches,
        leaves=fabric.leaves,
        spines=fabric.spines,
        cores=fabric.cores,
        cables=fabric.cables,
        to_leaves=fabric.to_leaves,
        bisection=fabric.bisection,
        egress=plan.ports_per_node * plan.port,
        nvlink=build.nvlink,
        cost=cost_index(fabric, inputs.cable),
        even_cost=cost_index(build.even, inputs.cable),
        time=pattern_time,
        slower=pattern_time / even,
        even_time=even,
        kept=kept_speed(inputs.exposed, pattern_time / even),
        farthest=fabric.most_switches,
    )


def _simulate(build: BuiltFabric, fabric: Fabric, pattern: str, *, pxn: bool) -> FabricTraffic:
    pair = _message_pair(fabric, build.node.gpus_per_node)
    return fabric_traffic(pattern, _topology(build, fabric, pxn=pxn), build.size, pair)


def _topology(build: BuiltFabric, fabric: Fabric, *, pxn: bool) -> Topology:
    return fabric_topology(fabric, build.node.gpus_per_node, build.nvlink, pxn=pxn)


def _published_fabric(reference: PublishedFabric) -> Fabric:
    """Return the fabric of a printed design, as counted here."""
    return design_fabric(
        FabricPlan(
            num_nodes=reference.num_nodes,
            ports_per_node=8,
            port=reference.port,
            radix=reference.radix,
        )
    )


def _message_pair(fabric: Fabric, gpus: Count) -> tuple[Count, Count]:
    """Return the source and destination GPU of the single message: different nodes and rails."""
    plan = fabric.plan
    node = fabric.nodes_per_group if fabric.groups > 1 else plan.num_nodes - 1
    return 0, node * gpus + (1 if plan.num_nodes > 1 else gpus - 1)
