"""What every tensor of a step moves, and over which wire."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.core.units import Bytes, Count, Seconds
from engine.formulas.offload import (
    ACTIVATION_MOVES,
    GRADIENT_STORES,
    OPTIMIZER_MOVES,
    PARAMETER_LOADS,
    moving_time,
)
from engine.simulate.memory.tiered_job import Job, Tier

ON_GPU = ("hbm", "peer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A tensor crosses the wire of a tier.

    Attributes:
        tensor: its key.
        wire: "hbm", "peer" (NVLink), "host" (PCIe) or "nvme".
        size: all crossings of a step together.
        time: that they take.
        update: it belongs to the update, not to the passes.
    """

    tensor: str
    wire: str
    size: Bytes
    time: Seconds
    update: bool


def moves_of(
    job: Job, homes: Mapping[str, str], tiers: Mapping[str, Tier], microbatches: Count
) -> Iterator[Move]:
    """Yield every crossing. The update runs on the GPU, or on the host if the moments are there."""
    near = homes["moments"] in ON_GPU
    g = microbatches
    # (tensor, reads in the passes, writes in the passes, reads and writes of the update)
    counts = (
        ("parameters", PARAMETER_LOADS * g, 0, (0, 1)),
        ("gradients", 0, GRADIENT_STORES * g, (1, 0)),
        ("master", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("moments", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("checkpoints", g, (ACTIVATION_MOVES - 1) * g, (0, 0)),
        ("logits", g, (ACTIVATION_MOVES - 1) * g, (0, 0)),
    )
    for tensor, reads, writes, (again, back) in counts:
        at, size = homes[tensor], job.sizes[tensor]
        if reads or writes:
            yield _move(tensor, at, tiers[at], size, (reads, writes))
        wire = at if near else _from_host(at)
        if wire and (again or back):
            yield _move(tensor, wire, tiers[wire], size, (again, back), update=True)


def _from_host(tier: str) -> str:
    """Return the wire from the host's processors to a tier; none to their own memory."""
    return {"hbm": "host", "peer": "host", "host": "", "nvme": "nvme"}[tier]


def _move(
    tensor: str,
    wire: str,
    tier: Tier,
    size: Bytes,
    times: tuple[Count, Count],
    *,
    update: bool = False,
) -> Move:
    reads, writes = times
    return Move(
        tensor=tensor,
        wire=wire,
        size=(reads + writes) * size,
        time=moving_time(size, reads, tier.read) + moving_time(size, writes, tier.write),
        update=update,
    )
