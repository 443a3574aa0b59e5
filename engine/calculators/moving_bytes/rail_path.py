"""Rail path: a message from a GPU to a GPU of another node, hop by hop."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.hardware import LINKS
from engine.core.inputs import Choice, Number, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, SECONDS, Bytes, Count, MiB, Seconds
from engine.core.views import Badge, Scene
from engine.draw.fabric import WireLoads, crossed_wires, fabric_layout, fabric_scene
from engine.simulate.collectives.fabric_flows import fabric_topology, fabric_traffic
from engine.simulate.network.fabric_design import (
    Fabric,
    FabricPlan,
    design_fabric,
    switches_between,
)
from engine.simulate.network.fair_share import Link
from engine.simulate.network.topology import Route, Topology, route

TITLE = "One message, hop by hop"
QUESTION = "How many switches are between two GPUs of different nodes?"
HEADLINE = "switches"
PRESETS = {
    "The same rail": {"place": 0},
    "Another rail, without PXN": {"place": 5, "pxn": False},
    "Another leaf group": {"place": 0, "where": "far"},
    "No rails": {"place": 5, "rails": False},
}
NODES, GPUS = 64, 8
_NVLINK, _PORT = LINKS["nvlink4"], LINKS["infiniband_ndr"]
_SIZE: Bytes = 64 * MiB
_ASSUMES = (
    "64 nodes of 8 GPUs and 8 ports of {port}, switches of 64 ports, no other message on the way.",
    "Latencies of a hop of large messages: {step} in the node, {hop} between nodes; the way over a "
    "spine adds an assumed {climb}.",
)
_SOURCES = ("nvidia_pxn", "dgx_superpod", "nccl_tuning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    place: Annotated[
        int,
        Number(
            label="Receiving GPU",
            low=0,
            high=GPUS - 1,
            whole=True,
            help="Its number in its node. GPU 0 of node 0 sends.",
        ),
    ] = 5
    where: Annotated[
        str,
        Choice(
            label="Its node is",
            options={"near": "in the same leaf group", "far": "in another leaf group"},
        ),
    ] = "near"
    pxn: Annotated[
        bool, Switch(label="PXN", help="A message may change rails over NVLink, before it leaves.")
    ] = True
    rails: Annotated[
        bool,
        Switch(label="Rails", help="Port k of every node is on leaf k. Off: a leaf takes nodes."),
    ] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The way of the message over the wires of a fabric."""

    fabric: Fabric
    wires: Topology
    way: Route
    switches: Annotated[
        Count,
        Output(
            "Switches on the way",
            note="of the network; {links} links in all",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
            sources=_SOURCES,
        ),
    ]
    links: Count
    time: Annotated[
        Seconds,
        Output(
            "64 MiB",
            note="nothing else on the way",
            basis="simulated",
            assumes=_ASSUMES,
            sources=_SOURCES,
        ),
    ]
    reached: Annotated[
        Count,
        Output(
            "GPUs one switch away",
            note="of {total} in other nodes",
            basis="simulated",
            assumes=_ASSUMES,
            sources=_SOURCES,
        ),
    ]
    total: Count


def solve(inputs: Inputs) -> Result:
    """Return the way of the message, and how long it takes."""
    fabric = design_fabric(
        FabricPlan(num_nodes=NODES, ports_per_node=GPUS, port=_PORT.bandwidth, rails=inputs.rails)
    )
    topology = fabric_topology(fabric, GPUS, _NVLINK.bandwidth, pxn=inputs.pxn)
    node = 1 if inputs.where == "near" else fabric.nodes_per_group
    target = node * GPUS + inputs.place
    path = route(topology, 0, target)
    same = inputs.place == 0 or inputs.pxn
    behind = fabric.nodes_per_group - 1
    return Result(
        fabric=fabric,
        wires=topology,
        way=path,
        switches=switches_between(fabric, 0, node, same_rail=same),
        links=len(path.links),
        time=fabric_traffic("pair", topology, _SIZE, (0, target)).time,
        reached=behind if inputs.rails and not inputs.pxn else behind * GPUS,
        total=(NODES - 1) * GPUS,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, its numbers and a verdict."""
    present = Presenter(result, inputs)
    wires = result.wires
    hops = {
        "port": (_PORT.bandwidth, BANDWIDTH),
        "step": (wires.step_latency, SECONDS),
        "hop": (wires.network_latency, SECONDS),
        "climb": (wires.climb_latency, SECONDS),
    }
    assumes = tuple(say(text, **hops) for text in _ASSUMES)
    outputs = {
        name: present.value(name, assumes=assumes) for name in ("switches", "time", "reached")
    }
    return {
        "scene": partial(_scene, inputs, result),
        "verdict": _verdict(inputs, result),
        **outputs,
    }


def _verdict(inputs: Inputs, result: Result) -> Badge:
    climbs = any(link[0] == "leaf_up" for link in result.way.links)
    relayed = any(link[0] == "nvlink_out" for link in result.way.links)
    if climbs:
        return Badge(
            text="Over a spine",
            sentence="The message climbs from a leaf to a spine and down to another leaf. These "
            "are the links that a cheaper fabric saves on.",
            color="communication",
        )
    if relayed:
        return Badge(
            text="One leaf, by PXN",
            sentence=f"NVLink takes the message to GPU {inputs.place} of its own node. From there "
            f"on it stays on rail {inputs.place}.",
            color="tensor",
        )
    words = f"Both ports are on leaf {inputs.place}." if inputs.rails else "Both are on one leaf."
    return Badge(text="One leaf", sentence=f"{words} No spine is needed.", color="data")


def _scene(inputs: Inputs, result: Result) -> Scene:
    drawn = fabric_layout(result.fabric, GPUS)
    start = "GPU 0 of node 0 has a message."
    frames: list[tuple[WireLoads, Text]] = [({("gpu", 0, 0): 1.0}, start)]
    links = list(result.way.links)
    for count, words in _leg_captions(links):
        frames.append((crossed_wires(drawn, links[:count]), words))
    return fabric_scene(drawn, "A message from GPU 0 of node 0", frames, opening=len(frames) - 1)


def _leg_captions(links: list[Link]) -> list[tuple[int, str]]:
    """Return (number of links passed, caption) for every leg of the path."""
    legs = []
    for index, link in enumerate(links):
        kind = link[0]
        if kind == "nvlink_in":
            legs.append((index + 1, f"NVLink: it is on GPU {int(link[1]) % GPUS} of its node."))
        elif kind == "port_out":
            legs.append((index + 1, f"It leaves node {link[1]} by port {link[2]}."))
        elif kind == "leaf_up":
            legs.append((index + 1, "Its leaf has no link to that port: it climbs to a spine."))
        elif kind == "leaf_down":
            legs.append((index + 1, "The spine sends it down to the leaf of the port."))
        elif kind == "port_in":
            legs.append((len(links), f"It enters node {link[1]} by port {link[2]}: arrived."))
    return legs
