"""Rank lists of a mesh: the groups along one axis or several, in either convention of order.

Megatron writes the innermost axis first ("tp-cp-ep-dp-pp"), PyTorch's `init_device_mesh` last.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from engine.core.units import Count

Ranks = tuple[Count, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
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


def rank_lists(layout: Layout, axes: Sequence[str]) -> tuple[Ranks, ...]:
    """Return the groups whose ranks differ along the axes only, in order.

    As Megatron's `generate_masked_orthogonal_rank_groups`: groups by the innermost of the other
    axes first, ranks within one likewise.
    """
    others = [name for name in layout.sizes if name not in axes]
    inside = [name for name in layout.sizes if name in axes]
    starts = list(_places(layout, others))
    steps = list(_places(layout, inside))
    return tuple(tuple(start + step for step in steps) for start in starts)


def _places(layout: Layout, names: Sequence[str]) -> Iterator[Count]:
    """Yield the ranks that lie along some axes from rank 0, the innermost axis fastest."""
    strides = [layout.stride(name) for name in reversed(names)]
    for at in product(*(range(layout.sizes[name]) for name in reversed(names))):
        yield sum(place * stride for place, stride in zip(at, strides, strict=True))
