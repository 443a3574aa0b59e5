"""The two drawings of the map: GPUs with their groups, and the matrix of traffic."""

from engine.calculators.splitting_the_model.parallel_map.axis_order import Chip, order_scene
from engine.calculators.splitting_the_model.parallel_map.inputs import order_of
from engine.calculators.splitting_the_model.parallel_map.links import all_links
from engine.calculators.splitting_the_model.parallel_map.result import Result
from engine.calculators.splitting_the_model.parallel_map.traffic_matrix import Matrix, matrix_scene
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE
from engine.core.views import Scene
from engine.draw.rank_map import Look, map_scene
from engine.form.axis_names import SHORT
from engine.form.plural import noun
from engine.simulate.layer.device_model import Axis


def scene(found: Result) -> Scene:
    """Return the map, one frame for the chosen GPU and one for each axis."""
    mesh = found.plan.mesh
    names = all_links(found.plan)
    looks = [Look(axis=None, caption=_own(found))]
    looks += [Look(axis=axis, caption=_of_axis(found, axis)) for axis in found.plan.traffic]
    legend = {axis: f"{SHORT[axis]} {found.plan.size(axis)}" for axis in found.plan.traffic}
    kind, nodes = found.party.kind, found.party.nodes
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
    peers = {other for axis in found.plan.traffic for other in mesh.group(axis, rank)} - {rank}
    inside = sum(mesh.node_of(other) == mesh.node_of(rank) for other in peers)
    nodes = "nodes" if mesh.num_nodes > 1 else "node"
    return say(
        f"{{w}} GPUs on {{m}} {nodes}. GPU {{r}} on node {{n}} shares a group with {{all}} of the "
        "{others} others, {inside} of them on its own node. Dashed: leaves the node.",
        w=(mesh.world_size, COUNT),
        m=(mesh.num_nodes, COUNT),
        r=(rank, COUNT),
        n=(mesh.node_of(rank), COUNT),
        all=(len(peers), COUNT),
        others=(mesh.world_size - 1, COUNT),
        inside=(inside, COUNT),
    )


def _of_axis(found: Result, axis: Axis) -> Text:
    mesh, one = found.plan.mesh, found.plan.traffic[axis]
    spread = mesh.nodes_spanned(axis)
    where = "inside one node" if spread == 1 else "over up to {k} nodes"
    count = noun(len(mesh.groups(axis)), "group")
    words = (
        f"{axis.capitalize()} parallel: {{g}} {count} of {{n}}, each {where}. A GPU sends {{b}} "
        "per step, of which {a} leaves the node; the step waits {t} for it."
    )
    return say(
        words,
        g=(len(mesh.groups(axis)), COUNT),
        n=(len(mesh.group(axis, found.rank)), COUNT),
        k=(spread, COUNT),
        b=(one.sent, BYTES),
        a=(one.across, SHARE),
        t=(found.plan.exposed(axis), SECONDS),
    )


def matrix(found: Result) -> Scene:
    """Return who sends how much to whom: ranks, or nodes, or blocks of nodes."""
    mesh, kind, ranks_each = found.plan.mesh, found.party.kind, found.party.ranks
    count = -(-mesh.world_size // ranks_each)
    blocks = f"blocks of {found.party.nodes} nodes"
    rows = {"rank": "GPUs", "node": "nodes", "block": blocks}[kind]
    return matrix_scene(
        Matrix(
            kind=kind,
            names=tuple(str(index) for index in range(count)),
            cells=found.cells(),
            per_node=mesh.gpus_per_node if kind == "rank" else 1,
        ),
        title="Who sends to whom",
        looks=[
            ("", _summary(found, rows)),
            *((axis, _shared(found, axis)) for axis in found.plan.traffic),
        ],
        chosen=found.rank // ranks_each,
    )


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
