"""Wire types: bytes of a step by tensor class, halved by the ticked switches."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.hardware import LINKS
from engine.core.inputs import Scalar, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text
from engine.core.units import BANDWIDTH, BYTES, LINK_SPEED, SECONDS, Bytes, Seconds, Share
from engine.core.views import Axis, Badge, Bar, Bars, Citation, Segment, Table
from engine.form import short_job
from engine.form.adjusted_inputs import with_changes
from engine.form.fields import OwnConstants
from engine.form.run.prediction_text import value_with_range
from engine.form.short_job import job_run_and_changes
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.what_if import run_fit, run_step_time
from engine.simulate.step.wire_classes import (
    CompressionGain,
    WireClass,
    compression_gain,
    wire_classes,
)

_PORTS = ("infiniband_hdr", "infiniband_ndr", "infiniband_xdr")
# Who can send the class in eight bits.
_OFFERED = {
    "gathered": "torchtitan up to 0.2.2, Megatron-LM, ZeRO++",
    "hidden": "Transformer Engine, with FP8 products",
    "summed": "Transformer Engine, if asked for",
    "keys": "Transformer Engine, a ring with FP8 attention",
    "dispatched": "DeepEP",
    "combined": "none in training; DeepSeek-V3: bf16",
    "stages": "no switch known",
    "reduced": "ZeRO++ in 4 bits; others bf16 at best",
}
_AXES = {
    "tensor": "tensor",
    "context": "context",
    "expert": "expert",
    "pipeline": "pipeline",
    "data": "data",
}


def verdict(present: Presenter, fit: MemoryFit, saved: Share, gained: Share) -> Badge:
    """Return a badge with the effect of the switches."""
    if not fit.runs:
        return Badge(
            text="Does not fit",
            sentence="A GPU cannot hold its part of this job. Bytes of a step that cannot run.",
            color="bad",
        )
    if not saved:
        return Badge(
            text="No byte saved",
            sentence=present.say(
                "Whatever the products compute in, each GPU sends {sent}. Tick what is sent in FP8."
            ),
            color="ink",
        )
    return Badge(
        text="Fewer bytes",
        sentence=present.say(
            "Of {sent} there remain {left}. The step can become shorter by {gained} at most."
        ),
        color="communication",
    )


def bars(classes: tuple[WireClass, ...]) -> Bars:
    """Return current and remaining bytes by tensor class."""
    used = [wire_class for wire_class in classes if wire_class.sent]
    most = max((wire_class.sent for wire_class in used), default=1.0)

    def bar(wire_class: WireClass) -> Bar:
        parts = [
            Segment(
                key="left",
                label="sent",
                value=wire_class.sent_if_narrow,
                color=_AXES[wire_class.axis],
            )
        ]
        if wire_class.narrow:
            saved = wire_class.sent - wire_class.sent_if_narrow
            parts.append(Segment(key="saved", label="saved", value=saved, color="idle"))
        return Bar(key=wire_class.key, label=wire_class.label, segments=tuple(parts))

    return Bars(
        title="What a GPU sends in a step",
        axis=Axis(label="bytes sent", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(map(bar, used)),
        caption="Gray: saved by a tick. A class that your job does not send has no bar.",
    )


def ledger(present: Presenter, classes: tuple[WireClass, ...]) -> Table:
    """Return every class with its type today."""
    return Table(
        title="Class by class",
        columns=("What is sent", "Bytes of a number", "Sent", "In FP8", "Who can send FP8"),
        rows=tuple(
            (
                wire_class.label,
                f"{wire_class.element:g}",
                present.say("{v}", v=(wire_class.sent, BYTES))
                if wire_class.sent
                else "not in this job",
                present.say("{v}", v=(wire_class.sent / wire_class.element, BYTES))
                if wire_class.sent
                else "",
                _OFFERED[wire_class.key],
            )
            for wire_class in classes
        ),
    )


def axes(present: Presenter, gain: CompressionGain) -> Table:
    """Return each axis's exposed time, and the savings of the switches."""
    return Table(
        title="What the step waits for",
        columns=("Axis", "Alone", "Waited for", "Saved at most"),
        rows=tuple(
            (
                axis,
                present.say("{v}", v=(alone, SECONDS)),
                present.say("{v}", v=(exposed, SECONDS)),
                present.say("{v}", v=(saved, SECONDS)) if saved else "nothing",
            )
            for axis, alone, exposed, saved in gain.by_axis
        ),
        caption="Bytes that hide behind products are free already.",
    )


def ports(present: Presenter, sent: Bytes, left: Bytes) -> Table:
    """Return the total time on a port of each kind."""
    rows = []
    for key in _PORTS:
        link = LINKS[key]
        rows.append(
            (
                link.name,
                present.say("{v}", v=(link.bandwidth, LINK_SPEED)),
                present.say("{v}", v=(link.bandwidth, BANDWIDTH)),
                present.say("{v}", v=(sent / link.bandwidth, SECONDS)),
                present.say("{v}", v=(left / link.bandwidth, SECONDS)),
                Citation((link.source,)),
            )
        )
    return Table(
        title="If one port carried all of it",
        columns=("Port", "Line rate", "One way", "Nothing ticked", "Your ticks", "Source"),
        rows=tuple(rows),
        caption="A port that is twice as fast halves all times, whatever is ticked.",
    )


TICKS = ("gathered", "hidden", "summed", "keys", "dispatched", "combined", "stages", "reduced")
_EVERYTHING = dict.fromkeys(TICKS, True)
_DEEPSEEK: Mapping[str, Scalar] = {
    "model": "deepseek-v3",
    "gpu": "H800-SXM",
    "world_size": 2048,
    "tensor_parallel": 1,
    "pipeline_parallel": 16,
    "context_parallel": 1,
    "expert_parallel": 64,
    "micro_batch_size": 1,
    "global_batch_size": 15360,
    "sequence_length": 4096,
    "precision": "fp8",
    "recompute": "full",
}
_FSDP: Mapping[str, Scalar] = {
    "model": "llama-3-8b",
    "world_size": 64,
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "context_parallel": 1,
    "zero_stage": "3",
    "global_batch_size": 64,
    "framework": "fsdp",
    "recompute": "selective",
    "precision": "fp8",
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "FP8 as Transformer Engine does it": {"precision": "fp8", "hidden": True},
    "FSDP that gathers FP8": {**_FSDP, "gathered": True},
    "Tokens to experts in FP8, as DeepSeek-V3": {**_DEEPSEEK, "dispatched": True},
    "Everything in FP8": dict(_EVERYTHING),
}


def _switch(label: str, help_text: str) -> Switch:
    return Switch(label=label, help=help_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    gathered: Annotated[bool, _switch("Parameters, gathered", "Weights of linear layers.")] = False
    hidden: Annotated[bool, _switch("Hidden states, gathered", "Tensor parallelism.")] = False
    summed: Annotated[bool, _switch("Hidden states, summed", "Tensor parallelism.")] = False
    keys: Annotated[bool, _switch("Keys and values", "Context parallelism.")] = False
    dispatched: Annotated[bool, _switch("Tokens to their experts", "Expert parallelism.")] = False
    combined: Annotated[bool, _switch("Results of experts", "Added up by the receiver.")] = False
    stages: Annotated[bool, _switch("Hidden states between stages", "Pipeline.")] = False
    reduced: Annotated[bool, _switch("Gradients, summed", "Data parallelism.")] = False
    model: short_job.ModelName = "llama-3-70b"
    gpu: short_job.GpuName = "H100-SXM"
    world_size: short_job.WorldSize = 64
    tensor_parallel: short_job.TensorParallel = 4
    pipeline_parallel: short_job.PipelineParallel = 4
    context_parallel: short_job.ContextParallel = 2
    expert_parallel: short_job.ExpertParallel = 1
    zero_stage: short_job.ZeroStage = "1"
    micro_batch_size: short_job.MicroBatch = 1
    global_batch_size: short_job.GlobalBatch = 128
    sequence_length: short_job.SequenceLength = 8192
    precision: short_job.PrecisionName = "bf16"
    recompute: short_job.RecomputeName = "selective"
    framework: short_job.FrameworkName = "megatron"
    own_constants: OwnConstants = ""


TITLE = "Which bytes are ticked?"
QUESTION = "Which bytes of my step become fewer in FP8, and what is that worth?"
HEADLINE = "gained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Tensor classes of the job, savings of the switches, and savings of FP8 products."""

    changes: tuple[Text, ...]
    evidence: Evidence
    classes: tuple[WireClass, ...]
    gain: CompressionGain
    fit: MemoryFit
    sent: Annotated[
        Bytes,
        Output(
            "Sent by a GPU in a step",
            note="by a middle stage, without a tick",
            color="communication",
            assumes=("Rings throughout; embedding and output layer are left out.",),
            sources=("rajbhandari2020", "korthikanti2022"),
        ),
    ]
    left: Annotated[
        Bytes,
        Output(
            "With your ticks",
            color="communication",
            assumes=("One byte for each ticked number; scales are left out.",),
            sources=("micikevicius2022",),
        ),
    ]
    saved: Annotated[
        Share,
        Output(
            "Bytes saved",
            color="communication",
            assumes=("One byte for each ticked number; scales are left out.",),
            sources=("micikevicius2022",),
        ),
    ]
    step: Annotated[
        Seconds,
        Output("Step", note="in {precision}, nothing ticked"),
    ]
    gained: Annotated[
        Share,
        Output(
            "Fewer bytes are worth at most",
            note="of the step",
            color="communication",
            assumes=(
                "Only time that the step waits for can be saved, and only the share of an axis's "
                "bytes that is saved.",
            ),
            sources=("micikevicius2022",),
        ),
    ]
    products: Annotated[
        Share,
        Output(
            "FP8 products are worth",
            note="of a step in bf16, by faster products alone",
            color="compute",
            assumes=("Linear layers alone; rates measured per GPU.",),
            sources=("micikevicius2022",),
        ),
    ]
    precision: str


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run, changes = job_run_and_changes(inputs)
    ticked = frozenset(name for name in TICKS if getattr(inputs, name))
    classes = wire_classes(run, ticked)
    gain = compression_gain(run, classes)
    sent, left = (
        sum(wire_class.sent for wire_class in classes),
        sum(wire_class.sent_if_narrow for wire_class in classes),
    )
    coarse, fine = (
        run_step_time(replace(run, training=replace(run.training, precision=precision))).total
        for precision in ("bf16", "fp8")
    )
    return Result(
        evidence=evidence(run),
        changes=changes,
        classes=classes,
        gain=gain,
        fit=run_fit(run),
        sent=sent,
        left=left,
        saved=1 - left / sent if sent else 0.0,
        step=gain.step.total,
        gained=gain.saved / gain.step.total,
        products=1 - fine / coarse,
        precision=inputs.precision,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("saved"),
        "verdict": with_changes(
            verdict(present, result.fit, result.saved, result.gained), result.changes
        ),
        "classes": partial(bars, result.classes),
        **present.values("sent", "left"),
        "step": value_with_range(
            present,
            "step",
            result.evidence,
            note=f"in {inputs.precision}, nothing ticked",
            assumes=("As the planner times it.",),
        ),
        **present.values("gained", "products"),
        "ledger": partial(ledger, present, result.classes),
        "axes": partial(axes, present, result.gain),
        "ports": partial(ports, present, result.sent, result.left),
    }
