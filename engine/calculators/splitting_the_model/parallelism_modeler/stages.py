"""Pipeline stages of the modeler: boxes, and GPU memory of each stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    Inputs,
)
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.core.numbers import format_value
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Count
from engine.core.views import Axis, Bar, Bars, Frame, Rule, Scene, Shape
from engine.draw.drag_handle import DragHandle
from engine.form.memory_fit import memory_segments
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.modeled_plan import ModeledPlan, PipelineStage

_SHOWN = 16


def stage_memory_bars(plan: ModeledPlan) -> Bars:
    """Return GPU memory by stage, against the capacity."""
    shown = _drawn_stages(len(plan.stages), 8)
    most = max(plan.usable, *(plan.stages[i].memory.total for i in shown))
    rule = Rule(
        key="usable", label=say("usable: {m}", m=(plan.usable, BYTES)), axis="x", at=plan.usable
    )
    return Bars(
        title="Memory of a GPU, stage by stage",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.25 * most),
        bars=tuple(
            Bar(
                key=f"stage{i}",
                label=f"stage {i}, {_in_flight(plan.stages[i])} in flight",
                segments=memory_segments(plan.stages[i].memory),
                links=(f"stage:{i}",),
            )
            for i in shown
        ),
        rules=(rule,),
    )


def _in_flight(stage: PipelineStage) -> str:
    return f"{stage.microbatches_in_flight:.3g}"


def _drawn_stages(count: Count, most: Count) -> list[Count]:
    """Return the stages to draw: all, or as many of the first as of the last."""
    if count <= most:
        return list(range(count))
    return [*range(most // 2), *range(count - most // 2, count)]


def strip(inputs: Inputs, result: Result) -> Scene:
    """Return the stages as boxes, with their memory and transfers."""
    plan = result.plan
    last = len(plan.stages) - 1
    boxes = []
    for i in _drawn_stages(last + 1, _SHOWN):
        stage = plan.stages[i]
        ends = ["embedding"] * (i == 0) + ["output"] * (i == last)
        boxes.append(
            Box(
                index=i,
                layers=stage.layers,
                ends="both ends" if len(ends) == 2 else "".join(ends),
                in_flight=_in_flight(stage),
                slowest=i == plan.slowest,
                fit=plan.stage_fit(i),
                caption=_stage_caption(plan, i, " and ".join(f"{end} layer" for end in ends)),
            )
        )
    arrow = format_value(result.boundary, BYTES)
    grips = (
        _layers_grip("off_first", "first", inputs.off_first, -1),
        _layers_grip("off_last", "last", inputs.off_last, 1),
    )
    return strip_scene(boxes, arrow, grips)


def _layers_grip(name: str, stage: str, moved: Count, steps: int) -> DragHandle:
    return DragHandle(
        name=name,
        key=name,
        label=f"Layers moved off the {stage} stage",
        now=moved,
        low=-20,
        high=20,
        text=f"{moved} layers moved off the {stage} stage",
        notch=14,
        steps=steps,
    )


def _stage_caption(plan: ModeledPlan, index: Count, ends: str) -> Text:
    stage = plan.stages[index]
    end = plan.embedding * (index == 0) + plan.output * (index == len(plan.stages) - 1)
    words = (
        f"Stage {index}: {stage.layers} layers"
        + (f", {ends} worth {{w}} of a layer" if ends else "")
        + ". Forward and backward of one micro-batch take {t}; a GPU holds {m}, with "
        + f"{_in_flight(stage)} micro-batch"
        + f"{'' if stage.microbatches_in_flight == 1 else 'es'} in flight."
        + (" It is the slowest." if index == plan.slowest else "")
    )
    numbers = {"t": (stage.time, SECONDS), "m": (stage.memory.total, BYTES)}
    if not ends:
        return say(words, **numbers)
    return say(words, **numbers, w=(end / plan.layer, SHARE))


# Scene of pipeline stages as a strip of boxes; each frame points at a stage.

_COLUMNS, _WIDTH = 4, 720.0
_BOX, _HEIGHT, _GAP = 147.0, 120.0, 44.0
_LINE = 192.0
_SMALL = 22.0  # still read on a phone, where the sheet is half as wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A stage.

    Attributes:
        index: of the stage.
        layers: that it holds.
        ends: what else, in words.
        in_flight: micro-batches in flight, as written.
        slowest: no other stage takes longer.
        fit: how it fits the memory of a GPU.
        caption: everything about it.
    """

    index: int
    layers: int
    ends: str
    in_flight: str
    slowest: bool
    fit: MemoryFit
    caption: Text


def strip_scene(boxes: Sequence[Box], message: str, grips: Sequence[DragHandle]) -> Scene:
    """Return the stages in rows of four, with the transfers between neighbors.

    `grips` move layers over the first and over the last boundary: on the right end of the first
    box, on the left end of the last one.
    """
    rows = -(-len(boxes) // _COLUMNS)
    ground = [shape for at, box in enumerate(boxes) for shape in _box(at, box)]
    ground += [
        shape
        for at in range(len(boxes) - 1)
        for shape in _arrows(at, message, skipped=boxes[at + 1].index - boxes[at].index > 1)
    ]
    if len(boxes) > 1:
        ends = (_corner(0)[0] + _BOX, *_corner(0)[1:]), _corner(len(boxes) - 1)
        ground += [_grip(*end, grip) for end, grip in zip(ends, grips, strict=True)]
    frames = tuple(
        Frame(caption=box.caption, shapes=(*_slowest_mark(at, len(boxes)), *ground))
        for at, box in enumerate(boxes)
    )
    return Scene(
        title="The stages, one by one",
        width=_WIDTH,
        height=rows * _LINE,
        frames=frames,
        caption="A thick border marks the slowest stage. Over each arrow: one micro-batch, forward "
        "and back, all GPUs of one replica of a stage together. Drag the handle of the first or "
        "the last stage sideways to move layers.",
    )


def _grip(x: float, y: float, grip: DragHandle) -> Shape:
    attributes = {
        "x": f"{x - 7:g}",
        "y": f"{y + 14:g}",
        "width": "14",
        "height": f"{_HEIGHT - 28:g}",
        "rx": "7",
        "class": "cell c-accent",
        "fill-opacity": "0.85",
        **grip.attributes(),
    }
    return Shape(key=f"grip-{grip.name}", tag="rect", attributes=attributes)


def _corner(at: int) -> tuple[float, float]:
    row, column = divmod(at, _COLUMNS)
    return column * (_BOX + _GAP), 28 + row * _LINE


def _slowest_mark(now: int, count: int) -> list[Shape]:
    """Return the highlight behind each box, visible only in its stage's frame."""
    shapes = []
    for at in range(count):
        x, y = _corner(at)
        attributes = {
            "x": f"{x:g}",
            "y": f"{y:g}",
            "width": f"{_BOX:g}",
            "height": f"{_HEIGHT:g}",
            "class": "sent c-pipeline",
            "fill-opacity": "0.3" if at == now else "0.08",
        }
        shapes.append(Shape(key=f"mark{at}", tag="rect", attributes=attributes))
    return shapes


def _box(at: int, box: Box) -> list[Shape]:
    x, y = _corner(at)
    border = Shape(
        key=f"box{at}",
        tag="rect",
        attributes={
            "x": f"{x + 2:g}",
            "y": f"{y + 2:g}",
            "width": f"{_BOX - 4:g}",
            "height": f"{_HEIGHT - 4:g}",
            "class": "c-ink",
            "fill": "none",
            "stroke": "currentColor",
            "stroke-width": "4" if box.slowest else "1",
            "data-links": f"stage:{box.index}",
        },
    )
    middle = x + _BOX / 2
    fit = f"{box.in_flight} in flight" if box.fit.verdict == "fits" else box.fit.verdict
    lines = (
        ("name", 27.0, _SMALL, f"stage {box.index}"),
        ("layers", 54.0, _SMALL, f"{box.layers} layers"),
        ("ends", 80.0, 21.5, box.ends),
        ("held", 107.0, _SMALL, fit),
    )
    texts = [_text(f"{key}{at}", middle, y + down, size, words) for key, down, size, words in lines]
    return [border, *texts]


def _arrows(at: int, message: str, *, skipped: bool) -> list[Shape]:
    """Return the way on and the way back; between rows they lead out at the right end."""
    x, y = _corner(at)
    left, right = x + _BOX + 6, x + _BOX + _GAP - 6
    last = (at + 1) % _COLUMNS == 0
    middle = (left + right) / 2
    label = "…" if skipped else message
    words = _text(f"sent{at}", middle, y - 6, _SMALL, "" if last else label)
    if last:
        # The next stage begins a row of its own.
        below = y + _HEIGHT + 4
        path = f"M{x + _BOX / 2:g} {below:g}v10H{_BOX / 2:g}v6"
        word = _text(f"sent{at}", _WIDTH / 2, below + 28, _SMALL, label)
        return [_path(f"on{at}", path), word, _path(f"back{at}", "M0 0")]
    on, back = y + _HEIGHT / 2 - 6, y + _HEIGHT / 2 + 10
    ahead = f"M{left:g} {on:g}H{right:g}m-7 -5l7 5l-7 5"
    home = f"M{right:g} {back:g}H{left:g}m7 -5l-7 5l7 5"
    return [_path(f"on{at}", ahead), words, _path(f"back{at}", home)]


def _path(key: str, d: str) -> Shape:
    attributes = {
        "d": d,
        "class": "c-pipeline",
        "fill": "none",
        "stroke": "currentColor",
        "stroke-width": "2",
    }
    return Shape(key=key, tag="path", attributes=attributes)


def _text(key: str, x: float, y: float, size: float, text: str) -> Shape:
    return Shape(
        key=key,
        tag="text",
        attributes={
            "x": f"{x:g}",
            "y": f"{y:g}",
            "font-size": f"{size:g}",
            "text-anchor": "middle",
            "class": "c-ink",
        },
        text=text,
    )
