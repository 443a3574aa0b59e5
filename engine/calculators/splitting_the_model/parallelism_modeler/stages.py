"""The stages of the modeler: as boxes, and what a GPU of each holds."""

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    Inputs,
)
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.calculators.splitting_the_model.parallelism_modeler.stage_strip import Box, strip_scene
from engine.core.numbers import show
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Count
from engine.core.views import Axis, Bar, Bars, Rule, Scene
from engine.draw.drag_handle import Grip
from engine.form.memory_bar import parts_of
from engine.simulate.step.modeled_plan import Modeled, Stage

_SHOWN = 16


def stage_memory_bars(found: Modeled) -> Bars:
    """Return what a GPU of every stage holds, against its capacity."""
    shown = _drawn(len(found.stages), 8)
    most = max(found.usable, *(found.stages[i].memory.total for i in shown))
    rule = Rule(
        key="usable", label=say("usable: {m}", m=(found.usable, BYTES)), axis="x", at=found.usable
    )
    return Bars(
        title="Memory of a GPU, stage by stage",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.25 * most),
        bars=tuple(
            Bar(
                key=f"stage{i}",
                label=f"stage {i}, {_in_flight(found.stages[i])} in flight",
                segments=parts_of(found.stages[i].memory),
                links=(f"stage:{i}",),
            )
            for i in shown
        ),
        rules=(rule,),
    )


def _in_flight(stage: Stage) -> str:
    return f"{stage.held:.3g}"


def _drawn(count: Count, most: Count) -> list[Count]:
    """Return the stages to draw: all, or as many of the first as of the last."""
    if count <= most:
        return list(range(count))
    return [*range(most // 2), *range(count - most // 2, count)]


def strip(inputs: Inputs, result: Result) -> Scene:
    """Return the stages as boxes, with what each holds and what goes from one to the next."""
    found = result.plan
    last = len(found.stages) - 1
    boxes = []
    for i in _drawn(last + 1, _SHOWN):
        stage = found.stages[i]
        ends = ["embedding"] * (i == 0) + ["output"] * (i == last)
        boxes.append(
            Box(
                index=i,
                layers=stage.layers,
                ends="both ends" if len(ends) == 2 else "".join(ends),
                held=_in_flight(stage),
                slowest=i == found.slowest,
                fits=stage.memory.total <= found.usable,
                caption=_stage_caption(found, i, " and ".join(f"{end} layer" for end in ends)),
            )
        )
    arrow = show(result.boundary, BYTES)
    grips = (
        _layers_grip("off_first", "first", inputs.off_first, -1),
        _layers_grip("off_last", "last", inputs.off_last, 1),
    )
    return strip_scene(boxes, arrow, grips)


def _layers_grip(name: str, stage: str, moved: Count, steps: int) -> Grip:
    return Grip(
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


def _stage_caption(found: Modeled, index: Count, ends: str) -> Text:
    stage = found.stages[index]
    end = found.embedding * (index == 0) + found.output * (index == len(found.stages) - 1)
    words = (
        f"Stage {index}: {stage.layers} layers"
        + (f", {ends} worth {{w}} of a layer" if ends else "")
        + ". Forward and backward of one micro-batch take {t}; a GPU holds {m}, with "
        + f"{_in_flight(stage)} micro-batch{'' if stage.held == 1 else 'es'} in flight."
        + (" It is the slowest." if index == found.slowest else "")
    )
    numbers = {"t": (stage.time, SECONDS), "m": (stage.memory.total, BYTES)}
    if not ends:
        return say(words, **numbers)
    return say(words, **numbers, w=(end / found.layer, SHARE))
