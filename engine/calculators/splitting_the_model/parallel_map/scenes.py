"""The two drawings of the map: GPUs with their groups, and the matrix of traffic."""

from collections.abc import Iterator

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE, Bytes, Count
from engine.basis.views import Scene
from engine.calculators.splitting_the_model.parallel_map.model import (
    Map,
    all_links,
    exposed,
    leaving,
    size,
)
from engine.draw.axis_order import Chip, order_scene
from engine.draw.rank_map import Look, map_scene
from engine.draw.traffic_matrix import Matrix, matrix_scene
from engine.form.map_inputs import SHORT, order_of
from engine.simulate.map_traffic import links
from engine.simulate.rank import Axis
from engine.simulate.rank_map import Mesh, group, groups, node_of, nodes_spanned

# A matrix has at most so many rows; more ranks are drawn as nodes, more nodes as blocks of them.
_ROWS = 32
Cells = dict[tuple[Count, Count], dict[str, Bytes]]


def scene(found: Map) -> Scene:
    """Return the map, one frame for the chosen GPU and one for each axis."""
    mesh = found.mesh
    names = all_links(found)
    looks = [Look(axis=None, caption=_own(found))]
    looks += [Look(axis=axis, caption=_of_axis(found, axis)) for axis in found.traffic]
    legend = {axis: f"{SHORT[axis]} {size(mesh, axis)}" for axis in found.traffic}
    kind, nodes = _party(mesh)
    boxes = "" if kind == "rank" else kind
    return map_scene(mesh, found.rank, names, tuple(looks), legend, (boxes, nodes))


def order_strip(found: Map) -> Scene:
    """Return the axes in their order, each to be dragged to another place."""
    axes = found.mesh.order
    orders = [
        order_of((*axes[:at], axes[at + 1], axes[at], *axes[at + 2 :]))
        for at in range(len(axes) - 1)
    ]
    return order_scene([_chip(found, axis) for axis in axes], orders)


def _chip(found: Map, axis: Axis) -> Chip:
    mesh = found.mesh
    ranks, apart = mesh.sizes[axis], mesh.strides[axis]
    numbers = {"n": (ranks, COUNT), "a": (apart, COUNT), "r": (found.rank, COUNT)}
    words = "one rank: nobody to talk to." if ranks == 1 else "{n} ranks, {a} apart."
    return Chip(
        axis=axis,
        name=f"{SHORT[axis]} {ranks}",
        size=f"{apart} apart" if ranks > 1 else "alone",
        caption=say(f"{axis.capitalize()} parallel: {words}", **numbers),
    )


def _own(found: Map) -> Text:
    mesh, rank = found.mesh, found.rank
    if not found.traffic:
        return "One GPU: it talks to nobody."
    peers = {other for axis in found.traffic for other in group(mesh, axis, rank)} - {rank}
    inside = sum(node_of(mesh, other) == node_of(mesh, rank) for other in peers)
    nodes = "nodes" if mesh.num_nodes > 1 else "node"
    return say(
        f"{{w}} GPUs on {{m}} {nodes}. GPU {{r}} on node {{n}} shares a group with {{all}} of the "
        "{others} others, {inside} of them on its own node. Dashed: leaves the node.",
        w=(mesh.world_size, COUNT),
        m=(mesh.num_nodes, COUNT),
        r=(rank, COUNT),
        n=(node_of(mesh, rank), COUNT),
        all=(len(peers), COUNT),
        others=(mesh.world_size - 1, COUNT),
        inside=(inside, COUNT),
    )


def _of_axis(found: Map, axis: Axis) -> Text:
    mesh, one = found.mesh, found.traffic[axis]
    spread = nodes_spanned(mesh, axis)
    where = "inside one node" if spread == 1 else "over up to {k} nodes"
    words = (
        f"{axis.capitalize()} parallel: {{g}} groups of {{n}}, each {where}. A GPU sends {{b}} per "
        "step, of which {a} leave the node; the step waits {t} for it."
    )
    return say(
        words,
        g=(len(groups(mesh, axis)), COUNT),
        n=(len(group(mesh, axis, found.rank)), COUNT),
        k=(spread, COUNT),
        b=(one.sent, BYTES),
        a=(one.across, SHARE),
        t=(exposed(found.step, axis), SECONDS),
    )


def matrix(found: Map) -> Scene:
    """Return who sends how much to whom: ranks, or nodes, or blocks of nodes."""
    mesh = found.mesh
    kind, party = _party(mesh)
    ranks_each = {"rank": 1, "node": mesh.gpus_per_node}.get(kind, mesh.gpus_per_node * party)
    count = -(-mesh.world_size // ranks_each)
    cells = _cells(found, ranks_each)
    rows = {"rank": "GPUs", "node": "nodes", "block": f"blocks of {party} nodes"}[kind]
    return matrix_scene(
        Matrix(
            kind=kind,
            names=tuple(str(index) for index in range(count)),
            cells=cells,
            per_node=mesh.gpus_per_node if kind == "rank" else 1,
        ),
        title="Who sends to whom",
        looks=[
            ("", _summary(found, rows)),
            *((axis, _shared(found, axis)) for axis in found.traffic),
        ],
        chosen=found.rank // ranks_each,
    )


def _party(mesh: Mesh) -> tuple[str, Count]:
    """Return the kind of a row, and how many nodes it stands for."""
    if mesh.world_size <= _ROWS:
        return "rank", 1
    if mesh.num_nodes <= _ROWS:
        return "node", 1
    return "block", -(-mesh.num_nodes // _ROWS)


def _cells(found: Map, ranks_each: Count) -> Cells:
    cells: Cells = {}
    for axis, one in found.traffic.items():
        for a, b, share in _between(found.mesh, axis, ranks_each):
            cell = cells.setdefault((a, b), {})
            cell[axis] = cell.get(axis, 0.0) + one.sent * share
    return cells


def _between(mesh: Mesh, axis: Axis, ranks_each: Count) -> Iterator[tuple[Count, Count, float]]:
    """Yield (from, to, share of what one rank sends) between parties of so many ranks."""
    if axis == "expert":
        return iter(_blocks(mesh, ranks_each))
    return ((a // ranks_each, b // ranks_each, share) for a, b, share in links(mesh, axis))


def _blocks(mesh: Mesh, ranks_each: Count) -> list[tuple[Count, Count, float]]:
    """Return the all-to-all between parties, counted by how many ranks of a group each has."""
    found = []
    for ranks in groups(mesh, "expert"):
        counts: dict[Count, Count] = {}
        for rank in ranks:
            counts[rank // ranks_each] = counts.get(rank // ranks_each, 0) + 1
        share = 1 / (len(ranks) - 1)
        found += [
            (a, b, share * n * (m - (a == b)))
            for a, n in counts.items()
            for b, m in counts.items()
            if n * (m - (a == b))
        ]
    return found


def _summary(found: Map, rows: str) -> Text:
    total = sum(one.sent for one in found.traffic.values())
    if not total:
        return "Nobody sends anything."
    return say(
        f"Rows and columns are {rows}. A mean GPU sends {{all}} per step; {{out}} of it, "
        "{share}, leave its node.",
        all=(total, BYTES),
        out=(leaving(found), BYTES),
        share=(leaving(found) / total, SHARE),
    )


def _shared(found: Map, axis: Axis) -> Text:
    one = found.traffic[axis]
    total = sum(other.sent for other in found.traffic.values())
    return say(
        f"{axis.capitalize()} parallel: {{b}} per GPU, {{s}} of all bytes; {{a}} of it leave the "
        "node.",
        b=(one.sent, BYTES),
        s=(one.sent / total, SHARE),
        a=(one.across, SHARE),
    )
