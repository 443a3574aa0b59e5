"""Keys above a chart: what its colors mean, in columns that fit a phone."""

import math
from collections.abc import Sequence

from engine.draw.frame import CHAR, Line, Words

KEY_ROW = 22
_GAP, _SWATCH = 22, 8.0
Key = tuple[str, str, str]  # words, color, look of the swatch


def num_rows(labels: Sequence[str], room: float) -> int:
    """Return how many rows the keys take in `room` pixels."""
    return places(labels, room)[-1][1] + 1 if labels else 0


def places(labels: Sequence[str], room: float) -> list[tuple[float, int]]:
    """Return (pixels from the left, row) of every key, in as many columns as `room` pixels hold."""
    widths = [_GAP + CHAR * len(label) for label in labels]
    for columns in range(len(labels), 0, -1):
        taken = [max(widths[column::columns]) for column in range(columns)]
        if columns == 1 or math.fsum(taken) <= room:
            break
    return [(math.fsum(taken[: i % columns]), i // columns) for i in range(len(labels))]


def key_marks(keys: Sequence[Key], top: float, room: float) -> tuple[list[Line], list[Words]]:
    """Return a swatch and words for every key; `top` pixels lie above the frame."""
    swatches, names = [], []
    for (label, color, look), (left, row) in zip(
        keys, places([label for label, _, _ in keys], room), strict=True
    ):
        x, y = left / room, 6 - top + KEY_ROW * row
        swatches.append(Line(((x, y + 6), (x + _SWATCH / room, y + 6)), color, look))
        names.append(Words(x + _SWATCH / room, y + 10.5, label, "start", 6.0))
    return swatches, names
