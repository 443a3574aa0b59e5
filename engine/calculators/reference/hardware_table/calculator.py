"""Hardware table: accelerators, links and nodes, and the ladder of bandwidths in one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.reference.hardware_table import rows
from engine.catalog.nodes import NODES
from engine.core.inputs import BILLIONS, Choice, Number
from engine.core.outputs import Symbol, Teller, Told, Views
from engine.core.text import say
from engine.core.units import BANDWIDTH, PARAMETERS, SECONDS, Bytes, Quantity, Ratio, Seconds
from engine.core.views import Axis, Bar, Bars, Receipt, Segment, Value
from engine.formulas.communication import POINT_TO_POINT, point_to_point_time
from engine.formulas.overlap import GRADIENT_SIZE, gradient_size
from engine.run.ladder import Rung, ladder

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
        PARAMETERS,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e13, scale="log", symbol="P"),
    ] = 7e9
    node: Annotated[
        str, Choice(label="Node", options={key: node.name for key, node in NODES.items()})
    ] = "dgx-h100"
    data_type: Annotated[str, Choice(label="Peak for", options=rows.TYPES)] = "bf16"


# Rung -> (label, color, what its bandwidth is).
_TOLD: Mapping[str, tuple[str, str, str]] = {
    "memory": ("Its own memory (HBM)", "memory", "read once"),
    "scale_up": ("Other GPUs of the node", "tensor", "all links of the GPU together"),
    "host": ("The host", "pipeline", "one slot, or its part of the superchip's link"),
    "network": (
        "Other nodes (network)",
        "communication",
        "the node's ports, shared by its GPUs",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The gradients of the model, and the ladder of the node with the times to move them."""

    gradient: Annotated[
        Bytes,
        Told("Gradients", "S", color="gradients", assumes=("bf16, two bytes for each parameter.",)),
    ]
    element: Annotated[Bytes, Symbol("e")]
    rungs: tuple[Rung, ...]
    times: tuple[Seconds, ...]
    span: Annotated[Ratio, Told("Memory over network", note="from the first rung to the last")]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    size, rungs = gradient_size(inputs.parameters, ELEMENT), ladder(NODES[inputs.node])
    return Result(
        gradient=size,
        element=ELEMENT,
        rungs=rungs,
        times=tuple(point_to_point_time(size, rung.bandwidth, 0.0) for rung in rungs),
        span=rungs[0].bandwidth / rungs[-1].bandwidth,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    name = NODES[inputs.node].name
    here = f"A GPU of {name}, by its datasheet."
    times = zip(result.rungs, result.times, strict=True)
    return {
        "gradient": tell.value("gradient"),
        **{f"{rung.key}_time": _time(tell, rung, time) for rung, time in times},
        "span": _span(tell, name, result),
        "bandwidths": _bars(
            "Bandwidth of every rung for one GPU, one way",
            BANDWIDTH,
            {rung.key: rung.bandwidth for rung in result.rungs},
            here,
        ),
        "times": _bars(
            "Time to move the gradients of one GPU, one way",
            SECONDS,
            {rung.key: time for rung, time in zip(result.rungs, result.times, strict=True)},
            f"{here} The same rungs as times: what is short above is long here.",
        ),
        "accelerators": partial(rows.accelerators, inputs.data_type),
        "wires": rows.wires,
        "links": rows.links,
        "nodes": rows.nodes,
        "measured": rows.measured,
    }


def _time(tell: Teller, rung: Rung, time: Seconds) -> Value:
    label, color, what = _TOLD[rung.key]
    return Value(
        label=label,
        value=time,
        quantity=SECONDS,
        receipt=Receipt(
            equation=POINT_TO_POINT,
            symbols={
                "T": (time, SECONDS),
                "a": (0.0, SECONDS),
                "S": tell.number("gradient"),
                "B": (rung.bandwidth, BANDWIDTH),
            },
            inputs={"S": "parameters", "B": "node"},
            assumptions=(
                "At the datasheet's bandwidth, one way; latency left out. Measured bandwidths "
                "are lower.",
            ),
            sources=(rung.source,),
        ),
        note=say(f"at {{b}}, {what}", b=(rung.bandwidth, BANDWIDTH)),
        color=color,
    )


def _span(tell: Teller, name: str, result: Result) -> Value:
    fastest, slowest = result.rungs[0], result.rungs[-1]
    over = say(
        f"{name}: {{m}} from its memory over {{n}} of network for each GPU.",
        m=(fastest.bandwidth, BANDWIDTH),
        n=(slowest.bandwidth, BANDWIDTH),
    )
    sources = fastest.source, slowest.source
    return tell.value("span", basis="datasheet", assumes=(over,), sources=sources)


def _bars(title: str, quantity: Quantity, values: Mapping[str, float], caption: str) -> Bars:
    return Bars(
        title=title,
        axis=Axis(
            label="bandwidth" if quantity is BANDWIDTH else "time",
            quantity=quantity,
            low=0.0,
            high=max(values.values()) * 1.02,
        ),
        bars=tuple(_bar(key, value) for key, value in values.items()),
        caption=caption,
    )


def _bar(key: str, value: float) -> Bar:
    label, color, _ = _TOLD[key]
    return Bar(
        key=key,
        label=label,
        segments=(Segment(key=key, label=label, value=value, color=color),),
    )
