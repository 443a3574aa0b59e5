"""Gradient buckets, turn by turn: the tiny model's real gradients, packed and summed."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.numbers import significant, typeset
from engine.core.outputs import Teller, Told, Views
from engine.core.units import COUNT, Count
from engine.core.views import Badge, Table
from engine.draw.bucket_strip import bucket_scene
from engine.tiny.bucket_record import BucketRecord, bucket_record

TITLE = "A backward pass in buckets"
QUESTION = "Which gradients can travel while others are still computed?"
PRESETS = {
    "One bucket: nothing overlaps": {"capacity": 260},
    "Every tensor alone": {"capacity": 1},
    "Packed in the order of the model": {"order": "registered"},
}
ORDERS = {
    "ready": "as they become ready",
    "registered": "as the model lists them",
}
_TURNS = (
    "A turn is the backward pass of one part of the model, or one all-reduce: both are taken to "
    "be equally long here.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    capacity: Annotated[
        int,
        Number(
            label="Bucket capacity, numbers",
            low=1,
            high=260,
            whole=True,
            help="The tensor that reaches it closes the bucket. Tensors are never split.",
        ),
    ] = 64
    order: Annotated[str, Choice(label="Packed", options=ORDERS)] = "ready"
    ranks: Annotated[int, Number(label="GPUs", low=2, high=4, whole=True, symbol="n")] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The backward pass and what it waits for."""

    found: BucketRecord
    buckets: Annotated[
        Count,
        Told(
            "Buckets",
            "",
            "all-reduces in the step",
            "communication",
            assumes=_TURNS,
            sources=("li2020",),
            basis="simulated",
        ),
    ]
    exposed: Annotated[
        Count,
        Told(
            "Exposed turns",
            "",
            "of {buckets} that communicate",
            "communication",
            assumes=_TURNS,
            basis="simulated",
        ),
    ]
    hidden: Count
    sent: Annotated[
        Count,
        Told(
            "Sent by each GPU",
            "",
            "numbers, with the zeros that fill up each bucket",
            "communication",
            assumes=("A ring cuts each bucket in equal parts and fills up the last one.",),
            sources=("patarasuk2009",),
            basis="simulated",
        ),
    ]
    size: Annotated[int, COUNT] = 260


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    found = bucket_record(inputs.ranks, inputs.capacity, ready=inputs.order == "ready")
    return Result(
        found=found,
        buckets=len(found.buckets),
        exposed=found.exposed,
        hidden=len(found.buckets) - found.exposed,
        sent=found.turns[-1].sent,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "scene": partial(bucket_scene, result.found),
        "equal": _equal(tell, result.found.off),
        **tell.values("exposed", "buckets", "sent"),
        "follow": partial(_follow, result.found),
    }


def _equal(tell: Teller, off: float) -> Badge:
    bound = "less than 1e-14" if off < 1e-14 else f"up to {significant(off, 2)}"
    return Badge(
        text="Equal to one GPU" if off < 1e-12 else "Not equal",
        sentence=tell.say(
            f"The {{size}} sums differ by {typeset(bound)} of the largest from the gradients of "
            "one GPU with all sequences."
        ),
        color="gradients" if off < 1e-12 else "communication",
    )


def _follow(found: BucketRecord) -> Table:
    """Return one number of every bucket: each GPU's gradient, and the sum."""
    ranks = range(len(found.local))
    rows = []
    for number, bucket in enumerate(found.buckets[:12], start=1):
        place = bucket.places[0]
        rows.append(
            (
                f"bucket {number}",
                f"{place + 1}",
                *(_digits(found.local[rank][place]) for rank in ranks),
                _digits(found.sums[place]),
            )
        )
    more = len(found.buckets) - len(rows)
    return Table(
        title="The first number of every bucket",
        columns=("Bucket", "Place", *(f"GPU {rank}" for rank in ranks), "Sum"),
        rows=tuple(rows),
        caption="Add them up." + (f" {more} more buckets are left out." if more else ""),
        links=tuple((f"bucket:{number + 1}",) for number in range(len(rows))),
    )


def _digits(value: float) -> str:
    return typeset(f"{value:.6g}")
