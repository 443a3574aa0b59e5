"""Port traffic: bytes per port of an all-reduce over the number of GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.transports import INFINIBAND
from engine.core.inputs import BILLIONS, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, Bytes, Count, Ratio, Seconds
from engine.core.views import (
    Cell,
    Citation,
    Line,
    Lines,
    Published,
    Rule,
    Scale,
    Table,
)
from engine.form.fields import StepLatency
from engine.formulas.communication import (
    RING_BYTES,
    in_network_bytes_sent,
    ring_bytes_sent,
    star_bytes_sent,
    tree_bytes_sent,
)
from engine.formulas.lower_bound import (
    FACTOR,
    RING_LATENCY,
    STAR_PORT,
    all_reduce_factor,
    exchange_total_bytes,
    ring_latency_part,
    ring_total_bytes,
    star_port_bytes,
)
from engine.formulas.overlap import GRADIENT_SIZE, gradient_size

ELEMENT = 2.0
LOW, HIGH, MANY = 2, 16_384, 1024
COLUMN = tuple(sorted({round(LOW * (HIGH / LOW) ** (i / 80)) for i in range(81)}))
# The number of GPUs and the buffer that a published text compares, and its two cluster sizes.
FEW, BUFFER = 8, 14e9
SMALL_CLUSTER, LARGE_CLUSTER = 128, 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    world_size: Annotated[
        int, Number(label="GPUs", low=LOW, high=HIGH, scale="log2", whole=True, symbol="n")
    ] = 8
    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e12, scale="log", symbol="P"),
    ] = 7e9
    latency: StepLatency = INFINIBAND.step


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaims:
    """Numbers behind published claims, for `FEW` GPUs and for clusters of two sizes."""

    star_port: Bytes
    ring_port: Bytes
    factors: tuple[Ratio, Ratio]
    latencies: tuple[Seconds, Seconds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Traffic per port in buffers and in bytes, and the latency of a ring.

    `carried` is what the busiest port sends, and receives, and what all ports together send.
    """

    carried: Mapping[str, tuple[Bytes, Bytes]]
    claimed: PublishedClaims

    factor: Annotated[
        Ratio,
        Output(
            "Every port sends",
            "f",
            "the buffer of {gradient_size}",
            "communication",
            assumes=("Ranks add, not switches; every rank starts with a whole buffer.",),
        ),
    ]
    many_factor: Annotated[
        Ratio,
        Output(
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
        Output(
            "Buffer",
            "S",
            "gradients in bf16",
            "gradients",
            assumes=("Gradients in bf16, two bytes each.",),
            of="parameters",
        ),
    ]
    element: Annotated[Bytes, Output(symbol="e")] = ELEMENT
    ring_port: Annotated[
        Bytes,
        Output(
            "Through each port of a ring",
            "V",
            "out, and as much in at the same time",
            "communication",
            assumes=("Out; as much comes in meanwhile.",),
        ),
    ]
    star_port: Annotated[
        Bytes,
        Output(
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
        Output(
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
    """Return the traffic per port."""
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
        claimed=PublishedClaims(
            star_port=star_port_bytes(BUFFER, FEW),
            ring_port=ring_bytes_sent(BUFFER, FEW),
            factors=(all_reduce_factor(SMALL_CLUSTER), all_reduce_factor(LARGE_CLUSTER)),
            latencies=(
                ring_latency_part(SMALL_CLUSTER, inputs.latency),
                ring_latency_part(LARGE_CLUSTER, inputs.latency),
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


_NAMES = {
    "ring": "Ring",
    "tree": "Double binary tree",
    "star": "Star, at its root",
    "everybody": "Everybody to everybody",
}


def algorithm_table(inputs: Inputs, result: Result) -> Table:
    """Return the table of traffic on the busiest port and on all ports, by algorithm."""
    return Table(
        title="Whose port carries what",
        columns=(
            "Algorithm",
            "Busiest port: out",
            "Busiest port: in",
            "All ports together",
            "Grows with",
        ),
        rows=tuple(_row(name, *carried) for name, carried in result.carried.items()),
        caption=say(
            "{n} GPUs, a buffer of {s} each. In a star, out can start only when all is in; in the "
            "others both go on at once.",
            n=(inputs.world_size, COUNT),
            s=(result.gradient_size, BYTES),
        ),
    )


def _row(name: str, port: Bytes, total: Bytes) -> tuple[Text, ...]:
    cells = (say("{x}", x=(value, BYTES)) for value in (port, port, total))
    return (_NAMES[name], *cells, "O(n²)" if name == "everybody" else "O(n)")


def claim_table(inputs: Inputs, claimed: PublishedClaims) -> Table:
    """Return the table of four published statements, their omissions, and the numbers."""
    here = Citation(("pingdo_sync",))
    rows: tuple[tuple[Cell, ...], ...] = (
        (
            "A star costs O(n²). Its root moves 2(n − 1) buffers, all its ports together too: O(n)",
            say(
                "{r} at the root, {p} at a port of a ring",
                r=(claimed.star_port, BYTES),
                p=(claimed.ring_port, BYTES),
            ),
            "wrong (E3.12)",
            here,
        ),
        (
            "A ring takes 2(n − 1) steps. As every run above counts",
            say("{n} for {k} GPUs", n=(2 * (FEW - 1), COUNT), k=(FEW, COUNT)),
            "right (E3.13)",
            here,
        ),
        (
            "Its time is 2(n − 1)/n · M/B. That is the part of the bytes; the steps are missing",
            say(
                "{t} of steps for {n} GPUs",
                n=(LARGE_CLUSTER, COUNT),
                t=(claimed.latencies[1], SECONDS),
            ),
            "incomplete (E3.14)",
            here,
        ),
        (
            say(
                "{a} or {b} GPUs: only about twice the size. The bytes, yes; not the steps",
                a=(SMALL_CLUSTER, COUNT),
                b=(LARGE_CLUSTER, COUNT),
            ),
            say(
                "{f} and {t}; {g} and {u}",
                f=(claimed.factors[0], RATIO),
                g=(claimed.factors[1], RATIO),
                t=(claimed.latencies[0], SECONDS),
                u=(claimed.latencies[1], SECONDS),
            ),
            "misleading (E3.15)",
            here,
        ),
    )
    return Table(
        title="Four published statements",
        columns=("Published, and what it leaves out", "Computed", "Verdict", "Source"),
        rows=rows,
        caption=say(
            "First row: {n} GPUs, {s} each; of the root's bytes half go in, then half out, while a "
            "ring's port does both at once. {a} per step.",
            n=(FEW, COUNT),
            s=(BUFFER, BYTES),
            a=(inputs.latency, SECONDS),
        ),
    )


TITLE = "Traffic per port"
QUESTION = "How much does every GPU send, and how does that grow with their number?"
HEADLINE = "factor"
EQUATIONS = (FACTOR, RING_BYTES, STAR_PORT, RING_LATENCY, GRADIENT_SIZE)
PRESETS = {
    "Two GPUs": {"world_size": 2},
    "1,024 GPUs": {"world_size": 1024},
    "A published text: 16,384 GPUs": {"world_size": 16_384},
}
_STAR_CLAIM = Published(
    text="a published text gives a star O(n²) communication complexity",
    reason="The root moves 2(n - 1) buffers, and so do all ports of it together: O(n).",
    source="pingdo_sync",
    claim="E3.12",
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "factor": present.value("factor"),
        "many_factor": present.value("many_factor", symbols={"n": "many"}),
        "factor_curve": partial(_curve, present, inputs, result),
        "gradient_size": present.value("gradient_size"),
        "ring_port": present.value("ring_port"),
        "star_port": present.value("star_port", equation=STAR_PORT, published=_STAR_CLAIM),
        "ring_latency": present.value("ring_latency"),
        "bound": present.formula("The bytes of one port, with these numbers", RING_BYTES),
        "comparison": partial(algorithm_table, inputs, result),
        "claims": partial(claim_table, inputs, result.claimed),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Bytes through each port, over the size of the buffer",
        over=Scale("world_size", "GPUs", LOW, HIGH, log=True),
        shows=Scale("factor", "times the buffer", 0.0, 2.4),
        x=COLUMN,
        lines=(
            Line("factor", "the least, as in a ring", result.factors, "communication"),
            Line("switch", "if the switch adds", result.switch_factors, "data", dashed=True),
        ),
        rules=(Rule(key="two", label="never reaches 2", axis="y", at=2.0),),
        caption=present.say(
            "The axis of GPUs is logarithmic: {few_factor} for 8 GPUs, {most_factor} for 16,384. "
            "Drag the handle."
        ),
    )
