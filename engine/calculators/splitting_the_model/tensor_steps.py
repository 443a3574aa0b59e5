"""Two matrix products on several GPUs, number by number, forward and backward."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Switch
from engine.core.numbers import typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, Bytes, Count
from engine.core.views import Badge, Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.formulas.axes import HALF, TENSOR_LAYER_BYTES, tensor_layer_bytes
from engine.formulas.volumes import tensor_passes
from engine.tiny.two_products import (
    HIDDEN,
    INNER,
    TOKENS,
    Grid,
    ProductPhase,
    assemble_matrix,
    count_activations,
    count_wrong,
    two_products,
)

_CELL, _LINE, _FONT = 35.0, 22.0, 16.0
_LEFT, _TOP, _GAP = 4.0, 24.0, 28.0
_SIDE = HIDDEN * _CELL
_MIDDLE = _LEFT + _SIDE + _GAP
_RIGHT = _MIDDLE + INNER * _CELL + _GAP
_BELOW = _TOP + INNER * _LINE + _GAP
_WIDTH, _HEIGHT = _RIGHT + _SIDE + 4, _BELOW + TOKENS * _LINE + 6
# Where each matrix stands, as in a product written out: right of its left factor, under its right.
_CORNERS = {
    "X": (_LEFT, _BELOW),
    "A": (_MIDDLE, _TOP + (INNER - HIDDEN) * _LINE),
    "Y": (_MIDDLE, _BELOW),
    "B": (_RIGHT, _TOP),
    "Z": (_RIGHT, _BELOW),
}
_WEIGHTS = ("A", "B")
_SHARED = 0.06  # how strongly the place of a number is drawn that this GPU does not hold

_SAID = {
    "start": ("", "The block begins. GPU {rank} has {x} of X, {columns} of A and {rows} of B."),
    "enter": ("f", "No message: every GPU has all of X already."),
    "column": (
        "X A",
        "Each GPU multiplies X with its own columns of A, and gets the same columns of the result.",
    ),
    "relu": ("ReLU", "Each number by itself, so no GPU needs another: negative ones become 0."),
    "row": (
        "Y B",
        "Each GPU multiplies its columns of Y with its own rows of B. Z has its full "
        "shape on each of them, and is only a part of the sum.",
    ),
    "leave": ("g", "All-reduce: the parts of Z are added, and every GPU gets all sums."),
    "dropout": (
        "dropout",
        "Some numbers become 0, the others are doubled. Every GPU does the same "
        "work on the same numbers, and all must drop the same ones.",
    ),
    "loss": ("", "The way back. The gradient of the result arrives, on every GPU the same."),
    "undropped": ("dropout", "What was dropped has no gradient; the rest is doubled."),
    "left": (
        "g",
        "No message: every GPU has the gradient of Z already. Backward, g does what f "
        "did forward: nothing.",
    ),
    "second": (
        "Y B",
        "Each GPU gets the gradient of its own rows of B and of its own columns of Y.",
    ),
    "unrelu": ("ReLU", "Where Y was 0 there is no gradient."),
    "again": ("", "The gradient of A needs X. Every GPU has kept it."),
    "first": (
        "X A",
        "Each GPU gets the gradient of its own columns of A. Its gradient of X is "
        "only a part of the sum.",
    ),
    "entered": (
        "f",
        "All-reduce: the parts of the gradient of X are added. Backward, f does what "
        "g did forward.",
    ),
}
_SEQUENCE = {
    "enter": ("gather", "All-gather: the rows of X come together on every GPU."),
    "leave": (
        "scatter",
        "Reduce-scatter: the parts of Z are added, and each GPU gets the sums of "
        "its own rows. What was gathered of X is freed.",
    ),
    "dropout": ("dropout", "Each GPU works on its own rows, and keeps only those."),
    "loss": ("", "The way back. Each GPU has the gradient of its own rows."),
    "left": ("gather", "All-gather: where the forward pass scattered, the backward pass gathers."),
    "again": (
        "gather",
        "All-gather, once more: the gradient of A needs all of X, and each GPU "
        "has kept only its rows.",
    ),
    "entered": (
        "scatter",
        "Reduce-scatter: the parts of the gradient of X are added, each row on its own GPU.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Contents of the drawing.

    Attributes:
        moments: of the two products.
        rank: whose numbers are shown.
        sequence: the rows are split between the cut regions.
    """

    moments: tuple[ProductPhase, ...]
    rank: Count
    sequence: bool


def cut_scene(cut: Cut) -> Scene:
    """Return a scene with a frame for each phase."""
    frames = tuple(
        Frame(
            caption=_caption(cut, now),
            shapes=(*_names(cut, now), *_numbers(now, cut.rank), *_tiles(now, cut.rank)),
        )
        for now in cut.moments
    )
    return Scene(
        title="Two products on several GPUs, step by step",
        width=_WIDTH,
        height=_HEIGHT,
        frames=frames,
        opening=2,
        caption="A product stands where the rows of one matrix meet the columns of the other. "
        "Filled places are on the GPU whose numbers are shown, empty places on others. The small "
        "pictures show X, Y and Z on every GPU.",
    )


def _caption(cut: Cut, now: ProductPhase) -> Text:
    _, words = (_SEQUENCE if cut.sequence else {}).get(now.phase, _SAID[now.phase])
    ranks = len(now.held)
    if now.phase == "start":
        each = INNER // ranks
        noun = "row" if TOKENS // ranks == 1 else "rows"
        x = f"{TOKENS // ranks} {noun}" if cut.sequence else "all rows"
        part = (f"{each} columns", f"{each} rows") if each > 1 else ("one column", "one row")
        words = words.replace("{x}", x).replace("{columns}", part[0]).replace("{rows}", part[1])
        return say(words, rank=(cut.rank, COUNT))
    if ranks == 1 and now.phase in ("enter", "leave", "left", "again", "entered"):
        words = "One GPU has everything: nothing to send."
    return say(f"{words} {{sent}} numbers sent by each GPU so far.", sent=(now.sent[0], COUNT))


def _names(cut: Cut, now: ProductPhase) -> list[Shape]:
    """Return a name over each matrix, and that of the step."""
    shapes = []
    for name, (x, y) in _CORNERS.items():
        color, words = _color(now, name), f"d{name}" if name in now.gradients else name
        if name == now.part:
            words += ", a part"
        wide = _SIDE if name in ("X", "B", "Z") else INNER * _CELL
        kind = f"c-{color}"
        shapes.append(text(f"name {name}", x + wide / 2, y - 7, _FONT, words, kind=kind))
    step = (_SEQUENCE if cut.sequence else {}).get(now.phase, _SAID[now.phase])[0]
    direction = "backward" if now.gradients else "forward"
    words = f"{direction}: {step}" if step else direction
    return [*shapes, text("step", _LEFT, 16, _FONT + 1, words, "start")]


def _color(now: ProductPhase, name: str) -> str:
    if name in now.gradients:
        return "gradients"
    return "parameters" if name in _WEIGHTS else "activations"


def _numbers(now: ProductPhase, rank: Count) -> list[Shape]:
    """Return the five matrices of a GPU."""
    shapes: list[Shape] = []
    for name, corner in _CORNERS.items():
        color, part = _color(now, name), name == now.part
        for row, numbers in enumerate(now.held[rank][name]):
            for column, number in enumerate(numbers):
                at = (corner[0] + column * _CELL, corner[1] + row * _LINE)
                shapes += _cell(f"{name}{row}.{column}", at, number, color, part)
    return shapes


@lru_cache(maxsize=8192)
def _cell(
    key: str, at: tuple[float, float], number: float | None, color: str, part: bool
) -> tuple[Shape, Shape]:
    present = number is not None
    opacity = (0.16 if part else 0.36) if present else _SHARED
    kind = f"cell c-{color if present else 'muted'}"
    size = (_CELL - 2, _LINE - 2)
    words = typeset(f"{number + 0.0:g}") if number is not None else ""
    middle = (at[0] + size[0] / 2, at[1] + size[1] / 2 + 0.36 * _FONT)
    return (
        rect(f"c{key}", at, size, kind, (("fill-opacity", f"{opacity:g}"),)),
        text(f"t{key}", *middle, _FONT, words),
    )


def _tiles(now: ProductPhase, chosen: Count) -> list[Shape]:
    """Return thumbnails of X, Y and Z for every GPU: outlines, and its own part."""
    ranks = len(now.held)
    room = (_RIGHT - _GAP - _LEFT) / 4
    shapes: list[Shape] = []
    for rank in range(ranks):
        row, column = divmod(rank, 4)
        left, top = _LEFT + column * room, 26.0 + row * 55.0
        weight = "cell done c-ink" if rank == chosen else "cell c-muted"
        shapes.append(text(f"gpu{rank}", left + 2, top + 30, _FONT, f"{rank}", "start", "c-ink"))
        x = left + 18
        for name in ("X", "Y", "Z"):
            grid = now.held[rank][name]
            size = (len(grid[0]) * 4.0, len(grid) * 6.0)
            shapes.append(rect(f"f{rank}{name}", (x, top), size, weight, (("fill-opacity", "0"),)))
            shapes.append(_filled_path(f"h{rank}{name}", (x, top), grid, _color(now, name)))
            x += size[0] + 5
    return shapes


def _filled_path(key: str, corner: tuple[float, float], grid: Grid, color: str) -> Shape:
    """Return a path over the present part of a matrix."""
    path = "".join(
        f"M{corner[0] + first * 4:g} {corner[1] + row * 6:g}h{(last - first) * 4:g}v6"
        f"h{(first - last) * 4:g}z"
        for row, numbers in enumerate(grid)
        for first, last in [_filled_range(numbers)]
        if last > first
    )
    attributes = {
        "d": path or "M0 0",
        "class": f"c-{color}",
        "fill": "currentColor",
        "fill-opacity": "0.75",
        "stroke": "none",
    }
    return Shape(key=key, tag="path", attributes=attributes)


def _filled_range(numbers: Sequence[float | None]) -> tuple[int, int]:
    """Return the present range of a row: first place, and last place exclusive."""
    columns = [column for column, number in enumerate(numbers) if number is not None]
    return (columns[0], columns[-1] + 1) if columns else (0, 0)


TITLE = "Two products on several GPUs"
QUESTION = "How do eight GPUs multiply one matrix?"
HEADLINE = "sent"
EQUATIONS = (TENSOR_LAYER_BYTES,)
PRESETS = {
    "Two GPUs": {"ranks": "2"},
    "Eight GPUs, sequence parallel": {"ranks": "8", "sequence_parallel": True},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[str, Choice(label="GPUs", options={n: n for n in ("1", "2", "4", "8")})] = "4"
    sequence_parallel: Annotated[
        bool,
        Switch(
            label="Sequence parallel",
            help="Between the cut regions each GPU keeps its own rows only.",
        ),
    ] = False
    gpu: Annotated[int, Number(label="GPU whose numbers are shown", low=0, high=7, whole=True)] = 0
    first: Annotated[
        int, Number(label="First number of X", low=-4, high=4, whole=True, symbol="x")
    ] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The two products, their sent bytes and their kept bytes."""

    moments: tuple[ProductPhase, ...]
    tokens: Annotated[Count, Output(symbol="t")] = TOKENS
    hidden: Annotated[Count, Output(symbol="h")] = HIDDEN
    element: Annotated[Bytes, Output(symbol="e")] = HALF
    num_gpus: Annotated[Count, Output(symbol="n", of="ranks")]
    passes: Annotated[Count, Output(symbol="k", of="sequence_parallel")]
    numbers: Count
    sent: Annotated[
        Bytes,
        Output(
            "Sent by each GPU",
            "",
            "{numbers} numbers, forward and backward",
            "communication",
            assumes=("Every message of the run was counted, at two bytes a number.",),
            sources=("shoeybi2019",),
            basis="simulated",
        ),
    ]
    sent_formula: Annotated[
        Bytes,
        Output(
            "By the formula",
            "V",
            "half a layer: {passes} passes around the ring",
            "communication",
        ),
    ]
    outside: Annotated[
        Count,
        Output(
            "Kept outside the two products",
            "",
            "numbers of X and of dropout's mask, on each GPU",
            "activations",
            assumes=("Kept from the forward pass for the backward pass.",),
            sources=("korthikanti2022",),
            basis="simulated",
        ),
    ]
    inside: Annotated[
        Count,
        Output(
            "Kept between the two products",
            "",
            "numbers of Y on each GPU",
            "activations",
            assumes=("Kept from the forward pass for the backward pass.",),
            sources=("korthikanti2022",),
            basis="simulated",
        ),
    ]
    wrong: Annotated[
        Count,
        Output(
            "Places of Y that would be wrong",
            "",
            "of {places}, if A were cut by rows and nothing sent before ReLU",
            "communication",
            assumes=("Two GPUs, each with one row of A, each applying ReLU to its own part.",),
            sources=("shoeybi2019",),
            basis="simulated",
        ),
    ]
    places: Count = TOKENS * 8
    off: float


def solve(inputs: Inputs) -> Result:
    """Return the run, and its largest difference from a single GPU."""
    ranks, scattered = int(inputs.ranks), inputs.sequence_parallel
    moments = two_products(ranks, sequence_parallel=scattered, first=inputs.first)
    alone = two_products(1, first=inputs.first)
    passes = tensor_passes(sequence_parallel=scattered) // 2
    outside, inside = count_activations(ranks, sequence_parallel=scattered)
    numbers = moments[-1].sent[0]
    return Result(
        moments=moments,
        num_gpus=ranks,
        passes=passes,
        numbers=numbers,
        sent=numbers * HALF,
        sent_formula=tensor_layer_bytes(TOKENS, HIDDEN, ranks, passes),
        outside=outside,
        inside=inside,
        wrong=count_wrong(inputs.first),
        off=_largest_difference(moments, alone),
    )


def _largest_difference(
    moments: tuple[ProductPhase, ...], alone: tuple[ProductPhase, ...]
) -> float:
    """Return the largest final difference between several GPUs and a single GPU."""
    ends = [(now, reference) for now, reference in zip(moments, alone, strict=True) if not now.part]
    return max(
        abs((mine or 0.0) - (other or 0.0))
        for now, reference in ends
        for name in ("X", "A", "Y", "B", "Z")
        for row in zip(assemble_matrix(now, name), assemble_matrix(reference, name), strict=True)
        for mine, other in zip(*row, strict=True)
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    cut = Cut(
        moments=result.moments,
        rank=min(inputs.gpu, result.num_gpus - 1),
        sequence=inputs.sequence_parallel,
    )
    return {
        "scene": partial(cut_scene, cut),
        "equal": _equal(present, result),
        **present.values("sent", "sent_formula", "outside", "inside", "wrong"),
    }


def _equal(present: Presenter, result: Result) -> Badge:
    same = result.off == 0
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence="After every phase in which nothing is a part of a sum, the matrices of all GPUs "
        "together are those of one GPU, to the last digit: whole numbers have no rounding."
        if same
        else present.say("A number differs from that of one GPU."),
        color="parameters" if same else "communication",
    )
