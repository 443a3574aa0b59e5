"""The path of a message as stages, and the times that the reader's inputs give."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, fsum

from engine.basis.units import GB, MICRO, Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.catalog.hardware import GPUS
from engine.catalog.transports import INFINIBAND
from engine.form.message.inputs import PIECE, Inputs
from engine.formulas.message import message_time
from engine.simulate.message import Stage

# PCIe 5.0 x16 between devices: 54.3 GB/s measured, of 63; over the sockets NCCL plans with 22.
PCIE: Bandwidth = 54.3 * GB
SOCKETS: Bandwidth = 22 * GB
MEMORY: Bandwidth = GPUS["h100"].memory_bandwidth
# Per crossing: another PCIe switch or two, or both sockets and the link between them. Assumed.
DETOUR: Mapping[str, Seconds] = {"pix": 0.0, "pxb": 0.15 * MICRO, "sys": 0.5 * MICRO}
# One hop of NCCL's protocols, beside the path itself; the share of the bandwidth that each leaves
# for data, which of LL is what NCCL plans with; and how many bytes it sends for each byte of data.
SYNC: Mapping[str, Seconds] = {
    "raw": 0.0,
    "ll": 1 * MICRO,
    "ll128": 2 * MICRO,
    "simple": 6 * MICRO,
}
DATA: Mapping[str, Share] = {
    "raw": 1.0,
    "ll": INFINIBAND.share_small,
    "ll128": 120 / 128,
    "simple": 1.0,
}
SENT: Mapping[str, Ratio] = {"raw": 1.0, "ll": 2.0, "ll128": 128 / 120, "simple": 1.0}
PCIE_STAGES = ("pcie_out", "pcie_in")
NAMES: Mapping[str, str] = {
    "launch": "Kernel launch",
    "copy_out": "Host copy out",
    "post": "Doorbell",
    "read": "HBM read",
    "pcie_out": "PCIe to card",
    "transmit": "Card sends",
    "fabric": "Switches",
    "receive": "Card receives",
    "pcie_in": "PCIe to GPU",
    "write": "HBM write",
    "copy_in": "Host copy in",
    "finish": "Flag",
}
GROUPS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "software": ("software", "compute", ("launch", "post", "finish")),
    "memory": ("HBM", "memory", ("read", "write")),
    "pcie": ("PCIe", "accent", PCIE_STAGES),
    "copies": ("host copies", "buffers", ("copy_out", "copy_in")),
    "network": ("cards and switches", "communication", ("transmit", "fabric", "receive")),
}
COLORS: Mapping[str, str] = {key: color for _, color, keys in GROUPS.values() for key in keys}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A message and its path.

    Attributes:
        stages: in order.
        wire: the message over the share of the bandwidth that its protocol leaves.
        pieces: equal pieces that it is cut into.
        latency: of all stages.
        passing: of the bytes through all stages, one after the other.
        slowest: bandwidth of the slowest stage.
        time: one way.
    """

    stages: tuple[Stage, ...]
    wire: Bytes
    pieces: Count
    latency: Seconds
    passing: Seconds
    slowest: Bandwidth
    time: Seconds

    def part(self, keys: Iterable[str]) -> Seconds:
        """Return the latencies of some stages."""
        return fsum(stage.latency for stage in self.stages if stage.key in keys)


def stages(inputs: Inputs) -> tuple[Stage, ...]:
    """Return the path: the launch, what the bytes cross, the flag. Switches and cards cut through.

    Without GPUDirect the copies cross the way between GPU and host; the host memory is the card's.
    """
    detour = DETOUR[inputs.placement]
    bus = SOCKETS if inputs.placement == "sys" else PCIE
    extra, card = (detour, bus) if inputs.direct else (0.0, PCIE)
    post = Stage(key="post", latency=inputs.post)
    read = Stage(key="read", latency=inputs.read, bandwidth=MEMORY)
    out = Stage(key="copy_out", latency=inputs.copy + detour, bandwidth=bus)
    back = Stage(key="copy_in", latency=inputs.copy + detour, bandwidth=bus)
    return (
        Stage(key="launch", latency=inputs.launch),
        *((post, read) if inputs.direct else (read, out, post)),
        Stage(key="pcie_out", latency=inputs.pcie_out + extra, bandwidth=card),
        Stage(key="transmit", latency=inputs.transmit, bandwidth=inputs.link),
        Stage(key="fabric", latency=inputs.hops * inputs.hop),
        Stage(key="receive", latency=inputs.receive),
        Stage(key="pcie_in", latency=inputs.pcie_in + extra, bandwidth=card),
        *(() if inputs.direct else (back,)),
        Stage(key="write", latency=inputs.write, bandwidth=MEMORY),
        Stage(key="finish", latency=inputs.finish + SYNC[inputs.protocol]),
    )


def way(inputs: Inputs) -> Way:
    """Return the message on its path."""
    return sized(inputs, stages(inputs), inputs.message)


def sized(inputs: Inputs, path: tuple[Stage, ...], message: Bytes) -> Way:
    """Return a message of another size on the same path."""
    wire = message / DATA[inputs.protocol]
    pieces = max(1, ceil(message / PIECE[inputs.forwarding]))
    crossed = [stage.bandwidth for stage in path if stage.bandwidth]
    latency = fsum(stage.latency for stage in path)
    passing = fsum(wire / bandwidth for bandwidth in crossed)
    return Way(
        stages=path,
        wire=wire,
        pieces=pieces,
        latency=latency,
        passing=passing,
        slowest=min(crossed),
        time=message_time(wire, pieces, latency, passing, min(crossed)),
    )


def at(inputs: Inputs, **changes: float | str | bool) -> Way:
    """Return the message with some inputs changed."""
    return way(replace(inputs, **changes))  # type: ignore[arg-type]
