"""The fabric builder: the inputs, and the nearest fabric that can be built."""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nodes import NODES, Node
from engine.core.inputs import MEGABYTES, PERCENT, Choice, Number, Switch
from engine.core.units import GB, KB, Bandwidth, Bytes, Count
from engine.simulate.collectives.fabric_flows import PATTERNS
from engine.simulate.network.fabric_design import Fabric, FabricPlan, design_fabric

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
    asked = FabricPlan(
        num_nodes=inputs.num_nodes,
        ports_per_node=ports,
        port=node.nic_bandwidth,
        radix=int(inputs.radix),
        oversubscription=inputs.oversubscription,
        rails=inputs.rails,
    )
    plan, words = _nearest_plan(asked)
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
    """Return why a fabric, or the same without oversubscription, cannot be built."""
    for variant in (plan, replace(plan, oversubscription=1.0)):
        try:
            design_fabric(variant)
        except ValueError as error:
            return str(error)
    return None
