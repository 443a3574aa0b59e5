"""A grid of values, as marks: the stronger the color, the larger the value."""

import math

from engine.basis.text import Display, show
from engine.basis.views import Heatmap
from engine.draw.frame import CELL_ROW, CHAR, TYPICAL, Box, Frame, Picture, Words, rows_frame

WEAKEST, STRONGEST = 0.06, 0.9
_DARK = 0.55  # from this strength on, the text in a cell is paper


def frame_of(num_rows: int) -> Frame:
    """Return the frame of so many rows, with room for their names at the left."""
    return rows_frame(num_rows, CELL_ROW, left=84, top=30)


def picture(view: Heatmap, display: Display) -> Picture:
    """Return the marks of the cells; their values are written in them where they fit."""
    frame = frame_of(len(view.y))
    finite = [v for row in view.values for v in row if math.isfinite(v)] or [0.0]
    low, high = min(finite), max(finite)
    boxes, texts = [], _names(view, frame)
    for row, values in enumerate(view.values):
        for column, value in enumerate(values):
            if not math.isfinite(value):
                continue
            strength = WEAKEST + (STRONGEST - WEAKEST) * ((value - low) / ((high - low) or 1.0))
            box = _cell(row, column, len(values), strength)
            boxes.append(box)
            text = show(value, view.quantity, display)
            if (box.x1 - box.x0) * TYPICAL > CHAR * len(text):
                color = "paper" if strength > _DARK else "ink"
                middle = (box.x0 + box.x1) / 2
                texts.append(Words(middle, box.y0 + 21, text, "middle", 0.0, color, "cell"))
    label = f"{view.title}. {view.y_label} down, {view.x_label} across; "
    label += f"from {show(low, view.quantity, display)} to {show(high, view.quantity, display)}."
    return Picture(frame=frame, label=label, boxes=tuple(boxes), words=tuple(texts))


def _cell(row: int, column: int, num_columns: int, strength: float) -> Box:
    top = float(row * CELL_ROW)
    x0, x1 = column / num_columns, (column + 1) / num_columns - 0.003
    return Box(x0, x1, top, top + CELL_ROW - 2, "accent", strength)


def _names(view: Heatmap, frame: Frame) -> list[Words]:
    count = len(view.x)
    texts = [
        Words(0.0, row * CELL_ROW + 21.0, name, "end", -8.0, "muted", "tick")
        for row, name in enumerate(view.y)
    ]
    texts += [
        Words((i + 0.5) / count, frame.height + 18, name, "middle", 0.0, "muted", "tick")
        for i, name in enumerate(view.x)
    ]
    texts.append(Words(0.0, -12, view.y_label, "start", -frame.left, "muted", "tick"))
    texts.append(Words(1.0, frame.height + 38, view.x_label, "end", 0.0, "muted", "tick"))
    return texts
