"""Token exchange: a few GPUs, eight experts, and the matrix of copies that they send each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, Bytes, Count, Ratio
from engine.core.views import Frame, Heatmap, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.layer.router import Router, Row
from engine.simulate.layer.token_matrix import (
    CopyMatrix,
    received_copies,
    received_imbalance,
    sent_copies,
    token_copies,
    transpose,
)

_WIDTH, _LEFT, _TOP, _SIDE, _BARS = 372.0, 62.0, 58.0, 300.0, 70.0
_FONT = 14.0
_STAGES = ("route", "count", "dispatch", "compute", "combine")


def exchange_scene(matrix: CopyMatrix, out: Bytes, back: Bytes) -> Scene:
    """Return the five steps of an exchange; `out` and `back` are the bytes of a copy."""
    frames = tuple(
        Frame(caption=caption, shapes=tuple(_shapes(matrix, stage)))
        for stage, caption in zip(_STAGES, _captions(matrix, out, back), strict=True)
    )
    return Scene(
        title="Five steps of an exchange",
        width=_WIDTH,
        height=_TOP + _SIDE + _BARS + 42,
        frames=frames,
        opening=1,
        caption="Rows send to columns; a cell holds the number of token copies. Cells on the "
        "diagonal stay on their GPU. The bars are what each GPU's experts work on.",
    )


def _captions(matrix: CopyMatrix, out: Bytes, back: Bytes) -> tuple[Text, ...]:
    moved = sum(sent_copies(matrix))
    return (
        say(
            "Step 1 of 5, route: each GPU knows which experts its own tokens want, {n} copies of "
            "them each.",
            n=(sum(matrix[0]), COUNT),
        ),
        "Step 2 of 5, count: each GPU counts its copies by target, and the counts are exchanged, "
        "so that everyone knows how much will arrive.",
        say(
            "Step 3 of 5, dispatch: an all-to-all. {n} copies change GPU, {b} in all.",
            n=(moved, COUNT),
            b=(moved * out, BYTES),
        ),
        say(
            "Step 4 of 5, compute: the experts work on what has arrived. The busiest GPU has {r} "
            "the mean, and all others wait for it.",
            r=(received_imbalance(matrix), RATIO),
        ),
        say(
            "Step 5 of 5, combine: the same way back, with rows and columns swapped. {n} results "
            "return, {b} in all, and are added up by their weights.",
            n=(moved, COUNT),
            b=(moved * back, BYTES),
        ),
    )


def _shapes(matrix: CopyMatrix, stage: str) -> Iterable[Shape]:
    ranks = len(matrix)
    side = _SIDE / ranks
    shown = transpose(matrix) if stage == "combine" else matrix
    most = max(max(row) for row in matrix)
    yield _text("to", (_LEFT + _SIDE / 2, 18), "to GPU", "middle")
    yield _text("from", (4, _TOP - 12), "from GPU", "start")
    for rank in range(ranks):
        middle = _LEFT + (rank + 0.5) * side
        yield _text(f"c{rank}", (middle, _TOP - 10), f"{rank}", "middle")
        yield _text(f"r{rank}", (_LEFT - 12, _TOP + (rank + 0.5) * side + 5), f"{rank}", "end")
        for other in range(ranks):
            at = (_LEFT + other * side, _TOP + rank * side)
            yield from _cell((rank, other), at, side, shown[rank][other], (stage, most))
    counts = received_copies(matrix)
    full = max(counts)
    for rank, count in enumerate(counts):
        high = _BARS * count / full if stage in ("compute", "combine") else 0.0
        left = _LEFT + rank * side + 3
        top = _TOP + _SIDE + 12
        kind = "cell c-compute"
        opacity = {
            "fill-opacity": "0.85" if count == full else "0.45",
            "data-links": f"rank:{rank}",
        }
        yield _rect(f"bar{rank}", (left, top), (side - 6, high), kind, opacity)
        label = f"{count}" if stage in ("compute", "combine") else ""
        yield _text(f"bars{rank}", (left + side / 2 - 3, top + _BARS + 18), label, "middle")
    yield _text("work", (4, _TOP + _SIDE + 50), "work", "start")


def _cell(
    pair: tuple[Count, Count],
    at: tuple[float, float],
    side: float,
    count: Count,
    look: tuple[str, Count],
) -> Iterable[Shape]:
    """Yield a cell and its number: own copies grey, others colored once they are sent."""
    stage, most = look
    stays = pair[0] == pair[1]
    sent = stage in ("dispatch", "compute", "combine")
    kind = "c-communication" if sent and not stays else "c-activations"
    strength = 0.12 + 0.7 * count / most if sent and not stays else 0.1
    links = f"rank:{pair[0]} rank:{pair[1]}"
    yield _rect(
        f"m{pair[0]}.{pair[1]}",
        (at[0] + 1.5, at[1] + 1.5),
        (side - 3, side - 3),
        f"cell {kind}",
        {"fill-opacity": f"{strength:.2f}", "data-links": links},
    )
    label = "" if stage == "route" else f"{count}"
    yield _text(f"n{pair[0]}.{pair[1]}", (at[0] + side / 2, at[1] + side / 2 + 5), label, "middle")


def _text(key: str, at: tuple[float, float], words: str, anchor: str) -> Shape:
    return text(key, *at, _FONT, words, anchor, "value c-ink")


def _rect(
    key: str, at: tuple[float, float], size: Sequence[float], kind: str, more: Mapping[str, str]
) -> Shape:
    return rect(key, at, (size[0], size[1]), kind, tuple(more.items()))


TITLE = "Dispatch and combine, step by step"
QUESTION = "Which GPU sends how many tokens to which?"
HEADLINE = "busiest"
EQUATIONS = ()
PRESETS = {
    "A hot expert": {"favor": 2.0},
    "Eight GPUs, one expert each": {"ranks": "8"},
    "No favorites": {"favor": 0.0},
}
_EXPERTS, _HIDDEN = 8, 7168
_FP8, _HALF = 1.0, 2.0
_ASSUMES = (
    "Eight experts, on the GPUs in order; copies of 7,168 elements, out in fp8 and back in bf16.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[str, Choice(label="GPUs", options={"2": "2", "4": "4", "8": "8"})] = "4"
    experts_per_token: Annotated[
        int, Number(label="Experts per token", low=1, high=_EXPERTS, whole=True, symbol="k")
    ] = 2
    each: Annotated[
        int, Number(label="Tokens of a GPU", low=4, high=64, step=4, whole=True, symbol="T")
    ] = 16
    favor: Annotated[
        float,
        Number(
            label="Preference for expert 1",
            low=0.0,
            high=3.0,
            step=0.25,
            help="In logits; all other experts have 0.",
        ),
    ] = 1.5
    seed: Annotated[int, Number(label="Batch", low=1, high=100, whole=True, advanced=True)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The matrix and its sums."""

    matrix: CopyMatrix
    moved: Annotated[
        Count,
        Output(
            "Copies that change GPU",
            note="of {copies}",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    copies: Count
    busiest: Annotated[
        Bytes,
        Output(
            "Sent by the busiest GPU, out",
            note="back it gets {returned}",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
            sources=("lepikhin2021",),
        ),
    ]
    returned: Bytes
    hottest: Annotated[
        Ratio,
        Output(
            "Work of the busiest GPU",
            note="over the mean; {most} copies",
            color="compute",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    most: Count


def solve(inputs: Inputs) -> Result:
    """Return the matrix of a routed batch and its sums."""
    router = Router(
        num_experts=_EXPERTS,
        experts_per_token=inputs.experts_per_token,
        capacity_factor=0.0,
        seed=inputs.seed,
    )
    preferences: Row = (inputs.favor, *(0.0,) * (_EXPERTS - 1))
    matrix = token_copies(router, preferences, int(inputs.ranks), inputs.each)
    sent = sent_copies(matrix)
    return Result(
        matrix=matrix,
        moved=sum(sent),
        copies=sum(map(sum, matrix)),
        busiest=max(sent) * _HIDDEN * _FP8,
        returned=max(sent) * _HIDDEN * _HALF,
        hottest=received_imbalance(matrix),
        most=max(received_copies(matrix)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, its sums and the matrix in bytes."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(exchange_scene, result.matrix, _HIDDEN * _FP8, _HIDDEN * _HALF),
        **present.values("moved", "busiest", "hottest"),
        "bytes": partial(_bytes, result),
    }


def _bytes(result: Result) -> Heatmap:
    names = tuple(f"GPU {rank}" for rank in range(len(result.matrix)))
    return Heatmap(
        title="Bytes of the dispatch",
        x_label="to",
        y_label="from",
        x=names,
        y=names,
        values=tuple(
            tuple(
                0.0 if source == target else count * _HIDDEN * _FP8
                for target, count in enumerate(row)
            )
            for source, row in enumerate(result.matrix)
        ),
        quantity=BYTES,
        caption="What stays on its GPU crosses no link. The combine sends the transposed matrix, "
        "with two bytes per element twice as large.",
    )
