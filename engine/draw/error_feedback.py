"""What one rank wants to send, sends and still owes, number by number, step by step."""

from collections.abc import Sequence

from engine.catalog.models import TINY_260
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import text
from engine.tiny.compressed import Compressed, Moment
from engine.tiny.layout import OUTPUT, part_range

_STEPS = 14
_WIDTH, _HEIGHT = 640.0, 340.0
_LEFT, _ROW, _TOP = 16.0, 108.0, 32.0
_HALF = 34.0
_ROWS = (
    ("wanted", "its gradient, and what it still owes", "c-gradients"),
    ("sent", "sent", "c-communication"),
    ("left", "not sent", "c-buffers"),
)


def kept_back_scene(run: Compressed, *, feedback: bool) -> Scene:
    """Return the first steps of the first rank: 32 of its 260 numbers, as bars up and down.

    Without feedback what is not sent is lost, and the first row is the gradient alone.
    """
    places = part_range(TINY_260, OUTPUT)[-32:]
    moments = run.moments[:_STEPS]
    largest = max(abs(one.wanted[i]) for one in moments for i in places) or 1.0
    frames = tuple(
        _frame(at, moment, places, largest, feedback=feedback) for at, moment in enumerate(moments)
    )
    fate = "and is added to its next gradient" if feedback else "and is lost"
    return Scene(
        title="One GPU, fourteen steps",
        width=_WIDTH,
        height=_HEIGHT,
        frames=frames,
        opening=min(5, len(frames) - 1),
        caption=f"The 32 weights of the output matrix. What is not sent stays behind {fate}.",
    )


def _frame(
    at: int, moment: Moment, places: Sequence[int], largest: float, *, feedback: bool
) -> Frame:
    shapes: list[Shape] = [text("step", _WIDTH - 8, 22, 21, f"step {at + 1}", "end")]
    for row, (name, words, color) in enumerate(_ROWS):
        numbers = [getattr(moment, name)[i] for i in places]
        middle = _TOP + row * _ROW + 20 + _HALF
        if name == "wanted" and not feedback:
            words = "its gradient"
        if name == "left" and not feedback:
            words = "lost"
        shapes.append(text(f"{name} words", _LEFT, middle - _HALF - 6, 21, words, "start"))
        shapes.append(_line(f"{name} zero", middle))
        shapes.append(_bars(name, numbers, middle, largest, color))
    count = sum(1 for i in places if moment.sent[i])
    return Frame(
        caption=f"Step {at + 1}: of these {len(places)} numbers {count} are sent.",
        shapes=tuple(shapes),
    )


def _line(key: str, y: float) -> Shape:
    attributes = {"d": f"M{_LEFT:g} {y:g}H{_WIDTH - _LEFT:g}", "class": "port"}
    return Shape(key=key, tag="path", attributes=attributes)


def _bars(key: str, numbers: Sequence[float], middle: float, largest: float, color: str) -> Shape:
    each = (_WIDTH - 2 * _LEFT) / len(numbers)
    parts = []
    for i, number in enumerate(numbers):
        height = _HALF * max(-1.0, min(1.0, number / largest))
        if abs(height) >= 0.3:
            parts.append(f"M{_LEFT + (i + 0.5) * each:.0f} {middle:.0f}v{-height:.1f}")
    attributes = {
        "d": "".join(parts) or f"M{_LEFT:g} {middle:g}v0",
        "stroke": "currentColor",
        "stroke-width": f"{0.6 * each:.1f}",
        "fill": "none",
        "class": color,
    }
    return Shape(key=key, tag="path", attributes=attributes)
