"""Measured memory against the model's three lines, and what each gap between two tools consists of.

The tools nest: tensors lie in blocks of the caching allocator, and the blocks in what the process
holds. So the differences of two readings measure something of their own: what the allocator keeps
in pieces, and what lies outside PyTorch.
"""

from dataclasses import dataclass
from typing import Literal

from engine.catalog.constants import ALLOWANCES
from engine.core.units import Bytes, Ratio, Share
from engine.run.run import Run
from engine.simulate.memory.allocator import process, reserved
from engine.simulate.memory.memory import memory
from engine.simulate.memory.memory_moments import at_once

Cause = Literal["none", "order", "tensors", "pieces", "outside", "alike"]
# Nine in ten published peaks lie within this of the model.
NEAR: Share = 0.07
# A gap twice as large as the allowance has another cause than what the allowance holds.
_TWICE: Ratio = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Readings of one GPU at its peak; 0 for one that was not taken.

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
        """What the allocator holds beyond tensors; 0 where one of the two was not read."""
        both = self.allocated and self.reserved
        return max(0.0, self.reserved - self.allocated) if both else 0.0

    @property
    def outside(self) -> Bytes:
        """What lies outside PyTorch; 0 where one of the two was not read."""
        both = self.reserved and self.process
        return max(0.0, self.process - self.reserved) if both else 0.0


def modelled(run: Run) -> Lines:
    """Return what the three tools should show of the fullest GPU of a run."""
    held = memory(run.model, run.plan, run.training)
    tensors = at_once(run.model, run.plan, run.training, held)
    return Lines(allocated=tensors, reserved=reserved(held), process=process(held))


def off(ours: Bytes, read: Bytes) -> Share:
    """Return by how much a reading is above the model, as a share of the model."""
    return read / ours - 1


def cause(ours: Lines, read: Lines) -> Cause:
    """Return what is wrong first: the innermost line that differs explains those around it."""
    taken = [one for one in (read.allocated, read.reserved, read.process) if one]
    if not taken:
        return "none"
    if taken != sorted(taken):
        return "order"
    if read.allocated and abs(off(ours.allocated, read.allocated)) > NEAR:
        return "tensors"
    if read.pieces > _TWICE * ours.pieces:
        return "pieces"
    if read.outside > _TWICE * (ALLOWANCES.context + ALLOWANCES.channels):
        return "outside"
    whole = (ours.process, read.process) if read.process else (ours.reserved, read.reserved)
    if not read.allocated and whole[1] and abs(off(*whole)) > NEAR:
        return "tensors"
    return "alike"
