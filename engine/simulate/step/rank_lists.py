"""Process groups of a mesh along one or several axes, in Megatron's or PyTorch's order.

Megatron writes the innermost axis first ("tp-cp-ep-dp-pp"), PyTorch's `init_device_mesh` last.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from engine.core.units import Count

Ranks = tuple[Count, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisLayout:
    """Axes by their names, the innermost first: its ranks have neighboring numbers."""

    sizes: Mapping[str, Count]

    @property
    def world_size(self) -> Count:
        """All ranks."""
        return prod(self.sizes.values())

    def stride(self, axis: str) -> Count:
        """Return how far apart neighbors along an axis are."""
        names = list(self.sizes)
        return prod(self.sizes[name] for name in names[: names.index(axis)])


def rank_lists(layout: AxisLayout, axes: Sequence[str]) -> tuple[Ranks, ...]:
    """Return the process groups along some axes, in order.

    As Megatron's `generate_masked_orthogonal_rank_groups`: groups by the innermost of the other
    axes first, ranks within one likewise.
    """
    others = [name for name in layout.sizes if name not in axes]
    inside = [name for name in layout.sizes if name in axes]
    starts = list(_rank_offsets(layout, others))
    steps = list(_rank_offsets(layout, inside))
    return tuple(tuple(start + step for step in steps) for start in starts)


def _rank_offsets(layout: AxisLayout, names: Sequence[str]) -> Iterator[Count]:
    """Yield the ranks that lie along some axes from rank 0, the innermost axis fastest."""
    strides = [layout.stride(name) for name in reversed(names)]
    for position in product(*(range(layout.sizes[name]) for name in reversed(names))):
        yield sum(index * stride for index, stride in zip(position, strides, strict=True))
