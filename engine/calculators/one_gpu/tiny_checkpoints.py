"""Checkpoints on a tiny chain of layers: really trained, with every input counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import Count
from engine.core.views import Badge, Frame, Line, Lines, Scale, Scene, Shape
from engine.formulas.recomputation import CHECKPOINTS_HELD, checkpoints_held
from engine.tiny.checkpoints import CheckpointedPass, CheckpointEvent, train

_WIDTH, _BOX, _LETTER = 640.0, 54.0, 19.0
_TOP = 34.0
_WORDS = {
    "forward": "Layer {n} runs forward.",
    "again": "Layer {n} runs forward once more, from an input that is held.",
    "backward": "Layer {n} runs backward; its input is then freed.",
}


def chain_scene(num_layers: int, events: Sequence[CheckpointEvent]) -> Scene:
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


def _frame(num_layers: int, events: Sequence[CheckpointEvent], at: int, first: int) -> Frame:
    event = events[at]
    gap = 4.0
    width = (_WIDTH - gap * (num_layers - 1) - 2) / num_layers
    shapes = [_text("held", 1, 20, f"{len(event.held)} inputs held", "start")]
    shapes.append(_text("most", _WIDTH - 1, 20, f"{event.numbers} numbers", "end"))
    for layer in range(num_layers):
        left = 1 + layer * (width + gap)
        shapes += _box(left, width, layer, (layer in event.held, layer == event.layer))
    direction = {"forward": "forward →", "again": "again →", "backward": "← backward"}[event.kind]
    shapes.append(_text("way", 1, _TOP + _BOX + 28, direction, "start"))
    return Frame(caption=_caption(event, num_layers, is_last=at == first), shapes=tuple(shapes))


def _caption(event: CheckpointEvent, num_layers: int, *, is_last: bool) -> str:
    if event.layer == num_layers:
        words = "The output layer computes the loss and sends a gradient back."
    else:
        words = _WORDS[event.kind].format(n=event.layer + 1)
    if is_last:
        words += " The forward pass ends here."
    num_inputs = len(event.held)
    return f"{words} {num_inputs} {'input is' if num_inputs == 1 else 'inputs are'} held."


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


TITLE = "Checkpoints on a chain of layers"
QUESTION = "How far apart should checkpoints be?"
HEADLINE = "most"
EQUATIONS = (CHECKPOINTS_HELD,)
PRESETS = {
    "An input kept at every layer": {"every": 1},
    "16 layers in segments of 4": {"num_layers": 16, "every": 4},
}
_MAX_LAYERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_layers: Annotated[
        int, Number(label="Layers", low=2, high=_MAX_LAYERS, whole=True, symbol="L"), Symbol("L")
    ] = 9
    every: Annotated[
        int,
        Number(label="Layers per checkpoint", low=1, high=_MAX_LAYERS, whole=True, symbol="c"),
        Symbol("c"),
    ] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run.

    Attributes:
        run: all of it.
    """

    run: CheckpointedPass
    most: Annotated[
        Count,
        Output(
            "Inputs held at most",
            note="{numbers} numbers",
            color="activations",
            basis="simulated",
            assumes=("Counted in the run, at its peak.",),
            sources=("chen2016",),
        ),
    ]
    numbers: Count
    formula: Annotated[
        Count,
        Output(
            "By the formula",
            "H",
            color="activations",
            assumes=("All segments are equally long; a shorter last one can hold less.",),
        ),
    ]
    repeated: Annotated[
        Count,
        Output(
            "Layers that run forward again",
            note="of {num_layers}",
            color="compute",
            basis="simulated",
            assumes=(
                "Counted in the run. The last layer of a segment need not run again for the inputs "
                "of others; inside, every layer is computed again in the backward pass anyway.",
            ),
            sources=("chen2016",),
        ),
    ]
    curve: tuple[Count, ...]


def solve(inputs: Inputs) -> Result:
    """Return the run; a segment is no longer than the chain."""
    layers, every = inputs.num_layers, min(inputs.every, inputs.num_layers)
    run = train(layers, every)
    return Result(
        run=run,
        most=run.most,
        numbers=run.numbers,
        formula=checkpoints_held(layers, inputs.every),
        repeated=run.repeated,
        curve=tuple(checkpoints_held(layers, c) for c in range(1, _MAX_LAYERS + 1)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        "scene": partial(chain_scene, inputs.num_layers, result.run.events),
        "equal": _equality_badge(present, result),
        **present.values("most", "formula", "repeated"),
        "curve": partial(_curve, present, inputs, result),
    }


def _equality_badge(present: Presenter, result: Result) -> Badge:
    if result.run.off == 0:
        words = "All gradients agree with a run that keeps every input, to the last bit. {repeated}"
        return Badge(
            text="The same gradient",
            sentence=present.say(words + " layers ran forward a second time."),
            color="parameters",
        )
    return Badge(text="Not the same", sentence="A gradient differs.", color="communication")


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Inputs held, by the distance of the checkpoints",
        over=Scale("every", "layers per checkpoint", 1, _MAX_LAYERS),
        shows=Scale("most", "inputs held at most", 0, 1.1 * max(result.curve)),
        x=range(1, _MAX_LAYERS + 1),
        lines=(Line("held", "the formula", result.curve, "activations"),),
        now="counted: {most}",
        caption="Few checkpoints leave long segments, which must be held while they run backward. "
        "Many checkpoints take the room themselves.",
    )
