"""Tables of the map: mesh, traffic per axis, and groups of the chosen GPU."""

from engine.calculators.splitting_the_model.parallel_map.result import Result, links_of
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE, Bytes, Count
from engine.core.views import Cell, Table
from engine.form.axis_names import SHORT
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.rank_map import Ranks

_LISTED = 7
_MULTIPLIES = {"expert": "no: reuses the ranks of a stage"}
# Operation, whether the step must wait, and what hides it.
_NATURE = {
    "tensor": (
        "all-gather, reduce-scatter",
        "every layer",
        "pieces of it beside pieces of the product (async TP)",
    ),
    "context": (
        "keys and values round a ring",
        "if a hop is slow",
        "double buffering",
    ),
    "expert": (
        "all-to-all, there and back",
        "every sparse layer",
        "two micro-batches in turn (DualPipe)",
    ),
    "data": (
        "reduce-scatter, all-gather (ZeRO-1)",
        "the last bucket",
        "buckets beside backward, gathers beside forward",
    ),
    "pipeline": (
        "send and receive",
        "fill and drain",
        "asynchronous sends, more micro-batches",
    ),
}


def axis_name(axis: Axis) -> str:
    """Return an axis in words, with its short name."""
    return f"{axis} ({SHORT[axis]})"


def link_words(nodes: Count, across: float) -> str:
    """Return the name of the link that a group uses."""
    if nodes == 1:
        return "NVLink"
    return "network" if across > 0.99 else "NVLink and network"


def mesh_table(result: Result) -> Table:
    """Return the table of axes: their sizes, the distance of neighbors, and the links they use."""
    mesh = result.plan.mesh
    rows: list[tuple[Cell, ...]] = []
    axes: tuple[Axis, ...] = (*mesh.order, "expert")
    for axis in axes:
        count, spread = result.plan.size(axis), mesh.nodes_spanned(axis)
        traffic = result.plan.traffic.get(axis)
        across = traffic.across if traffic else 0.0
        apart: Text = "-" if count == 1 else say("{n}", n=(_rank_stride(result, axis), COUNT))
        rows.append(
            (
                axis_name(axis),
                say("{n}", n=(count, COUNT)),
                _MULTIPLIES.get(axis, "yes"),
                apart,
                say("{n}", n=(spread, COUNT)),
                link_words(spread, across) if count > 1 else "-",
            )
        )
    on = "on" if result.plan.run.plan.sequence_parallel else "off"
    tensor = say(f"{on}, {{n}}", n=(mesh.sizes["tensor"], COUNT))
    rows.append(("sequence (SP)", tensor, "no: reuses TP's ranks", "as TP", "as TP", "as TP"))
    return Table(
        title="The axes, innermost first",
        columns=("Axis", "Ranks", "Multiplies", "Neighbors apart", "Nodes of a group", "Link"),
        rows=tuple(rows),
        caption=say(
            "{w} GPUs = {t} x {c} x {d} x {p}: only the axes that multiply are in the product.",
            w=(mesh.world_size, COUNT),
            t=(mesh.sizes["tensor"], COUNT),
            c=(mesh.sizes["context"], COUNT),
            d=(mesh.sizes["data"], COUNT),
            p=(mesh.sizes["pipeline"], COUNT),
        ),
    )


def _rank_stride(result: Result, axis: Axis) -> Count:
    ranks = result.plan.mesh.group(axis, 0)
    return ranks[1] - ranks[0]


def traffic_table(result: Result) -> Table:
    """Return the bytes that each axis moves per step, and their exposed time."""
    rows: list[tuple[Cell, ...]] = [
        (
            axis_name(axis),
            say("{b}", b=(traffic.sent, BYTES)),
            say("{n}", n=(round(traffic.messages), COUNT)),
            say("{a}", a=(traffic.across, SHARE)),
            say("{t}", t=(result.plan.alone[axis], SECONDS)),
            say("{t}", t=(result.plan.exposed(axis), SECONDS)),
        )
        for axis, traffic in result.plan.traffic.items()
    ]
    return Table(
        title="What each axis moves in a step",
        columns=("Axis", "Sent by a GPU", "Messages", "Leaves the node", "Alone", "Step waits"),
        rows=tuple(rows) or (("none", *["-"] * 5),),
        caption="Rings in the order of the ranks, experts all to all; in a pipeline, a GPU between "
        "two others. Alone: the time with nothing beside it, latencies and the filling of the "
        "pipeline included.",
    )


def nature_table(result: Result) -> Table:
    """Return each axis's operation, whether the step must wait for it, and its overlap."""
    rows: list[tuple[Cell, ...]] = []
    for axis in result.plan.traffic:
        operation, critical, hidden = _NATURE[axis]
        if axis == "tensor" and not result.plan.run.plan.sequence_parallel:
            operation = "all-reduce"
        rows.append((axis_name(axis), critical, operation, hidden))
    return Table(
        title="Waiting, and what hides it",
        columns=("Axis", "Critical path", "Operation", "Hidden by"),
        rows=tuple(rows) or (("none", "-", "-", "-"),),
    )


def gpu_table(result: Result) -> Table:
    """Return the groups of the chosen GPU: position, peers, bytes and links."""
    mesh, rank = result.plan.mesh, result.rank
    rank_links = links_of(result.plan, rank)
    rows = []
    for axis in result.plan.traffic:
        ranks = mesh.group(axis, rank)
        rows.append(
            (
                axis_name(axis),
                say("{i} of {n}", i=(ranks.index(rank), COUNT), n=(len(ranks), COUNT)),
                _peers(ranks, rank),
                say("{b}", b=(_sent(result, axis), BYTES)),
                _link_name(result, axis, ranks),
            )
        )
    return Table(
        title=f"GPU {rank}, node {mesh.node_of(rank)}",
        columns=("Axis", "Place", "Shares the group with", "Sends per step", "Over"),
        rows=tuple(rows) or (("none", "-", "nobody", "-", "-"),),
        caption="Places count from 0. Type another GPU's number to see its groups.",
        links=tuple((rank_links[axis],) for axis in result.plan.traffic) or ((),),
    )


def _peers(ranks: Ranks, rank: Count) -> str:
    others = [str(other) for other in ranks if other != rank]
    more = len(others) - _LISTED
    return ", ".join(others[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _sent(result: Result, axis: Axis) -> Bytes:
    sent = result.plan.traffic[axis].sent
    return (
        sent * result.plan.mesh.pipeline_neighbors(result.rank) / 2 if axis == "pipeline" else sent
    )


def _link_name(result: Result, axis: Axis, ranks: Ranks) -> str:
    """Return links to its receivers: all of its experts' ranks, otherwise its neighbors."""
    mesh, rank = result.plan.mesh, result.rank
    at = ranks.index(rank)
    if axis == "expert":
        to = [other for other in ranks if other != rank]
    elif axis == "pipeline":
        to = [ranks[i] for i in (at - 1, at + 1) if 0 <= i < len(ranks)]
    else:
        to = [ranks[(at + 1) % len(ranks)]]
    inside = sum(mesh.node_of(other) == mesh.node_of(rank) for other in to)
    if inside == len(to):
        return "NVLink"
    return "network" if not inside else "NVLink and network"
