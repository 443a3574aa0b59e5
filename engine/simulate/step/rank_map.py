"""Rank mesh of a plan over the GPUs of nodes, and its process groups, in any axis order.

The axes multiply: tensor x context x data x pipeline ranks are all there are. Experts multiply
nothing; they reuse the ranks of a pipeline stage, in the order of their numbers, as Megatron's
parallel folding and torchtitan do.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.core.units import Count
from engine.simulate.layer.device_model import Axis

AXES: tuple[Axis, ...] = ("tensor", "context", "data", "pipeline")
Ranks = tuple[Count, ...]


@dataclass(frozen=True, kw_only=True)
class Mesh:
    """Ranks in their order, the innermost axis first: its ranks have neighboring numbers.

    Attributes:
        sizes: ranks along each of `AXES`.
        order: the axes, innermost first.
        expert: ranks that share the experts of a layer; divides the ranks of a stage.
        gpus_per_node: rank r runs on GPU r % gpus_per_node of node r // gpus_per_node.
    """

    sizes: Mapping[Axis, Count]
    order: tuple[Axis, ...]
    expert: Count
    gpus_per_node: Count

    @cached_property
    def strides(self) -> Mapping[Axis, Count]:
        """How far apart neighbors along an axis are."""
        strides, stride = {}, 1
        for axis in self.order:
            strides[axis] = stride
            stride *= self.sizes[axis]
        return strides

    @cached_property
    def world_size(self) -> Count:
        """All ranks."""
        size = 1
        for axis in self.order:
            size *= self.sizes[axis]
        return size

    @cached_property
    def num_nodes(self) -> Count:
        """Nodes, the last of which may be partly used."""
        return -(-self.world_size // self.gpus_per_node)

    @cached_property
    def stages(self) -> tuple[Ranks, ...]:
        """Ranks of each pipeline stage, [pipeline][...], in the order of their numbers."""
        stages: list[list[Count]] = [[] for _ in range(self.sizes["pipeline"])]
        for rank in range(self.world_size):
            stages[position_on_axis(self, rank, "pipeline")].append(rank)
        return tuple(tuple(stage) for stage in stages)

    @cached_property
    def group_cache(self) -> dict[Axis, tuple[tuple[Ranks, ...], tuple[Ranks, ...]]]:
        """Groups found so far, by axis: all groups, and for each rank its group."""
        return {}

    def node_of(self, rank: Count) -> Count:
        """Return the node that a rank runs on."""
        return rank // self.gpus_per_node

    def group(self, axis: Axis, rank: Count) -> Ranks:
        """Return the process group of a rank along an axis, in order.

        "data" is the ranks over which gradients are reduced, those of context parallelism included.
        """
        return _cached_groups(self, axis)[1][rank]

    def groups(self, axis: Axis) -> tuple[Ranks, ...]:
        """Return all process groups of an axis, sorted by first rank."""
        return _cached_groups(self, axis)[0]

    def nodes_spanned(self, axis: Axis) -> Count:
        """Return the most nodes that a group of an axis spans."""
        return max(len(_ranks_per_node(self, group)) for group in _distinct_groups(self, axis))

    def pipeline_neighbors(self, rank: Count) -> Count:
        """Return how many neighbors a rank has in its pipeline: 0, 1 or 2."""
        at, last = position_on_axis(self, rank, "pipeline"), self.sizes["pipeline"] - 1
        return (at > 0) + (at < last)


def position_on_axis(mesh: Mesh, rank: Count, axis: Axis) -> Count:
    """Return the position of a rank along one of `AXES`."""
    return rank // mesh.strides[axis] % mesh.sizes[axis]


def _cached_groups(mesh: Mesh, axis: Axis) -> tuple[tuple[Ranks, ...], tuple[Ranks, ...]]:
    if axis not in mesh.group_cache:
        table: list[Ranks] = [()] * mesh.world_size
        groups = tuple(sorted(_all_groups(mesh, axis)))
        for ranks in groups:
            for rank in ranks:
                table[rank] = ranks
        mesh.group_cache[axis] = groups, tuple(table)
    return mesh.group_cache[axis]


def _all_groups(mesh: Mesh, axis: Axis) -> Iterator[Ranks]:
    if axis in ("expert", "expert_data"):
        return _expert_groups(mesh, axis)
    return (_group_from(mesh, axis, first) for first in _first_ranks(mesh, axis))


def _first_ranks(mesh: Mesh, axis: Axis) -> Iterator[Count]:
    """Return the first rank of each group along an axis."""
    stride = mesh.strides[axis]
    block = stride * mesh.sizes[axis]
    first_ranks = (
        base + offset for base in range(0, mesh.world_size, block) for offset in range(stride)
    )
    if axis == "data" and mesh.sizes["context"] > 1:
        return (first for first in first_ranks if not position_on_axis(mesh, first, "context"))
    return first_ranks


def _group_from(mesh: Mesh, axis: Axis, first: Count) -> Ranks:
    """Return the group along an axis that begins with a rank."""
    stride = mesh.strides[axis]
    ranks = tuple(range(first, first + mesh.sizes[axis] * stride, stride))
    if axis == "data" and mesh.sizes["context"] > 1:
        return tuple(
            sorted(neighbor for rank in ranks for neighbor in ranks_along(mesh, "context", rank))
        )
    return ranks


def _expert_groups(mesh: Mesh, axis: Axis) -> Iterator[Ranks]:
    """Yield the expert-parallel groups of each stage, or the groups with the same experts."""
    expert = mesh.expert
    for stage in mesh.stages:
        if axis == "expert":
            yield from (stage[first : first + expert] for first in range(0, len(stage), expert))
        else:
            yield from (stage[first::expert] for first in range(expert))


def ranks_along(mesh: Mesh, axis: Axis, rank: Count) -> Ranks:
    """Return the ranks that share all of a rank's positions except that on an axis."""
    stride = mesh.strides[axis]
    first = rank - position_on_axis(mesh, rank, axis) * stride
    return tuple(range(first, first + mesh.sizes[axis] * stride, stride))


def _distinct_groups(mesh: Mesh, axis: Axis) -> list[Ranks]:
    """Return one group of each distinct placement on nodes.

    Along the axes of the mesh all groups are alike but for their first rank, so that only its
    place in its node matters.
    """
    if axis in ("expert", "expert_data"):
        return list(mesh.groups(axis))
    firsts = {first % mesh.gpus_per_node: first for first in _first_ranks(mesh, axis)}
    return [_group_from(mesh, axis, first) for first in firsts.values()]


def _ranks_per_node(mesh: Mesh, ranks: Ranks) -> Mapping[Count, Count]:
    """Return the number of ranks on each node; ranks ascend."""
    first = mesh.node_of(ranks[0])
    if first == mesh.node_of(ranks[-1]):
        return {first: len(ranks)}
    return Counter([rank // mesh.gpus_per_node for rank in ranks])


def _group_size(mesh: Mesh, axis: Axis) -> Count:
    """Return the ranks of a group of any axis."""
    sizes = mesh.sizes
    copies = sizes["data"] * sizes["context"]
    if axis in ("expert", "expert_data"):
        same_expert = sizes["tensor"] * copies // mesh.expert
        return mesh.expert if axis == "expert" else same_expert
    return copies if axis == "data" else sizes[axis]


def group_placement(mesh: Mesh) -> Mapping[Axis, Count]:
    """Return the fewest GPUs of a group on one node, by axis.

    A group enters a node through the ports of its own GPUs there, so the fewest set its pace. Of
    the pipeline what counts is a pair of neighbors: 2 if all pairs share a node, else 1; outermost,
    as usual, it is left to `stage_hops`.
    """
    counts_by_axis: dict[Axis, Count] = {}
    for axis in ("tensor", "context", "data", "expert", "expert_data"):
        if _group_size(mesh, axis) == 1:
            counts_by_axis[axis] = 1
            continue
        counts = (_ranks_per_node(mesh, group).values() for group in _distinct_groups(mesh, axis))
        counts_by_axis[axis] = min(min(count) for count in counts)
    if mesh.order[-1] == "pipeline":
        return counts_by_axis
    stride = mesh.strides["pipeline"]
    apart = any(
        mesh.node_of(rank) != mesh.node_of(rank + stride)
        for stage in mesh.stages[:-1]
        for rank in stage
    )
    counts_by_axis["pipeline"] = 1 if apart else 2
    return counts_by_axis
