"""Tensors without values, and an autograd that only makes and frees them."""

import heapq
from collections.abc import Callable, Sequence

from tests.validation.device.caching_allocator import Allocator

HALF, SINGLE = 2, 4


class Storage:
    """Bytes of the allocator, freed with the last tensor that refers to them."""

    def __init__(self, allocator: Allocator, size: int) -> None:
        self._allocator, self._block = allocator, allocator.take(size)

    def __del__(self) -> None:
        self._allocator.give(self._block)


class Node:
    """The backward pass of an operator: it makes the gradients of its operands."""

    def __init__(
        self,
        number: int,
        back: "Callable[[], Tensor | list[Tensor]]",
        operands: "list[Node | None]",
    ) -> None:
        self.number, self.back, self.operands = number, back, operands
        self.kept: list[Storage | None] = []


class Tensor:
    """So many elements of some bytes; the node is that of the operator that made it."""

    def __init__(self, count: int, width: int, storage: Storage | None) -> None:
        self.count, self.width, self.storage = count, width, storage
        self.node: Node | None = None

    def bare(self) -> "Tensor":
        """Return a tensor with the same node and without bytes."""
        found = Tensor(self.count, self.width, None)
        found.node = self.node
        return found


class Tape:
    """What was run; `keeps` is off while a layer runs that will be recomputed."""

    def __init__(self, allocator: Allocator) -> None:
        self.allocator, self.keeps, self._number = allocator, True, 0

    def new(self, count: int, width: int = HALF) -> Tensor:
        return Tensor(count, width, Storage(self.allocator, count * width))

    def made(
        self,
        count: int,
        width: int,
        operands: list[Tensor],
        back: Callable[[], Tensor | list[Tensor]],
        kept: Sequence[Tensor] = (),
        *,
        trained: bool = False,
    ) -> Tensor:
        """Return an operator's result; its node keeps tensors for the backward pass."""
        result = self.new(count, width)
        nodes = [one.node for one in operands]
        if trained or any(nodes):
            self._number += 1
            result.node = Node(self._number, back, nodes)
            self.keep(result, kept)
        return result

    def keep(self, result: Tensor, kept: Sequence[Tensor]) -> None:
        if result.node and self.keeps:
            result.node.kept = [one.storage for one in kept]

    def cast(self, x: Tensor, width: int) -> Tensor:
        count, before = x.count, x.width
        return self.made(count, width, [x], lambda: self.new(count, before))

    def added(self, one: Tensor, other: Tensor) -> Tensor:
        """Return a sum, whose gradient is that of both."""
        return self.made(one.count, one.width, [one, other], lambda: [])

    def entered(self, x: Tensor) -> Tensor:
        """Return a tensor as what a part of the model begins with."""
        found = Tensor(x.count, x.width, x.storage)
        self._number += 1
        found.node = Node(self._number, lambda: [], [])
        return found

    def backward(self, ended: Tensor, slopes: list[Tensor], begun: Tensor) -> Tensor:
        """Return the gradient of what a part began with; `slopes` has that of its end."""
        assert ended.node
        assert begun.node
        waiting = {id(ended.node): (ended.node, slopes.pop())}
        order = [(-ended.node.number, id(ended.node))]
        while True:
            _, key = heapq.heappop(order)
            node, slope = waiting.pop(key)
            if node is begun.node:
                return slope
            found = node.back() or [slope] * len(node.operands)
            del slope
            node.kept = []
            found = found if isinstance(found, list) else [found] * len(node.operands)
            for operand, one in zip(node.operands, found, strict=True):
                if operand is None:
                    continue
                if id(operand) in waiting:
                    sum_ = self.new(one.count, one.width)
                    waiting[id(operand)] = (operand, sum_)
                else:
                    waiting[id(operand)] = (operand, one)
                    heapq.heappush(order, (-operand.number, id(operand)))
            del found, one
