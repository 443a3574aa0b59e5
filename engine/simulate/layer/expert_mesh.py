"""Expert-parallel groups by the conventions of the frameworks; experts add no ranks.

Folded (Megatron Core, torchtitan): the experts' groups reuse all ranks of a pipeline stage,
whatever these share in attention. Within data (DeepSpeed, Megatron before folding): they lie inside
the data-parallel ranks, and the tensor-parallel ranks of attention split each expert too.
"""

from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Literal

from engine.core.units import Count

Convention = Literal["folded", "within"]
Groups = tuple[tuple[Count, ...], ...]


@dataclass(frozen=True, kw_only=True)
class ExpertMesh:
    """Ranks of a plan, tensor parallelism innermost, then context, data and pipeline.

    Attributes:
        tensor, context, data, pipeline: ranks along each axis; they multiply to the world size.
        expert: ranks that share the experts of a layer.
        expert_tensor: ranks that share one expert; only used if the experts are folded.
        convention: ranks from which the experts' groups are taken.
    """

    tensor: Count
    context: Count
    data: Count
    pipeline: Count
    expert: Count
    expert_tensor: Count = 1
    convention: Convention = "folded"

    @cached_property
    def world_size(self) -> Count:
        """Number of all ranks, independent of expert parallelism."""
        return self.stage * self.pipeline

    @cached_property
    def stage(self) -> Count:
        """Number of ranks of a pipeline stage."""
        return self.tensor * self.context * self.data

    @cached_property
    def room(self) -> Count:
        """Number of ranks that the expert-parallel size must divide."""
        if self.convention == "folded":
            return self.stage // gcd(self.stage, self.expert_tensor)
        return self.data

    @property
    def fits(self) -> bool:
        """Whether the sizes of the experts' groups divide the available ranks."""
        divides = self.room % self.expert == 0
        return divides and (self.convention == "within" or self.stage % self.expert_tensor == 0)

    @property
    def expert_data(self) -> Count:
        """Number of ranks that hold the same experts, if the groups fit."""
        return self.room // self.expert

    def along(self, axis: str) -> Groups:
        """Return the groups of an axis: tensor, context, data, pipeline, expert, expert_data."""
        if axis in ("expert", "expert_data"):
            return self._of_experts(axis)
        strides = {
            "tensor": (1, self.tensor),
            "context": (self.tensor, self.context),
            "data": (self.tensor * self.context, self.data),
            "pipeline": (self.stage, self.pipeline),
        }
        return _strided_groups(range(self.world_size), *strides[axis])

    def _of_experts(self, axis: str) -> Groups:
        groups: list[tuple[Count, ...]] = []
        for stage in range(self.pipeline):
            ranks = range(stage * self.stage, (stage + 1) * self.stage)
            inner = (
                self.expert_tensor if self.convention == "folded" else self.tensor * self.context
            )
            stride, size = inner, self.expert
            if axis == "expert_data":
                stride, size = inner * self.expert, self.expert_data
            groups += _strided_groups(ranks, stride, size)
        return tuple(sorted(groups))


def _strided_groups(ranks: range, stride: Count, size: Count) -> Groups:
    """Return the groups of `size` ranks with a stride."""
    block = stride * size
    return tuple(
        tuple(range(base + at, base + at + block, stride))
        for base in range(ranks.start, ranks.stop, block)
        for at in range(stride)
    )
