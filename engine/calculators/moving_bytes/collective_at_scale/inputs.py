"""Collectives at scale: the inputs, and the cluster that they describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog import transports
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hardware import LINKS
from engine.core.inputs import BILLIONS, GBITS, PERCENT, Choice, Number, Switch
from engine.core.units import Gbit
from engine.form.gradient_type import GradientType
from engine.run.parallelism import Cluster
from engine.simulate.collectives.cluster_collectives import ClusterLayout
from engine.simulate.collectives.collective import collective_rank
from engine.simulate.collectives.collective_comparison import with_full_nodes, with_slow_port
from engine.simulate.layer.device_model import RankRates
from engine.simulate.network.topology import PCIE, Topology

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
