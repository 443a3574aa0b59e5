"""Port traffic: what an all-reduce sends through one port, against the number of GPUs."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.basis.inputs import BILLIONS, Number
from engine.basis.told import Teller, Told, Views
from engine.basis.units import Bytes, Count, Ratio, Seconds
from engine.basis.views import Lines, Point, Published, Rule, Series
from engine.calculators.moving_bytes.port_traffic.tables import claims, comparison
from engine.catalog.transports import INFINIBAND
from engine.form.fields import StepLatency
from engine.formulas.communication import RING_BYTES, in_network_bytes_sent, ring_bytes_sent
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
_STAR_CLAIM = Published(
    text="a published text gives a star O(n²) communication complexity",
    reason="The root moves 2(n - 1) buffers, and so do all ports of it together: O(n).",
    source="pingdo_sync",
    claim="E3.12",
)


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
    latency: StepLatency = INFINIBAND.step


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What ports carry, in buffers and in bytes, and what a ring waits for messages."""

    factor: Annotated[
        Ratio,
        Told(
            "Every port sends",
            "f",
            "the buffer of {gradient_size}",
            "communication",
            assumes=("Ranks add, not switches; every rank starts with a whole buffer.",),
        ),
    ]
    many_factor: Annotated[
        Ratio,
        Told(
            f"With {MANY:,} GPUs",
            "f",
            "the buffer of {gradient_size}",
            "communication",
            assumes=("The same for any size of the buffer.",),
        ),
    ]
    many: Count = MANY
    gradient_size: Annotated[
        Bytes,
        Told(
            "Buffer",
            "S",
            "gradients in bf16",
            "gradients",
            assumes=("Gradients in bf16, two bytes each.",),
            of="parameters",
        ),
    ]
    element: Annotated[Bytes, Told(symbol="e")] = ELEMENT
    ring_port: Annotated[
        Bytes,
        Told(
            "Through each port of a ring",
            "V",
            "out, and as much in at the same time",
            "communication",
            assumes=("Out; as much comes in meanwhile.",),
        ),
    ]
    star_port: Annotated[
        Bytes,
        Told(
            "Through the root of a star",
            "V",
            "{star_half} in, then {star_half} out",
            "communication",
            assumes=("Half of it in, then half of it out: the sum must be complete first.",),
        ),
    ]
    star_half: Bytes
    ring_latency: Annotated[
        Seconds,
        Told(
            "Latencies of the ring",
            "T",
            "2(n - 1) steps of {latency}",
            assumes=("One flat ring; every step waits for the one before.",),
        ),
    ]
    few_factor: Ratio
    most_factor: Ratio
    factors: tuple[Ratio, ...]
    switch_factors: tuple[Ratio, ...]


def solve(inputs: Inputs) -> Result:
    """Return what ports carry."""
    size, n = gradient_size(inputs.parameters, ELEMENT), inputs.world_size
    star = star_port_bytes(size, n)
    return Result(
        factor=all_reduce_factor(n),
        many_factor=all_reduce_factor(MANY),
        gradient_size=size,
        ring_port=ring_bytes_sent(size, n),
        star_port=star,
        star_half=star / 2,
        ring_latency=ring_latency_part(n, inputs.latency),
        few_factor=all_reduce_factor(8),
        most_factor=all_reduce_factor(HIGH),
        factors=tuple(map(all_reduce_factor, _COLUMN)),
        switch_factors=tuple(in_network_bytes_sent(1.0, n) for n in _COLUMN),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "factor": tell.value("factor"),
        "many_factor": tell.value("many_factor", symbols={"n": "many"}),
        "factor_curve": partial(_curve, tell, inputs, result),
        "gradient_size": tell.value("gradient_size"),
        "ring_port": tell.value("ring_port"),
        "star_port": tell.value("star_port", equation=STAR_PORT, published=_STAR_CLAIM),
        "ring_latency": tell.value("ring_latency"),
        "bound": tell.formula("The bytes of one port, with your numbers", RING_BYTES),
        "comparison": partial(comparison, result.gradient_size, inputs.world_size),
        "claims": partial(claims, inputs.latency),
    }


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    sizes = tuple(float(n) for n in _COLUMN)
    return Lines(
        title="Bytes through each port, over the size of the buffer",
        x=tell.axis("world_size", "GPUs", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("factor", "times the buffer", low=0.0, high=2.4),
        series=(
            Series(
                key="factor",
                label="any all-reduce",
                x=sizes,
                y=result.factors,
                color="communication",
            ),
            Series(
                key="switch",
                label="if the switch adds",
                x=sizes,
                y=result.switch_factors,
                color="data",
                dashed=True,
            ),
        ),
        points=(
            Point(key="now", label=tell.say("{factor}"), x=inputs.world_size, y=result.factor),
        ),
        rules=(Rule(key="two", label="never reaches 2", axis="y", at=2.0),),
        handle="world_size",
        caption=tell.say(
            "The axis of GPUs is logarithmic: {few_factor} for 8 GPUs, {most_factor} for 16,384. "
            "Drag the handle."
        ),
    )
