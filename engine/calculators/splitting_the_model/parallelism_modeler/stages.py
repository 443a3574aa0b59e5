"""Pipeline stages of the modeler: boxes, and GPU memory of each stage."""

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    Inputs,
)
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.calculators.splitting_the_model.parallelism_modeler.stage_strip import Box, strip_scene
from engine.core.numbers import format_value
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Count
from engine.core.views import Axis, Bar, Bars, Rule, Scene
from engine.draw.drag_handle import DragHandle
from engine.form.memory_bar import memory_segments
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
