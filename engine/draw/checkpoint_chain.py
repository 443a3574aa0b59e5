"""A chain of layers, event by event: whose input is held, which one runs, and which way."""

from collections.abc import Sequence
from functools import lru_cache

from engine.core.views import Frame, Scene, Shape
from engine.tiny.checkpoints import Event

_WIDTH, _BOX, _LETTER = 640.0, 54.0, 19.0
_TOP = 34.0
_WORDS = {
    "forward": "Layer {n} runs forward.",
    "again": "Layer {n} runs forward once more, from an input that is held.",
    "backward": "Layer {n} runs backward; its input is then freed.",
}


def chain_scene(num_layers: int, events: Sequence[Event]) -> Scene:
    """Return the pass over the chain; the first frame is the end of the forward pass."""
    first = max(at for at, event in enumerate(events) if event.kind == "forward")
    frames = [_frame(num_layers, events, at, first) for at in range(first, len(events))]
    start = [_frame(num_layers, events, at, first) for at in range(first)]
    return Scene(
        title="Which layers' inputs are held",
        width=_WIDTH,
        height=_TOP + _BOX + 44,
        frames=(*frames, *start) if not start else (frames[0], *start, *frames),
        caption="A filled box: the input of this layer is in memory. A thick border: this layer "
        "is at work. It begins at the end of the forward pass, with the checkpoints only.",
    )


def _frame(num_layers: int, events: Sequence[Event], at: int, first: int) -> Frame:
    event = events[at]
    gap = 4.0
    width = (_WIDTH - gap * (num_layers - 1) - 2) / num_layers
    shapes = [_text("held", 1, 20, f"{len(event.held)} inputs held", "start")]
    shapes.append(_text("most", _WIDTH - 1, 20, f"{event.numbers} numbers", "end"))
    for layer in range(num_layers):
        left = 1 + layer * (width + gap)
        shapes += _box(left, width, layer, (layer in event.held, layer == event.layer))
    way = {"forward": "forward →", "again": "again →", "backward": "← backward"}[event.kind]
    shapes.append(_text("way", 1, _TOP + _BOX + 28, way, "start"))
    return Frame(caption=_caption(event, num_layers, is_last=at == first), shapes=tuple(shapes))


def _caption(event: Event, num_layers: int, *, is_last: bool) -> str:
    if event.layer == num_layers:
        words = "The output layer computes the loss and sends a gradient back."
    else:
        words = _WORDS[event.kind].format(n=event.layer + 1)
    if is_last:
        words += " The forward pass ends here."
    held = len(event.held)
    return f"{words} {held} {'input is' if held == 1 else 'inputs are'} held."


# Most shapes of a frame are those of the frame before.
@lru_cache(maxsize=256)
def _box(left: float, width: float, layer: int, state: tuple[bool, bool]) -> tuple[Shape, Shape]:
    """Return the box of a layer and its number; `state`: its input is held, it is at work."""
    is_held, works = state
    attributes = {
        "x": f"{left:.1f}",
        "y": f"{_TOP:g}",
        "width": f"{width:.1f}",
        "height": f"{_BOX:g}",
        "rx": "3",
        "class": ("cell done" if works else "cell")
        + (" c-activations" if is_held else " c-compute" if works else " c-ink"),
        "fill-opacity": "0.55" if is_held else "0.3" if works else "0.03",
        "data-links": f"layer:{layer}",
    }
    return (
        Shape(key=f"box{layer}", tag="rect", attributes=attributes),
        _text(f"no{layer}", left + width / 2, _TOP + 33, str(layer + 1), "middle"),
    )


def _text(key: str, x: float, y: float, words: str, anchor: str) -> Shape:
    attributes = {
        "x": f"{x:.1f}",
        "y": f"{y:g}",
        "font-size": f"{_LETTER:g}",
        "text-anchor": anchor,
        "class": "value c-ink",
        "pointer-events": "none",
    }
    return Shape(key=key, tag="text", attributes=attributes, text=words)
