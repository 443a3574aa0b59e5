"""The memory ledger: GPU memory by kind, over a step, and as the tools report it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import gpu_constants as reached_of
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import BYTES, SECONDS, Bytes, Parameters
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Lane,
    Rule,
    Segment,
    Series,
    Span,
    Timeline,
)
from engine.form.fields import OwnConstants
from engine.form.memory_fit import fit_badge, memory_segments
from engine.formulas.activations import SINGLE
from engine.formulas.operations import local_tokens
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Plan, Recompute, Training
from engine.simulate.layer.adapters import Trained, adapter_memory
from engine.simulate.memory.allocator import Memory, MemoryFit, memory_fit
from engine.simulate.memory.step_memory import StepMoment, peak_step_moment, step_memory

_DENSE = {key: model.name for key, model in MODELS.items() if not model.num_experts}
TRAINED: Mapping[str, str] = {
    "full": "all parameters",
    "lora": "adapters (LoRA)",
    "qlora": "adapters, weights in 4 bits (QLoRA)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[str, Choice(label="Model", cites=False, options=_DENSE)] = "llama-3-8b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    ranks: Annotated[
        int,
        Number(
            label="GPUs that share the states",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            symbol="N",
            help="Fully sharded by FSDP; 1: this GPU holds all of them.",
        ),
    ] = 1
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=128, high=1 << 17, scale="log2", whole=True, symbol="s"
        ),
    ] = 8192
    micro_batch_size: Annotated[
        int, Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, symbol="b")
    ] = 1
    recompute: Annotated[
        str, Choice(label="Recompute", options={"none": "nothing", "full": "every layer"})
    ] = "none"
    trained: Annotated[str, Choice(label="Trained", options=TRAINED)] = "full"
    lora_rank: Annotated[
        int,
        Number(label="Rank of the adapters", low=1, high=1024, scale="log2", whole=True),
    ] = 16
    trapped: Annotated[
        bool,
        Switch(
            label="Adapters wrapped with frozen weights",
            help="One FSDP1 unit holds both; counts only where adapters are trained.",
        ),
    ] = False
    compiled_loss: Annotated[
        bool,
        Switch(
            label="Compiled loss",
            help="torch.compile keeps the logits and their gradient in 16 bits.",
        ),
    ] = True
    own_constants: OwnConstants = ""


def plan_and_training(inputs: Inputs) -> tuple[Plan, Training]:
    """Return the plan and the training that the inputs describe."""
    recompute: Recompute = "full" if inputs.recompute == "full" else "none"
    # Adapters on one GPU are trained without FSDP, unless it is what wraps them wrongly.
    alone = inputs.ranks == 1 and inputs.trained != "full" and not inputs.trapped
    plan = Plan(world_size=inputs.ranks, zero_stage=0 if alone else 3)
    training = Training(
        micro_batch_size=inputs.micro_batch_size,
        global_batch_size=2 * inputs.micro_batch_size * inputs.ranks,
        sequence_length=inputs.sequence_length,
        recompute=recompute,
        framework="fsdp",
        eager_loss=not inputs.compiled_loss,
        lora_rank=0 if inputs.trained == "full" else inputs.lora_rank,
        lora_layers="all",
    )
    return plan, training


_STATES = (
    "FSDP: parameters, gradients and two moments of Adam in single precision, 16 bytes together; "
    "with adapters, frozen weights in 2 bytes or in 4 bits.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Peak memory of the GPU, memory over a step, and the figures of three tools.

    `by_trained` is its memory by what is trained, and whether adapters are wrapped wrongly.
    """

    total: Annotated[
        Bytes,
        Output(
            "Allocated at the peak",
            note="max_memory_allocated",
            color="activations",
            assumes=(
                "States, the activations of one micro-batch, gathered parameters, the workspace.",
                *_STATES,
            ),
        ),
    ]
    reserved: Annotated[
        Bytes,
        Output(
            "Reserved",
            note="max_memory_reserved",
            assumes=(
                "The allocator keeps blocks that fit nothing: a share fitted to torchtitan's "
                "published peaks.",
            ),
            sources=("torchtitan",),
        ),
    ]
    process: Annotated[
        Bytes,
        Output(
            "In nvidia-smi",
            note="with the CUDA context and NCCL",
            assumes=("The context of an H100 was measured; NCCL's buffers are fitted.",),
            sources=("bigscience2022",),
        ),
    ]
    states: Annotated[Bytes, Output("States", color="optimizer", assumes=_STATES)]
    activations: Annotated[
        Bytes,
        Output(
            "Activations at the peak",
            color="activations",
            assumes=("Of one micro-batch; with adapters as if all weights were trained.",),
        ),
    ]
    logits: Annotated[
        Bytes,
        Output(
            "One copy of the logits in fp32",
            color="activations",
            assumes=("4 bytes for every token and every entry of the vocabulary.",),
        ),
    ]
    capacity: Annotated[
        Bytes,
        Output(
            "Memory of the GPU",
            basis="measured",
            assumes=("What programs can allocate, as PyTorch reports it: less than on the label.",),
        ),
    ]
    usable: Annotated[
        Bytes,
        Output(
            "May be filled",
            assumes=("By the whole process; a twentieth is kept free for what no model sees.",),
        ),
    ]
    parameters: Annotated[Parameters, Output("Parameters", assumes=("From the model's shape.",))]
    held: Memory
    fit: MemoryFit
    instants: tuple[StepMoment, ...]
    peak: StepMoment
    by_trained: Lazy[Mapping[tuple[str, bool], Memory]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model, gpu = MODELS[inputs.model], ACCELERATORS[inputs.gpu]
    plan, training = plan_and_training(inputs)
    trained = cast(Trained, inputs.trained)
    memory = adapter_memory(model, plan, training, trained, trapped=inputs.trapped)
    reached = reached_of(gpu, parse_constants(inputs.own_constants))
    rates = gpu.peak["fp16"] * reached.matmul, gpu.memory_bandwidth * reached.memory
    instants = step_memory(model, plan, training, memory, rates)
    fit = memory_fit(memory, gpu.memory)
    return Result(
        total=memory.allocated,
        reserved=memory.reserved,
        process=memory.total,
        states=memory.states,
        activations=memory.activations,
        logits=SINGLE * local_tokens(plan, training) * model.vocab_size,
        capacity=gpu.memory,
        usable=fit.usable,
        fit=fit,
        parameters=total_parameters(model),
        held=memory,
        instants=instants,
        peak=peak_step_moment(instants),
        by_trained=Lazy(partial(_memory_by_trained, inputs)),
    )


def _memory_by_trained(inputs: Inputs) -> Mapping[tuple[str, bool], Memory]:
    memories = {}
    for kind in TRAINED:
        plan, training = plan_and_training(replace(inputs, trained=kind))
        for trapped in (False, True) if kind == "lora" else (False,):
            memories[kind, trapped] = adapter_memory(
                MODELS[inputs.model], plan, training, cast(Trained, kind), trapped=trapped
            )
    return memories


_NAMES = {"forward": "forward", "logits": "loss", "backward": "backward", "update": "Adam"}
_SHORT = {"full": "all parameters", "lora": "LoRA", "qlora": "QLoRA"}
_COLORS = {
    "forward": "compute",
    "logits": "buffers",
    "backward": "activations",
    "update": "optimizer",
}


def _capacity(present: Presenter, result: Result) -> Rule:
    label = present.say("{capacity}")
    return Rule(key="capacity", label=label, axis="x", at=result.capacity)


def ledger(present: Presenter, result: Result) -> Bars:
    """Return a bar for each kind of tensor, and all of them."""
    parts = memory_segments(result.held)
    most = max(result.capacity, result.held.total)
    return Bars(
        title="What fills the GPU",
        axis=present.axis("total", "memory", low=0.0, high=1.04 * most),
        bars=(
            Bar(key="all", label="all together", segments=parts),
            *(Bar(key=segment.key, label=segment.label, segments=(segment,)) for segment in parts),
        ),
        rules=(_capacity(present, result),),
        caption="At the peak of a step. The line is the memory of the GPU.",
    )


def _spans(instants: tuple[StepMoment, ...]) -> tuple[Span, ...]:
    """Return a span for every pass; they follow each other."""
    spans: list[Span] = []
    first = instants[0]
    for instant in (*instants[1:], instants[-1]):
        changed = (instant.phase, instant.microbatch) != (first.phase, first.microbatch)
        if changed or instant is instants[-1]:
            last = instant is instants[-1] and not changed
            spans.append(_span(first, instants[-1] if last else instant))
            first = instant
    return tuple(span for span in spans if span.end > span.start)


def _span(first: StepMoment, end: StepMoment) -> Span:
    name = _NAMES[first.phase]
    number = "" if first.phase == "update" else f" {first.microbatch + 1}"
    return Span(
        key=f"{first.phase}{first.microbatch}",
        lane="gpu",
        start=first.time,
        end=end.time,
        label=name,
        color=_COLORS[first.phase],
        called=name + number,
    )


def _series(key: str, label: str, instants: tuple[StepMoment, ...], color: str) -> Series:
    columns = {"total": [instant.total for instant in instants]}
    columns["states"] = [instant.total - instant.activations for instant in instants]
    return Series(
        key=key,
        label=label,
        x=tuple(instant.time for instant in instants),
        y=tuple(columns[key]),
        color=color,
        dashed=key != "total",
    )


def step(present: Presenter, result: Result) -> Timeline:
    """Return the memory over a step of two micro-batches and an update."""
    instants, end = result.instants, result.instants[-1].time
    usable = Series(
        key="usable",
        label="usable",
        x=(0.0, end),
        y=(result.usable,) * 2,
        color="ink",
        dashed=True,
    )
    top = 1.06 * max(result.usable, result.peak.total)
    return Timeline(
        title="Memory over one step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.01),
        lanes=(Lane(key="gpu", label="GPU"),),
        spans=_spans(instants),
        curves=(
            usable,
            _series("total", "all", instants, "activations"),
            _series("states", "what stays", instants, "optimizer"),
        ),
        curve_axis=Axis(label="memory", quantity=BYTES, low=0.0, high=top),
        caption="Two micro-batches, then the update. Activations come and go; gradients appear in "
        "the first backward pass and stay until Adam has used them.",
        player=True,
    )


def tool_bars(present: Presenter, result: Result) -> Bars:
    """Return the memory of the job as three tools report it."""
    rows = (
        ("allocated", "torch.cuda.max_memory_allocated()", result.total, "ink"),
        ("reserved", "torch.cuda.max_memory_reserved()", result.reserved, "muted"),
        ("process", "nvidia-smi", result.process, "muted"),
    )
    most = 1.04 * max(result.capacity, result.process)
    return Bars(
        title="One job, three tools",
        axis=present.axis("total", "memory", low=0.0, high=most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=key, value=value, color=color),),
            )
            for key, label, value, color in rows
        ),
        rules=(_capacity(present, result),),
        caption="Only the first is what tensors need; the last is what must be below the line.",
    )


def trained_bars(present: Presenter, result: Result) -> Bars:
    """Return the memory by trained parameters, with correct and incorrect FSDP wrapping."""
    memories = result.by_trained()
    most = max(result.capacity, *(memory.total for memory in memories.values()))
    return Bars(
        title="Memory by what is trained",
        axis=present.axis("total", "memory", low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=f"{kind}{trapped}",
                label=_SHORT[kind] + (", wrapped wrongly" if trapped else ""),
                segments=memory_segments(memory),
            )
            for (kind, trapped), memory in memories.items()
        ),
        rules=(_capacity(present, result),),
        caption="The same model, sequences and recomputation.",
    )


TITLE = "Where the memory goes"
QUESTION = "What fills the memory of a GPU in a training step, and when?"
HEADLINE = "total"
EQUATIONS = ()
PRESETS = {
    "8B over 8 GPUs": {"ranks": 8},
    "8B, LoRA on one GPU": {"trained": "lora", "recompute": "full"},
    "70B, QLoRA on one GPU": {
        "model": "llama-3-70b",
        "trained": "qlora",
        "recompute": "full",
        "sequence_length": 2048,
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("total"),
        "fits": _fits(present, result),
        "ledger": partial(ledger, present, result),
        **present.values(
            "reserved",
            "process",
            "parameters",
            "states",
            "activations",
            "logits",
            "capacity",
            "usable",
        ),
        "step": partial(step, present, result),
        "three": partial(tool_bars, present, result),
        "trained_bars": partial(trained_bars, present, result),
        "challenge": _challenge(inputs, result),
    }


def _fits(present: Presenter, result: Result) -> Badge:
    if result.states > result.usable:
        return Badge(
            text="The states alone do not fit",
            sentence=present.say("{states} before one activation, and {usable} may be filled."),
            color="buffers",
        )
    return fit_badge(result.fit, "The process")


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {"model": "llama-3-70b", "sequence_length": 4096, "ranks": 1}
    return Challenge(
        title="Challenge: tune 70B on one GPU",
        goal="Make Llama 3 70B train on a single H100 with 80 GB, on sequences of at least 1,024 "
        "tokens.",
        conditions=(
            Condition(
                text="Llama 3 70B on one H100 SXM",
                met=(inputs.model, inputs.gpu, inputs.ranks) == ("llama-3-70b", "H100-SXM", 1),
            ),
            Condition(
                text="sequences of at least 1,024 tokens", met=inputs.sequence_length >= 1024
            ),
            Condition(
                text="nvidia-smi shows less than may be filled", met=result.fit.verdict == "fits"
            ),
        ),
        hints=(
            "Sixteen bytes per parameter are out of the question. What if most are frozen?",
            "Frozen weights need no gradients, and 4 bits are enough to read them.",
            "Then activations and what one layer works with are left.",
        ),
        start=start,
        solution={
            "model": "llama-3-70b",
            "ranks": 1,
            "trained": "qlora",
            "recompute": "full",
            "sequence_length": 1024,
        },
    )
