"""The two drawings of the map: GPUs with their groups, and the matrix of traffic."""

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE, Count
from engine.basis.views import Scene
from engine.calculators.splitting_the_model.parallel_map.inputs import order_of
from engine.calculators.splitting_the_model.parallel_map.links import all_links
from engine.calculators.splitting_the_model.parallel_map.result import Result
from engine.draw.axis_order import Chip, order_scene
from engine.draw.rank_map import Look, map_scene
from engine.draw.traffic_matrix import Matrix, matrix_scene
from engine.form.axis_names import SHORT
from engine.form.counted import noun
from engine.simulate.mapped_plan import exposed
from engine.simulate.party_traffic import between_parties
from engine.simulate.rank import Axis
from engine.simulate.rank_map import Mesh, group, groups, node_of, nodes_spanned

# A matrix has at most so many rows; more ranks are drawn as nodes, more nodes as blocks of them.
_ROWS = 32


def scene(found: Result) -> Scene:
    """Return the map, one frame for the chosen GPU and one for each axis."""
    mesh = found.plan.mesh
    names = all_links(found.plan)
    looks = [Look(axis=None, caption=_own(found))]
    looks += [Look(axis=axis, caption=_of_axis(found, axis)) for axis in found.plan.traffic]
    legend = {axis: f"{SHORT[axis]} {found.plan.size(axis)}" for axis in found.plan.traffic}
    kind, nodes = _party(mesh)
    boxes = "" if kind == "rank" else kind
    return map_scene(mesh, found.rank, names, tuple(looks), legend, (boxes, nodes))


def order_strip(found: Result) -> Scene:
    """Return the axes in their order, each to be dragged to another place."""
    axes = found.plan.mesh.order
    orders = [
        order_of((*axes[:at], axes[at + 1], axes[at], *axes[at + 2 :]))
        for at in range(len(axes) - 1)
    ]
    return order_scene([_chip(found, axis) for axis in axes], orders)


def _chip(found: Result, axis: Axis) -> Chip:
    mesh = found.plan.mesh
    ranks, apart = mesh.sizes[axis], mesh.strides[axis]
    numbers = {"n": (ranks, COUNT), "a": (apart, COUNT), "r": (found.rank, COUNT)}
    words = "one rank: nobody to talk to." if ranks == 1 else "{n} ranks, {a} apart."
    return Chip(
        axis=axis,
        name=f"{SHORT[axis]} {ranks}",
        size=f"{apart} apart" if ranks > 1 else "alone",
        caption=say(f"{axis.capitalize()} parallel: {words}", **numbers),
    )


def _own(found: Result) -> Text:
    mesh, rank = found.plan.mesh, found.rank
    if not found.plan.traffic:
        return "One GPU: it talks to nobody."
    peers = {other for axis in found.plan.traffic for other in group(mesh, axis, rank)} - {rank}
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


def _of_axis(found: Result, axis: Axis) -> Text:
    mesh, one = found.plan.mesh, found.plan.traffic[axis]
    spread = nodes_spanned(mesh, axis)
    where = "inside one node" if spread == 1 else "over up to {k} nodes"
    count = noun(len(groups(mesh, axis)), "group")
    words = (
        f"{axis.capitalize()} parallel: {{g}} {count} of {{n}}, each {where}. A GPU sends {{b}} "
        "per step, of which {a} leaves the node; the step waits {t} for it."
    )
    return say(
        words,
        g=(len(groups(mesh, axis)), COUNT),
        n=(len(group(mesh, axis, found.rank)), COUNT),
        k=(spread, COUNT),
        b=(one.sent, BYTES),
        a=(one.across, SHARE),
        t=(exposed(found.plan.step, axis), SECONDS),
    )


def matrix(found: Result) -> Scene:
    """Return who sends how much to whom: ranks, or nodes, or blocks of nodes."""
    mesh = found.plan.mesh
    kind, party = _party(mesh)
    ranks_each = {"rank": 1, "node": mesh.gpus_per_node}.get(kind, mesh.gpus_per_node * party)
    count = -(-mesh.world_size // ranks_each)
    cells = between_parties(mesh, found.plan.traffic, ranks_each)
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
            *((axis, _shared(found, axis)) for axis in found.plan.traffic),
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


def _summary(found: Result, rows: str) -> Text:
    total = sum(one.sent for one in found.plan.traffic.values())
    if not total:
        return "Nobody sends anything."
    where = " (one between two others in its pipeline)" if "pipeline" in found.plan.traffic else ""
    return say(
        f"Rows and columns are {rows}. On average, a GPU{where} sends {{all}} per step; {{out}} of "
        "it, {share}, leaves its node.",
        all=(total, BYTES),
        out=(found.leaves, BYTES),
        share=(found.leaves / total, SHARE),
    )


def _shared(found: Result, axis: Axis) -> Text:
    one = found.plan.traffic[axis]
    total = sum(other.sent for other in found.plan.traffic.values())
    return say(
        f"{axis.capitalize()} parallel: {{b}} per GPU, {{s}} of all bytes; {{a}} of it leaves the "
        "node.",
        b=(one.sent, BYTES),
        s=(one.sent / total, SHARE),
        a=(one.across, SHARE),
    )
