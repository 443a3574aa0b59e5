"""Algorithm race: which all-reduce is fastest at which message size, and where they cross."""

import math
from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import GBYTES_PER_SECOND, MEGABYTES, MICROSECONDS, Number
from engine.basis.text import Text, say
from engine.basis.units import BANDWIDTH, BYTES, COUNT, GB, KB, MB, MICRO, SECONDS, Bytes, Seconds
from engine.basis.views import Axis, Badge, Lines, Point, Receipt, Rule, Series, Value, View
from engine.catalog.hardware import MEASURED
from engine.formulas.bandwidth import CROSSOVER, ring_tree_crossover_size
from engine.formulas.communication import (
    IN_NETWORK_ALL_REDUCE,
    RING_ALL_REDUCE,
    TREE_ALL_REDUCE,
    in_network_all_reduce_time,
    ring_all_reduce_time,
    tree_all_reduce_time,
)
from engine.formulas.hierarchy import HIERARCHICAL_ALL_REDUCE, hierarchical_all_reduce_time

TITLE = "Algorithm race"
QUESTION = "Ring, tree, hierarchical or in the switch: which all-reduce wins at which size?"
EQUATIONS = (
    CROSSOVER,
    RING_ALL_REDUCE,
    TREE_ALL_REDUCE,
    HIERARCHICAL_ALL_REDUCE,
    IN_NETWORK_ALL_REDUCE,
)
PRESETS = {
    "1,024 GPUs in nodes of 8": {"world_size": 1024, "gpus_per_node": 8},
    "NCCL's own planning latency": {"latency": 14 * MICRO},
}
LOW, HIGH = 1 * KB, 100 * GB
_COLUMN = tuple(LOW * (HIGH / LOW) ** (i / 64) for i in range(65))
_NAMES = {
    "ring": ("ring", "communication"),
    "tree": ("double binary tree", "tensor"),
    "hierarchical": ("hierarchical", "pipeline"),
    "in_network": ("in-network", "data"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    message: Annotated[
        float,
        Number(label="Message", unit=MEGABYTES, low=LOW, high=HIGH, scale="log", symbol="S"),
    ] = 100 * MB
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=131_072, scale="log2", whole=True, symbol="n")
    ] = 64
    bandwidth: Annotated[
        float,
        Number(
            label="Bandwidth per GPU",
            unit=GBYTES_PER_SECOND,
            low=0.125 * GB,
            high=900 * GB,
            scale="log",
            symbol="B",
            help="One way: a 400 Gb/s port is 50 GB/s.",
        ),
    ] = 50 * GB
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
    ] = 5 * MICRO
    gpus_per_node: Annotated[
        int,
        Number(
            label="GPUs per node",
            low=1,
            high=72,
            whole=True,
            symbol="g",
            advanced=True,
            help="The hierarchical curve needs more than one; every GPU keeps its own port.",
        ),
    ] = 8
    scale_up: Annotated[
        float,
        Number(
            label="NVLink per GPU",
            unit=GBYTES_PER_SECOND,
            low=25 * GB,
            high=900 * GB,
            scale="log",
            advanced=True,
        ),
    ] = 366 * GB


def times(inputs: Inputs, size: Bytes) -> dict[str, Seconds]:
    """Return the time of every algorithm that the inputs allow."""
    wire = size, inputs.world_size, inputs.bandwidth, inputs.latency
    found = {
        "ring": ring_all_reduce_time(*wire),
        "tree": tree_all_reduce_time(*wire),
        "in_network": in_network_all_reduce_time(*wire),
    }
    nodes, rest = divmod(inputs.world_size, inputs.gpus_per_node)
    if inputs.gpus_per_node > 1 and nodes > 1 and not rest:
        found["hierarchical"] = hierarchical_all_reduce_time(
            size,
            inputs.gpus_per_node,
            nodes,
            inputs.scale_up,
            inputs.latency,
            inputs.bandwidth * inputs.gpus_per_node,
            inputs.latency,
        )
    return found


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    now = times(inputs, inputs.message)
    crossover = ring_tree_crossover_size(inputs.world_size, inputs.bandwidth, inputs.latency)
    return {
        "crossover": _crossover(inputs, crossover),
        "winner": _winner(now),
        "race": _race(inputs, now, crossover),
        "measured_ring": _measured("h200_ring", "Measured, ring"),
        "measured_switch": _measured("h200_nvls", "Measured, in the switch"),
    }


def _measured(key: str, label: str) -> Value:
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


def _crossover(inputs: Inputs, size: Bytes) -> Value:
    symbols = {
        "Sc": (size, BYTES),
        "n": (float(inputs.world_size), COUNT),
        "a": (inputs.latency, SECONDS),
        "B": (inputs.bandwidth, BANDWIDTH),
    }
    note: Text = "below it the tree is faster, above it the ring"
    return Value(
        label="Ring and tree cross at",
        value=size,
        quantity=BYTES,
        receipt=Receipt(
            equation=CROSSOVER,
            symbols=symbols,
            inputs={"n": "world_size", "a": "latency", "B": "bandwidth"},
            assumptions=("Both on the same wires; both pipelines filled.",),
        ),
        note=note if size > 0 else "the ring is never slower: it takes no more steps than the tree",
    )


def _winner(now: dict[str, Seconds]) -> Badge:
    best = min(("ring", "tree"), key=lambda name: now[name])
    other = "tree" if best == "ring" else "ring"
    return Badge(
        text=_NAMES[best][0].capitalize(),
        sentence=say(
            f"The {_NAMES[best][0]} takes {{a}}, the {_NAMES[other][0]} {{b}}.",
            a=(now[best], SECONDS),
            b=(now[other], SECONDS),
        ),
        color=_NAMES[best][1],
    )


def _race(inputs: Inputs, now: dict[str, Seconds], crossover: Bytes) -> Lines:
    columns = [times(inputs, size) for size in _COLUMN]
    series = tuple(
        Series(
            key=name,
            label=label,
            x=_COLUMN,
            y=tuple(row[name] for row in columns),
            color=color,
            dashed=name == "in_network",
        )
        for name, (label, color) in _NAMES.items()
        if name in now
    )
    every = [y for line in series for y in line.y]
    best = min(("ring", "tree"), key=lambda name: now[name])
    rule = Rule(key="crossover", label=say("{s}", s=(crossover, BYTES)), axis="x", at=crossover)
    return Lines(
        title="Time of one all-reduce against its size",
        x=Axis(label="message", quantity=BYTES, low=LOW, high=HIGH, scale="log"),
        y=Axis(
            label="time",
            quantity=SECONDS,
            low=10.0 ** math.floor(math.log10(min(every))),
            high=10.0 ** math.ceil(math.log10(max(every))),
            scale="log",
        ),
        series=series,
        points=(
            Point(
                key="now",
                label=say("{t}", t=(now[best], SECONDS)),
                x=inputs.message,
                y=now[best],
            ),
        ),
        rules=(rule,) if LOW <= crossover <= HIGH else (),
        handle="message",
        caption="Both axes are logarithmic. Drag the message past the dashed line.",
    )
