"""Who sends how much to whom: between ranks, nodes, or blocks of nodes."""

from collections.abc import Iterator, Mapping
from itertools import chain

from engine.core.units import Bytes, Count, Share
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.map_traffic import Traffic, peers_of_group
from engine.simulate.step.rank_map import Mesh

Cells = dict[tuple[Count, Count], dict[str, Bytes]]


def between_parties(mesh: Mesh, traffic: Mapping[Axis, Traffic], ranks_each: Count) -> Cells:
    """Return (from, to) -> axis -> bytes of a step, between parties of so many ranks each."""
    cells: Cells = {}
    for axis, one in traffic.items():
        for a, b, share in _between(mesh, axis, ranks_each):
            cell = cells.setdefault((a, b), {})
            cell[axis] = cell.get(axis, 0.0) + one.sent * share
    return cells


def _between(mesh: Mesh, axis: Axis, ranks_each: Count) -> Iterator[tuple[Count, Count, Share]]:
    """Yield (from, to, share of what one rank sends) between parties of so many ranks."""
    if axis == "expert":
        return _blocks(mesh, ranks_each)
    parties = (tuple(rank // ranks_each for rank in one) for one in mesh.groups(axis))
    return chain.from_iterable(peers_of_group(axis, one) for one in parties if len(one) > 1)


def _blocks(mesh: Mesh, ranks_each: Count) -> Iterator[tuple[Count, Count, Share]]:
    """Yield the all-to-all between parties, counted by how many ranks of a group each has."""
    for ranks in mesh.groups("expert"):
        counts: dict[Count, Count] = {}
        for rank in ranks:
            counts[rank // ranks_each] = counts.get(rank // ranks_each, 0) + 1
        share = 1 / (len(ranks) - 1)
        for a, n in counts.items():
            for b, m in counts.items():
                if n * (m - (a == b)):
                    yield a, b, share * n * (m - (a == b))
