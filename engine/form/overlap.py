"""Charts of overlap schedules: timelines, step bars, residue bars."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import GBITS, Choice, Number
from engine.core.text import say
from engine.core.units import COUNT, SECONDS, Count, Gbit
from engine.core.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.fields import LabGpu, OwnConstants
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.run import Run
from engine.simulate.overlap.schedule_step import (
    ScheduleOutcome,
    Stretch,
)
from engine.simulate.streams.exposed_time import SpanPart
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP

_NAMES = {COMPUTE: "compute", SCALE_UP: "NVLink", NETWORK: "network"}
# Parts of a step beyond computation: key, name, color.
RESIDUE = (
    ("inside", "inside layers", "communication"),
    ("data", "data parallelism", "data"),
    ("pipeline", "between stages", "parameters"),
    ("bubble", "bubble", "pipeline"),
    ("optimizer", "optimizer", "optimizer"),
    ("other", "host, slowest GPU", "muted"),
)
_PARTS = (("compute", "compute", "compute"), *RESIDUE)
_COMPUTING = ("forward", "backward", "optimizer")
_LABELS = {key: label for key, label, _ in RESIDUE} | {
    "forward": "forward",
    "backward": "backward",
}
_COLORS = {key: color for key, _, color in RESIDUE} | {"forward": "compute", "backward": "compute"}


def schedules_timeline(outcomes: Mapping[str, ScheduleOutcome]) -> Timeline:
    """Return the whole step under every schedule, two lanes each."""
    end = max(outcome.step for outcome in outcomes.values())
    return Timeline(
        title="The same step under five schedules",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{name}:{kind}", label=text)
            for name, label in SCHEDULES.items()
            for kind, text in (("compute", label), ("waits", "waits"))
        ),
        spans=tuple(span for outcome in outcomes.values() for span in _drawn_stretches(outcome)),
        caption="The slowest stage of the pipeline, and below it what it waits for: other stages "
        "at both ends, collectives in between. Hidden communication is not drawn.",
    )


def _drawn_stretches(outcome: ScheduleOutcome) -> Iterable[Span]:
    for number, stretch in enumerate(outcome.stretches):
        computing = stretch.key in _COMPUTING
        yield Span(
            key=f"{outcome.name} {number}",
            lane=f"{outcome.name}:{'compute' if computing else 'waits'}",
            start=stretch.start,
            end=stretch.end,
            label=_stretch_label(stretch),
            color=_COLORS[stretch.key],
            exposed=stretch.key in ("inside", "data", "pipeline"),
        )


def _stretch_label(stretch: Stretch) -> str:
    label = _LABELS[stretch.key]
    if not stretch.first:
        return label
    if stretch.first == stretch.last:
        return f"{label}, micro-batch {stretch.first}"
    return f"{label}, micro-batches {stretch.first}\N{EN DASH}{stretch.last}"


def schedule_timeline(outcome: ScheduleOutcome) -> Timeline:
    """Return the first micro-batches under one schedule, operation by operation."""
    parts, units = outcome.parts, outcome.work.layers
    end = max(part.end for part in parts)
    return Timeline(
        title=f"{SCHEDULES[outcome.name]}, operation by operation",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(Lane(key=name, label=_NAMES[name]) for name in outcome.streams),
        spans=tuple(_drawn(part, units, sharded=outcome.sharded) for part in parts),
        caption=say(
            "The first micro-batches of the slowest stage in {n} units. Of collectives inside "
            "layers only what the step waits for is drawn. Bubble, messages between stages, "
            "optimizer and host are left out here.",
            n=(units, COUNT),
        ),
        player=True,
    )


def _drawn(part: SpanPart, units: int, *, sharded: bool) -> Span:
    op = part.ran.op
    waits = tuple(dict.fromkeys(key for key in (*op.after, part.ran.waited_for) if key))
    return Span(
        key=part.key,
        lane=op.stream,
        start=part.start,
        end=part.end,
        label=_unit_label(op.label, units, sharded=sharded),
        color="compute" if op.stream == COMPUTE else "communication",
        exposed=part.exposed,
        links=op.links[:2],
        after=waits if part.number == 1 else (),
    )


def _unit_label(label: str, units: int, *, sharded: bool) -> str:
    """Return the label with the number of the unit; the last that is sharded holds the ends."""
    head, separator, number = label.rpartition("layer ")
    if not separator or not number.isdigit():
        return label
    if sharded and int(number) == units:
        return f"{head}embedding and output layer"
    return f"{head}unit {number}"


def step_bars(outcomes: Mapping[str, ScheduleOutcome]) -> Bars:
    """Return the step of every schedule, split into its parts."""
    high = max(outcome.step for outcome in outcomes.values())
    return Bars(
        title="A whole step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(outcome, _PARTS) for outcome in outcomes.values()),
    )


def residue_bars(outcomes: Mapping[str, ScheduleOutcome]) -> Bars:
    """Return the bars of the time that every schedule waits for."""
    high = max(outcome.residue for outcome in outcomes.values())
    return Bars(
        title="What no schedule hides",
        axis=Axis(label="time beyond computing", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(outcome, RESIDUE) for outcome in outcomes.values()),
    )


def _bar(outcome: ScheduleOutcome, parts: tuple[tuple[str, str, str], ...]) -> Bar:
    return Bar(
        key=outcome.name,
        label=SCHEDULES[outcome.name],
        segments=tuple(
            Segment(key=key, label=label, value=float(getattr(outcome, key)), color=color)
            for key, label, color in parts
        ),
    )


# Inputs of the overlap calculator.

DENSE = ("llama-3-8b", "llama-2-13b", "llama-3-70b", "llama-3-405b", "gpt-3-175b")
SCHEDULES = {
    "blocking": "Blocking",
    "buckets": "DDP buckets",
    "sharded": "FSDP prefetch",
    "async": "Async TP",
    "paired": "Paired passes",
}
_POWERS = {str(2**i): str(2**i) for i in range(5)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of the overlap calculator."""

    schedule: Annotated[
        str,
        Choice(
            label="Schedule shown",
            options=SCHEDULES,
            help="Each keeps what the one before it does, and hides one thing more.",
        ),
    ] = "sharded"
    gradients: Annotated[
        str,
        Choice(
            label="Gradients are reduced in",
            options={"fp32": "fp32", "bf16": "bf16"},
            help="By default, torchtitan and DDP under autocast reduce in fp32.",
        ),
    ] = "fp32"
    tokens: Annotated[
        int,
        Number(
            label="Tokens of a micro-batch",
            low=1024,
            high=131_072,
            scale="log2",
            whole=True,
            symbol="t",
            help="One pass of one replica; its tensor-parallel GPUs share them.",
        ),
    ] = 16_384
    port: Annotated[
        float,
        Number(
            label="Network port per GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate, one way.",
        ),
    ] = 400 * Gbit
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in DENSE})
    ] = "llama-3-70b"
    gpu: LabGpu = "h100"
    tensor_parallel: Annotated[
        str,
        Choice(
            label="Tensor parallel",
            options={key: _POWERS[key] for key in ("1", "2", "4", "8")},
            advanced=True,
        ),
    ] = "8"
    pipeline_parallel: Annotated[
        str, Choice(label="Pipeline stages", cites=False, options=_POWERS, advanced=True)
    ] = "4"
    data_parallel: Annotated[
        int,
        Number(label="Data parallel", low=1, high=2048, scale="log2", whole=True, advanced=True),
    ] = 32
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=128,
            scale="log2",
            whole=True,
            symbol="m",
            advanced=True,
        ),
    ] = 16
    own_constants: OwnConstants = ""


# Inputs of older links: each was a setting of a simulation beside the estimate.
FORMERLY = {
    "slow_down": "",
    "bucket": "",
    "prefetch": "",
    "reshard": "",
    "fp32_gradients": "",
    "deviation": "",
}
_NODE: Count = 8


def overlap_run(inputs: Inputs) -> Run:
    """Return the job of the inputs, under PyTorch, for any schedule."""
    tensor, stages = int(inputs.tensor_parallel), int(inputs.pipeline_parallel)
    half = inputs.gradients == "bf16"
    return Run(
        model=MODELS[inputs.model],
        cluster=Cluster(
            gpu=GPUS[inputs.gpu],
            gpus_per_node=_NODE,
            nics_per_node=_NODE,
            nic_bandwidth=inputs.port,
            own_constants=parse_constants(inputs.own_constants),
        ),
        plan=Plan(
            world_size=tensor * stages * inputs.data_parallel,
            tensor_parallel=tensor,
            pipeline_parallel=stages,
            sequence_parallel=tensor > 1,
            zero_stage=0,
        ),
        training=Training(
            micro_batch_size=1,
            global_batch_size=inputs.data_parallel * inputs.num_microbatches,
            sequence_length=inputs.tokens,
            framework="fsdp",
            gradient_precision="bf16" if half else "",
        ),
    )
