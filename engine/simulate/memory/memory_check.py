"""Measured against modeled memory of three tools, and the cause of the first difference.

The tools nest: tensors lie in blocks of the caching allocator, and the blocks in what the process
holds. So the differences of two readings measure something of their own: what the allocator keeps
in pieces, and what lies outside PyTorch.
"""

from dataclasses import dataclass
from typing import Literal

from engine.catalog.constants import ALLOWANCES
from engine.core.units import Bytes, Ratio, Share
from engine.run.run import Run
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.memory_moments import peak_tensor_bytes

Cause = Literal["none", "order", "tensors", "pieces", "outside", "alike"]
# Nine in ten published peaks lie within this of the model.
TOLERANCE: Share = 0.07
# A gap of more than twice the allowance has another cause than the allowance covers.
_ALLOWANCE_FACTOR: Ratio = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReadings:
    """Peak memory readings of one GPU; 0 if not taken.

    Attributes:
        allocated: torch.cuda.max_memory_allocated.
        reserved: torch.cuda.max_memory_reserved.
        process: nvidia-smi.
    """

    allocated: Bytes
    reserved: Bytes
    process: Bytes

    @property
    def pieces(self) -> Bytes:
        """Bytes that the allocator holds beyond tensors; 0 without both readings."""
        both = self.allocated and self.reserved
        return max(0.0, self.reserved - self.allocated) if both else 0.0

    @property
    def outside(self) -> Bytes:
        """Bytes outside PyTorch; 0 without both readings."""
        both = self.reserved and self.process
        return max(0.0, self.process - self.reserved) if both else 0.0


def modeled_readings(run: Run) -> MemoryReadings:
    """Return the modeled readings of the fullest GPU of a run."""
    memory = rank_memory(run.model, run.plan, run.training)
    tensors = peak_tensor_bytes(run.model, run.plan, run.training, memory)
    return MemoryReadings(allocated=tensors, reserved=memory.reserved, process=memory.total)


def relative_error(modeled: Bytes, measured: Bytes) -> Share:
    """Return the relative error of a reading against the model."""
    return measured / modeled - 1


def first_cause(modeled: MemoryReadings, measured: MemoryReadings) -> Cause:
    """Return the cause of the innermost reading that differs, which explains the outer ones."""
    readings = [
        reading for reading in (measured.allocated, measured.reserved, measured.process) if reading
    ]
    if not readings:
        return "none"
    if readings != sorted(readings):
        return "order"
    if (
        measured.allocated
        and abs(relative_error(modeled.allocated, measured.allocated)) > TOLERANCE
    ):
        return "tensors"
    if measured.pieces > _ALLOWANCE_FACTOR * modeled.pieces:
        return "pieces"
    if measured.outside > _ALLOWANCE_FACTOR * (ALLOWANCES.context + ALLOWANCES.channels):
        return "outside"
    whole = (
        (modeled.process, measured.process)
        if measured.process
        else (modeled.reserved, measured.reserved)
    )
    if not measured.allocated and whole[1] and abs(relative_error(*whole)) > TOLERANCE:
        return "tensors"
    return "alike"
