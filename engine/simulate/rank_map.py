"""Which rank talks to which: the mesh of a plan laid over the GPUs of nodes, in any order.

The axes multiply: tensor x context x data x pipeline ranks are all there are. Experts multiply
nothing; they reuse the ranks of a pipeline stage, in the order of their numbers, as Megatron's
parallel folding and torchtitan do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.simulate.rank import Axis
from engine.units import Count

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


def place(mesh: Mesh, rank: Count, axis: Axis) -> Count:
    """Return the position of a rank along one of `AXES`."""
    return rank // mesh.strides[axis] % mesh.sizes[axis]


def node_of(mesh: Mesh, rank: Count) -> Count:
    """Return the node that a rank runs on."""
    return rank // mesh.gpus_per_node


def group(mesh: Mesh, axis: Axis, rank: Count) -> Ranks:
    """Return the ranks that a rank talks to along an axis, itself included, in order.

    "data" is the ranks over which gradients are reduced, those of context parallelism included.
    """
    if axis in ("expert", "expert_data"):
        stage = mesh.stages[place(mesh, rank, "pipeline")]
        at = stage.index(rank)
        if axis == "expert":
            first = at - at % mesh.expert
            return stage[first : first + mesh.expert]
        return stage[at % mesh.expert :: mesh.expert]
    if axis == "data":
        inner = along(mesh, "context", rank)
        return tuple(sorted(other for one in inner for other in along(mesh, "data", one)))
    return along(mesh, axis, rank)


def along(mesh: Mesh, axis: Axis, rank: Count) -> Ranks:
    """Return the ranks that differ from a rank only in their position along one of `AXES`."""
    stride = mesh.strides[axis]
    first = rank - place(mesh, rank, axis) * stride
    return tuple(first + index * stride for index in range(mesh.sizes[axis]))


def groups(mesh: Mesh, axis: Axis) -> tuple[Ranks, ...]:
    """Return all groups of an axis, each rank in one of them, by their first rank."""
    left = [True] * mesh.world_size
    found = []
    for rank in range(mesh.world_size):
        if left[rank]:
            found.append(group(mesh, axis, rank))
            for other in found[-1]:
                left[other] = False
    return tuple(found)


def nodes_spanned(mesh: Mesh, axis: Axis) -> Count:
    """Return over how many nodes the widest group of an axis spreads."""
    return max(len(_on_nodes(mesh, one)) for one in groups(mesh, axis))


def _on_nodes(mesh: Mesh, ranks: Ranks) -> Mapping[Count, Count]:
    """Return how many of the ranks run on each of their nodes."""
    found: dict[Count, Count] = {}
    for rank in ranks:
        found[node_of(mesh, rank)] = found.get(node_of(mesh, rank), 0) + 1
    return found


def placed(mesh: Mesh) -> Mapping[Axis, Count]:
    """Return how many GPUs of a node belong to the same group, by axis, where they are fewest.

    A group enters a node through the ports of its own GPUs there, so the fewest set its pace. Of
    the pipeline what counts is a pair of neighbors: 2 if all pairs share a node, else 1.
    """
    found: dict[Axis, Count] = {}
    for axis in ("tensor", "context", "data", "expert", "expert_data"):
        counts = (_on_nodes(mesh, one).values() for one in groups(mesh, axis))
        found[axis] = min(min(count) for count in counts)
    stride = mesh.strides["pipeline"]
    apart = any(
        node_of(mesh, rank) != node_of(mesh, rank + stride)
        for stage in mesh.stages[:-1]
        for rank in stage
    )
    found["pipeline"] = 1 if apart else 2
    return found
