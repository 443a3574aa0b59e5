"""The memory ledger: what fills a GPU, over a step, and as the tools show it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse
from engine.catalog.reader_constants import reached as reached_of
from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.core.lazy import Later
from engine.core.outputs import Teller, Told, Views
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
from engine.form.memory_bar import parts_of
from engine.formulas.activations import SINGLE
from engine.formulas.operations import local_tokens
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Plan, Recompute, Training
from engine.simulate.layer.adapters import Trained, held_with
from engine.simulate.memory.allocator import Memory, allocated, process, reserved, usable
from engine.simulate.memory.step_memory import Instant, fullest, step_memory

_DENSE = {key: one.name for key, one in MODELS.items() if not one.num_experts}
TRAINED: Mapping[str, str] = {
    "full": "all parameters",
    "lora": "adapters (LoRA)",
    "qlora": "adapters, weights in 4 bits (QLoRA)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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
    ] = False
    own_constants: OwnConstants = ""


def job(inputs: Inputs) -> tuple[Plan, Training]:
    """Return the plan and the training that the inputs describe."""
    recompute: Recompute = "full" if inputs.recompute == "full" else "none"
    plan = Plan(world_size=inputs.ranks, zero_stage=3)
    training = Training(
        micro_batch_size=inputs.micro_batch_size,
        global_batch_size=2 * inputs.micro_batch_size * inputs.ranks,
        sequence_length=inputs.sequence_length,
        recompute=recompute,
        framework="fsdp",
        eager_loss=not inputs.compiled_loss,
        lora_rank=0 if inputs.trained == "full" else inputs.lora_rank,
    )
    return plan, training


_STATES = (
    "FSDP: parameters, gradients and two moments of Adam in single precision, 16 bytes together; "
    "with adapters, frozen weights in 2 bytes or in 4 bits.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the GPU holds at its fullest, over a step, and as three tools show it.

    `by_trained` is its memory by what is trained, and whether adapters are wrapped wrongly.
    """

    total: Annotated[
        Bytes,
        Told(
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
        Told(
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
        Told(
            "In nvidia-smi",
            note="with the CUDA context and NCCL",
            assumes=("The context of an A100 was measured; NCCL's buffers are fitted.",),
            sources=("bigscience2022",),
        ),
    ]
    states: Annotated[Bytes, Told("States", color="optimizer", assumes=_STATES)]
    activations: Annotated[
        Bytes,
        Told(
            "Activations at the peak",
            color="activations",
            assumes=("Of one micro-batch; with adapters as if all weights were trained.",),
        ),
    ]
    logits: Annotated[
        Bytes,
        Told(
            "One copy of the logits in fp32",
            color="activations",
            assumes=("4 bytes for every token and every entry of the vocabulary.",),
        ),
    ]
    capacity: Annotated[
        Bytes, Told("Memory of the GPU", basis="datasheet", assumes=("80 GB are 80 GiB.",))
    ]
    usable: Annotated[
        Bytes, Told("Usable", assumes=("Without the CUDA context and NCCL's buffers.",))
    ]
    parameters: Annotated[Parameters, Told("Parameters", assumes=("From the model's shape.",))]
    held: Memory
    instants: tuple[Instant, ...]
    peak: Instant
    by_trained: Later[Mapping[tuple[str, bool], Memory]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model, gpu = MODELS[inputs.model], ACCELERATORS[inputs.gpu]
    plan, training = job(inputs)
    trained = cast(Trained, inputs.trained)
    held = held_with(model, plan, training, trained, trapped=inputs.trapped)
    reached = reached_of(gpu, parse(inputs.own_constants))
    rates = gpu.peak["fp16"] * reached.matmul, gpu.memory_bandwidth * reached.memory
    instants = step_memory(model, plan, training, held, rates)
    return Result(
        total=allocated(held),
        reserved=reserved(held),
        process=process(held),
        states=held.parameters + held.gradients + held.optimizer,
        activations=held.activations,
        logits=SINGLE * local_tokens(plan, training) * model.vocab_size,
        capacity=gpu.memory,
        usable=usable(gpu.memory, training),
        parameters=total_parameters(model),
        held=held,
        instants=instants,
        peak=fullest(instants),
        by_trained=Later(partial(_by_trained, inputs)),
    )


def _by_trained(inputs: Inputs) -> Mapping[tuple[str, bool], Memory]:
    found = {}
    for kind in TRAINED:
        plan, training = job(replace(inputs, trained=kind))
        for trapped in (False, True) if kind == "lora" else (False,):
            found[kind, trapped] = held_with(
                MODELS[inputs.model], plan, training, cast(Trained, kind), trapped=trapped
            )
    return found


_NAMES = {"forward": "forward", "logits": "loss", "backward": "backward", "update": "Adam"}
_SHORT = {"full": "all parameters", "lora": "LoRA", "qlora": "QLoRA"}
_COLORS = {
    "forward": "compute",
    "logits": "buffers",
    "backward": "activations",
    "update": "optimizer",
}


def _capacity(tell: Teller, result: Result) -> Rule:
    label = tell.say("{capacity}")
    return Rule(key="capacity", label=label, axis="x", at=result.capacity)


def ledger(tell: Teller, result: Result) -> Bars:
    """Return a bar for each kind of tensor, and all of them."""
    parts = parts_of(result.held)
    most = max(result.capacity, result.held.total)
    return Bars(
        title="What fills the GPU",
        axis=tell.axis("total", "memory", low=0.0, high=1.04 * most),
        bars=(
            Bar(key="all", label="all together", segments=parts),
            *(Bar(key=one.key, label=one.label, segments=(one,)) for one in parts),
        ),
        rules=(_capacity(tell, result),),
        caption="At the fullest moment of a step. The line is the memory of the GPU.",
    )


def _spans(instants: tuple[Instant, ...]) -> tuple[Span, ...]:
    """Return a span for every pass; they follow each other."""
    found: list[Span] = []
    first = instants[0]
    for one in (*instants[1:], instants[-1]):
        changed = (one.phase, one.microbatch) != (first.phase, first.microbatch)
        if changed or one is instants[-1]:
            last = one is instants[-1] and not changed
            found.append(_span(first, instants[-1] if last else one))
            first = one
    return tuple(span for span in found if span.end > span.start)


def _span(first: Instant, end: Instant) -> Span:
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


def _curve(key: str, label: str, instants: tuple[Instant, ...], color: str) -> Series:
    held = {"total": [one.total for one in instants]}
    held["states"] = [one.total - one.activations for one in instants]
    return Series(
        key=key,
        label=label,
        x=tuple(one.time for one in instants),
        y=tuple(held[key]),
        color=color,
        dashed=key != "total",
    )


def step(tell: Teller, result: Result) -> Timeline:
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
            _curve("total", "all", instants, "activations"),
            _curve("states", "what stays", instants, "optimizer"),
        ),
        curve_axis=Axis(label="memory", quantity=BYTES, low=0.0, high=top),
        caption="Two micro-batches, then the update. Activations come and go; gradients appear in "
        "the first backward pass and stay until Adam has used them.",
        player=True,
    )


def three(tell: Teller, result: Result) -> Bars:
    """Return the same job as three tools show it."""
    rows = (
        ("allocated", "torch.cuda.max_memory_allocated()", result.total, "ink"),
        ("reserved", "torch.cuda.max_memory_reserved()", result.reserved, "muted"),
        ("process", "nvidia-smi", result.process, "muted"),
    )
    most = 1.04 * max(result.capacity, result.process)
    return Bars(
        title="One job, three tools",
        axis=tell.axis("total", "memory", low=0.0, high=most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=key, value=value, color=color),),
            )
            for key, label, value, color in rows
        ),
        rules=(_capacity(tell, result),),
        caption="Only the first is what tensors need; the last is what must be below the line.",
    )


def trained_bars(tell: Teller, result: Result) -> Bars:
    """Return the memory by what is trained, rightly and wrongly wrapped."""
    found = result.by_trained()
    most = max(result.capacity, *(held.total for held in found.values()))
    return Bars(
        title="Memory by what is trained",
        axis=tell.axis("total", "memory", low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=f"{kind}{trapped}",
                label=_SHORT[kind] + (", wrapped wrongly" if trapped else ""),
                segments=parts_of(held),
            )
            for (kind, trapped), held in found.items()
        ),
        rules=(_capacity(tell, result),),
        caption="The same model, sequences and recomputation.",
    )


TITLE = "Where the memory goes"
QUESTION = "What fills the memory of a GPU in a training step, and when?"
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
    tell = Teller(inputs, result)
    return {
        **tell.values("total"),
        "fits": _fits(tell, result),
        "ledger": partial(ledger, tell, result),
        **tell.values(
            "reserved", "process", "parameters", "states", "activations", "logits", "usable"
        ),
        "step": partial(step, tell, result),
        "three": partial(three, tell, result),
        "trained_bars": partial(trained_bars, tell, result),
        "challenge": _challenge(inputs, result),
    }


def _fits(tell: Teller, result: Result) -> Badge:
    if result.process <= result.capacity:
        return Badge(
            text="Fits", sentence=tell.say("{process} of {capacity}."), color="activations"
        )
    if result.states > result.usable:
        return Badge(
            text="The states alone do not fit",
            sentence=tell.say("{states} before one activation, and {usable} are usable."),
            color="buffers",
        )
    return Badge(
        text="Does not fit",
        sentence=tell.say("{process} at the peak, and the GPU has {capacity}."),
        color="buffers",
    )


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
                text="nvidia-smi shows less than there is", met=result.process <= result.capacity
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
