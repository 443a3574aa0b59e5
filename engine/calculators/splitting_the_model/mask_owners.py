"""Mask owners: a causal mask over a few ranks, colored by who computes what, step by step."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.lazy import Later
from engine.core.outputs import Teller, Told, Views
from engine.core.units import COUNT, RATIO, Count, Ratio, Share
from engine.core.views import Axis, Lines, Point, Scene, Series
from engine.draw.mask_board import Board, board_scene
from engine.formulas.context import CONTIGUOUS_IMBALANCE, contiguous_imbalance
from engine.simulate.layer.attention_masks import (
    Exchange,
    Layout,
    imbalance,
    lockstep_imbalance,
    pieces,
    rank_work,
    ring_work,
)

TITLE = "Who computes which part of the mask"
QUESTION = "A sequence is cut over several GPUs: who has to compute how much?"
EQUATIONS = (CONTIGUOUS_IMBALANCE,)
PRESETS = {
    "Zig-zag": {"way": "zigzag"},
    "Striped": {"way": "striped"},
    "Ulysses": {"way": "ulysses"},
    "Zig-zag with documents": {"way": "zigzag", "documents": "3"},
}
_WAYS: Mapping[str, tuple[Exchange, Layout, str]] = {
    "contiguous": ("ring", "contiguous", "ring, contiguous pieces"),
    "zigzag": ("ring", "zigzag", "ring, zig-zag"),
    "striped": ("ring", "striped", "ring, stripes"),
    "all_gather": ("all_gather", "zigzag", "all-gather, zig-zag"),
    "ulysses": ("ulysses", "contiguous", "Ulysses: by heads"),
}
# In sixteenths of the sequence.
_DOCUMENTS: Mapping[str, tuple[Count, ...]] = {"1": (16,), "2": (12, 4), "3": (10, 2, 4)}
_RANKS = (2, 4, 8, 16)
_WORLDS = range(2, 17)
_LONG = 65_536
_COUNTED = ("Pairs of query and key that the mask leaves, of a sequence of 65,536 tokens.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    ranks: Annotated[
        str, Choice(label="GPUs that share the sequence", options={f"{n}": f"{n}" for n in _RANKS})
    ] = "4"
    way: Annotated[
        str, Choice(label="How", options={key: name for key, (_, _, name) in _WAYS.items()})
    ] = "contiguous"
    documents: Annotated[
        str,
        Choice(
            label="Documents in the sequence",
            options={"1": "one", "2": "two", "3": "three"},
            help="A token attends to its own document only.",
        ),
    ] = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Who computes how much.

    Attributes:
        owners: the rank of each token of the drawn sequence.
        documents: its document.
        curves: layout -> busiest over mean, as `_WORLDS` are.
    """

    owners: tuple[Count, ...]
    documents: tuple[Count, ...]
    curves: Later[Mapping[Layout, tuple[Ratio, ...]]]

    world: Annotated[Count, Told(symbol="N", of="ranks")]
    busiest: Annotated[
        Ratio,
        Told(
            "Busiest rank, over the mean",
            note="rank {busiest_rank}",
            color="compute",
            basis="simulated",
            assumes=_COUNTED,
            sources=("brandon2023",),
        ),
    ]
    busiest_rank: Count
    idle: Annotated[
        Share,
        Told(
            "Idle, on average",
            note="while the busiest rank still computes",
            color="idle",
            basis="simulated",
            assumes=_COUNTED,
        ),
    ]
    lockstep: Annotated[
        Ratio,
        Told(
            "If all wait in every step",
            note="time over that of an even cut",
            color="compute",
            basis="simulated",
            assumes=(*_COUNTED, "No rank begins a step before all have ended the one before."),
        ),
    ]
    formula: Annotated[
        Ratio,
        Told(
            "By the formula, one document",
            "r",
            "contiguous pieces of a long sequence",
            "compute",
        ),
    ]
    work: tuple[Ratio, ...]


def _documents(choice: str, tokens: Count) -> tuple[Count, ...]:
    return tuple(tokens * part // 16 for part in _DOCUMENTS[choice])


def solve(inputs: Inputs) -> Result:
    """Count the pairs of every rank."""
    ranks = int(inputs.ranks)
    exchange, layout, _ = _WAYS[inputs.way]
    documents = _documents(inputs.documents, _LONG)
    work = rank_work(exchange, layout, ranks, documents)
    most = imbalance(work)
    steps = ring_work(layout, ranks, documents)
    tokens = max(16, 2 * ranks)
    owners = [0] * tokens
    for rank in range(ranks):
        for piece in pieces(layout, ranks, rank, tokens):
            for token in piece:
                owners[token] = rank
    lengths = _documents(inputs.documents, tokens)
    return Result(
        owners=tuple(owners),
        documents=tuple(index for index, length in enumerate(lengths) for _ in range(length)),
        curves=Later(partial(_curves, documents)),
        world=ranks,
        busiest=most,
        busiest_rank=max(range(ranks), key=lambda rank: work[rank]),
        idle=1 - 1 / most,
        lockstep=lockstep_imbalance(steps) if exchange == "ring" else most,
        formula=contiguous_imbalance(ranks),
        work=work,
    )


def _curves(documents: tuple[Count, ...]) -> Mapping[Layout, tuple[Ratio, ...]]:
    layouts: tuple[Layout, ...] = ("contiguous", "striped", "zigzag")
    return {
        layout: tuple(imbalance(rank_work("ring", layout, n, documents)) for n in _WORLDS)
        for layout in layouts
    }


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, and how uneven the work is over the number of ranks."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(_scene, inputs, result),
        **tell.values("busiest", "idle", "lockstep", "formula"),
        "over_ranks": partial(_over_ranks, tell, result),
    }


def _scene(inputs: Inputs, result: Result) -> Scene:
    exchange, _, _ = _WAYS[inputs.way]
    return board_scene(
        Board(
            owners=result.owners,
            documents=result.documents,
            ring=exchange == "ring",
            heads=exchange == "ulysses",
        )
    )


def _over_ranks(tell: Teller, result: Result) -> Lines:
    xs = tuple(float(n) for n in _WORLDS)
    series = tuple(
        Series(
            key=key,
            label=key.replace("zigzag", "zig-zag"),
            x=xs,
            y=curve,
            color="bad" if key == "contiguous" else "context",
            dashed=key == "striped",
        )
        for key, curve in result.curves().items()
    )
    return Lines(
        title="The busiest rank over the mean",
        x=Axis(label="GPUs that share the sequence", quantity=COUNT, low=2, high=16),
        y=Axis(label="busiest over mean", quantity=RATIO, low=0.9, high=2.6),
        series=series,
        points=(Point(key="now", label=tell.say("{busiest}"), x=result.world, y=result.busiest),),
        caption="Pairs of query and key of the busiest rank over the mean of all; 1 is even.",
    )
