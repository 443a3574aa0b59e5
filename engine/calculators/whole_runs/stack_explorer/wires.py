"""Waterfall and topology of the explorer: one message, three times of each axis, the map."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import prod

from engine.basis.text import say
from engine.basis.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    KB,
    MB,
    SECONDS,
    SHARE,
    Bytes,
    Count,
    Seconds,
)
from engine.basis.views import Axis as ChartAxis
from engine.basis.views import Badge, Bar, Bars, Cell, Receipt, Scene, Segment, Table, Value
from engine.calculators.whole_runs.stack_explorer.inputs import Inputs
from engine.calculators.whole_runs.stack_explorer.model import Job
from engine.catalog.transports import INFINIBAND, LAUNCH
from engine.draw.rank_map import Look, map_scene
from engine.form.axis_names import SHORT
from engine.formulas.transfer_time import send_time
from engine.run.parallelism import data_parallel
from engine.simulate.map_traffic import SHOWN, sent_per_step
from engine.simulate.rank import Axis, Group, group_of
from engine.simulate.rank_map import Mesh, group

_SIZES: tuple[tuple[str, Bytes], ...] = (
    ("8 B", 8.0),
    ("4 kB", 4 * KB),
    ("64 kB", 64 * KB),
    ("1 MB", 1 * MB),
    ("64 MB", 64 * MB),
)
_DRAWN: Count = 256  # GPUs on the map, at most
_ORDER: tuple[Axis, ...] = ("tensor", "context", "data", "pipeline")


def _parts(found: Job, size: Bytes) -> tuple[tuple[str, str, Seconds, str], ...]:
    line = found.run.cluster.nic_bandwidth * found.run.cluster.nics_per_node
    wire = size / (line / found.run.cluster.gpus_per_node)
    return (
        ("launch", "launch of the kernel", LAUNCH, "compute"),
        ("hop", "from node to node", INFINIBAND.step, "accent"),
        ("wire", "on the wire", wire, "communication"),
        ("loss", "wire slower than its rate", max(0.0, size / found.rank.port - wire), "memory"),
    )


def message_value(inputs: Inputs, found: Job) -> Value:
    """Return the time of the reader's message to another node."""
    time = send_time(inputs.message, found.rank.port, 2)
    wire = _parts(found, inputs.message)[2][2]
    return Value(
        label="The message takes",
        value=time,
        quantity=SECONDS,
        receipt=Receipt(
            assumptions=(
                say(
                    "Launch {a}, one step from node to node {b}, bytes at {c}.",
                    a=(LAUNCH, SECONDS),
                    b=(INFINIBAND.step, SECONDS),
                    c=(found.rank.port, BANDWIDTH),
                ),
                "As fitted to measured all-reduces over InfiniBand; large-message protocol.",
            ),
            sources=("nccl_tuning", "nccl_tests"),
        ),
        note=say("{s} of it on the wire", s=(wire / time, SHARE)),
        color="communication",
    )


def waterfall(inputs: Inputs, found: Job) -> Bars:
    """Return what messages of several sizes spend their time on, as shares."""
    rows = (*_SIZES, ("yours", inputs.message))
    return Bars(
        title="What a message between two nodes spends its time on",
        axis=ChartAxis(label="share of its time", quantity=SHARE, low=0.0, high=1.0),
        bars=tuple(_bar(found, name, size) for name, size in rows),
        caption=say("The last bar is your message of {b}.", b=(inputs.message, BYTES)),
    )


def _bar(found: Job, name: str, size: Bytes) -> Bar:
    parts = _parts(found, size)
    total = sum(time for _, _, time, _ in parts)
    return Bar(
        key=name.replace(" ", ""),
        label=name,
        segments=tuple(
            Segment(key=key, label=label, value=time / total, color=color, links=(f"part:{key}",))
            for key, label, time, color in parts
        ),
    )


def message_regime(inputs: Inputs, found: Job) -> Badge:
    """Return what the reader's message is bound by."""
    parts = _parts(found, inputs.message)
    fixed = parts[0][2] + parts[1][2]
    even = fixed * found.rank.port
    if inputs.message < even:
        text, color = "Latency", "accent"
    else:
        text, color = "Bandwidth", "communication"
    return Badge(
        text=text,
        sentence=say("From {b} on, the bytes take longer than launch and hop.", b=(even, BYTES)),
        color=color,
    )


def _sizes(found: Job) -> dict[Axis, Count]:
    plan = found.run.plan
    return {
        "tensor": plan.tensor_parallel,
        "context": plan.context_parallel,
        "data": data_parallel(plan),
        "pipeline": plan.pipeline_parallel,
    }


def _groups(found: Job) -> dict[Axis, Group]:
    """Return the group of every axis that has more than one rank."""
    plan, rank = found.run.plan, found.rank
    tensor, stages = plan.tensor_parallel, plan.pipeline_parallel
    data = data_parallel(plan) * plan.context_parallel
    every: dict[Axis, Group] = {
        "tensor": group_of(rank, tensor, 1, "tensor"),
        "context": group_of(rank, plan.context_parallel, tensor, "context"),
        "expert": group_of(rank, plan.expert_parallel, plan.expert_tensor_parallel, "expert"),
        "data": group_of(rank, data, tensor, "data"),
        "pipeline": group_of(rank, min(2, stages), plan.world_size // stages, "pipeline"),
    }
    return {axis: one for axis, one in every.items() if one.ranks > 1}


def _sent(found: Job) -> dict[Axis, tuple[Bytes, float]]:
    run = found.run
    mesh = Mesh(
        sizes=_sizes(found),
        order=_ORDER,
        expert=run.plan.expert_parallel,
        gpus_per_node=run.cluster.gpus_per_node,
    )
    return dict(sent_per_step(run.model, run.plan, run.training, mesh))


def three_times(found: Job) -> Table:
    """Return, per axis, the bytes at line rate, alone, and what the step waits for."""
    sent, part, cluster = _sent(found), found.found["time"], found.run.cluster
    port = cluster.nic_bandwidth * cluster.nics_per_node / cluster.gpus_per_node
    inside = cluster.gpu.scale_up or cluster.gpu.pcie
    rows: list[tuple[Cell, ...]] = []
    for axis, one in _groups(found).items():
        line = inside if one.nodes == 1 else port
        reached = found.rank.scale_up if one.nodes == 1 else found.rank.port
        size = sent[axis][0]
        rows.append(
            (
                axis,
                say("{b}", b=(size, BYTES)),
                say("{t}", t=(size / line, SECONDS)),
                say("{t}", t=(size / reached, SECONDS)),
                say("{t}", t=(part[f"{axis}_parallel" if axis != "pipeline" else axis], SECONDS)),
            )
        )
    return Table(
        title="Three times that are taken for one another",
        columns=("Axis", "Sent per step", "On the wire", "Alone", "Step waits"),
        rows=tuple(rows) or (("none", "-", "-", "-", "-"),),
        caption="On the wire: bytes over line rate. Alone: at the bandwidth that collectives "
        "reach. Step waits: what no computation hides.",
    )


def axes(found: Job) -> Table:
    """Return where the groups of every axis lie, and over which link they talk."""
    sent = _sent(found)
    rows: list[tuple[Cell, ...]] = [
        (
            f"{axis} ({SHORT[axis]})",
            say("{n}", n=(_ranks(found, axis, one), COUNT)),
            say("{n}", n=(one.nodes, COUNT)),
            "NVLink" if one.nodes == 1 else "network",
            say("{n}", n=(round(sent[axis][1]), COUNT)),
        )
        for axis, one in _groups(found).items()
    ]
    return Table(
        title="The axes and their links",
        columns=("Axis", "Ranks", "Nodes of a group", "Link", "Messages per step"),
        rows=tuple(rows) or (("none", "-", "-", "-", "-"),),
        caption="Data parallelism counts the ranks of context parallelism too: they hold the same "
        "parameters.",
        # The groups of GPU 0, which the map shows, are named by their first rank.
        links=tuple((f"group:{SHORT[axis].lower()}:0",) for axis in _groups(found)) or ((),),
    )


def _ranks(found: Job, axis: Axis, one: Group) -> Count:
    return found.run.plan.pipeline_parallel if axis == "pipeline" else one.ranks


def cluster_map(found: Job) -> Scene:
    """Return the GPUs in their nodes with the groups of GPU 0; of a large job a part."""
    sizes = _part(_sizes(found))
    stage = sizes["tensor"] * sizes["context"] * sizes["data"]
    plan = found.run.plan
    expert = plan.expert_parallel if stage % plan.expert_parallel == 0 else 1
    shape = (*(sizes[axis] for axis in _ORDER), expert)
    whole = {**_sizes(found), "expert": plan.expert_parallel}
    legend = tuple((axis, f"{SHORT[axis]} {whole[axis]}") for axis in SHOWN if whole[axis] > 1)
    return _drawn(shape, legend, found.run.cluster.gpus_per_node, plan.world_size)


@lru_cache(maxsize=4)
def _drawn(
    shape: tuple[Count, ...],
    legend: tuple[tuple[Axis, str], ...],
    gpus_per_node: Count,
    world_size: Count,
) -> Scene:
    *sizes, expert = shape
    mesh = Mesh(
        sizes=dict(zip(_ORDER, sizes, strict=True)),
        order=_ORDER,
        expert=expert,
        gpus_per_node=gpus_per_node,
    )
    ranks = {**mesh.sizes, "expert": expert}
    shown = [axis for axis in SHOWN if ranks[axis] > 1]
    names = tuple(
        {axis: f"group:{SHORT[axis].lower()}:{group(mesh, axis, rank)[0]}" for axis in shown}
        for rank in range(mesh.world_size)
    )
    caption = say(
        "{n} of {all} GPUs, with the groups of GPU 0. Dashed: leaves the node.",
        n=(mesh.world_size, COUNT),
        all=(world_size, COUNT),
    )
    look = Look(axis=None, caption=caption)
    named = {axis: text for axis, text in legend if axis in shown}
    drawn = map_scene(mesh, 0, names, (look,), named, ("", 1))
    return replace(drawn, caption="Point at a GPU: what lights up belongs to one of its groups.")


def _part(sizes: Mapping[Axis, Count]) -> dict[Axis, Count]:
    """Return sizes whose product is drawn: fewer replicas first, then fewer stages."""
    left = dict(sizes)
    order: tuple[Axis, ...] = ("data", "pipeline", "context", "tensor")
    for axis in order:
        while prod(left.values()) > _DRAWN and left[axis] > 2:
            left[axis] = -(-left[axis] // 2)
    return left
