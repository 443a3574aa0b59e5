"""Which rank talks to which: the mesh of a plan laid over the GPUs of nodes, in any order.

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
        found, stride = {}, 1
        for axis in self.order:
            found[axis] = stride
            stride *= self.sizes[axis]
        return found

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
        found: list[list[Count]] = [[] for _ in range(self.sizes["pipeline"])]
        for rank in range(self.world_size):
            found[place(self, rank, "pipeline")].append(rank)
        return tuple(tuple(stage) for stage in found)

    @cached_property
    def known(self) -> dict[Axis, tuple[tuple[Ranks, ...], tuple[Ranks, ...]]]:
        """Groups found so far, by axis: all groups, and for each rank its group."""
        return {}

    def node_of(self, rank: Count) -> Count:
        """Return the node that a rank runs on."""
        return rank // self.gpus_per_node

    def group(self, axis: Axis, rank: Count) -> Ranks:
        """Return the ranks that a rank talks to along an axis, itself included, in order.

        "data" is the ranks over which gradients are reduced, those of context parallelism included.
        """
        return _known(self, axis)[1][rank]

    def groups(self, axis: Axis) -> tuple[Ranks, ...]:
        """Return all groups of an axis, each rank in one of them, by their first rank."""
        return _known(self, axis)[0]

    def nodes_spanned(self, axis: Axis) -> Count:
        """Return over how many nodes the widest group of an axis spreads."""
        return max(len(_on_nodes(self, one)) for one in _unlike(self, axis))

    def pipeline_neighbors(self, rank: Count) -> Count:
        """Return how many neighbors a rank has in its pipeline: 0, 1 or 2."""
        at, last = place(self, rank, "pipeline"), self.sizes["pipeline"] - 1
        return (at > 0) + (at < last)


def place(mesh: Mesh, rank: Count, axis: Axis) -> Count:
    """Return the position of a rank along one of `AXES`."""
    return rank // mesh.strides[axis] % mesh.sizes[axis]


def _known(mesh: Mesh, axis: Axis) -> tuple[tuple[Ranks, ...], tuple[Ranks, ...]]:
    if axis not in mesh.known:
        table: list[Ranks] = [()] * mesh.world_size
        found = tuple(sorted(_all_groups(mesh, axis)))
        for ranks in found:
            for one in ranks:
                table[one] = ranks
        mesh.known[axis] = found, tuple(table)
    return mesh.known[axis]


def _all_groups(mesh: Mesh, axis: Axis) -> Iterator[Ranks]:
    if axis in ("expert", "expert_data"):
        return _of_experts(mesh, axis)
    return (_from_first(mesh, axis, first) for first in _firsts(mesh, axis))


def _firsts(mesh: Mesh, axis: Axis) -> Iterator[Count]:
    """Return the first rank of each group along one of `AXES`."""
    stride = mesh.strides[axis]
    block = stride * mesh.sizes[axis]
    found = (base + at for base in range(0, mesh.world_size, block) for at in range(stride))
    if axis == "data" and mesh.sizes["context"] > 1:
        return (first for first in found if not place(mesh, first, "context"))
    return found


def _from_first(mesh: Mesh, axis: Axis, first: Count) -> Ranks:
    """Return the group along one of `AXES` that begins with a rank."""
    stride = mesh.strides[axis]
    ranks = tuple(range(first, first + mesh.sizes[axis] * stride, stride))
    if axis == "data" and mesh.sizes["context"] > 1:
        return tuple(sorted(two for one in ranks for two in along(mesh, "context", one)))
    return ranks


def _of_experts(mesh: Mesh, axis: Axis) -> Iterator[Ranks]:
    """Yield runs of a stage's ranks that share its experts, or ranks with the same experts."""
    expert = mesh.expert
    for stage in mesh.stages:
        if axis == "expert":
            yield from (stage[first : first + expert] for first in range(0, len(stage), expert))
        else:
            yield from (stage[first::expert] for first in range(expert))


def along(mesh: Mesh, axis: Axis, rank: Count) -> Ranks:
    """Return the ranks that differ from a rank only in their position along one of `AXES`."""
    stride = mesh.strides[axis]
    first = rank - place(mesh, rank, axis) * stride
    return tuple(range(first, first + mesh.sizes[axis] * stride, stride))


def _unlike(mesh: Mesh, axis: Axis) -> list[Ranks]:
    """Return groups that lie differently in their nodes.

    Along the axes of the mesh all groups are alike but for their first rank, so that only its
    place in its node matters.
    """
    if axis in ("expert", "expert_data"):
        return list(mesh.groups(axis))
    firsts = {first % mesh.gpus_per_node: first for first in _firsts(mesh, axis)}
    return [_from_first(mesh, axis, first) for first in firsts.values()]


def _on_nodes(mesh: Mesh, ranks: Ranks) -> Mapping[Count, Count]:
    """Return how many of the ranks, which ascend, run on each of their nodes."""
    first = mesh.node_of(ranks[0])
    if first == mesh.node_of(ranks[-1]):
        return {first: len(ranks)}
    return Counter([rank // mesh.gpus_per_node for rank in ranks])


def _size(mesh: Mesh, axis: Axis) -> Count:
    """Return the ranks of a group of any axis."""
    sizes = mesh.sizes
    copies = sizes["data"] * sizes["context"]
    if axis in ("expert", "expert_data"):
        alike = sizes["tensor"] * copies // mesh.expert
        return mesh.expert if axis == "expert" else alike
    return copies if axis == "data" else sizes[axis]


def placed(mesh: Mesh) -> Mapping[Axis, Count]:
    """Return how many GPUs of a node belong to the same group, by axis, where they are fewest.

    A group enters a node through the ports of its own GPUs there, so the fewest set its pace. Of
    the pipeline what counts is a pair of neighbors: 2 if all pairs share a node, else 1; outermost,
    as usual, it is left to `stage_hops`.
    """
    found: dict[Axis, Count] = {}
    for axis in ("tensor", "context", "data", "expert", "expert_data"):
        if _size(mesh, axis) == 1:
            found[axis] = 1
            continue
        counts = (_on_nodes(mesh, one).values() for one in _unlike(mesh, axis))
        found[axis] = min(min(count) for count in counts)
    if mesh.order[-1] == "pipeline":
        return found
    stride = mesh.strides["pipeline"]
    apart = any(
        mesh.node_of(rank) != mesh.node_of(rank + stride)
        for stage in mesh.stages[:-1]
        for rank in stage
    )
    found["pipeline"] = 1 if apart else 2
    return found
