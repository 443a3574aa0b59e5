"""The two drawings of the map: GPUs with their groups, and the matrix of traffic."""

from engine.calculators.splitting_the_model.parallel_map.axis_order import Chip, order_scene
from engine.calculators.splitting_the_model.parallel_map.result import Result, all_links, order_of
from engine.calculators.splitting_the_model.parallel_map.traffic_matrix import Matrix, matrix_scene
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE
from engine.core.views import Scene
from engine.draw.rank_map import Look, map_scene
from engine.form.axis_names import SHORT
from engine.form.plural import pluralize
from engine.simulate.layer.device_model import Axis


def scene(result: Result) -> Scene:
    """Return the map, with a frame for the chosen GPU and for each axis."""
    mesh = result.plan.mesh
    names = all_links(result.plan)
    looks = [Look(axis=None, caption=_rank_caption(result))]
    looks += [Look(axis=axis, caption=_axis_caption(result, axis)) for axis in result.plan.traffic]
    legend = {axis: f"{SHORT[axis]} {result.plan.size(axis)}" for axis in result.plan.traffic}
    kind, nodes = result.party.kind, result.party.nodes
    boxes = "" if kind == "rank" else kind
    return map_scene(
        mesh, result.rank, names, tuple(looks), legend, (boxes, nodes), "gpus_per_node"
    )


def order_strip(result: Result) -> Scene:
    """Return the axes in their order, each to be dragged to another place."""
    axes = result.plan.mesh.order
    orders = [
        order_of((*axes[:at], axes[at + 1], axes[at], *axes[at + 2 :]))
        for at in range(len(axes) - 1)
    ]
    return order_scene([_chip(result, axis) for axis in axes], orders)


def _chip(result: Result, axis: Axis) -> Chip:
    mesh = result.plan.mesh
    ranks, apart = mesh.sizes[axis], mesh.strides[axis]
    numbers = {"n": (ranks, COUNT), "a": (apart, COUNT), "r": (result.rank, COUNT)}
    words = "one rank: nobody to talk to." if ranks == 1 else "{n} ranks, {a} apart."
    return Chip(
        axis=axis,
        name=f"{SHORT[axis]} {ranks}",
        size=f"{apart} apart" if ranks > 1 else "alone",
        caption=say(f"{axis.capitalize()} parallel: {words}", **numbers),
    )


def _rank_caption(result: Result) -> Text:
    mesh, rank = result.plan.mesh, result.rank
    if not result.plan.traffic:
        return "One GPU: it talks to nobody."
    peers = {other for axis in result.plan.traffic for other in mesh.group(axis, rank)} - {rank}
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


def _axis_caption(result: Result, axis: Axis) -> Text:
    mesh, traffic = result.plan.mesh, result.plan.traffic[axis]
    spread = mesh.nodes_spanned(axis)
    where = "inside one node" if spread == 1 else "over up to {k} nodes"
    count = pluralize(len(mesh.groups(axis)), "group")
    words = (
        f"{axis.capitalize()} parallel: {{g}} {count} of {{n}}, each {where}. A GPU sends {{b}} "
        "per step, of which {a} leaves the node; the step waits {t} for it."
    )
    return say(
        words,
        g=(len(mesh.groups(axis)), COUNT),
        n=(len(mesh.group(axis, result.rank)), COUNT),
        k=(spread, COUNT),
        b=(traffic.sent, BYTES),
        a=(traffic.across, SHARE),
        t=(result.plan.exposed(axis), SECONDS),
    )


def matrix(result: Result) -> Scene:
    """Return who sends how much to whom: ranks, or nodes, or blocks of nodes."""
    mesh, kind, ranks_each = result.plan.mesh, result.party.kind, result.party.ranks
    count = -(-mesh.world_size // ranks_each)
    blocks = f"blocks of {result.party.nodes} nodes"
    rows = {"rank": "GPUs", "node": "nodes", "block": blocks}[kind]
    return matrix_scene(
        Matrix(
            kind=kind,
            names=tuple(str(index) for index in range(count)),
            cells=result.cells(),
            per_node=mesh.gpus_per_node if kind == "rank" else 1,
        ),
        title="Who sends to whom",
        looks=[
            ("", _summary(result, rows)),
            *((axis, _axis_summary(result, axis)) for axis in result.plan.traffic),
        ],
        chosen=result.rank // ranks_each,
    )


def _summary(result: Result, rows: str) -> Text:
    total = sum(traffic.sent for traffic in result.plan.traffic.values())
    if not total:
        return "Nobody sends anything."
    where = " (one between two others in its pipeline)" if "pipeline" in result.plan.traffic else ""
    return say(
        f"Rows and columns are {rows}. On average, a GPU{where} sends {{all}} per step; {{out}} of "
        "it, {share}, leaves its node.",
        all=(total, BYTES),
        out=(result.leaves, BYTES),
        share=(result.leaves / total, SHARE),
    )


def _axis_summary(result: Result, axis: Axis) -> Text:
    traffic = result.plan.traffic[axis]
    total = sum(other.sent for other in result.plan.traffic.values())
    return say(
        f"{axis.capitalize()} parallel: {{b}} per GPU, {{s}} of all bytes; {{a}} of it leaves the "
        "node.",
        b=(traffic.sent, BYTES),
        s=(traffic.sent / total, SHARE),
        a=(traffic.across, SHARE),
    )
