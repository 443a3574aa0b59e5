"""Mask owners: a causal mask colored by computing rank, step by step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SHARE, Count, Ratio, Share
from engine.core.views import Axis, Frame, Lines, Point, Scene, Series, Shape
from engine.draw.shapes import rect, text
from engine.formulas.context import CONTIGUOUS_IMBALANCE, contiguous_imbalance
from engine.simulate.layer.attention_masks import (
    Exchange,
    Layout,
    imbalance,
    lockstep_imbalance,
    rank_tokens,
    rank_work,
    ring_work,
)

_WIDTH, _LEFT, _TOP, _SIDE, _BARS = 372.0, 66.0, 52.0, 300.0, 64.0
_FONT, _SMALL = 14.0, 12.0
_FAINT, _LIGHTEST = 0.07, 0.25
# Above so many tokens a row is too low for a number.
_NUMBERED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Contents of the drawing.

    Attributes:
        owners: rank of each token.
        documents: the document of each token.
        ring: keys go round; otherwise each rank has all keys it needs at once.
        heads: the ranks share heads and not tokens: each computes the whole mask for its heads.
    """

    owners: tuple[Count, ...]
    documents: tuple[Count, ...]
    ring: bool
    heads: bool

    @property
    def ranks(self) -> Count:
        """That share the sequence."""
        return max(self.owners) + 1

    def step(self, query: Count, key: Count) -> Count:
        """Return in which step of the ring a pair is computed; -1: the mask hides it."""
        if key > query or self.documents[key] != self.documents[query]:
            return -1
        if not self.ring:
            return 0
        return (self.owners[query] - self.owners[key]) % self.ranks


def board_scene(board: Board) -> Scene:
    """Return the scene with a frame per step."""
    last = board.ranks - 1 if board.ring else 0
    done = [_computed(board, step) for step in range(last + 1)]
    return Scene(
        title="Who computes which pairs of query and key",
        width=_WIDTH,
        height=_TOP + _SIDE + _BARS + 68,
        frames=tuple(
            Frame(caption=_caption(board, step, done), shapes=tuple(_shapes(board, step, done)))
            for step in range(last + 1)
        ),
        caption="Rows are queries, columns are keys. Numbers and shades are the ranks that own "
        "them. A cell is computed by the owner of its row; outlined cells are those of this step."
        if not board.heads
        else "Rows are queries, columns are keys. Each rank computes all cells, for its heads.",
    )


def _computed(board: Board, until: Count) -> tuple[Count, ...]:
    """Return the pairs that each rank has computed after a step."""
    tokens = range(len(board.owners))
    counts = [0] * board.ranks
    for query in tokens:
        for key in tokens:
            if 0 <= board.step(query, key) <= until:
                counts[board.owners[query]] += 1
    if board.heads:
        return (sum(counts) // board.ranks,) * board.ranks
    return tuple(counts)


def _caption(board: Board, step: Count, done: Sequence[tuple[Count, ...]]) -> Text:
    if board.heads:
        return (
            "Ulysses: an all-to-all has given every rank all tokens of its own heads, so all have "
            "the same work. A second one will bring the results back."
        )
    now, before = done[step], done[step - 1] if step else (0,) * board.ranks
    took = [b - a for a, b in zip(before, now, strict=True)]
    wait = 1 - sum(took) / (max(took) * board.ranks) if max(took) else 0.0
    if not board.ring:
        return say(
            "All keys and values have been gathered; each rank computes its own rows. On average a "
            "rank waits for {w} of the time of the busiest.",
            w=(wait, SHARE),
        )
    keys = "its own keys" if step == 0 else "the keys that have just arrived from the left"
    return say(
        f"Step {{n}} of {{m}}: each rank computes its queries against {keys}. On average a rank "
        "waits for {w} of this step.",
        n=(step + 1, COUNT),
        m=(board.ranks, COUNT),
        w=(wait, SHARE),
    )


def _shapes(board: Board, step: Count, done: Sequence[tuple[Count, ...]]) -> Iterable[Shape]:
    tokens = len(board.owners)
    side = _SIDE / tokens
    yield _text("keys", (_LEFT + _SIDE / 2, 16), "keys of rank", "middle")
    yield _text("queries", (2, _TOP - 25), "queries", "start")
    yield _text("of", (2, _TOP - 8), "of rank", "start")
    for token, owner in enumerate(board.owners):
        middle = (token + 0.5) * side
        label = f"{owner}" if tokens <= _NUMBERED and not board.heads else ""
        yield _text(f"c{token}", (_LEFT + middle, _TOP - 8), label, "middle", _SMALL)
        yield _text(f"r{token}", (_LEFT - 6, _TOP + middle + 4), label, "end", _SMALL)
    for query in range(tokens):
        for key in range(query + 1):
            yield _cell(board, query, key, step, side)
    yield from _bars(board, step, done)


def _cell(board: Board, query: Count, key: Count, step: Count, side: float) -> Shape:
    when, owner = board.step(query, key), board.owners[query]
    shade = _shade(owner, board.ranks) if 0 <= when <= step else _FAINT
    gap = 0.8 if side > 12 else 0.4
    kind = "cell c-context" + (" done" if when == step and board.ring else "")
    more = (
        ("fill-opacity", f"{0.0 if when < 0 else shade:.2f}"),
        ("data-links", " ".join(f"rank:{rank}" for rank in _computing(board, owner))),
    )
    at = (_LEFT + key * side + gap, _TOP + query * side + gap)
    return rect(f"m{query}.{key}", at, (side - 2 * gap, side - 2 * gap), kind, more)


def _computing(board: Board, owner: Count) -> Iterable[Count]:
    return range(board.ranks) if board.heads else (owner,)


def _shade(rank: Count, ranks: Count) -> float:
    return _LIGHTEST + (1 - _LIGHTEST) * rank / max(1, ranks - 1)


def _bars(board: Board, step: Count, done: Sequence[tuple[Count, ...]]) -> Iterable[Shape]:
    """Yield bars of each rank's computed pairs over its final number of pairs."""
    most = max(done[-1])
    wide = _SIDE / board.ranks
    floor = _TOP + _SIDE + 12 + _BARS
    yield _text("work", (2, floor - _BARS / 2), "work", "start")
    yield _text("rank", (2, floor + 17), "rank", "start")
    yield _text("holds", (2, floor + 39), "keys of" if board.ring else "", "start")
    for rank in range(board.ranks):
        left, links = _LEFT + rank * wide, ("data-links", f"rank:{rank}")
        for name, count, opacity in (("all", done[-1][rank], 0.15), ("now", done[step][rank], 0.9)):
            high = _BARS * count / most
            more = (("fill-opacity", f"{opacity:g}"), links)
            at = (left + 2, floor - high)
            yield rect(f"{name}{rank}", at, (wide - 4, high), "cell c-compute", more)
        size = _FONT if board.ranks <= _NUMBERED / 2 else _SMALL
        middle = left + wide / 2
        label = f"{(rank - step) % board.ranks}" if board.ring else ""
        yield _text(f"bar{rank}", (middle, floor + 17), f"{rank}", "middle", size)
        yield _text(f"held{rank}", (middle, floor + 39), label, "middle", size)


def _text(key: str, at: tuple[float, float], words: str, anchor: str, size: float = _FONT) -> Shape:
    return text(key, *at, size, words, anchor, "value c-ink")


TITLE = "Who computes which part of the mask"
QUESTION = "A sequence is cut over several GPUs: who has to compute how much?"
HEADLINE = "busiest"
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
    """The calculator's inputs."""

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
    curves: Lazy[Mapping[Layout, tuple[Ratio, ...]]]

    world: Annotated[Count, Output(symbol="N", of="ranks")]
    busiest: Annotated[
        Ratio,
        Output(
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
        Output(
            "Idle, on average",
            note="while the busiest rank still computes",
            color="idle",
            basis="simulated",
            assumes=_COUNTED,
        ),
    ]
    lockstep: Annotated[
        Ratio,
        Output(
            "If all wait in every step",
            note="time over that of an even cut",
            color="compute",
            basis="simulated",
            assumes=(*_COUNTED, "No rank begins a step before all have ended the one before."),
        ),
    ]
    formula: Annotated[
        Ratio,
        Output(
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
        for piece in rank_tokens(layout, ranks, rank, tokens):
            for token in piece:
                owners[token] = rank
    lengths = _documents(inputs.documents, tokens)
    return Result(
        owners=tuple(owners),
        documents=tuple(index for index, length in enumerate(lengths) for _ in range(length)),
        curves=Lazy(partial(_curves, documents)),
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
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(_scene, inputs, result),
        **present.values("busiest", "idle", "lockstep", "formula"),
        "over_ranks": partial(_over_ranks, present, result),
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


def _over_ranks(present: Presenter, result: Result) -> Lines:
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
        points=(
            Point(key="now", label=present.say("{busiest}"), x=result.world, y=result.busiest),
        ),
        caption="Pairs of query and key of the busiest rank over the mean of all; 1 is even.",
    )
