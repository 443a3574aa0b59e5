"""A step in micro-batches: some numbers of the gradient, micro-batch by micro-batch."""

from engine.core.numbers import significant, typeset
from engine.core.text import Text
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.tiny.accumulation import Accumulated

_WIDTH, _LEFT, _LINE, _LETTER = 640.0, 216.0, 36.0, 19.0
_TOP = 32.0
# Which numbers of the gradient are shown: one of the embedding, one of each layer, one of the end.
PLACES = (9, 70, 140, 250)


def accumulation_scene(found: Accumulated) -> Scene:
    """Return the step: every micro-batch adds its part, then Adam, beside the one batch."""
    count = len(found.parts)
    frames = [_frame(found, done) for done in range(count + 2)]
    return Scene(
        title="A step in micro-batches",
        width=_WIDTH,
        height=_TOP + (count + 2) * _LINE + 46,
        frames=tuple(frames),
        opening=count + 1,
        caption="Four of the 260 numbers of the gradient, times a thousand. Each micro-batch adds "
        "its part to the same buffer; the last row is the gradient of all sequences at once.",
    )


def _frame(found: Accumulated, done: int) -> Frame:
    count = len(found.parts)
    compared = done > count
    sums = found.parts[min(done, count) - 1].total if done else [0.0] * len(found.whole)
    shapes = [
        text(f"head{at}", _middle(at), 20, 18.8, f"no. {place + 1}", kind="c-muted")
        for at, place in enumerate(PLACES)
    ]
    for at, part in enumerate(found.parts):
        name = f"micro-batch {at + 1}: {part.tokens} tok."
        look = "new" if at == done - 1 else "held" if at < done else "none"
        shapes += _row(at, name, part.gradient, look, "gradients")
    look = "held" if done else "none"
    shapes += _row(count, "sum so far", sums, "new" if 0 < done <= count else look, "gradients")
    shapes += _row(count + 1, "one batch", found.whole, "new" if compared else "held", "data")
    shapes += _memory(found, done)
    return Frame(caption=_caption(found, done), shapes=tuple(shapes))


def _middle(column: int) -> float:
    width = (_WIDTH - _LEFT) / len(PLACES)
    return _LEFT + (column + 0.5) * width


def _row(row: int, name: str, numbers: list[float], look: str, color: str) -> list[Shape]:
    y = _TOP + row * _LINE
    shapes = [text(f"name{row}", 0, y + 23, 18.8, name, "start", "c-ink")]
    width = (_WIDTH - _LEFT) / len(PLACES)
    opacity = {"new": "0.45", "held": "0.16", "none": "0.02"}[look]
    for at, place in enumerate(PLACES):
        corner = (_LEFT + at * width + 2, y + 2)
        kind = f"cell c-{color}" + (" done" if look == "new" else "")
        label = "" if look == "none" else _number(numbers[place])
        shapes.append(
            rect(f"c{row}.{at}", corner, (width - 4, _LINE - 4), kind, (("fill-opacity", opacity),))
        )
        shapes.append(text(f"t{row}.{at}", _middle(at), y + 24, _LETTER, label))
    return shapes


def _number(value: float) -> str:
    return typeset(f"{1000 * value:.3f}") if abs(value) >= 5e-7 else "0"


def _memory(found: Accumulated, done: int) -> list[Shape]:
    """Return the bar of the activations at work, beside those of the one batch."""
    y = _TOP + (len(found.parts) + 2) * _LINE + 14
    now = found.parts[done - 1].activations if 0 < done <= len(found.parts) else 0
    most = max(part.activations for part in found.parts)
    full = _WIDTH - _LEFT - 4
    words = f"activations: {now} of {found.activations}" if now else f"activations: up to {most}"
    scale = (now or most) / found.activations
    return [
        text("kept", 0, y + 12, 18.8, words, "start", "c-ink"),
        rect("all", (_LEFT + 2, y), (full, 14), "port", ()),
        rect("now", (_LEFT + 2, y), (full * scale, 14), "sent c-activations", ()),
    ]


def _caption(found: Accumulated, done: int) -> Text:
    count = len(found.parts)
    if not done:
        return "The buffer of the gradient is zero."
    if done <= count:
        part = found.parts[done - 1]
        loss = typeset(significant(part.loss, 4))
        return (
            f"Micro-batch {done} predicts {part.tokens} tokens with a mean loss of {loss}. Its "
            f"gradient is added, and its {part.activations} activations are freed."
        )
    if found.off < 1e-12:
        return "The sum is the gradient of one big batch. Adam runs once."
    share = typeset(significant(100 * found.off, 3))
    return f"The sum differs from the gradient of one big batch by {share} % of its length."
