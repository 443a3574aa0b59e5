"""Networks of commercial clusters: ports of an eight-GPU node, ordering, paths, congestion."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.catalog.nodes import NODES, Node
from engine.run.parallelism import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network of nodes with eight GPUs.

    Attributes:
        name: with its ports.
        node: a machine that has it.
        transport: key of `engine.catalog.transports.TRANSPORTS`.
        order: in which order packets arrive.
        paths: which ways packets of one message take.
        full: what happens when a queue grows.
        sums: whether the switches can add.
        sources: keys of the bibliography.
    """

    name: str
    node: Node
    transport: Transport
    order: str
    paths: str
    full: str
    sums: str
    sources: tuple[str, ...]


def _infiniband(name: str, node: str) -> Network:
    return Network(
        name=name,
        node=NODES[node],
        transport="infiniband",
        order="in order, or placed as they come with adaptive routing",
        paths="one, or many with adaptive routing",
        full="credits: the sender waits, hop by hop",
        sums="yes (SHARP)",
        sources=("zhu2015", "nccl_env", "graham2016"),
    )


def _efa(name: str, node: str, transport: Transport) -> Network:
    return Network(
        name=name,
        node=NODES[node],
        transport=transport,
        order="in any order; the card or the library sorts them",
        paths="many, packet by packet (SRD)",
        full="the sender slows down; lost packets are sent again on another path",
        sums="no",
        sources=("shalev2020", "aws_efa_p5"),
    )


NETWORKS: Mapping[str, Network] = {
    "ib-400": _infiniband("InfiniBand NDR, 8 x 400 Gb/s", "dgx-h100"),
    "ib-800": _infiniband("InfiniBand XDR, 8 x 800 Gb/s", "dgx-b300"),
    "roce-400": Network(
        name="RoCE, 8 x 400 Gb/s",
        node=NODES["grand-teton"],
        transport="roce",
        order="in order",
        paths="one per queue pair, by hash (ECMP)",
        full="pause, link by link (PFC); marks, if the cards answer them (ECN)",
        sums="no",
        sources=("gangidi2024", "zhu2015"),
    ),
    "efa-v1": _efa("EFA v1, 4 x 100 Gb/s (p4d)", "p4d", "efa-v1"),
    "efa-v2": _efa("EFA v2, 32 x 100 Gb/s (p5)", "p5", "efa-v2"),
    "efa-v3": _efa("EFA v3, 16 x 200 Gb/s (p5en)", "p5en", "efa-v3"),
    "efa-v4": _efa("EFA v4, 8 x 400 Gb/s (p6-b200)", "p6-b200", "efa-v4"),
}
