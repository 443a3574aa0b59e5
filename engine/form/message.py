"""Inputs of the message waterfall, its presets, and the resulting path."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.message_stages import EFA_CARD, ETHERNET_HOP, PUBLISHED, STAGES
from engine.core.inputs import (
    GBITS,
    MICROSECONDS,
    MILLISECONDS,
    Choice,
    Number,
    Scalar,
    Switch,
    Unit,
)
from engine.core.outputs import Symbol
from engine.core.units import BYTES, GB, KB, MICRO, MILLI, Gbit, KiB, MiB
from engine.simulate.network.message_path import MessagePath, MessageTiming, message_timing

MESSAGE = Unit(
    " kB",
    KB,
    {"B": 1, "kB": KB, "MB": 1e6, "GB": 1e9, "KiB": KiB, "MiB": MiB},
    shown=("B", "kB", "MB", "GB"),
    quantity=BYTES,
)
LOW, HIGH = 1.0, 1 * GB
LARGE = 64 * MiB
PLACEMENTS = {
    "pix": "PIX: one PCIe switch",
    "pxb": "PXB: several PCIe switches",
    "sys": "SYS: the other socket",
}
PROTOCOLS = {"raw": "RDMA write", "ll": "LL", "ll128": "LL128", "simple": "Simple"}
FORWARDING = {
    "packets": "packets of 4 KiB",
    "chunks": "chunks of 512 KiB",
    "whole": "the whole message",
}


def _latency(label: str, text: str, *, advanced: bool = True) -> Number:
    return Number(
        label=label,
        unit=MICROSECONDS,
        low=0.0,
        high=20 * MICRO,
        step=0.01 * MICRO,
        help=text,
        advanced=advanced,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of the message waterfall."""

    message: Annotated[
        float,
        Number(label="Message", unit=MESSAGE, low=LOW, high=HIGH, scale="log", symbol="M"),
    ] = 64 * KB
    link: Annotated[
        float,
        Number(
            label="Network port",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate, one way.",
        ),
    ] = 400 * Gbit
    protocol: Annotated[
        str,
        Choice(
            label="Protocol",
            options=PROTOCOLS,
            help="How the receiver learns that the data are there: a bare RDMA write, or NCCL's "
            "protocols.",
        ),
    ] = "raw"
    forwarding: Annotated[
        str,
        Choice(
            label="A stage passes on",
            options=FORWARDING,
            help="Small pieces: the stages work at the same time.",
        ),
    ] = "packets"
    direct: Annotated[
        bool,
        Switch(
            label="GPUDirect RDMA",
            help="Off: both nodes copy the data through the memory of the host.",
        ),
    ] = True
    placement: Annotated[
        str,
        Choice(
            label="GPU and card",
            options=PLACEMENTS,
            help="As nvidia-smi topo -m names the way between them, in both nodes.",
        ),
    ] = "pix"
    launch: Annotated[
        float, _latency("Kernel launch", "From the call on the host to the first instruction.")
    ] = STAGES["launch"]
    post: Annotated[
        float, _latency("Doorbell", "A work request is written, and the card is told.")
    ] = STAGES["post"]
    read: Annotated[
        float, _latency("HBM read", "The first line of the data comes out of the GPU's memory.")
    ] = STAGES["read"]
    pcie_out: Annotated[
        float,
        _latency("PCIe to card", "The card asks for data and gets them: there and back."),
    ] = STAGES["pcie_out"]
    transmit: Annotated[
        float, _latency("Card sends", "Packets are built and leave for the cable.")
    ] = STAGES["transmit"]
    hops: Annotated[int, Number(label="Switches", low=0, high=6, whole=True, advanced=True)] = 3
    hop: Annotated[float, _latency("One switch", "Port to port, with its cable.")] = STAGES["hop"]
    receive: Annotated[
        float, _latency("Card receives", "Packets are checked and their address is found.")
    ] = STAGES["receive"]
    pcie_in: Annotated[float, _latency("PCIe to GPU", "A write, which nobody answers.")] = STAGES[
        "pcie_in"
    ]
    write: Annotated[float, _latency("HBM write", "Until another reader would see the data.")] = (
        STAGES["write"]
    )
    finish: Annotated[
        float, _latency("Flag", "The receiver polls until it sees that all is there.")
    ] = STAGES["finish"]
    copy: Annotated[
        float,
        _latency("One host copy", "Start of a copy between GPU and host; only without GPUDirect."),
    ] = STAGES["copy"]
    world_size: Annotated[
        int,
        Number(
            label="GPUs in the all-reduce",
            low=2,
            high=1024,
            scale="log2",
            whole=True,
            symbol="n",
            help="One per node, each with a port of its own, buffers of the message's size.",
            advanced=True,
        ),
    ] = 8
    num_buckets: Annotated[
        int,
        Number(
            label="Such all-reduces per step",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            symbol="N",
            advanced=True,
        ),
    ] = 32
    backward: Annotated[
        float,
        Number(
            label="Backward pass",
            unit=MILLISECONDS,
            low=1 * MILLI,
            high=10_000 * MILLI,
            scale="log",
            help="The all-reduces start one by one while it runs.",
            advanced=True,
        ),
        Symbol("Tb"),
    ] = 100 * MILLI


def published(**changes: float) -> Inputs:
    """Return the published waterfall, over a port of 400 Gb/s unless changed."""
    return Inputs(**{**PUBLISHED, "hops": 1, **changes})  # type: ignore[arg-type]


def path_of(inputs: Inputs) -> MessagePath:
    """Return the path that the inputs describe."""
    return MessagePath(**{name: getattr(inputs, name) for name in MessagePath.__slots__})


def at(inputs: Inputs, **changes: float | str | bool) -> MessageTiming:
    """Return the message on its path, with some inputs changed."""
    now = replace(inputs, **changes)  # type: ignore[arg-type]
    return message_timing(path_of(now), now.message)


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "InfiniBand NDR, 1 kB": {"message": 1 * KB},
    "InfiniBand NDR, 64 MiB": {"message": 64 * MiB},
    "RoCE, 400 Gb/s": {"hop": ETHERNET_HOP},
    "EFA v2, four cards per GPU": {
        "hop": ETHERNET_HOP,
        "transmit": EFA_CARD,
        "receive": EFA_CARD,
    },
    "NCCL, Simple": {"protocol": "simple"},
    "No GPUDirect, other socket": {"direct": False, "placement": "sys"},
    "A published waterfall": {**PUBLISHED, "hops": 1, "message": 1 * KB},
}
