"""A step of sharded training as a scene: the recorded numbers of every rank, phase by phase."""

from collections.abc import Sequence

from engine.core.numbers import significant, typeset
from engine.core.text import Text, say
from engine.core.units import COUNT
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import text
from engine.draw.sharded_shapes import (
    LINES,
    Sheet,
    load_shape,
    number_shapes,
    rank_shapes,
    sheet_for,
    strip_shapes,
)
from engine.tiny.trace import Snapshot

_EXCHANGED = 2  # the frame in which the gradients have been exchanged


def sharded_scene(
    trace: Sequence[Snapshot], alone: Sequence[float], place: int, *, sharded: bool
) -> Scene:
    """Return the frames of one step, and a last one that compares with a single GPU.

    Args:
        trace: the phases of one step on at most eight ranks.
        alone: the parameters of a single GPU after the same step.
        place: which number of every share is shown.
        sharded: whether the optimizer states are (stage 1), or all ranks have all.
    """
    ranks, size = len(trace[0].ranks), len(alone)
    sheet = sheet_for(ranks, size, place)
    ground = [*strip_shapes(sheet), *(s for rank in range(ranks) for s in rank_shapes(sheet, rank))]
    most = max(1, *(_sent(trace[-1], rank) for rank in range(ranks)))
    frames = []
    before: Snapshot | None = None
    for now in trace:
        cells = _cells(sheet, before, now, sharded=sharded)
        loads = [load_shape(sheet, rank, _sent(now, rank) / most) for rank in range(ranks)]
        shapes = (*ground, *loads, *cells, *_single(sheet, alone, shown=False))
        frames.append(Frame(caption=_caption(now, sheet, sharded=sharded), shapes=shapes))
        before = now
    last = frames[-1].shapes[: len(ground) + ranks]
    cells = _cells(sheet, trace[-1], trace[-1], sharded=sharded)
    shapes = (*last, *cells, *_single(sheet, alone, shown=True))
    frames.append(Frame(caption=_comparison(trace[-1], alone), shapes=shapes))
    return Scene(
        title="One training step, phase by phase",
        width=sheet.width,
        height=sheet.height,
        frames=tuple(frames),
        opening=min(_EXCHANGED, len(frames) - 1),
        caption="Of every GPU's share one number is shown, marked on the strip: parameter p, "
        "gradient g, and the two moments of Adam, m and v. A thick border marks what changed. The "
        "bar under a GPU is what it has sent.",
    )


def _sent(now: Snapshot, rank: int) -> int:
    return sum(numbers[rank] for numbers in now.sent.values())


def _cells(sheet: Sheet, before: Snapshot | None, now: Snapshot, *, sharded: bool) -> list[Shape]:
    shapes: list[Shape] = []
    for rank, own in enumerate(now.ranks):
        for line, (name, _, _, power) in enumerate(LINES):
            numbers = getattr(own, name)
            old = getattr(before.ranks[rank], name) if before else numbers
            for column in range(sheet.ranks):
                place = sheet.shown(column)
                value = numbers[place] if place < sheet.size else None
                look = "none" if value is None else "held"
                if name == "gradients" and value is not None:
                    look = _gradient_look(now, rank == column, sharded=sharded)
                if value is not None and look == "held" and old[place] != value:
                    look = "new"
                label = "" if look == "none" or value is None else _number(value, power)
                shapes += number_shapes(sheet, (rank, line, column), label, look)
    return shapes


def _gradient_look(now: Snapshot, own: bool, *, sharded: bool) -> str:
    """Return how a gradient is drawn: not there yet, in use, or a part that was passed on."""
    if now.phase == "start":
        return "none"
    used = now.phase == "backward" or not sharded or own
    return "held" if used else "old"


def _number(value: float, power: int) -> str:
    scaled = value * 10**power
    if power == 0:
        shown = f"{scaled:.4f}"
    else:
        shown = significant(scaled, 3) if abs(scaled) >= 1e-4 else "0"
    return typeset(shown)


def _single(sheet: Sheet, alone: Sequence[float], *, shown: bool) -> list[Shape]:
    """Return the row of the single GPU; until the comparison it is not seen."""
    top = sheet.top + sheet.ranks * sheet.block
    rows = [text("one", 2, top + 0.72 * sheet.line, sheet.font, "1 GPU", "start")]
    rows.append(
        text(
            "one.p",
            3.9 * sheet.font,
            top + 0.72 * sheet.line,
            0.95 * sheet.font,
            "p",
            "start",
            "c-parameters",
        )
    )
    for column in range(sheet.ranks):
        place = sheet.shown(column)
        middle = sheet.left + (column + 0.5) * sheet.column
        label = _number(alone[place], 0) if place < sheet.size else ""
        rows.append(text(f"one{column}", middle, top + 0.72 * sheet.line, sheet.font, label))
    return [
        Shape(
            key=row.key,
            tag=row.tag,
            attributes={**row.attributes, "opacity": "1" if shown else "0"},
            text=row.text,
        )
        for row in rows
    ]


def _caption(now: Snapshot, sheet: Sheet, *, sharded: bool) -> Text:
    size = (sheet.size, COUNT)
    sent = (_sent(now, 0), COUNT)
    if now.phase == "start":
        states = (
            "Of Adam's moments m and v each GPU has only those of its own share, {each} each."
            if sharded
            else "Each also has all of Adam's moments, m and v."
        )
        return say(
            f"Step {now.step} begins: all GPUs hold the same {{size}} parameters p. {states}",
            size=size,
            each=(sheet.each, COUNT),
        )
    if now.phase == "backward":
        return say(
            "Forward and backward: each GPU has worked on its own sequences and now holds {size} "
            "gradients g. They differ from GPU to GPU.",
            size=size,
        )
    captions = {
        "reduce_scatter": "Reduce-scatter: the gradients are summed, and each sum ends at the GPU "
        "that owns the place. What is left elsewhere is no longer needed. {sent} numbers sent "
        "per GPU so far.",
        "all_reduce": "All-reduce: the gradients are summed, and every GPU gets every sum. {sent} "
        "numbers sent per GPU so far.",
        "adam": "Adam runs on each GPU for its own {each} places only, and changes those "
        "parameters. The others are still the old ones."
        if sharded
        else "Adam runs on every GPU for all {size} places: the same work, and the same states, on "
        "each of them.",
        "all_gather": "All-gather: each owner passes its new parameters to all others. {sent} "
        "numbers sent per GPU so far, as many as an all-reduce takes.",
    }
    return say(captions[now.phase], size=size, sent=sent, each=(sheet.each, COUNT))


def _comparison(now: Snapshot, alone: Sequence[float]) -> Text:
    largest = max(
        abs((number or 0.0) - other)
        for own in now.ranks
        for number, other in zip(own.parameters, alone, strict=True)
    )
    # The last digits are the rounding of sums in another order, and not the same everywhere.
    how = typeset("less than 1e-14" if largest < 1e-14 else f"up to {significant(largest, 2)}")
    return say(
        "Compared: one GPU has trained on all sequences. Over all GPUs and all {size} places its "
        f"parameters differ by {how}.",
        size=(len(alone), COUNT),
    )
