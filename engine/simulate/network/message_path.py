"""Stages and time of one message between GPUs of two nodes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, fsum

from engine.catalog.hardware import GPUS
from engine.catalog.message_stages import DETOUR, PCIE, SOCKETS, SYNC_LATENCY
from engine.core.units import GB, KB, Bandwidth, Bytes, Count, KiB, Ratio, Seconds, Share
from engine.formulas.message import latency_share, message_time

# Pipelined transfer of a message: pieces pass stages in order, one at a time per stage.


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Latency and bandwidth of one stage of the path.

    Attributes:
        key: unique in the path.
        latency: delay of every byte, independent of the message size.
        bandwidth: rate of the stage; 0 for a pure delay (a doorbell, a cut-through switch), in
            which pieces do not queue.
    """

    key: str
    latency: Seconds
    bandwidth: Bandwidth = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTransit:
    """Times of one piece in one stage.

    Attributes:
        stage: key of the stage.
        piece: index of the piece, from 0.
        arrived: time at which all of it had left the previous stage.
        start: start of the transfer: after the latency, and after the previous piece.
        end: end of the transfer.
    """

    stage: str
    piece: Count
    arrived: Seconds
    start: Seconds
    end: Seconds


def stage_transits(stages: Sequence[Stage], size: Bytes, pieces: Count) -> list[StageTransit]:
    """Return the times of every piece in every stage, stage by stage."""
    transits: list[StageTransit] = []
    ready = [0.0] * pieces
    for stage in stages:
        occupied = size / pieces / stage.bandwidth if stage.bandwidth else 0.0
        free = 0.0
        for piece, arrived in enumerate(ready):
            start = max(arrived + stage.latency, free)
            free = start + occupied
            transits.append(
                StageTransit(stage=stage.key, piece=piece, arrived=arrived, start=start, end=free)
            )
            ready[piece] = free
    return transits


MEMORY: Bandwidth = GPUS["h100"].memory_bandwidth
# The share of a network port that each protocol of NCCL leaves for data, which follows from the
# flags that it sends; and bytes sent for each byte of data. NCCL's tuner plans with still less of
# LL over all ports of a node (45 GB/s on two nodes, 35 on more).
DATA_SHARE: Mapping[str, Share] = {
    "raw": 1.0,
    "ll": 1 / 2,
    "ll128": 120 / 128,
    "simple": 1.0,
}
SENT_RATIO: Mapping[str, Ratio] = {"raw": 1.0, "ll": 2.0, "ll128": 128 / 120, "simple": 1.0}
# Piece that a stage forwards at once; "whole" is more than any message.
PIECE_SIZE: Mapping[str, Bytes] = {"packets": 4 * KiB, "chunks": 512 * KiB, "whole": GB * KB}
PCIE_STAGES = ("pcie_out", "pcie_in")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePath:
    """Protocol, placement and stage latencies of a message's path.

    Attributes:
        link: speed of the network port, one way.
        protocol: key of `SYNC_LATENCY`: a bare RDMA write, or a protocol of NCCL.
        forwarding: key of `PIECE_SIZE`.
        direct: whether the network card reads and writes the GPU's memory itself.
        placement: key of `DETOUR`: the way between GPU and card.
        launch: latency from the call on the host to the first instruction.
        post: latency of posting a work request.
        read: latency of a read of the GPU's memory.
        pcie_out: round-trip latency of PCIe on the sender.
        transmit: latency of the sending network card.
        hops: number of switches.
        hop: latency of one switch with its cable.
        receive: latency of the receiving network card.
        pcie_in: one-way latency of PCIe on the receiver.
        write: latency of a write to the GPU's memory.
        finish: latency until the receiver is notified.
        copy: latency of one copy between GPU and host; only without `direct`.
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
        """Number of PCIe crossings of the data in both nodes."""
        return 2 if self.direct else 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTiming:
    """Time of a message on its path, by part.

    Attributes:
        stages: stages in order.
        message: bytes of data.
        wire: bytes of data over the share of the bandwidth that the protocol leaves.
        pieces: number of equal pieces.
        latency: latency of all stages.
        passing: transfer time through all stages, one after the other.
        slowest: bandwidth of the slowest stage.
        time: one-way time.
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
        """Return the sum of the latencies of some stages."""
        return fsum(stage.latency for stage in self.stages if stage.key in keys)

    @property
    def moving(self) -> Seconds:
        """Transfer time beyond all latencies."""
        return self.time - self.latency

    @property
    def pcie(self) -> Seconds:
        """Sum of the PCIe latencies."""
        return self.part(PCIE_STAGES)

    @property
    def pcie_share(self) -> Share:
        """Share of the time that is PCIe latency."""
        return latency_share(self.pcie, self.time)

    @property
    def bare_pcie_share(self) -> Share:
        """Share of the latency that is PCIe latency."""
        return latency_share(self.pcie, self.latency)


def path_stages(path: MessagePath) -> tuple[Stage, ...]:
    """Return the stages of a path, from the launch to the flag; switches and cards cut through.

    Without GPUDirect the copies cross the way between GPU and host; the host memory is the card's.
    """
    detour = DETOUR[path.placement]
    host_bandwidth = SOCKETS if path.placement == "sys" else PCIE
    extra, card_bandwidth = (detour, host_bandwidth) if path.direct else (0.0, PCIE)
    post = Stage(key="post", latency=path.post)
    read = Stage(key="read", latency=path.read, bandwidth=MEMORY)
    copy_out = Stage(key="copy_out", latency=path.copy + detour, bandwidth=host_bandwidth)
    copy_in = Stage(key="copy_in", latency=path.copy + detour, bandwidth=host_bandwidth)
    return (
        Stage(key="launch", latency=path.launch),
        *((post, read) if path.direct else (read, copy_out, post)),
        Stage(key="pcie_out", latency=path.pcie_out + extra, bandwidth=card_bandwidth),
        Stage(key="transmit", latency=path.transmit, bandwidth=path.link),
        Stage(key="fabric", latency=path.hops * path.hop),
        Stage(key="receive", latency=path.receive),
        Stage(key="pcie_in", latency=path.pcie_in + extra, bandwidth=card_bandwidth),
        *(() if path.direct else (copy_in,)),
        Stage(key="write", latency=path.write, bandwidth=MEMORY),
        Stage(key="finish", latency=path.finish + SYNC_LATENCY[path.protocol]),
    )


def message_timing(path: MessagePath, message: Bytes) -> MessageTiming:
    """Return the timing of a message on a path."""
    return message_timings(path, (message,))[0]


def message_timings(path: MessagePath, messages: Iterable[Bytes]) -> tuple[MessageTiming, ...]:
    """Return the timings of messages of several sizes on the same path."""
    stages = path_stages(path)
    bandwidths = [stage.bandwidth for stage in stages if stage.bandwidth]
    latency, slowest = fsum(stage.latency for stage in stages), min(bandwidths)
    timings = []
    for message in messages:
        wire = message / DATA_SHARE[path.protocol]
        pieces = max(1, ceil(message / PIECE_SIZE[path.forwarding]))
        passing = fsum(wire / bandwidth for bandwidth in bandwidths)
        timings.append(
            MessageTiming(
                stages=stages,
                message=message,
                wire=wire,
                pieces=pieces,
                latency=latency,
                passing=passing,
                slowest=slowest,
                time=message_time(wire, pieces, latency, passing, slowest),
            )
        )
    return tuple(timings)
