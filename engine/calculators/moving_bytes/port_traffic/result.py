"""Port traffic: what the reader can change, and what ports carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.transports import INFINIBAND
from engine.core.inputs import BILLIONS, Number
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.form.fields import StepLatency
from engine.formulas.communication import (
    in_network_bytes_sent,
    ring_bytes_sent,
    star_bytes_sent,
    tree_bytes_sent,
)
from engine.formulas.lower_bound import (
    all_reduce_factor,
    exchange_total_bytes,
    ring_latency_part,
    ring_total_bytes,
    star_port_bytes,
)
from engine.formulas.overlap import gradient_size

ELEMENT = 2.0
LOW, HIGH, MANY = 2, 16_384, 1024
COLUMN = tuple(sorted({round(LOW * (HIGH / LOW) ** (i / 80)) for i in range(81)}))
# The number of GPUs and the buffer that a published text compares, and its two cluster sizes.
FEW, BUFFER = 8, 14e9
SMALL, LARGE = 128, 16_384


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
class Claimed:
    """What a published text speaks of: `FEW` GPUs with a `BUFFER`, `SMALL` and `LARGE` clusters."""

    star_port: Bytes
    ring_port: Bytes
    factors: tuple[Ratio, Ratio]
    latencies: tuple[Seconds, Seconds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What ports carry, in buffers and in bytes, and what a ring waits for messages.

    `carried` is what the busiest port sends, and receives, and what all ports together send.
    """

    carried: Mapping[str, tuple[Bytes, Bytes]]
    claimed: Claimed

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
    ring, root = ring_bytes_sent(size, n), star_bytes_sent(size, n)
    return Result(
        carried={
            "ring": (ring, ring_total_bytes(size, n)),
            "tree": (tree_bytes_sent(size, n), ring_total_bytes(size, n)),
            "star": (root, 2 * root),
            "everybody": (root, exchange_total_bytes(size, n)),
        },
        claimed=Claimed(
            star_port=star_port_bytes(BUFFER, FEW),
            ring_port=ring_bytes_sent(BUFFER, FEW),
            factors=(all_reduce_factor(SMALL), all_reduce_factor(LARGE)),
            latencies=(
                ring_latency_part(SMALL, inputs.latency),
                ring_latency_part(LARGE, inputs.latency),
            ),
        ),
        factor=all_reduce_factor(n),
        many_factor=all_reduce_factor(MANY),
        gradient_size=size,
        ring_port=ring,
        star_port=star,
        star_half=star / 2,
        ring_latency=ring_latency_part(n, inputs.latency),
        few_factor=all_reduce_factor(8),
        most_factor=all_reduce_factor(HIGH),
        factors=tuple(map(all_reduce_factor, COLUMN)),
        switch_factors=tuple(in_network_bytes_sent(1.0, n) for n in COLUMN),
    )
