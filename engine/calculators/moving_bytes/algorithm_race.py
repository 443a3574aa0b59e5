"""Algorithm race: which all-reduce is fastest at which message size, and where they cross."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.hardware import GPUS, MEASURED
from engine.catalog.transports import INFINIBAND
from engine.core.inputs import MEGABYTES, MICROSECONDS, Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.text import say
from engine.core.units import BANDWIDTH, BYTES, GB, KB, MB, MICRO, SECONDS, Bytes, Gbit, Seconds
from engine.core.views import Badge, Line, Lines, Receipt, Rule, Scale, Value
from engine.form.fields import PORT, LabGpu
from engine.simulate.collectives.cluster_wires import ClusterWires, all_reduce_time, cluster_wires

TITLE = "Algorithm race"
QUESTION = "Ring, tree, hierarchical or in the switch: which all-reduce wins at which size?"
HEADLINE = "crossover"
FORMERLY = {"bandwidth": "port", "scale_up": ""}
PRESETS = {
    "1,024 GPUs in nodes of 8": {"world_size": 1024, "gpus_per_node": 8},
    "NCCL's own planning latency": {"latency": 14 * MICRO},
    "GPUs alone in their nodes": {"gpus_per_node": 1},
}
LOW, HIGH = 1 * KB, 100 * GB
_COLUMN: tuple[Bytes, ...] = tuple(LOW * (HIGH / LOW) ** (i / 64) for i in range(65))
_NAMES = {
    "ring": ("ring", "communication"),
    "tree": ("double binary tree", "tensor"),
    "hierarchical": ("hierarchical", "pipeline"),
    "in_network": ("in-network", "data"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    message: Annotated[
        float,
        Number(label="Message", unit=MEGABYTES, low=LOW, high=HIGH, scale="log", symbol="S"),
    ] = 100 * MB
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=131_072, scale="log2", whole=True, symbol="n")
    ] = 64
    port: Annotated[float, replace(PORT, label="Port per GPU")] = 400 * Gbit
    latency: Annotated[
        float,
        Number(
            label="Latency of one step",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
        ),
        Symbol("a"),
    ] = INFINIBAND.step
    gpus_per_node: Annotated[
        int,
        Number(
            label="GPUs per node",
            low=1,
            high=72,
            whole=True,
            symbol="g",
            advanced=True,
            help="The hierarchical curve needs more than one; every GPU has a port of its own.",
        ),
    ] = 8
    gpu: LabGpu = "h200"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The time of every algorithm for this message and for all sizes of the chart."""

    crossover: Annotated[
        Bytes,
        Output(
            "Ring and tree cross at",
            assumes=(
                "Both on the same wires, each in its fastest protocol of NCCL, by times fitted to "
                "measured curves. The largest message for which the tree is as fast.",
            ),
            sources=("nccl_tuning", "nccl_tests"),
        ),
    ]
    now: Mapping[str, Seconds]
    columns: Mapping[str, tuple[Seconds, ...]]
    best: str
    time: Seconds


def solve(inputs: Inputs) -> Result:
    """Return the times of all algorithms, and where ring and tree cross."""
    wires = cluster_wires(
        GPUS[inputs.gpu],
        inputs.world_size,
        inputs.gpus_per_node,
        inputs.gpus_per_node,
        inputs.port,
        inputs.latency,
    )
    now = _times(wires, inputs.message)
    rows = [_times(wires, size) for size in _COLUMN]
    best = min(("ring", "tree"), key=lambda name: now[name])  # of one tier alone
    return Result(
        crossover=_crossover(wires, rows),
        now=now,
        columns={name: tuple(row[name] for row in rows) for name in now},
        best=best,
        time=now[best],
    )


def _times(wires: ClusterWires, size: Bytes) -> Mapping[str, Seconds]:
    """Return algorithm -> all-reduce time; a hierarchy is left out without several full nodes."""
    nodes, remainder = divmod(wires.world_size, wires.gpus_per_node)
    full = wires.gpus_per_node > 1 and nodes > 1 and not remainder
    names = [name for name in _NAMES if name != "hierarchical" or full]
    return {name: all_reduce_time(wires, name, size) for name in names}


def _crossover(wires: ClusterWires, rows: Sequence[Mapping[str, Seconds]]) -> Bytes:
    """Return the largest message for which the tree is no slower than the ring; 0: none."""
    ahead = [size for size, row in zip(_COLUMN, rows, strict=True) if row["tree"] <= row["ring"]]
    if not ahead or ahead[-1] == HIGH:
        return math.inf if ahead else 0.0
    low = ahead[-1]
    high = low * _COLUMN[1] / _COLUMN[0]
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        if all_reduce_time(wires, "tree", middle) <= all_reduce_time(wires, "ring", middle):
            low = middle
        else:
            high = middle
    return low


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    crossed = "below it the tree is faster, above it the ring"
    if result.crossover <= 0:
        crossed = "the ring is never slower"
    elif result.crossover == math.inf:
        crossed = "the tree is faster up to the largest message of the chart"
    return {
        "crossover": present.value("crossover", note=crossed),
        "winner": _winner(result),
        "race": partial(_race_chart, present, inputs, result),
        "measured_ring": _measured_value("h200_ring", "Measured, ring"),
        "measured_switch": _measured_value("h200_nvls", "Measured, in the switch"),
    }


def _measured_value(key: str, label: str) -> Value:
    row = MEASURED[key]
    return Value(
        label=label,
        value=row.bus_bandwidth,
        quantity=BANDWIDTH,
        receipt=Receipt(
            basis="measured",
            assumptions=(
                say(f"{row.name}, all-reduce of {{s}} per GPU over NVLink.", s=(row.size, BYTES)),
            ),
            sources=(row.source,),
        ),
        note="bus bandwidth, 8 H200 in one node; not of your inputs",
    )


def _winner(result: Result) -> Badge:
    best, other = result.best, "tree" if result.best == "ring" else "ring"
    return Badge(
        text=_NAMES[best][0].capitalize(),
        sentence=say(
            f"The {_NAMES[best][0]} takes {{a}}, the {_NAMES[other][0]} {{b}}.",
            a=(result.time, SECONDS),
            b=(result.now[other], SECONDS),
        ),
        color=_NAMES[best][1],
    )


def _race_chart(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    every = [y for column in result.columns.values() for y in column]
    crossover = Rule(
        key="crossover", label=present.say("{crossover}"), axis="x", at=result.crossover
    )
    return present.curve(
        "Time of one all-reduce against its size",
        over=Scale("crossover", "message", LOW, HIGH, log=True),
        shows=Scale(
            "time",
            "time",
            10.0 ** math.floor(math.log10(min(every))),
            10.0 ** math.ceil(math.log10(max(every))),
            log=True,
        ),
        x=_COLUMN,
        lines=(
            Line(name, label, result.columns[name], color, dashed=name == "in_network")
            for name, (label, color) in _NAMES.items()
            if name in result.columns
        ),
        handle="message",
        rules=(crossover,) if LOW <= result.crossover <= HIGH else (),
        caption="Both axes are logarithmic. Drag the message past the dashed line.",
    )
