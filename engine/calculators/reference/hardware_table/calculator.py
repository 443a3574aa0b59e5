"""Hardware table: accelerators, links and nodes, and the ladder of bandwidths in one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import BILLIONS, Choice, Number
from engine.basis.text import say
from engine.basis.units import (
    BANDWIDTH,
    BYTES,
    PARAMETERS,
    RATIO,
    SECONDS,
    Bandwidth,
    Bytes,
    Quantity,
    Seconds,
)
from engine.basis.views import Axis, Bar, Bars, Receipt, Segment, Value, View
from engine.calculators.reference.hardware_table import rows
from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.nodes import NODES, Node
from engine.formulas.communication import POINT_TO_POINT, point_to_point_time
from engine.formulas.overlap import GRADIENT_SIZE, gradient_size

TITLE = "Hardware table"
QUESTION = "How fast is each rung between a GPU's memory and the network?"
EQUATIONS = (GRADIENT_SIZE, POINT_TO_POINT)
PRESETS = {
    "GPT-3 on A100": {"parameters": 175e9, "node": "dgx-a100"},
    "70B on a rack of 72": {"parameters": 70e9, "node": "gb200-nvl72"},
}
ELEMENT: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e13, scale="log", symbol="P"),
    ] = 7e9
    node: Annotated[
        str, Choice(label="Node", options={key: node.name for key, node in NODES.items()})
    ] = "dgx-h100"
    data_type: Annotated[str, Choice(label="Peak for", options=rows.TYPES)] = "bf16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One way for bytes to leave a GPU's cores: `source` states its bandwidth, one way."""

    key: str
    label: str
    bandwidth: Bandwidth
    source: str
    color: str
    note: str


def ladder(node: Node) -> tuple[Rung, ...]:
    """Return the rungs of a GPU of this node, the fastest first."""
    gpu: Gpu = ACCELERATORS[node.gpu]
    return (
        Rung(
            key="memory",
            label="Its own memory (HBM)",
            bandwidth=gpu.memory_bandwidth,
            source=gpu.source,
            color="memory",
            note="read once",
        ),
        Rung(
            key="scale_up",
            label="Other GPUs of the node",
            bandwidth=gpu.scale_up,
            source=gpu.source,
            color="tensor",
            note="all links of the GPU together",
        ),
        Rung(
            key="host",
            label="The host (PCIe)",
            bandwidth=gpu.pcie,
            source=gpu.source,
            color="pipeline",
            note="one slot",
        ),
        Rung(
            key="network",
            label="Other nodes (network)",
            bandwidth=rows.network_per_gpu(node),
            source=node.source,
            color="communication",
            note="the node's ports, shared by its GPUs",
        ),
    )


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    node, size = NODES[inputs.node], gradient_size(inputs.parameters, ELEMENT)
    rungs = ladder(node)
    times = {rung.key: _time(rung, size) for rung in rungs}
    here = f"A GPU of {node.name}, by its datasheet."
    return {
        "gradient": _gradient(inputs, size),
        **{f"{rung.key}_time": _value(rung, size, times[rung.key]) for rung in rungs},
        "span": _span(node, rungs),
        "bandwidths": _bars(
            "Bandwidth of every rung for one GPU, one way",
            BANDWIDTH,
            rungs,
            {rung.key: rung.bandwidth for rung in rungs},
            here,
        ),
        "times": _bars(
            "Time to move the gradients of one GPU, one way",
            SECONDS,
            rungs,
            times,
            f"{here} The same rungs upside down: what is short above is long here.",
        ),
        "accelerators": rows.accelerators(inputs.data_type),
        "wires": rows.wires(),
        "links": rows.links(),
        "nodes": rows.nodes(),
        "measured": rows.measured(),
    }


def _time(rung: Rung, size: Bytes) -> Seconds:
    return point_to_point_time(size, rung.bandwidth, 0.0)


def _gradient(inputs: Inputs, size: Bytes) -> Value:
    return Value(
        label="Gradients",
        value=size,
        quantity=BYTES,
        receipt=Receipt(
            equation=GRADIENT_SIZE,
            symbols={
                "S": (size, BYTES),
                "P": (inputs.parameters, PARAMETERS),
                "e": (ELEMENT, BYTES),
            },
            inputs={"P": "parameters"},
            assumptions=("bf16, two bytes for each parameter.",),
        ),
        color="gradients",
    )


def _value(rung: Rung, size: Bytes, time: Seconds) -> Value:
    return Value(
        label=rung.label,
        value=time,
        quantity=SECONDS,
        receipt=Receipt(
            equation=POINT_TO_POINT,
            symbols={
                "T": (time, SECONDS),
                "a": (0.0, SECONDS),
                "S": (size, BYTES),
                "B": (rung.bandwidth, BANDWIDTH),
            },
            inputs={"S": "parameters", "B": "node"},
            assumptions=(
                "At the datasheet's bandwidth, one way; latency left out. Measured bandwidths "
                "are lower.",
            ),
            sources=(rung.source,),
        ),
        note=say(f"at {{b}}, {rung.note}", b=(rung.bandwidth, BANDWIDTH)),
        color=rung.color,
    )


def _span(node: Node, rungs: tuple[Rung, ...]) -> Value:
    fastest, slowest = rungs[0], rungs[-1]
    return Value(
        label="Memory over network",
        value=fastest.bandwidth / slowest.bandwidth,
        quantity=RATIO,
        receipt=Receipt(
            basis="datasheet",
            assumptions=(
                say(
                    f"{node.name}: {{m}} from its memory over {{n}} of network for each GPU.",
                    m=(fastest.bandwidth, BANDWIDTH),
                    n=(slowest.bandwidth, BANDWIDTH),
                ),
            ),
            sources=(fastest.source, slowest.source),
        ),
        note="from the first rung to the last",
    )


def _bars(
    title: str,
    quantity: Quantity,
    rungs: tuple[Rung, ...],
    values: Mapping[str, float],
    caption: str,
) -> Bars:
    return Bars(
        title=title,
        axis=Axis(
            label="bandwidth" if quantity is BANDWIDTH else "time",
            quantity=quantity,
            low=0.0,
            high=max(values.values()) * 1.02,
        ),
        bars=tuple(
            Bar(
                key=rung.key,
                label=rung.label,
                segments=(
                    Segment(
                        key=rung.key,
                        label=rung.label,
                        value=values[rung.key],
                        color=rung.color,
                    ),
                ),
            )
            for rung in rungs
        ),
        caption=caption,
    )
