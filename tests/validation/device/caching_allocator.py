"""PyTorch's caching allocator, by the rules of c10/cuda/CUDACachingAllocator.cpp, on one stream.

Sizes are rounded to 512 bytes. Up to 1 MiB come from blocks of 2 MiB, up to 10 MiB from blocks of
20 MiB, larger ones have blocks of whole 2 MiB. The smallest free block that is large enough is
taken, and split if what is left is worth it; free neighbors merge; no block goes back.
"""

import bisect
from dataclasses import dataclass

from engine.core.units import MiB

_UNIT, _SMALL, _LARGE = 512, MiB, 10 * MiB
_SMALL_BLOCK, _MIDDLE_BLOCK, _GRAIN = 2 * MiB, 20 * MiB, 2 * MiB


@dataclass(slots=True, eq=False)
class Block:
    """A piece of a block that the driver gave."""

    size: int
    start: int
    small: bool
    before: "Block | None" = None
    after: "Block | None" = None
    free: bool = False


class Allocator:
    """One pool for small and one for large requests; sizes in bytes."""

    def __init__(self) -> None:
        self._free: dict[bool, list[tuple[int, int, Block]]] = {True: [], False: []}
        self.reserved = self.allocated = 0

    def take(self, size: float) -> Block:
        """Return the block of a new tensor."""
        size = max(_UNIT, -(-int(size) // _UNIT) * _UNIT)
        pool = self._free[size <= _SMALL]
        at = bisect.bisect_left(pool, (size, -1))
        block = pool.pop(at)[2] if at < len(pool) else self._new(size)
        block.free = False
        self._split(block, size)
        self.allocated += block.size
        return block

    def give(self, block: Block) -> None:
        """Free a tensor's block."""
        self.allocated -= block.size
        for side in (block.before, block.after):
            if side is not None and side.free:
                self._merge(block, side)
        self._keep(block)

    def _new(self, size: int) -> Block:
        whole = -(-size // _GRAIN) * _GRAIN
        if size <= _SMALL:
            whole = _SMALL_BLOCK
        elif size < _LARGE:
            whole = _MIDDLE_BLOCK
        self.reserved += whole
        return Block(whole, self.reserved - whole, size <= _SMALL)

    def _split(self, block: Block, size: int) -> None:
        left = block.size - size
        if left < (_UNIT if block.small else _SMALL + 1):
            return
        rest = Block(left, block.start + size, block.small, block, block.after)
        if block.after:
            block.after.before = rest
        block.after, block.size = rest, size
        self._keep(rest)

    def _merge(self, block: Block, side: Block) -> None:
        pool = self._free[side.small]
        pool.pop(bisect.bisect_left(pool, (side.size, side.start)))
        if side is block.before:
            block.start, block.before = side.start, side.before
            if side.before:
                side.before.after = block
        else:
            block.after = side.after
            if side.after:
                side.after.before = block
        block.size += side.size

    def _keep(self, block: Block) -> None:
        block.free = True
        bisect.insort(self._free[block.small], (block.size, block.start, block))
