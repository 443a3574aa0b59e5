"""The fabric builder: the numbers of the fabric, and what the traffic takes on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.calculators.moving_bytes.fabric_builder.inputs import Built, Inputs, built
from engine.catalog.published_fabrics import PUBLISHED_FABRICS, PublishedFabric
from engine.core.outputs import Told
from engine.core.slices import Slices, steps_done, whole
from engine.core.units import Bandwidth, Count, Ratio, Seconds, Share
from engine.formulas.fabric import kept_speed
from engine.simulate.collectives.fabric_flows import PATTERNS, Traffic, topology_of, traffic
from engine.simulate.network.fabric_design import Fabric, Plan, cost_index, design, reach
from engine.simulate.network.topology import Route, Topology, route

COUNTED = (
    "A leaf has its ports below and above in the ratio asked for, as whole numbers allow: "
    "{down} and {up}.",
    "Every leaf has equally many links to each spine; with three tiers nothing is oversubscribed "
    "above the leaves.",
)
PLAYED = (
    "Messages of a round start together and share links max-min fairly, at line rate; traffic of a "
    "leaf spreads evenly over the spines.",
    "The ranks are numbered along the nodes. Of three tiers the upper two count as one.",
)
_TREE = ("leiserson1985", "dgx_superpod")
_WIRES = ("bertsekas1992", "nvidia_pxn", "nccl_tuning")


def _counted(label: str, note: str) -> Told:
    return Told(label, note=note, assumes=COUNTED, sources=_TREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The fabric, its price and its traffic; `way` is that of the single message."""

    built: Built
    played: Mapping[str, Traffic]
    reach: Mapping[Count, Count]
    way: Route
    published: Mapping[PublishedFabric, Fabric]
    gpus: Annotated[Count, Told("GPUs", assumes=("Nodes times GPUs of a node.",))]
    nodes: Annotated[Count, Told(symbol="N", of="num_nodes")]
    ports: Annotated[Count, Told(symbol="k", of="rails_per_eight")]
    port: Annotated[Bandwidth, Told(symbol="b", of="machine")]
    over: Annotated[Ratio, Told(symbol="o", of="oversubscription")]
    down: Count
    up: Count
    switches: Annotated[
        Count, _counted("Switches", "{leaves} leaves, {spines} spines, {cores} cores")
    ]
    leaves: Count
    spines: Count
    cores: Count
    cables: Annotated[Count, _counted("Cables", "{to_leaves} of them to the nodes")]
    to_leaves: Count
    bisection: Annotated[
        Bandwidth,
        Told(
            "Bisection",
            "W",
            "between two halves, one way",
            "communication",
            assumes=("Halves of whole leaf groups; one leaf group alone is not oversubscribed.",),
        ),
    ]
    egress: Annotated[
        Bandwidth,
        Told(
            "A node into the fabric",
            note="{ports} ports, one way; NVLink of one GPU: {nvlink}",
            basis="datasheet",
        ),
    ]
    nvlink: Bandwidth
    cost: Annotated[
        Ratio,
        Told(
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
        Told(
            "The traffic takes",
            note="{size} per GPU",
            color="communication",
            basis="simulated",
            assumes=PLAYED,
            sources=_WIRES,
        ),
    ]
    slower: Annotated[
        Ratio,
        Told(
            "Over the time on a non-blocking fabric",
            note="{even_time} there",
            basis="simulated",
            assumes=PLAYED,
            sources=_WIRES,
        ),
    ]
    even_time: Seconds
    kept: Annotated[
        Share,
        Told(
            "Speed of the job that is kept",
            note="if {exposed} of its step waits for this traffic",
            color="compute",
            assumes=("Amdahl's law: the waiting share takes {slower} as long.",),
        ),
    ]
    farthest: Annotated[
        Count,
        Told(
            "Switches on the longest way",
            note="between two GPUs of different nodes",
            assumes=COUNTED,
            sources=_TREE,
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the fabric for the inputs, and all traffic on it."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Play all traffic on the fabric for the inputs, one pattern after the other."""
    found = built(inputs)
    fabric, plan = found.fabric, found.fabric.plan
    played = {}
    for place, name in enumerate(PATTERNS, start=1):
        yield steps_done(place, len(PATTERNS), "Pattern")
        played[name] = _play(found, fabric, name, pxn=inputs.pxn)
    even = _play(found, found.even, inputs.pattern, pxn=inputs.pxn).time
    own = played[inputs.pattern].time
    return Result(
        built=found,
        played=played,
        way=route(_wires(found, fabric, pxn=inputs.pxn), *_pair(fabric, found.node.gpus_per_node)),
        published={one: _counted_of(one) for one in PUBLISHED_FABRICS},
        reach=reach(fabric, found.node.gpus_per_node, pxn=inputs.pxn),
        gpus=plan.num_nodes * found.node.gpus_per_node,
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
        nvlink=found.nvlink,
        cost=cost_index(fabric, inputs.cable),
        even_cost=cost_index(found.even, inputs.cable),
        time=own,
        slower=own / even,
        even_time=even,
        kept=kept_speed(inputs.exposed, own / even),
        farthest=fabric.most_switches,
    )


def _play(found: Built, fabric: Fabric, pattern: str, *, pxn: bool) -> Traffic:
    pair = _pair(fabric, found.node.gpus_per_node)
    return traffic(pattern, _wires(found, fabric, pxn=pxn), found.size, pair)


def _wires(found: Built, fabric: Fabric, *, pxn: bool) -> Topology:
    return topology_of(fabric, found.node.gpus_per_node, found.nvlink, pxn=pxn)


def _counted_of(one: PublishedFabric) -> Fabric:
    """Return the fabric of a printed design, as counted here."""
    return design(Plan(num_nodes=one.num_nodes, ports_per_node=8, port=one.port, radix=one.radix))


def _pair(fabric: Fabric, gpus: Count) -> tuple[Count, Count]:
    """Return the GPUs of the single message: the first, and one of another rail far away."""
    plan = fabric.plan
    node = fabric.nodes_per_group if fabric.groups > 1 else plan.num_nodes - 1
    return 0, node * gpus + (1 if plan.num_nodes > 1 else gpus - 1)
