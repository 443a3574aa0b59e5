"""Port traffic: what an all-reduce sends through one port, against the number of GPUs."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import BILLIONS, Number
from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, MICRO, PARAMETERS, RATIO, SECONDS, Bytes, Quantity
from engine.basis.views import (
    Axis,
    Formula,
    Lines,
    Point,
    Published,
    Receipt,
    Rule,
    Series,
    Value,
    View,
)
from engine.calculators.moving_bytes.port_traffic.tables import claims, comparison
from engine.form.fields import StepLatency
from engine.formulas.communication import RING_BYTES, ring_bytes_sent
from engine.formulas.lower_bound import (
    FACTOR,
    RING_LATENCY,
    STAR_PORT,
    all_reduce_factor,
    ring_latency_part,
    star_port_bytes,
)
from engine.formulas.overlap import GRADIENT_SIZE, gradient_size

TITLE = "Traffic per port"
QUESTION = "How much does every GPU send, and how does that grow with their number?"
EQUATIONS = (FACTOR, RING_BYTES, STAR_PORT, RING_LATENCY, GRADIENT_SIZE)
PRESETS = {
    "Two GPUs": {"world_size": 2},
    "1,024 GPUs": {"world_size": 1024},
    "A published text: 16,384 GPUs": {"world_size": 16_384},
}
ELEMENT = 2.0
LOW, HIGH, MANY = 2, 16_384, 1024
_COLUMN = tuple(sorted({round(LOW * (HIGH / LOW) ** (i / 80)) for i in range(81)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    world_size: Annotated[
        int, Number(label="GPUs", low=LOW, high=HIGH, scale="log2", whole=True, symbol="n")
    ] = 8
    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e12, scale="log", symbol="P"),
    ] = 7e9
    latency: StepLatency = 5 * MICRO


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    size = gradient_size(inputs.parameters, ELEMENT)
    return {
        "factor": _factor(inputs, size),
        "many_factor": _many(size),
        "factor_curve": _curve(inputs),
        "gradient_size": _size(inputs, size),
        "ring_port": _ring(inputs, size),
        "star_port": _star(inputs, size),
        "ring_latency": _latency(inputs),
        "bound": Formula(
            title="The bytes of one port, with your numbers",
            equation=RING_BYTES,
            symbols={
                "V": (ring_bytes_sent(size, inputs.world_size), BYTES),
                "n": (inputs.world_size, COUNT),
                "S": (size, BYTES),
            },
            inputs={"n": "world_size", "S": "parameters"},
        ),
        "comparison": comparison(size, inputs.world_size),
        "claims": claims(inputs.latency),
    }


def _ranks(inputs: Inputs) -> dict[str, tuple[float, Quantity]]:
    return {"n": (inputs.world_size, COUNT)}


def _factor(inputs: Inputs, size: Bytes) -> Value:
    factor = all_reduce_factor(inputs.world_size)
    return Value(
        label="Every port sends",
        value=factor,
        quantity=RATIO,
        receipt=Receipt(
            equation=FACTOR,
            symbols=_ranks(inputs) | {"f": (factor, RATIO)},
            inputs={"n": "world_size"},
            assumptions=("Ranks add, not switches; every rank starts with a whole buffer.",),
        ),
        note=say("the buffer of {s}", s=(size, BYTES)),
        color="communication",
    )


def _many(size: Bytes) -> Value:
    factor = all_reduce_factor(MANY)
    return Value(
        label=f"With {MANY:,} GPUs",
        value=factor,
        quantity=RATIO,
        receipt=Receipt(
            equation=FACTOR,
            symbols={"n": (MANY, COUNT), "f": (factor, RATIO)},
            assumptions=("The same for any size of the buffer.",),
        ),
        note=say("the buffer of {s}", s=(size, BYTES)),
        color="communication",
    )


def _size(inputs: Inputs, size: Bytes) -> Value:
    return Value(
        label="Buffer",
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
            assumptions=("Gradients in bf16, two bytes each.",),
        ),
        note="gradients in bf16",
        color="gradients",
    )


def _ring(inputs: Inputs, size: Bytes) -> Value:
    sent = ring_bytes_sent(size, inputs.world_size)
    return Value(
        label="Through each port of a ring",
        value=sent,
        quantity=BYTES,
        receipt=Receipt(
            equation=RING_BYTES,
            symbols=_ranks(inputs) | {"V": (sent, BYTES), "S": (size, BYTES)},
            inputs={"n": "world_size", "S": "parameters"},
            assumptions=("Out; as much comes in meanwhile.",),
        ),
        note="out, and as much in at the same time",
        color="communication",
    )


def _star(inputs: Inputs, size: Bytes) -> Value:
    through = star_port_bytes(size, inputs.world_size)
    return Value(
        label="Through the root of a star",
        value=through,
        quantity=BYTES,
        receipt=Receipt(
            equation=STAR_PORT,
            symbols=_ranks(inputs) | {"V": (through, BYTES), "S": (size, BYTES)},
            inputs={"n": "world_size", "S": "parameters"},
            assumptions=("Half of it in, then half of it out: the sum must be complete first.",),
            published=Published(
                text="a published text gives a star O(n²) communication complexity",
                reason="The root moves 2(n - 1) buffers, and so do all ports of it together: O(n).",
                source="pingdo_sync",
                claim="E3.12",
            ),
        ),
        note=say("{h} in, then {h} out", h=(through / 2, BYTES)),
        color="communication",
    )


def _latency(inputs: Inputs) -> Value:
    latency = ring_latency_part(inputs.world_size, inputs.latency)
    return Value(
        label="Latencies of the ring",
        value=latency,
        quantity=SECONDS,
        receipt=Receipt(
            equation=RING_LATENCY,
            symbols=_ranks(inputs) | {"T": (latency, SECONDS), "a": (inputs.latency, SECONDS)},
            inputs={"n": "world_size", "a": "latency"},
            assumptions=("One flat ring; every step waits for the one before.",),
        ),
        note=say("2(n - 1) steps of {a}", a=(inputs.latency, SECONDS)),
    )


def _curve(inputs: Inputs) -> Lines:
    now = all_reduce_factor(inputs.world_size)
    return Lines(
        title="Bytes through each port, over the size of the buffer",
        x=Axis(label="GPUs", quantity=COUNT, low=LOW, high=HIGH, scale="log"),
        y=Axis(label="times the buffer", quantity=RATIO, low=0.0, high=2.4),
        series=(
            Series(
                key="factor",
                label="every all-reduce, at least",
                x=tuple(float(n) for n in _COLUMN),
                y=tuple(all_reduce_factor(n) for n in _COLUMN),
                color="communication",
            ),
            Series(
                key="switch",
                label="if the switch adds",
                x=tuple(float(n) for n in _COLUMN),
                y=tuple((n + 1) / n for n in _COLUMN),
                color="data",
                dashed=True,
            ),
        ),
        points=(Point(key="now", label=say("{f}", f=(now, RATIO)), x=inputs.world_size, y=now),),
        rules=(Rule(key="two", label="never reaches 2", axis="y", at=2.0),),
        handle="world_size",
        caption=say(
            "The axis of GPUs is logarithmic: {a} for 8 GPUs, {b} for 16,384. Drag the handle.",
            a=(all_reduce_factor(8), RATIO),
            b=(all_reduce_factor(HIGH), RATIO),
        ),
    )
