"""Traffic matrix of a step: bytes between ranks, nodes, or blocks of nodes."""

from collections.abc import Iterator, Mapping
from itertools import chain

from engine.core.units import Bytes, Count, Share
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.map_traffic import AxisTraffic, group_edges
from engine.simulate.step.rank_map import Mesh

TrafficMatrix = dict[tuple[Count, Count], dict[str, Bytes]]


def party_traffic(
    mesh: Mesh, traffic: Mapping[Axis, AxisTraffic], ranks_each: Count
) -> TrafficMatrix:
    """Return (from, to) -> axis -> bytes of a step, between parties of `ranks_each` ranks."""
    matrix: TrafficMatrix = {}
    for axis, axis_traffic in traffic.items():
        for a, b, share in _party_pairs(mesh, axis, ranks_each):
            cell = matrix.setdefault((a, b), {})
            cell[axis] = cell.get(axis, 0.0) + axis_traffic.sent * share
    return matrix


def _party_pairs(mesh: Mesh, axis: Axis, ranks_each: Count) -> Iterator[tuple[Count, Count, Share]]:
    """Yield (from, to, share of one rank's bytes) between parties of `ranks_each` ranks."""
    if axis == "expert":
        return _expert_party_pairs(mesh, ranks_each)
    parties = (tuple(rank // ranks_each for rank in group) for group in mesh.groups(axis))
    return chain.from_iterable(group_edges(axis, group) for group in parties if len(group) > 1)


def _expert_party_pairs(mesh: Mesh, ranks_each: Count) -> Iterator[tuple[Count, Count, Share]]:
    """Yield the all-to-all between parties, by the number of ranks of a group in each."""
    for ranks in mesh.groups("expert"):
        counts: dict[Count, Count] = {}
        for rank in ranks:
            counts[rank // ranks_each] = counts.get(rank // ranks_each, 0) + 1
        share = 1 / (len(ranks) - 1)
        for a, n in counts.items():
            for b, m in counts.items():
                if n * (m - (a == b)):
                    yield a, b, share * n * (m - (a == b))
