"""Gradient buckets, turn by turn: the tiny model's real gradients, packed and summed."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import TINY_260
from engine.core.inputs import Choice, Number
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, Count
from engine.core.views import Badge, Frame, Scene, Shape, Table
from engine.draw.shapes import rect, text
from engine.tiny.bucket_record import BucketRecord, StreamTurn, bucket_record
from engine.tiny.layout import part_names, part_range

_LEFT, _WIDTH = 74.0, 458.0
_SCALE = (_WIDTH - _LEFT - 6) / 260
_TOP, _ROW, _FONT = 92.0, 44.0, 15.0
_OPACITY = {"none": "0", "local": "0.2", "moving": "0.75", "summed": "0.6"}


def bucket_scene(record: BucketRecord) -> Scene:
    """Return the animation: a frame per turn of the two streams, then the single-GPU comparison."""
    ground = [*_part_labels(), *_brackets(record), *_row_labels(record)]
    frames = [
        Frame(caption=_caption(record, turn), shapes=(*ground, *_state_shapes(record, turn)))
        for turn in record.turns
    ]
    everything = frozenset(range(260))
    last = StreamTurn(
        part="", bucket=-1, ready=everything, summed=everything, sent=record.turns[-1].sent
    )
    off = "less than 1e-14" if record.off < 1e-14 else f"up to {format_significant(record.off, 2)}"
    end = say(
        "All {n} sums are there, on every GPU, and the optimizer may start. Each GPU has sent {s} "
        f"numbers. The sums differ from the gradients of one GPU by {typeset(off)} of the largest.",
        n=(260, COUNT),
        s=(last.sent, COUNT),
    )
    frames.append(Frame(caption=end, shapes=(*ground, *_state_shapes(record, last))))
    return Scene(
        title="A backward pass in buckets, turn by turn",
        width=_WIDTH,
        height=_TOP + len(record.local) * _ROW + 92,
        frames=tuple(frames),
        opening=min(1, len(frames) - 1),
        caption="The strip of each GPU is the gradient of all 260 parameters, in the order of the "
        "model. Pale: its own gradient. Orange: on the wire. Full: the sum. Of each part one "
        "number is shown, times a thousand.",
    )


def _x_of(index: float) -> float:
    return _LEFT + index * _SCALE


def _part_labels() -> list[Shape]:
    shapes = []
    for part in part_names(TINY_260):
        indices = part_range(TINY_260, part)
        middle = _x_of((indices.start + indices.stop) / 2)
        name = "embed" if part == "embedding" else part
        shapes.append(text(f"part {part}", middle, 18, 15, name))
        shapes.append(
            rect(f"edge {part}", (_x_of(indices.start), 26), (1.5, 8), "cell done c-muted", ())
        )
    return shapes


def _runs(indices: Iterable[int]) -> list[tuple[int, int]]:
    """Return stretches of neighboring places as (first, behind the last)."""
    runs: list[tuple[int, int]] = []
    for index in sorted(indices):
        if runs and runs[-1][1] == index:
            runs[-1] = runs[-1][0], index + 1
        else:
            runs.append((index, index + 1))
    return runs


def _brackets(record: BucketRecord) -> list[Shape]:
    """Return brackets over the parameters of each bucket, numbered where there is room."""
    shapes = []
    for number, bucket in enumerate(record.buckets, start=1):
        start, stop = _runs(bucket.places)[0]
        width = (stop - start) * _SCALE
        links = (("data-links", f"bucket:{number}"), ("fill-opacity", "0.25"))
        shapes.append(
            rect(f"pack{number}", (_x_of(start) + 1, 40), (width - 2, 24), "cell c-data", links)
        )
        label = f"{number}" if width > 12 else ""
        shapes.append(text(f"packed{number}", _x_of((start + stop) / 2), 57, 14, label))
    shapes.append(text("packs", 2, 57, 14, "bucket", "start"))
    return shapes


def _row_labels(record: BucketRecord) -> list[Shape]:
    shapes = [
        text(f"gpu{rank}", 2, _TOP + rank * _ROW + 24, 15, f"GPU {rank}", "start")
        for rank in range(len(record.local))
    ]
    bottom = _TOP + len(record.local) * _ROW + 10
    for row, name in enumerate(("compute", "network")):
        shapes.append(text(f"lane{row}", 2, bottom + row * 38 + 22, 15, name, "start"))
    return shapes


def _state_shapes(record: BucketRecord, turn: StreamTurn) -> list[Shape]:
    shapes: list[Shape] = []
    moving = frozenset(record.buckets[turn.bucket].places) if turn.bucket >= 0 else frozenset()
    for rank, gradients in enumerate(record.local):
        top = _TOP + rank * _ROW
        for number, bucket in enumerate(record.buckets):
            for part in part_names(TINY_260):
                indices = set(bucket.places) & set(part_range(TINY_260, part))
                if indices:
                    shapes.append(_piece(f"{rank}.{number}.{part}", top, indices, turn, moving))
        for part in part_names(TINY_260):
            index = part_range(TINY_260, part).start + 5
            ready, summed = index in turn.ready, index in turn.summed
            value = record.sums[index] if summed else gradients[index]
            label = typeset(format_significant(value * 1e3, 3)) if ready else ""
            middle = sum(part_range(TINY_260, part)) / len(part_range(TINY_260, part)) + 0.5
            shapes.append(text(f"n{rank}.{part}", _x_of(middle), top + 25, _FONT, label))
    return [*shapes, *_lanes(record, turn)]


def _piece(
    key: str, top: float, indices: set[int], turn: StreamTurn, moving: frozenset[int]
) -> Shape:
    start, stop = _runs(indices)[0]
    look = "local" if indices <= turn.ready else "none"
    if indices <= turn.summed:
        look = "summed"
    elif indices <= moving:
        look = "moving"
    color = "communication" if look == "moving" else "gradients"
    size = ((stop - start) * _SCALE - 1, _ROW - 10)
    more = (("fill-opacity", _OPACITY[look]),)
    return rect(f"g{key}", (_x_of(start) + 0.5, top + 2), size, f"cell c-{color}", more)


def _lanes(record: BucketRecord, turn: StreamTurn) -> list[Shape]:
    bottom = _TOP + len(record.local) * _ROW + 10
    bucket = f"all-reduce, bucket {turn.bucket + 1}" if turn.bucket >= 0 else ""
    rows = (
        ("compute", f"backward, {turn.part}" if turn.part else ""),
        ("communication", bucket),
    )
    shapes = []
    for row, (color, label) in enumerate(rows):
        top = bottom + row * 38
        more = (("fill-opacity", "0.55" if label else "0.06"),)
        size = (_WIDTH - _LEFT - 6, 30.0)
        shapes.append(rect(f"box{row}", (_LEFT, top), size, f"cell c-{color}", more))
        words = label or "idle"
        kind = "c-ink" if label else "c-muted"
        shapes.append(text(f"box text{row}", (_LEFT + _WIDTH) / 2, top + 21, 16, words, kind=kind))
    return shapes


def _caption(record: BucketRecord, turn: StreamTurn) -> Text:
    size = len(record.buckets[turn.bucket].places) if turn.bucket >= 0 else 0
    wire = (
        f"The network sums bucket {turn.bucket + 1}, {{s}} numbers, over all GPUs."
        if turn.bucket >= 0
        else "No bucket is complete, so the network waits."
    )
    if not turn.part:
        return say(
            f"The backward pass has ended. {wire} Nothing is left to compute: this turn is "
            "exposed.",
            s=(size, COUNT),
        )
    work = f"Every GPU runs the backward pass of the {turn.part}".replace("the layer", "layer")
    return say(f"{work} on its own sequences. {wire}", s=(size, COUNT))


TITLE = "A backward pass in buckets"
QUESTION = "Which gradients can travel while others are still computed?"
HEADLINE = "exposed"
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
    """The calculator's inputs."""

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
    """The backward pass and its exposed reductions."""

    record: BucketRecord
    buckets: Annotated[
        Count,
        Output(
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
        Output(
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
        Output(
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
    record = bucket_record(inputs.ranks, inputs.capacity, ready=inputs.order == "ready")
    return Result(
        record=record,
        buckets=len(record.buckets),
        exposed=record.exposed,
        hidden=len(record.buckets) - record.exposed,
        sent=record.turns[-1].sent,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "scene": partial(bucket_scene, result.record),
        "equal": _equality_badge(present, result.record.off),
        **present.values("exposed", "buckets", "sent"),
        "follow": partial(_follow_table, result.record),
    }


def _equality_badge(present: Presenter, off: float) -> Badge:
    bound = "less than 1e-14" if off < 1e-14 else f"up to {format_significant(off, 2)}"
    return Badge(
        text="Equal to one GPU" if off < 1e-12 else "Not equal",
        sentence=present.say(
            f"The {{size}} sums differ by {typeset(bound)} of the largest from the gradients of "
            "one GPU with all sequences."
        ),
        color="gradients" if off < 1e-12 else "communication",
    )


def _follow_table(record: BucketRecord) -> Table:
    """Return the table of a gradient element per bucket: by GPU, and the sum."""
    ranks = range(len(record.local))
    rows = []
    for number, bucket in enumerate(record.buckets[:12], start=1):
        index = bucket.places[0]
        rows.append(
            (
                f"bucket {number}",
                f"{index + 1}",
                *(_digits(record.local[rank][index]) for rank in ranks),
                _digits(record.sums[index]),
            )
        )
    more = len(record.buckets) - len(rows)
    return Table(
        title="The first number of every bucket",
        columns=("Bucket", "Place", *(f"GPU {rank}" for rank in ranks), "Sum"),
        rows=tuple(rows),
        caption="Add them up." + (f" {more} more buckets are left out." if more else ""),
        links=tuple((f"bucket:{number + 1}",) for number in range(len(rows))),
    )


def _digits(value: float) -> str:
    return typeset(f"{value:.6g}")
