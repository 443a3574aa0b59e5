"""An exchange of tokens as a scene: a matrix of copies, counted, sent, worked on and sent back."""

from collections.abc import Iterable, Mapping, Sequence

from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, Bytes, Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.layer.token_matrix import Matrix, arrived, hottest, leaves, turned

_WIDTH, _LEFT, _TOP, _SIDE, _BARS = 372.0, 62.0, 58.0, 300.0, 70.0
_FONT = 14.0
_STAGES = ("route", "count", "dispatch", "compute", "combine")


def exchange_scene(matrix: Matrix, out: Bytes, back: Bytes) -> Scene:
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
        opening=3,
        caption="Rows send to columns; a cell holds the number of token copies. Cells on the "
        "diagonal stay on their GPU. The bars are what each GPU's experts work on.",
    )


def _captions(matrix: Matrix, out: Bytes, back: Bytes) -> tuple[Text, ...]:
    moved = sum(leaves(matrix))
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
            "Step 4 of 5, compute: the experts work on what has arrived. The fullest GPU has {r} "
            "the mean, and all others wait for it.",
            r=(hottest(matrix), RATIO),
        ),
        say(
            "Step 5 of 5, combine: the same way back, with rows and columns swapped. {n} results "
            "return, {b} in all, and are added up by their weights.",
            n=(moved, COUNT),
            b=(moved * back, BYTES),
        ),
    )


def _shapes(matrix: Matrix, stage: str) -> Iterable[Shape]:
    ranks = len(matrix)
    side = _SIDE / ranks
    shown = turned(matrix) if stage == "combine" else matrix
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
    counts = arrived(matrix)
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
        told = f"{count}" if stage in ("compute", "combine") else ""
        yield _text(f"bars{rank}", (left + side / 2 - 3, top + _BARS + 18), told, "middle")
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
    own = pair[0] == pair[1]
    sent = stage in ("dispatch", "compute", "combine")
    kind = "c-communication" if sent and not own else "c-activations"
    strength = 0.12 + 0.7 * count / most if sent and not own else 0.1
    links = f"rank:{pair[0]} rank:{pair[1]}"
    yield _rect(
        f"m{pair[0]}.{pair[1]}",
        (at[0] + 1.5, at[1] + 1.5),
        (side - 3, side - 3),
        f"cell {kind}",
        {"fill-opacity": f"{strength:.2f}", "data-links": links},
    )
    told = "" if stage == "route" else f"{count}"
    yield _text(f"n{pair[0]}.{pair[1]}", (at[0] + side / 2, at[1] + side / 2 + 5), told, "middle")


def _text(key: str, at: tuple[float, float], words: str, anchor: str) -> Shape:
    return text(key, *at, _FONT, words, anchor, "value c-ink")


def _rect(
    key: str, at: tuple[float, float], size: Sequence[float], kind: str, more: Mapping[str, str]
) -> Shape:
    return rect(key, at, (size[0], size[1]), kind, tuple(more.items()))
