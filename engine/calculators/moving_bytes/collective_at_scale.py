"""Collectives at scale: the time and the limiting link of each algorithm on a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog import transports
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hardware import LINKS
from engine.core.inputs import BILLIONS, GBITS, PERCENT, Choice, Number, Scalar, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import Slices, run_to_end
from engine.core.text import Text, say
from engine.core.units import (
    BYTES,
    COUNT,
    SECONDS,
    SHARE,
    Bandwidth,
    Bytes,
    Count,
    Gbit,
    Seconds,
    Share,
    with_digits,
)
from engine.core.views import Axis, Badge, Bar, Bars, Challenge, Condition, Segment, Table
from engine.form.gradient_type import GradientType
from engine.formulas.overlap import gradient_size
from engine.run.parallelism import Cluster
from engine.run.software import GRADIENT_BYTES
from engine.simulate.collectives.cluster_collectives import ClusterLayout
from engine.simulate.collectives.collective import collective_rank
from engine.simulate.collectives.collective_comparison import (
    AlgorithmRun,
    compare_calibrated_in_slices,
    link_utilization,
    with_full_nodes,
    with_slow_port,
)
from engine.simulate.layer.device_model import RankRates
from engine.simulate.network.topology import CLIMB, PCIE, Topology, describe_link

PORT = LINKS["infiniband_ndr"]
PER_NODE = 8
NAMES: Mapping[str, str] = {
    "ring": "ring, one per port",
    "hierarchical": "hierarchical",
    "halving_doubling": "halving and doubling",
    "tree": "double binary tree",
    "in_switch": "in the switches",
    "star": "star",
    "direct": "direct",
    "two_level": "two levels",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    operation: Annotated[
        str,
        Choice(label="Operation", options={"all_reduce": "All-reduce", "all_to_all": "All-to-all"}),
    ] = "all_reduce"
    algorithm: Annotated[
        str,
        Choice(label="Look at", options=NAMES, help="Whose links the lower charts show."),
    ] = "hierarchical"
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=1024, scale="log2", whole=True, symbol="n")
    ] = 512
    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e12, scale="log", symbol="P"),
    ] = 7e9
    gradients: GradientType = "bf16"
    oversubscription: Annotated[
        float,
        Number(
            label="Oversubscription above the leaf",
            low=1.0,
            high=16.0,
            step=0.5,
            help="Bandwidth of the ports under a leaf over that of its links to the spines.",
        ),
    ] = 1.0
    scattered: Annotated[
        bool,
        Switch(label="Neighbors in other groups", help="The order of ranks jumps between leaves."),
    ] = False
    wrong_rail: Annotated[
        bool,
        Switch(label="Ranks one rail off", help="Messages arrive one port further than they left."),
    ] = False
    pxn: Annotated[
        bool, Switch(label="PXN", help="Messages change rails over NVLink, before they leave.")
    ] = True
    slow_share: Annotated[
        float,
        Number(
            label="Remaining speed of one port",
            unit=PERCENT,
            low=0.05,
            high=1.0,
            step=0.05,
            help="Port 2 of node 1 sends at this share of its speed.",
        ),
    ] = 1.0
    ports_per_node: Annotated[
        int, Number(label="Ports per node of 8", low=1, high=8, scale="log2", whole=True)
    ] = 8
    port: Annotated[
        float,
        Number(
            label="Port", unit=GBITS, low=25 * Gbit, high=1600 * Gbit, scale="log", advanced=True
        ),
    ] = PORT.bandwidth
    nodes_per_group: Annotated[
        int,
        Number(
            label="Nodes per leaf group", low=1, high=128, scale="log2", whole=True, advanced=True
        ),
    ] = 32
    rails: Annotated[
        bool,
        Switch(label="Rails", help="Port k of every node is on leaf k.", advanced=True),
    ] = True


def rank_of(inputs: Inputs) -> RankRates:
    """Return the rates of an H100 in a node of eight with these ports."""
    return collective_rank(
        Cluster(
            gpu=ACCELERATORS["H100-SXM"],
            gpus_per_node=PER_NODE,
            nics_per_node=inputs.ports_per_node,
            nic_bandwidth=inputs.port,
        )
    )


def cluster_of(inputs: Inputs) -> ClusterLayout:
    """Return the cluster as simulated: of full nodes only, links at the rates that NCCL reaches."""
    rank = rank_of(inputs)
    asked = Topology(
        world_size=inputs.world_size,
        gpus_per_node=PER_NODE,
        ports_per_node=inputs.ports_per_node,
        nvlink=rank.scale_up,
        port=rank.port * PER_NODE / inputs.ports_per_node,
        # A port on a faster bus: never slower than the port itself.
        pcie=max(PCIE, inputs.port),
        nodes_per_group=inputs.nodes_per_group,
        oversubscription=inputs.oversubscription,
        rails=inputs.rails,
        pxn=inputs.pxn,
        step_latency=transports.NVLINK.step,
        network_latency=transports.INFINIBAND.step,
    )
    topology = with_slow_port(with_full_nodes(asked), inputs.slow_share)
    shift = topology.gpus_per_node // topology.ports_per_node if inputs.wrong_rail else 0
    return ClusterLayout(topology=topology, scattered=inputs.scattered, rail_shift=shift)


def adjustment_note(inputs: Inputs, topology: Topology) -> str:
    """Return the sentences on inputs adjusted to full nodes, or an empty string."""
    notes = []
    world, ports = topology.world_size, topology.ports_per_node
    if world != inputs.world_size:
        notes.append(
            f"{inputs.world_size} GPUs do not fill nodes of 8; the simulation uses {world}."
        )
    if ports != inputs.ports_per_node and world > 8:
        notes.append(
            f"{inputs.ports_per_node} ports do not divide 8 GPUs; the simulation uses {ports}."
        )
    return " ".join(notes)


_SOURCES = ("bertsekas1992", "nvidia_pxn", PORT.source, "nccl_tuning", "nccl_tests")
ASSUMES = (
    "{simulated} H100, {local} to a node, NVLink at {nvlink} and ports at {port_bandwidth}, each "
    "one way: what NCCL reaches of their line rates.",
    "With nothing in the way, ring, tree, hierarchy, sums in switches and the direct all-to-all "
    "take what NCCL takes; placement, oversubscription and faults lengthen that as simulated.",
    "Messages of a round start together and share links max-min fairly; traffic of a leaf "
    "spreads evenly over the spines.",
    "Latencies of a hop of large messages: {node_latency} in the node, {network_latency} between "
    "nodes; {climb} more by way of a spine is assumed.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The simulation of every algorithm of the operation; `shown` is the selected algorithm.

    `repaired` and `slow` are words: what had to change, and which link is slow, if any.
    """

    cluster: ClusterLayout
    played: Mapping[str, AlgorithmRun]
    shown: str
    best: str
    repaired: str
    slow: str
    size: Bytes
    simulated: Count
    local: Count
    nvlink: Bandwidth
    port_bandwidth: Bandwidth
    node_latency: Seconds
    network_latency: Seconds
    climb: Seconds = CLIMB
    time: Annotated[
        Seconds,
        Output(
            "",
            "",
            "{size} on {simulated} GPUs",
            "communication",
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    latency: Annotated[
        Seconds,
        Output(
            "With an empty buffer",
            "",
            "a full one takes {added} longer than its bytes alone",
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    added: Seconds
    fastest: Annotated[Seconds, Output("Fastest here", sources=_SOURCES, basis="simulated")]
    busy: Mapping[str, Share]


def solve(inputs: Inputs) -> Result:
    """Return the simulation of every algorithm of the operation."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate every algorithm of the operation in turn."""
    cluster = cluster_of(inputs)
    topology = cluster.topology
    size = gradient_size(inputs.parameters, GRADIENT_BYTES[inputs.gradients])
    rank = rank_of(replace(inputs, ports_per_node=topology.ports_per_node))
    played = yield from compare_calibrated_in_slices(inputs.operation, cluster, size, rank)
    shown = inputs.algorithm if inputs.algorithm in played else next(iter(played))
    best = min(played, key=lambda name: played[name].timed.time)
    chosen = played[shown]
    return Result(
        cluster=cluster,
        played=played,
        shown=shown,
        best=best,
        repaired=adjustment_note(inputs, topology),
        slow=describe_link(topology.slow[0][0]) if topology.slow else "",
        size=size,
        simulated=topology.world_size,
        local=topology.gpus_per_node,
        nvlink=topology.nvlink,
        port_bandwidth=topology.port,
        node_latency=topology.step_latency,
        network_latency=topology.network_latency,
        time=chosen.timed.time,
        latency=chosen.timed.latency,
        added=chosen.timed.time - chosen.moving,
        fastest=played[best].timed.time,
        busy=link_utilization(chosen, size),
    )


CHART_LINKS: Mapping[str, str] = {
    "nvlink": "NVLink of a GPU",
    "pcie": "PCIe of a GPU",
    "port": "network port",
    "leaf": "leaf to spines",
}


def algorithms(present: Presenter, result: Result) -> Bars:
    """Return the time of every algorithm; a star is cut off, so that the others differ visibly."""
    times = {name: run.timed.time for name, run in result.played.items()}
    others = [time for name, time in times.items() if name != "star"]
    most = max(others or times.values()) * 1.6
    return Bars(
        title="The same buffer by every algorithm",
        axis=present.axis("time", "time", low=0.0, high=most),
        bars=tuple(
            Bar(
                key=name,
                label=NAMES[name] + (" (cut off)" if time > most else ""),
                segments=(
                    Segment(key="time", label=NAMES[name], value=time, color="communication"),
                ),
                links=(f"algorithm:{name}",),
            )
            for name, time in times.items()
        ),
        caption=_missing_algorithms(result),
    )


def _missing_algorithms(result: Result) -> str:
    if "halving_doubling" in result.played or "ring" not in result.played:
        return result.repaired
    return f"{result.repaired} Halving and doubling needs a power of two of GPUs.".strip()


def links(present: Presenter, result: Result) -> Bars:
    """Return the bars of the busiest link of every kind, with its utilization."""
    return Bars(
        title=f"Busiest link of each kind: {NAMES[result.shown]}",
        axis=Axis(label="share of the time it is full", quantity=SHARE, low=0.0, high=1.0),
        bars=tuple(
            Bar(
                key=kind,
                label=CHART_LINKS[kind],
                segments=(
                    Segment(
                        key="busy", label=CHART_LINKS[kind], value=share, color="communication"
                    ),
                ),
                links=(f"link:{kind}",),
            )
            for kind, share in result.busy.items()
        ),
        caption="If no bar comes near the end, latency or another phase takes the time.",
    )


def algorithm_table(result: Result) -> Table:
    """Return the table of rounds, latency, time and limiting link by algorithm."""
    return Table(
        title="Every algorithm on this cluster",
        columns=("Algorithm", "Hops in a row", "Empty buffer", "Time", "Waits for"),
        rows=tuple(
            (
                NAMES[name],
                say("{n}", n=(run.rounds, COUNT)),
                say("{t}", t=(run.timed.latency, SECONDS)),
                say("{t}", t=(run.timed.time, SECONDS)),
                _limiting_link(run),
            )
            for name, run in result.played.items()
        ),
        links=tuple((f"algorithm:{name}",) for name in result.played),
    )


def _limiting_link(run: AlgorithmRun) -> Text:
    if run.is_latency_bound:
        return "latency"
    return CHART_LINKS[run.waits_for[0]] if run.waits_for else "nothing"


def phases_table(result: Result) -> Table:
    """Return the phases of the shown algorithm."""
    return Table(
        title=f"Phases: {NAMES[result.shown]}",
        columns=("Phase", "Rounds", "Bytes of a message", "Time"),
        rows=tuple(
            (
                step.label,
                say("{n}", n=(step.rounds, COUNT)),
                say("{s}", s=(step.message * result.size, BYTES)),
                say("{t}", t=(step.time, SECONDS)),
            )
            for step in result.played[result.shown].steps
        ),
        caption=f"Slow: {result.slow}." if result.slow else "",
    )


START: Mapping[str, Scalar] = {
    "world_size": 512,
    "oversubscription": 7.0,
    "scattered": True,
    "wrong_rail": True,
    "pxn": False,
    "algorithm": "hierarchical",
}
SOLUTION: Mapping[str, Scalar] = {**START, "scattered": False, "wrong_rail": False}
_GOAL: Seconds = 0.15


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: the same wires, four times as fast, by placement alone."""
    same = inputs.world_size == 512 and inputs.parameters >= 7e9
    wires = (
        inputs.oversubscription >= 7
        and inputs.port <= 50e9
        and inputs.ports_per_node == 8
        and inputs.nodes_per_group <= 32
        and inputs.rails
    )
    hierarchical = result.played.get("hierarchical")
    fast = hierarchical is not None and hierarchical.timed.time < _GOAL
    return Challenge(
        title="Challenge: the same wires, without new switches",
        goal="Somebody numbered the ranks carelessly. Make the hierarchical all-reduce fast again.",
        conditions=(
            Condition(text="512 GPUs, a buffer of 7 billion bf16 gradients", met=same),
            Condition(text="7:1 above the leaf, eight ports of 400 Gb/s per node", met=wires),
            Condition(
                text=say(
                    "the hierarchical all-reduce in less than {t}", t=(_GOAL, with_digits(SECONDS))
                ),
                met=fast,
            ),
        ),
        hints=(
            "Ask which messages climb to the spines, and which of them have to.",
            "A rank's neighbor should be on the same rail, and in the same leaf group.",
        ),
        start=START,
        solution=SOLUTION,
    )


TITLE = "Collectives at scale"
QUESTION = "Which algorithm is fastest on which cluster, and which link does it wait for?"
HEADLINE = "time"
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
    chosen = result.played[result.shown]
    if chosen.is_latency_bound:
        half = present.say("More than half of the time is latency: {latency} of {time}.")
        return Badge(text="Latency", sentence=half)
    if any(link in chosen.timed.bottleneck for link, _ in result.cluster.topology.slow):
        return Badge(
            text="One slow port",
            sentence="The longest phase waits for port 2 of node 1, and everybody with it.",
            color="communication",
        )
    name, sentence = _SENTENCES[next((k for k in _SENTENCES if k in chosen.waits_for), "port")]
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
