"""Moves of every tensor of a step between memory tiers, and the wire of each move."""

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
from engine.simulate.memory.tiered_job import Tier, TieredJob

ON_GPU = ("hbm", "peer")


@dataclass(frozen=True, slots=True, kw_only=True)
class TierMove:
    """All moves of a tensor over the wire of one tier.

    Attributes:
        tensor: key of the tensor.
        wire: "hbm", "peer" (NVLink), "host" (PCIe) or "nvme".
        size: bytes of all crossings of a step.
        time: time of all crossings.
        update: whether they belong to the update, not to the passes.
    """

    tensor: str
    wire: str
    size: Bytes
    time: Seconds
    update: bool


def tensor_moves(
    job: TieredJob, homes: Mapping[str, str], tiers: Mapping[str, Tier], microbatches: Count
) -> Iterator[TierMove]:
    """Yield every move; the update runs on the GPU, or on the host if the moments are there."""
    near = homes["moments"] in ON_GPU
    num_microbatches = microbatches
    # (tensor, reads in the passes, writes in the passes, reads and writes of the update)
    counts = (
        ("parameters", PARAMETER_LOADS * num_microbatches, 0, (0, 1)),
        ("gradients", 0, GRADIENT_STORES * num_microbatches, (1, 0)),
        ("master", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("moments", 0, 0, (1, OPTIMIZER_MOVES - 1)),
        ("checkpoints", num_microbatches, (ACTIVATION_MOVES - 1) * num_microbatches, (0, 0)),
        ("logits", num_microbatches, (ACTIVATION_MOVES - 1) * num_microbatches, (0, 0)),
    )
    for tensor, reads, writes, (update_reads, update_writes) in counts:
        tier, size = homes[tensor], job.sizes[tensor]
        if reads or writes:
            yield _move(tensor, tier, tiers[tier], size, (reads, writes))
        wire = tier if near else _from_host(tier)
        if wire and (update_reads or update_writes):
            yield _move(tensor, wire, tiers[wire], size, (update_reads, update_writes), update=True)


def _from_host(tier: str) -> str:
    """Return the wire from the host's processors to a tier; "" for their own memory."""
    return {"hbm": "host", "peer": "host", "host": "", "nvme": "nvme"}[tier]


def _move(
    tensor: str,
    wire: str,
    tier: Tier,
    size: Bytes,
    times: tuple[Count, Count],
    *,
    update: bool = False,
) -> TierMove:
    reads, writes = times
    return TierMove(
        tensor=tensor,
        wire=wire,
        size=(reads + writes) * size,
        time=moving_time(size, reads, tier.read) + moving_time(size, writes, tier.write),
        update=update,
    )
