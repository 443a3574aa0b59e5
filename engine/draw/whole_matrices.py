"""Four matrices on several GPUs, as a scene: who holds which rows, and what Newton-Schulz makes."""

from collections.abc import Iterable
from functools import lru_cache

from engine.core.text import Text, say
from engine.core.units import COUNT, OPERATIONS, Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.tiny.whole_matrices import NAMES, SIDE, Grid, Moment, Orthogonalized, Scheme

_CELL, _GAP, _FONT = 21.0, 16.0, 16.0
_MATRIX = SIDE * _CELL
_LEFT, _TOP = 62.0, 62.0
_LINE = _MATRIX + 20
_WIDTH = _LEFT + len(NAMES) * (_MATRIX + _GAP)
_STARTS = {
    "gather": "Each GPU has its rows of the momentum of every matrix.",
    "exchange": "Each GPU has its rows of the momentum of every matrix.",
    "slices": "Each GPU has its rows of the momentum of every matrix.",
    "owner": "Each GPU has the momentum of whole matrices of its own.",
    "repeat": "Each GPU has the momentum of every matrix, whole.",
}
_GATHERS = {
    "gather": "All-gather: every GPU now has every matrix.",
    "exchange": "All-to-all: every GPU sends its rows to the owner of the matrix.",
}
_WORKS = {
    "gather": "Every GPU does the same work on every matrix.",
    "exchange": "Each owner works on its own matrices.",
    "owner": "Each owner works on its own matrices.",
    "repeat": "Every GPU does the same work on every matrix.",
    "slices": "Each GPU takes its rows for a matrix of their own.",
}
_BACK = {
    "gather": "Each GPU keeps the update of its own rows.",
    "exchange": "All-to-all: the owners send back the update of each GPU's rows.",
}


def whole_scene(found: Orthogonalized, scheme: Scheme) -> Scene:
    """Return a frame for every phase."""
    ranks = len(found.moments[0].held)
    frames = tuple(
        Frame(caption=_caption(now, scheme), shapes=(*_heads(now), *_cells(now)))
        for now in found.moments
    )
    opening = next(
        (i for i, now in enumerate(found.moments) if now.phase == "gather"),
        0,
    )
    return Scene(
        title="Four matrices on several GPUs",
        width=_WIDTH,
        height=_TOP + ranks * _LINE,
        frames=frames,
        opening=opening,
        caption="Rows are GPUs, columns the four attention matrices of a layer. A stronger color "
        "is a larger number, relative to the largest of its matrix. Empty cells are on other GPUs.",
    )


def _caption(now: Moment, scheme: Scheme) -> Text:
    if now.phase == "start":
        return _STARTS[scheme]
    counts = " Sent by each GPU so far: {sent} numbers; operations of each GPU: {operations}."
    figures = {
        "sent": (now.sent[0], COUNT),
        "operations": (now.operations[0], OPERATIONS),
    }
    words = {"gather": _GATHERS, "back": _BACK}.get(now.phase)
    if words:
        return say(words[scheme] + counts, **figures)
    return say(f"Newton-Schulz, step {now.phase} of 5. {_WORKS[scheme]}{counts}", **figures)


def _heads(now: Moment) -> Iterable[Shape]:
    steps = now.phase.isdigit()
    done = "update" if now.phase == "back" else "momentum"
    done = f"Newton-Schulz, step {now.phase}" if steps else done
    yield text("phase", 0, 18, _FONT, done, "start", "value c-ink")
    for place, name in enumerate(NAMES):
        x = _LEFT + place * (_MATRIX + _GAP) + _MATRIX / 2
        yield text(f"name {name}", x, _TOP - 14, _FONT, name)
    for rank in range(len(now.held)):
        y = _TOP + rank * _LINE + _MATRIX / 2 + 6
        yield text(f"gpu {rank}", 0, y, _FONT, f"GPU {rank}", "start")


def _cells(now: Moment) -> Iterable[Shape]:
    color = "optimizer" if now.phase in ("start", "gather") else "parameters"
    for rank, grids in enumerate(now.held):
        for place, grid in enumerate(grids):
            corner = (_LEFT + place * (_MATRIX + _GAP), _TOP + rank * _LINE)
            yield from _grid(f"{rank}.{place}", corner, grid, _largest(now, place), color)


def _largest(now: Moment, place: Count) -> float:
    numbers = [
        abs(number)
        for own in now.held
        for row in own[place]
        for number in row
        if number is not None
    ]
    return max(numbers)


def _grid(
    key: str, corner: tuple[float, float], grid: Grid, largest: float, color: str
) -> Iterable[Shape]:
    for row, numbers in enumerate(grid):
        for column, number in enumerate(numbers):
            at = (corner[0] + column * _CELL, corner[1] + row * _CELL)
            weight = -1.0 if number is None else round(abs(number) / largest, 2)
            yield _cell(f"{key}.{row}.{column}", at, weight, color)


@lru_cache(maxsize=8192)
def _cell(key: str, at: tuple[float, float], weight: float, color: str) -> Shape:
    held = weight >= 0
    opacity = 0.12 + 0.78 * weight if held else 0.0
    kind = f"cell c-{color if held else 'muted'}"
    return rect(key, at, (_CELL - 2, _CELL - 2), kind, (("fill-opacity", f"{opacity:.2f}"),))
