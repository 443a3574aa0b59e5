"""The path of one message between two GPUs of two nodes as stages, and the times that it gives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, fsum

from engine.catalog.hardware import GPUS
from engine.core.units import GB, KB, MICRO, Bandwidth, Bytes, Count, KiB, Ratio, Seconds, Share
from engine.formulas.message import latency_share, message_time
from engine.simulate.network.message import Stage

# PCIe 5.0 x16 between devices: 54.3 GB/s measured, of 63; over the sockets NCCL plans with 22.
PCIE: Bandwidth = 54.3 * GB
SOCKETS: Bandwidth = 22 * GB
MEMORY: Bandwidth = GPUS["h100"].memory_bandwidth
# Per crossing: another PCIe switch or two, or both sockets and the link between them. Assumed.
DETOUR: Mapping[str, Seconds] = {"pix": 0.0, "pxb": 0.15 * MICRO, "sys": 0.5 * MICRO}
# One hop of NCCL's protocols, beside the path itself; the share of a network port that each leaves
# for data, which follows from the flags that it sends; and bytes sent for each byte of data. NCCL's
# tuner plans with still less of LL over all ports of a node (45 GB/s on two nodes, 35 on more).
SYNC: Mapping[str, Seconds] = {
    "raw": 0.0,
    "ll": 1 * MICRO,
    "ll128": 2 * MICRO,
    "simple": 6 * MICRO,
}
DATA: Mapping[str, Share] = {
    "raw": 1.0,
    "ll": 1 / 2,
    "ll128": 120 / 128,
    "simple": 1.0,
}
SENT: Mapping[str, Ratio] = {"raw": 1.0, "ll": 2.0, "ll128": 128 / 120, "simple": 1.0}
# What a stage passes on at once; "whole" is more than any message.
PIECE: Mapping[str, Bytes] = {"packets": 4 * KiB, "chunks": 512 * KiB, "whole": GB * KB}
PCIE_STAGES = ("pcie_out", "pcie_in")


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """What a message passes. Latencies are those of single stages.

    Attributes:
        link: speed of the network port, one way.
        protocol: key of `SYNC`: a bare RDMA write, or a protocol of NCCL.
        forwarding: key of `PIECE`.
        direct: whether the network card reads and writes the GPU's memory itself.
        placement: key of `DETOUR`: the way between GPU and card.
        launch: from the call on the host to the first instruction.
        post: of a work request.
        read: of the GPU's memory.
        pcie_out: there and back.
        transmit: in the card that sends.
        hops: switches.
        hop: of one switch with its cable.
        receive: in the card that receives.
        pcie_in: one way.
        write: into the GPU's memory.
        finish: until the receiver knows.
        copy: of one copy between GPU and host; only without `direct`.
    """

    link: Bandwidth
    protocol: str
    forwarding: str
    direct: bool
    placement: str
    launch: Seconds
    post: Seconds
    read: Seconds
    pcie_out: Seconds
    transmit: Seconds
    hops: Count
    hop: Seconds
    receive: Seconds
    pcie_in: Seconds
    write: Seconds
    finish: Seconds
    copy: Seconds

    @property
    def crossings(self) -> Count:
        """Times that the data cross PCIe, both nodes together."""
        return 2 if self.direct else 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A message and its path.

    Attributes:
        stages: in order.
        message: its data.
        wire: the message over the share of the bandwidth that its protocol leaves.
        pieces: equal pieces that it is cut into.
        latency: of all stages.
        passing: of the bytes through all stages, one after the other.
        slowest: bandwidth of the slowest stage.
        time: one way.
    """

    stages: tuple[Stage, ...]
    message: Bytes
    wire: Bytes
    pieces: Count
    latency: Seconds
    passing: Seconds
    slowest: Bandwidth
    time: Seconds

    def part(self, keys: Iterable[str]) -> Seconds:
        """Return the latencies of some stages."""
        return fsum(stage.latency for stage in self.stages if stage.key in keys)

    @property
    def moving(self) -> Seconds:
        """What the bytes take beyond all latencies."""
        return self.time - self.latency

    @property
    def pcie(self) -> Seconds:
        """The latencies of PCIe."""
        return self.part(PCIE_STAGES)

    @property
    def pcie_share(self) -> Share:
        """The share of the time that is latency of PCIe."""
        return latency_share(self.pcie, self.time)

    @property
    def bare_pcie_share(self) -> Share:
        """The same for a message without bytes."""
        return latency_share(self.pcie, self.latency)


def stages(path: Path) -> tuple[Stage, ...]:
    """Return the path: the launch, what the bytes cross, the flag. Switches and cards cut through.

    Without GPUDirect the copies cross the way between GPU and host; the host memory is the card's.
    """
    detour = DETOUR[path.placement]
    bus = SOCKETS if path.placement == "sys" else PCIE
    extra, card = (detour, bus) if path.direct else (0.0, PCIE)
    post = Stage(key="post", latency=path.post)
    read = Stage(key="read", latency=path.read, bandwidth=MEMORY)
    out = Stage(key="copy_out", latency=path.copy + detour, bandwidth=bus)
    back = Stage(key="copy_in", latency=path.copy + detour, bandwidth=bus)
    return (
        Stage(key="launch", latency=path.launch),
        *((post, read) if path.direct else (read, out, post)),
        Stage(key="pcie_out", latency=path.pcie_out + extra, bandwidth=card),
        Stage(key="transmit", latency=path.transmit, bandwidth=path.link),
        Stage(key="fabric", latency=path.hops * path.hop),
        Stage(key="receive", latency=path.receive),
        Stage(key="pcie_in", latency=path.pcie_in + extra, bandwidth=card),
        *(() if path.direct else (back,)),
        Stage(key="write", latency=path.write, bandwidth=MEMORY),
        Stage(key="finish", latency=path.finish + SYNC[path.protocol]),
    )


def way(path: Path, message: Bytes) -> Way:
    """Return the message on its path."""
    return ways(path, (message,))[0]


def ways(path: Path, messages: Iterable[Bytes]) -> tuple[Way, ...]:
    """Return messages of several sizes on the same path."""
    passed = stages(path)
    crossed = [stage.bandwidth for stage in passed if stage.bandwidth]
    latency, slowest = fsum(stage.latency for stage in passed), min(crossed)
    found = []
    for message in messages:
        wire = message / DATA[path.protocol]
        pieces = max(1, ceil(message / PIECE[path.forwarding]))
        passing = fsum(wire / bandwidth for bandwidth in crossed)
        found.append(
            Way(
                stages=passed,
                message=message,
                wire=wire,
                pieces=pieces,
                latency=latency,
                passing=passing,
                slowest=slowest,
                time=message_time(wire, pieces, latency, passing, slowest),
            )
        )
    return tuple(found)
