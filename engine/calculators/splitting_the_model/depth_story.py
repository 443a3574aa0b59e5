"""The same model on 1 to 64 GPUs: out of memory, tensor parallel, pipeline parallel."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, GPU_TIME, Bytes, Count, GpuTime, Share
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
)
from engine.form.fields import OwnConstants
from engine.form.memory_fit import tight_mark
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.prediction_text import value_with_range
from engine.form.sharded.lab import LabModel
from engine.simulate.step.modeled_plan import ModeledPlan, model_plan

NODE: Count = 8
MANY = (1, 2, 4, 8, 16, 32, 64)
_UTILIZATION: Share = 0.5
PARTS = {
    "parameters": ("parameters", "parameters"),
    "gradients": ("gradients", "gradients"),
    "optimizer": ("optimizer", "optimizer"),
    "activations": ("activations", "activations"),
    "buffers": ("buffers", "buffers"),
    "reserve": ("workspaces", "muted"),
}
HELD = (
    "One replica; Megatron, bf16, gradients summed in fp32, Adam; one sequence per micro-batch, "
    "1F1B.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_gpus: Annotated[
        int, Number(label="GPUs", low=1, high=64, scale="log2", whole=True, symbol="n")
    ] = 32
    model: LabModel = "llama-3-70b"
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=512, high=32_768, scale="log2", whole=True),
    ] = 4096
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=256, scale="log2", whole=True, symbol="m")
    ] = 32
    nics_per_node: Annotated[
        str,
        Choice(label="Ports of 400 Gb/s per node", options={n: n for n in ("1", "2", "4", "8")}),
    ] = "8"
    own_constants: OwnConstants = ""


def _output(label: str, note: str, color: str) -> Output:
    return Output(label, "", note, color, HELD, ("narayanan2021", "rajbhandari2020"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The model on one GPU, in a single tensor group, and in pipeline stages."""

    alone: Annotated[Bytes, _output("On one GPU it would need", "{usable} can be used", "buffers")]
    usable: Bytes
    wide_memory: Annotated[
        Bytes, _output("Tensor parallel only", "at most, on one of {gpus} GPUs", "tensor")
    ]
    deep_memory: Annotated[
        Bytes, _output("With stages", "{tensor} GPUs per stage, {stages} stages", "pipeline")
    ]
    wide_time: Annotated[
        GpuTime, _output("A million tokens, tensor parallel only", "GPU time", "tensor")
    ]
    deep_time: Annotated[GpuTime, _output("A million tokens, with stages", "GPU time", "pipeline")]
    gpus: Count
    tensor: Count
    stages: Count
    wide: tuple[ModeledPlan, ...]
    deep: tuple[ModeledPlan, ...]
    now: tuple[ModeledPlan, ModeledPlan]


@lru_cache(maxsize=256)
def _plan(inputs: Inputs, tensor: Count, stages: Count) -> ModeledPlan:
    run, _ = nearest_run(
        RunInputs(
            model=inputs.model,
            nics_per_node=int(inputs.nics_per_node),
            own_constants=inputs.own_constants,
            world_size=tensor * stages,
            tensor_parallel=tensor,
            pipeline_parallel=stages,
            context_parallel=1,
            sequence_parallel=tensor > 1,
            sequence_length=inputs.sequence_length,
            global_batch_size=inputs.num_microbatches,
            overlap_tensor_parallel=False,
            virtual_pipeline=1,
            schedule="1f1b",
        )
    )
    return model_plan(run, _UTILIZATION)


def _both_plans(inputs: Inputs, gpus: Count) -> tuple[ModeledPlan, ModeledPlan]:
    """Return the plan with a single tensor group, and with a tensor group per node."""
    alike = replace(inputs, num_gpus=1)
    heads = MODELS[inputs.model].num_attention_heads
    wide = max(t for t in range(1, gpus + 1) if heads % t == 0)
    tensor = max(t for t in range(1, min(gpus, NODE) + 1) if heads % t == 0)
    return _plan(alike, wide, 1), _plan(alike, tensor, gpus // tensor)


def solve(inputs: Inputs) -> Result:
    """Return both plans, on the chosen number of GPUs and on all."""
    wide, deep = _both_plans(inputs, inputs.num_gpus)
    pairs = [_both_plans(inputs, gpus) for gpus in MANY]
    return Result(
        alone=peak(pairs[0][0]),
        usable=wide.usable,
        wide_memory=peak(wide),
        deep_memory=peak(deep),
        wide_time=wide.token_time,
        deep_time=deep.token_time,
        gpus=wide.run.plan.world_size,
        tensor=deep.run.plan.tensor_parallel,
        stages=deep.run.plan.pipeline_parallel,
        wide=tuple(wide_plan for wide_plan, _ in pairs),
        deep=tuple(two for _, two in pairs),
        now=(wide, deep),
    )


def peak(plan: ModeledPlan) -> Bytes:
    """Return the memory of the GPU that holds most."""
    return plan.stages[plan.fullest].memory.total


TITLE = "One model on 1 to 64 GPUs"
QUESTION = "What if a model is too large for one node?"
HEADLINE = "deep_time"
PRESETS = {
    "One GPU": {"num_gpus": 1},
    "One node": {"num_gpus": 8},
    "405B on 64 GPUs": {"model": "llama-3-405b", "num_gpus": 64},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "memory": partial(_memory, present, inputs, result),
        "regime": _regime(present, inputs, result),
        **present.values("alone", "wide_memory", "deep_memory"),
        "bars": partial(_bars, result),
        "wide_time": value_with_range(present, "wide_time", result.now[0].evidence, assumes=HELD),
        "deep_time": value_with_range(present, "deep_time", result.now[1].evidence, assumes=HELD),
        "times": partial(_times, result),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    deep, wide = (plan.fit for plan in (result.now[1], result.now[0]))
    if inputs.num_gpus == 1 and not deep.runs:
        return Badge(
            text="One GPU overflows",
            sentence=present.say("It would need {alone}, and {usable} can be used."),
            color="communication",
        )
    if inputs.num_gpus <= NODE:
        verdict = "is tight" if wide.verdict == "tight" else wide.verdict
        return Badge(
            text="Tensor parallel in one node",
            sentence=present.say(
                f"{{gpus}} GPUs share every matrix: {{wide_memory}} on each, which {verdict}."
            ),
            color="tensor",
        )
    saved = 1 - result.deep_time / result.wide_time
    if result.stages == 1:
        return Badge(
            text="Tensor parallel in one node",
            sentence=present.say(
                "{tensor} GPUs share every matrix: {deep_memory} on each. The rest fill no second "
                "node."
            ),
            color="tensor",
        )
    if not deep.runs:
        return Badge(
            text="Cut by depth, still too large",
            sentence=present.say("{stages} stages of {tensor} GPUs: at most {deep_memory} on one."),
            color="communication",
        )
    words = "less" if saved > 0 else "more"
    return Badge(
        text="Cut by depth",
        sentence=present.say(
            "{stages} stages of {tensor} GPUs hold at most {deep_memory} on one of them and take "
            f"{abs(saved) * 100:.0f} % {words} GPU time than one tensor group of {{gpus}}."
        ),
        color="pipeline",
    )


def _memory(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    wide, deep = (tuple(map(peak, plans)) for plans in (result.wide, result.deep))
    every = (*wide, *deep, result.usable)
    return present.curve(
        "Memory of the GPU that holds most",
        over=Scale(COUNT, "GPUs", 1, 64, log=True),
        shows=Scale("deep_memory", "memory", min(every) / 2.5, max(every) * 1.2, log=True),
        x=MANY,
        lines=(
            Line("wide", "no stages", wide, "tensor"),
            Line("deep", "staged", deep, "pipeline", dashed=True),
        ),
        handle="num_gpus",
        rules=(
            Rule(
                key="room",
                label=say("{m} usable", m=(result.usable, BYTES)),
                axis="y",
                at=result.usable,
            ),
            Rule(key="node", label="one node", axis="x", at=float(NODE), color="muted"),
        ),
        caption="Staged: every node is one stage.",
    )


def _bars(result: Result) -> Bars:
    names = ("tensor parallel only", "with stages")
    high = 1.25 * max(result.usable, result.wide_memory, result.deep_memory)
    return Bars(
        title="Memory of the GPU that holds most",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"held{at}",
                label=name,
                segments=tuple(
                    Segment(key=part, label=label, value=_part(plan, part), color=color)
                    for part, (label, color) in PARTS.items()
                ),
            )
            for at, (name, plan) in enumerate(zip(names, result.now, strict=True))
        ),
        rules=(
            Rule(
                key="room",
                label=say("{m}", m=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
    )


def _part(plan: ModeledPlan, part: str) -> Bytes:
    return float(getattr(plan.stages[plan.fullest].memory, part))


def _times(result: Result) -> Bars:
    rows = []
    for gpus, wide, deep in zip(MANY, result.wide, result.deep, strict=True):
        if gpus < NODE:
            continue
        named = (("tensor parallel", wide), ("stages", deep)) if gpus > NODE else (("", wide),)
        for name, plan in named:
            cut = f"{gpus} GPUs, {name}".rstrip(", ")
            used = plan.run.plan.world_size
            if used < gpus:
                cut += f" on {used}"
            label = cut + tight_mark(plan.fit)
            rows.append((f"{gpus} {name}", label, plan))
    return Bars(
        title="GPU time for a million tokens",
        axis=Axis(
            label="GPU time for a million tokens",
            quantity=GPU_TIME,
            low=0.0,
            high=1.05 * max(plan.token_time for _, _, plan in rows),
        ),
        bars=tuple(Bar(key=key, label=label, segments=_time(plan)) for key, label, plan in rows),
        caption="What does not fit is named, and its time means nothing; so is what is tight.",
    )


def _time(plan: ModeledPlan) -> tuple[Segment, ...]:
    step = plan.step
    each = plan.token_time / step.total
    sent = step.tensor_parallel + step.pipeline
    other = step.total - step.compute - sent - step.bubble
    parts = (
        ("compute", "computation", step.compute, "compute"),
        ("sent", "exposed communication", sent, "communication"),
        ("bubble", "bubble", step.bubble, "muted"),
        ("other", "optimizer and other", other, "memory"),
    )
    return tuple(
        Segment(key=key, label=label, value=time * each, color=color)
        for key, label, time, color in parts
    )
