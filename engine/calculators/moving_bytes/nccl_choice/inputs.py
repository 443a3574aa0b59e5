"""The inputs of NCCL's choice, and the times of every algorithm and protocol."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, cast

from engine.catalog.hardware import MEASURED
from engine.core.inputs import Choice, Number, Scalar
from engine.core.outputs import Told
from engine.core.units import Bandwidth, Bytes, Count, GiB, KiB, MiB, Ratio, Seconds
from engine.form.collective_names import TESTED
from engine.form.fields import OwnConstants
from engine.form.nccl_fields import LARGEST, SMALLEST, Machine, Message, Nodes
from engine.formulas.bandwidth import Operation
from engine.simulate.collectives.nccl_choice import Place, choice, forced, place, reached, times
from engine.simulate.collectives.nccl_effect import bandwidth_of

_RATIO = ("The time with the setting over the time without.",)
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")
FORCED = {
    "": "nothing: NCCL chooses",
    "Ring": "NCCL_ALGO=Ring",
    "Tree": "NCCL_ALGO=Tree",
    "NVLS": "NCCL_ALGO=NVLS,NVLSTree",
    "LL": "NCCL_PROTO=LL",
    "Simple": "NCCL_PROTO=Simple",
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "One node, 1 GiB": {"nodes": 1, "message": 1 * GiB},
    "One node, 64 KiB": {"nodes": 1, "message": 64 * KiB},
    "128 nodes, 1 MiB": {"nodes": 128, "message": 1 * MiB},
    "One GPU per node, all-gather": {
        "operation": "all_gather",
        "nodes": 128,
        "gpus_per_node": 1,
        "message": 1 * MiB,
    },
}
SIZES = tuple(2.0**power for power in range(10, 35))
RACK = "gb200_nvl72"  # of the measured all-reduces
NODE_COUNTS = tuple(2**power for power in range(11))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    message: Message = 32 * MiB
    machine: Machine = "dgx-h100"
    nodes: Nodes = 4
    operation: Annotated[
        str, Choice(label="Operation", options={key: TESTED[key] for key in OPERATIONS})
    ] = "all_reduce"
    gpus_per_node: Annotated[
        int,
        Number(
            label="GPUs that take part, per node",
            low=1,
            high=72,
            whole=True,
            help="At most as many as a node has.",
        ),
    ] = 8
    setting: Annotated[
        str,
        Choice(
            label="Set in the environment", options={key or "none": FORCED[key] for key in FORCED}
        ),
    ] = "none"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What each can do for this message, by sizes and by nodes; `rack` is modeled for `RACK`."""

    where: Place
    now: Mapping[str, Seconds]
    ranks: Count
    time: Annotated[
        Seconds,
        Told(
            "Taken",
            "",
            "{best}",
            "communication",
            ("Latencies and ramps as fitted to measured all-reduces; those of a training step.",),
            ("nccl_tuning", "nccl_tests"),
        ),
    ]
    set_time: Annotated[
        Seconds,
        Told(
            "As set",
            "",
            "the fastest that the setting leaves; what NCCL takes if nothing is set",
            assumes=("Of the same times, those whose name the setting allows.",),
            sources=("nccl_tuning", "nccl_env"),
        ),
    ]
    costs: Annotated[
        Ratio, Told("The setting costs", "", "the time of what NCCL takes", assumes=_RATIO)
    ]
    bus_bandwidth: Annotated[
        Bandwidth, Told("Bus bandwidth", "", "of what NCCL takes", sources=("nccl_tests",))
    ]
    best: str
    columns: Mapping[str, tuple[Bandwidth, ...]]
    over_nodes: Mapping[str, tuple[Seconds, ...]]
    size: Bytes
    rack: Bandwidth


def solve(inputs: Inputs) -> Result:
    """Return what NCCL can choose from."""
    where = _place(inputs, inputs.nodes)
    operation, ranks = cast(Operation, inputs.operation), where.group.ranks
    now = times(operation, inputs.message, where)
    best = choice(operation, inputs.message, where, now)
    setting = _setting(inputs)
    set_time = forced(now, setting) if setting else now[best]
    rows = [times(operation, size, where) for size in SIZES]
    counts = [
        times(operation, inputs.message, _place(inputs, nodes))
        for nodes in NODE_COUNTS
        if nodes * inputs.gpus_per_node > 1
    ]
    rack = MEASURED[RACK]
    names = {name: None for row in counts for name in row}
    return Result(
        where=where,
        now=now,
        ranks=ranks,
        time=now[best],
        set_time=set_time,
        costs=set_time / now[best],
        bus_bandwidth=bandwidth_of(operation, inputs.message, now[best], ranks),
        best=best,
        columns={
            name: tuple(
                bandwidth_of(operation, size, row[name], ranks)
                for size, row in zip(SIZES, rows, strict=True)
            )
            for name in now
        },
        over_nodes={name: tuple(row.get(name, float("nan")) for row in counts) for name in names},
        size=inputs.message,
        rack=reached("all_reduce", rack.size, place("gb200-nvl72", rack.world_size)),
    )


def _setting(inputs: Inputs) -> str:
    return "" if inputs.setting == "none" else inputs.setting


def _place(inputs: Inputs, nodes: Count) -> Place:
    """Return the ranks on so many nodes; a single GPU becomes two, on two nodes."""
    probe = place(inputs.machine, 2)
    per_node = min(inputs.gpus_per_node, probe.node.gpus_per_node)
    if per_node * nodes < 2:
        nodes = 2
    return place(inputs.machine, per_node * nodes, nodes, own=inputs.own_constants)


LOW, HIGH = SMALLEST, LARGEST
