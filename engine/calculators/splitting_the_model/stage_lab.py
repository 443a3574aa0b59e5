"""Layers moved between the stages of a pipeline: times, memory, and the layout for Megatron."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, render_text, say
from engine.core.units import (
    BYTES,
    COUNT,
    LINK_SPEED,
    RATIO,
    SECONDS,
    Bytes,
    Count,
    Ratio,
    Seconds,
    Share,
    TokenRate,
)
from engine.core.views import Badge, Challenge, Code, Condition, Frame, Scene, Shape
from engine.draw.drag_handle import DragHandle
from engine.draw.shapes import rect, text
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.prediction_text import value_with_range
from engine.form.sharded.lab import LabModel
from engine.formulas.axes import HALF, STAGE_MESSAGE, least_bandwidth, stage_message
from engine.run.exporters.stage_layout import format_layout
from engine.run.stage_cut import shifted_cut
from engine.simulate.step.modeled_plan import ModeledPlan, model_plan

_WIDTH, _FONT = 460.0, 16.0
_LEFT, _TOP, _STRIP = 14.0, 26.0, 44.0
_ROWS, _LINE = 110.0, 44.0
_TIME, _MEMORY, _BAR = 132.0, 304.0, 148.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stage.

    Attributes:
        layers: that it holds.
        ends: what else, in a word.
        time, memory: as written.
        time_share: of the slowest stage's time.
        memory_share: of what can be used.
        slowest: no other stage takes longer.
    """

    layers: int
    ends: str
    time: str
    memory: str
    time_share: float
    memory_share: float
    slowest: bool


def cut_strip(
    rows: Sequence[Row], ends: tuple[float, float], grips: Sequence[DragHandle], caption: Text
) -> Scene:
    """Return the strip and a row for each stage.

    Args:
        rows: the stages in order.
        ends: time of the embedding and of the output layer, over that of one layer.
        grips: of the boundaries, one fewer than stages.
        caption: what the frame shows.
    """
    layers = sum(row.layers for row in rows)
    each = layer_width(layers, ends)
    shapes = _layer_cut_strip(rows, ends, each)
    at = _LEFT + ends[0] * each
    for boundary, grip in enumerate(grips):
        at += rows[boundary].layers * each
        shapes.append(_grip(at, grip))
    for stage, row in enumerate(rows):
        shapes += _row(stage, row)
    return Scene(
        title="The model as a strip of layers",
        width=_WIDTH,
        height=_ROWS + len(rows) * _LINE + 4,
        frames=(Frame(caption=caption, shapes=tuple(shapes)),),
        caption="Widths are times of one micro-batch: the embedding at the left end, the output "
        "layer at the right. Drag a handle to move layers over a boundary.",
    )


def layer_width(layers: int, ends: tuple[float, float]) -> float:
    """Return the drawn width of a layer."""
    return (_WIDTH - 2 * _LEFT) / (layers + sum(ends))


def _layer_cut_strip(rows: Sequence[Row], ends: tuple[float, float], each: float) -> list[Shape]:
    shapes: list[Shape] = [text("model", _LEFT, 17, _FONT, "embedding", "start", "c-muted")]
    shapes.append(text("output", _WIDTH - _LEFT, 17, _FONT, "output layer", "end", "c-muted"))
    at = _LEFT
    last = len(rows) - 1
    for stage, row in enumerate(rows):
        wide = row.layers * each
        wide += ends[0] * each * (stage == 0) + ends[1] * each * (stage == last)
        look = (("fill-opacity", "0.5" if stage % 2 else "0.28"),)
        shapes.append(rect(f"stage{stage}", (at, _TOP), (wide, _STRIP), "cell c-pipeline", look))
        at += wide
    marks = (
        ("first", _LEFT, ends[0] * each),
        ("last", _WIDTH - _LEFT - ends[1] * each, ends[1] * each),
    )
    for key, left, wide in marks:
        look = (("fill-opacity", "0.75"),)
        shapes.append(rect(key, (left, _TOP), (wide, _STRIP), "cell c-parameters", look))
    layers = sum(row.layers for row in rows)
    ticks = "".join(
        f"M{_LEFT + (ends[0] + i) * each:.1f} {_TOP:g}v{_STRIP:g}" for i in range(layers + 1)
    )
    attributes = {"d": ticks, "stroke": "currentColor", "stroke-width": "0.5", "opacity": "0.35"}
    return [*shapes, Shape(key="ticks", tag="path", attributes={**attributes, "class": "c-ink"})]


def _grip(x: float, grip: DragHandle) -> Shape:
    attributes = {
        "x": f"{x - 6:.1f}",
        "y": f"{_TOP - 6:g}",
        "width": "12",
        "height": f"{_STRIP + 12:g}",
        "rx": "6",
        "class": "cell c-accent",
        "fill-opacity": "0.85",
        **grip.attributes(),
    }
    return Shape(key=f"grip-{grip.name}", tag="rect", attributes=attributes)


def _row(stage: int, row: Row) -> list[Shape]:
    top = _ROWS + stage * _LINE
    link = (("data-links", f"stage:{stage}"),)
    color = "communication" if row.memory_share > 1 else "optimizer"
    name = f"stage {stage}"
    noun = "layer" if row.layers == 1 else "layers"
    layers = f"{row.layers} {noun}{row.ends}"
    full = "cell done c-compute" if row.slowest else "cell c-compute"
    time = (("fill-opacity", "0.75"), *link)
    shapes = [
        text(f"name{stage}", 4, top + 12, _FONT, name, "start"),
        text(f"held{stage}", 4, top + 31, 15, layers, "start", "c-muted"),
        text(f"time{stage}", _TIME, top + 12, _FONT, row.time, "start"),
        text(f"full{stage}", _MEMORY, top + 12, _FONT, row.memory, "start"),
        rect(f"timeroom{stage}", (_TIME, top + 18), (_BAR, 14), "port", ()),
        rect(f"timebar{stage}", (_TIME, top + 18), (row.time_share * _BAR, 14), full, time),
        rect(f"memoryroom{stage}", (_MEMORY, top + 18), (_BAR, 14), "port", ()),
    ]
    share = min(row.memory_share, 1.0)
    size = (share * _BAR, 14.0)
    look = (("fill-opacity", "0.6"), *link)
    return [*shapes, rect(f"memory{stage}", (_MEMORY, top + 18), size, f"cell c-{color}", look)]


MOST: Count = 8
_UTILIZATION: Share = 0.5


def _shift(boundary: int) -> Number:
    return Number(
        label=f"Boundary after stage {boundary - 1}",
        low=-20,
        high=20,
        whole=True,
        advanced=True,
        help="By how many layers it moves toward the end of the model.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: LabModel = "llama-3-70b"
    stages: Annotated[str, Choice(label="Stages", options={n: n for n in ("2", "4", "8")})] = "4"
    tensor_parallel: Annotated[
        str, Choice(label="GPUs per stage", options={n: n for n in ("1", "2", "4", "8")})
    ] = "8"
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=256, scale="log2", whole=True, symbol="m")
    ] = 8
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=512, high=32_768, scale="log2", whole=True, symbol="s"),
    ] = 4096
    shift_1: Annotated[int, _shift(1)] = 0
    shift_2: Annotated[int, _shift(2)] = 0
    shift_3: Annotated[int, _shift(3)] = 0
    shift_4: Annotated[int, _shift(4)] = 0
    shift_5: Annotated[int, _shift(5)] = 0
    shift_6: Annotated[int, _shift(6)] = 0
    shift_7: Annotated[int, _shift(7)] = 0
    own_constants: OwnConstants = ""


HELD = (
    "Four replicas; Megatron, bf16, ZeRO-1, 1F1B, nodes of 8 H100. Bandwidths needed: computation "
    "at half of the peak, layers only."
)


def _output(label: str, note: str, color: str) -> Output:
    return Output(label, "", note, color, (HELD,), ("narayanan2021",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The plan with its stage cut, and the derived numbers."""

    plan: ModeledPlan
    cut: tuple[Count, ...]
    slowest: Annotated[
        Seconds,
        _output("The slowest stage takes", "for one micro-batch; the mean is {mean}", "compute"),
    ]
    mean: Seconds
    imbalance: Annotated[Ratio, _output("Slowest over mean", "1 is balanced", "compute")]
    step: Annotated[Seconds, _output("Step", "{bubble} of it bubble", "ink")]
    bubble: Seconds
    token_rate: Annotated[
        TokenRate, _output("Tokens per second per GPU", "on {gpus} GPUs", "compute")
    ]
    gpus: Count
    output: Annotated[
        float,
        COUNT,
        _output("The output layer counts", "layers, by time; the embedding {embedding}", "compute"),
    ]
    embedding: Annotated[float, COUNT]
    memory: Annotated[Bytes, _output("GPU that holds most", "{usable} may be filled", "optimizer")]
    usable: Bytes
    message: Annotated[
        Bytes,
        Output(
            "Over a boundary, one micro-batch",
            "S",
            "each way, all GPUs of a stage together",
            "pipeline",
        ),
    ]
    hidden: Annotated[Count, Output(symbol="h", of="model")]
    element: Annotated[Bytes, Output(symbol="e")] = HALF
    needed: Annotated[
        float,
        LINK_SPEED,
        _output("Bandwidth needed to the next stage", "per GPU, to keep up", "pipeline"),
    ]
    tensor_needed: Annotated[
        float, LINK_SPEED, _output("And for tensor parallelism", "per GPU, to keep up", "tensor")
    ]
    layout: str


def _shifts(inputs: Inputs) -> tuple[int, ...]:
    every = tuple(getattr(inputs, f"shift_{boundary}") for boundary in range(1, MOST))
    return every[: int(inputs.stages) - 1]


@lru_cache(maxsize=64)
def _plan(inputs: Inputs) -> ModeledPlan:
    tensor, stages = int(inputs.tensor_parallel), int(inputs.stages)
    run, _ = nearest_run(
        RunInputs(
            model=inputs.model,
            own_constants=inputs.own_constants,
            world_size=4 * tensor * stages,
            tensor_parallel=tensor,
            pipeline_parallel=stages,
            context_parallel=1,
            sequence_parallel=tensor > 1,
            sequence_length=inputs.sequence_length,
            global_batch_size=4 * inputs.num_microbatches,
            overlap_tensor_parallel=False,
            virtual_pipeline=1,
            schedule="1f1b",
        )
    )
    if any(_shifts(inputs)):
        cut = shifted_cut(run.model.num_layers, stages, _shifts(inputs))
        run = replace(run, plan=replace(run.plan, stage_layers=cut))
    return model_plan(run, _UTILIZATION)


def solve(inputs: Inputs) -> Result:
    """Return the plan as cut."""
    plan = _plan(inputs)
    model, times = plan.run.model, [stage.time for stage in plan.stages]
    sent = {axis.key: axis.sent for axis in plan.axes}
    mean = sum(times) / len(times)
    cut = tuple(stage.layers for stage in plan.stages)
    return Result(
        plan=plan,
        cut=cut,
        slowest=max(times),
        mean=mean,
        imbalance=max(times) / mean,
        step=plan.step.total,
        bubble=plan.step.bubble,
        token_rate=plan.token_rate,
        gpus=plan.run.plan.world_size,
        output=round(plan.output / plan.layer, 2),
        embedding=round(plan.embedding / plan.layer, 2),
        memory=plan.stages[plan.fullest].memory.total,
        usable=plan.usable,
        message=stage_message(inputs.sequence_length, model.hidden_size),
        hidden=model.hidden_size,
        needed=least_bandwidth(sent["pipeline"], plan.computation),
        tensor_needed=least_bandwidth(sent.get("tensor", 0.0), plan.computation),
        layout=format_layout(cut),
    )


TITLE = "Layers between stages"
QUESTION = "Where should a model be cut into stages?"
HEADLINE = "step"
EQUATIONS = (STAGE_MESSAGE,)
PRESETS = {
    "Eight stages": {"stages": "8"},
    "8B, four stages": {"model": "llama-3-8b", "tensor_parallel": "1"},
    "One layer off the last stage": {"shift_3": 1},
}
START: Mapping[str, Scalar] = {"model": "llama-3-8b", "tensor_parallel": "1", "stages": "4"}
SOLUTION: Mapping[str, Scalar] = {**START, "shift_1": 1, "shift_2": 2, "shift_3": 3}
_BALANCED: Ratio = 1.05


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "strip": partial(_strip, inputs, result),
        "regime": _regime(present, result),
        **present.values("slowest", "imbalance"),
        "step": value_with_range(present, "step", result.plan.evidence, assumes=(HELD,)),
        **present.values("token_rate", "output", "memory"),
        "message": present.value("message", symbols={"t": "sequence_length"}),
        **present.values("needed", "tensor_needed"),
        "layout": Code(
            title="For Megatron-LM",
            language="bash",
            text=f"--pipeline-model-parallel-size {inputs.stages} \\\n"
            f'--pipeline-model-parallel-layout "{result.layout}"',
        ),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, result: Result) -> Badge:
    if not result.plan.fit.runs:
        return Badge(
            text="Does not fit",
            sentence=present.say("{memory} on the GPU that holds most; {usable} may be filled."),
            color="communication",
        )
    if result.imbalance <= _BALANCED:
        return Badge(
            text="Balanced",
            sentence=present.say("The slowest stage takes {imbalance} as long as the mean."),
            color="compute",
        )
    number = result.plan.slowest
    return Badge(
        text=f"Stage {number} holds up the others",
        sentence=present.say(
            "It takes {slowest}, and the mean stage {mean}. All others wait for it in every "
            "micro-batch."
        ),
        color="pipeline",
    )


def _strip(inputs: Inputs, result: Result) -> Scene:
    rows = [
        Row(
            layers=stage.layers,
            ends=_ends(number, len(result.cut)),
            time=render_text(say("{t}", t=(stage.time, SECONDS))),
            memory=render_text(say("{m}", m=(stage.memory.total, BYTES))),
            time_share=stage.time / result.slowest,
            memory_share=stage.memory.total / result.usable,
            slowest=number == result.plan.slowest,
        )
        for number, stage in enumerate(result.plan.stages)
    ]
    ends = (result.embedding, result.output)
    notch = layer_width(sum(result.cut), ends)
    grips = [
        DragHandle(
            name=f"shift_{boundary}",
            key=f"boundary{boundary}",
            notch=notch,
            label=f"Boundary after stage {boundary - 1}",
            now=getattr(inputs, f"shift_{boundary}"),
            low=-20,
            high=20,
            text=f"{result.cut[boundary - 1]} layers before it",
            steps=1,
        )
        for boundary in range(1, len(result.cut))
    ]
    caption = say(
        f"Layers of each stage: {', '.join(map(str, result.cut))}. The output layer takes as long "
        "as {o} layers.",
        o=(result.output, COUNT),
    )
    return cut_strip(rows, ends, grips, caption)


def _ends(stage: int, stages: int) -> str:
    if stage == 0:
        return ", emb."
    return ", out." if stage == stages - 1 else ""


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = inputs.model == "llama-3-8b" and inputs.tensor_parallel == "1"
    return Challenge(
        title="Challenge: balance a small model with a large vocabulary",
        goal=say(
            "Cut Llama 3 8B into four stages so that the slowest takes at most "
            "{r} as long as the mean.",
            r=(_BALANCED, RATIO),
        ),
        conditions=(
            Condition(text="Llama 3 8B, one GPU per stage", met=same),
            Condition(text="four stages", met=inputs.stages == "4"),
            Condition(text="it fits", met=result.plan.fit.verdict == "fits"),
            Condition(
                text=say("slowest over mean at most {r}", r=(_BALANCED, RATIO)),
                met=result.imbalance <= _BALANCED,
            ),
        ),
        hints=(
            "The output layer multiplies by the whole vocabulary. See how many layers it is worth.",
            "What leaves the last stage has to be shared among the others: move all boundaries.",
        ),
        start=START,
        solution=SOLUTION,
    )
