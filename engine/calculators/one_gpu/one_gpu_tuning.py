"""Fine-tuning on one GPU: nine methods in bytes and in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hosts import CPU_ADAM
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import (
    BYTES,
    GB,
    SECONDS,
    TOKEN_RATE,
    Bytes,
    Count,
    GiB,
    Seconds,
    TokenRate,
    Tokens,
)
from engine.core.views import (
    Badge,
    Bar,
    Bars,
    Cell,
    Challenge,
    Citation,
    Condition,
    Rule,
    Segment,
    Table,
)
from engine.form.fields import OwnConstants
from engine.form.memory_fit import TITLES, fit_badge, memory_segments
from engine.form.missing_range import NO_RANGE
from engine.simulate.memory.allocator import MemoryFit, memory_fit
from engine.simulate.step.fine_tuning import (
    METHODS,
    FineTuning,
    FineTuningJob,
    fine_tuning,
)

TITLE = "Fine-tuning on one GPU"
QUESTION = "What fits one GPU, and what does each way to make it fit cost?"
HEADLINE = "memory"
_DENSE = {key: model.name for key, model in MODELS.items() if not model.num_experts}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "8B on an L40S": {"gpu": "L40S", "method": "backward"},
    "70B on an H100, QLoRA": {"model": "llama-3-70b", "gpu": "H100-SXM", "method": "qlora"},
    "Adam as PyTorch runs it": {"gpu": "H100-SXM", "method": "bf16", "fused": False},
}
_README = "torchtune_readme"
_SOURCES = ("torchtune389", "bitsandbytes", "ren2021")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[str, Choice(label="Model", cites=False, options=_DENSE)] = "llama-3-8b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "RTX-4090"
    method: Annotated[
        str,
        Choice(
            label="Method",
            cites=False,
            options={key: method.name for key, method in METHODS.items()},
        ),
    ] = "8bit"
    fused: Annotated[
        bool,
        Switch(
            label="Fused Adam",
            help="fused=True. Off: one kernel per operation for all tensors (foreach), which is "
            "PyTorch's default on a GPU.",
        ),
    ] = True
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=128, high=1 << 15, scale="log2", whole=True),
    ] = 2048
    sequences: Annotated[
        int,
        Number(
            label="Sequences per step",
            low=1,
            high=512,
            scale="log2",
            whole=True,
            help="One at a time, their gradients summed. In the backward pass nothing can be "
            "summed: there, one per step.",
        ),
    ] = 8
    recompute: Annotated[
        str, Choice(label="Recompute", options={"none": "nothing", "full": "every layer"})
    ] = "full"
    lora_rank: Annotated[
        int,
        Number(
            label="Rank of the adapters",
            help="Beside every linear layer.",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            advanced=True,
        ),
    ] = 16
    own_constants: OwnConstants = ""


def _output(label: str, *meaning: str, note: str = "", color: str = "ink") -> Output:
    return Output(label, note=note, color=color, assumes=meaning, sources=_SOURCES)


_HIDES = (
    "Nothing hides: what crosses to the host and what the host updates are added to the passes.",
    "Paged states count as if all were on the host; they leave the GPU only when it is full.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Each method's memory and time; numbers of the chosen one."""

    by_method: Mapping[str, FineTuning]
    fit: MemoryFit
    fits: tuple[str, ...]
    memory: Annotated[
        Bytes,
        _output(
            "Memory of the process",
            "The fuller of two moments: the passes, and the update.",
            "As nvidia-smi shows it: tensors, what the allocator holds beside them, the context.",
            color="activations",
        ),
    ]
    update_memory: Annotated[
        Bytes,
        _output(
            "Memory at the update",
            "No activations; without the fused kernel, a copy of the second moment.",
            color="optimizer",
        ),
    ]
    host: Annotated[Bytes, _output("In the host's memory", "States that are not on the GPU.")]
    step: Annotated[Seconds, _output("Step", NO_RANGE, *_HIDES)]
    update: Annotated[
        Seconds,
        _output(
            "Update on the GPU",
            "Bytes that Adam reads and writes, over the memory bandwidth that is reached.",
            color="optimizer",
        ),
    ]
    moving: Annotated[
        Seconds,
        _output(
            "To the host and back",
            "At the rate of the link, one direction after the other.",
            color="communication",
        ),
    ]
    on_host: Annotated[
        Seconds,
        _output(
            "Update on the host",
            f"In proportion to {CPU_ADAM.name}, as measured.",
            color="memory",
        ),
    ]
    token_rate: Annotated[
        TokenRate, _output("Speed", "Tokens of a step over its time.", color="compute")
    ]


def _job(inputs: Inputs, method: str) -> FineTuningJob:
    """Return the job; a method in the backward pass sums no gradients."""
    alone = METHODS[method].in_backward and not METHODS[method].on_host
    return FineTuningJob(
        model=MODELS[inputs.model],
        gpu=ACCELERATORS[inputs.gpu],
        sequence_length=inputs.sequence_length,
        sequences=1 if alone else inputs.sequences,
        recompute=cast(Literal["none", "full"], inputs.recompute),
        lora_rank=inputs.lora_rank,
        fused=inputs.fused,
        own_constants=parse_constants(inputs.own_constants),
    )


def _tokens(inputs: Inputs, method: str) -> Count:
    job = _job(inputs, method)
    return int(job.sequence_length) * job.sequences


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    by_method = {key: fine_tuning(_job(inputs, key), method) for key, method in METHODS.items()}
    device = ACCELERATORS[inputs.gpu].memory
    fits = {key: memory_fit(each.fullest, device) for key, each in by_method.items()}
    chosen = by_method[inputs.method]
    return Result(
        by_method=by_method,
        fit=fits[inputs.method],
        fits=tuple(TITLES[fit.verdict] for fit in fits.values()),
        memory=chosen.fullest.total,
        update_memory=chosen.updating.total,
        host=chosen.host,
        step=chosen.step,
        update=chosen.update,
        moving=chosen.moving,
        on_host=chosen.on_host,
        token_rate=_tokens(inputs, inputs.method) / chosen.step,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "bars": partial(_bars, present, inputs, result),
        "verdict": _verdict(result),
        **present.values("memory", "update_memory", "host"),
        "seconds": partial(_seconds, present, inputs, result),
        **present.values("step", "update", "moving", "on_host", "token_rate"),
        "methods": partial(_methods, inputs, result),
        "measured": _measured,
        "challenge": partial(_challenge, inputs, result),
    }


def _verdict(result: Result) -> Badge:
    return fit_badge(result.fit, "The GPU")


def _bars(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    most = max(result.fit.device, *(each.fullest.total for each in result.by_method.values()))
    return Bars(
        title="Peak memory, by method",
        axis=present.axis("memory", "memory", low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(key=key, label=METHODS[key].name, segments=memory_segments(each.fullest))
            for key, each in result.by_method.items()
        ),
        rules=(
            Rule(
                key="capacity",
                label=say("{m}", m=(result.fit.device, BYTES)),
                axis="x",
                at=result.fit.device,
            ),
        ),
        caption="The same model, sequences and recomputation. Paged and offloaded states are on "
        "the host.",
    )


def _seconds(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    parts = (
        ("computing", "passes", "compute"),
        ("update", "update on the GPU", "optimizer"),
        ("moving", "to the host and back", "communication"),
        ("on_host", "update on the host", "memory"),
    )
    each = {
        key: tuple(
            (name, label, color, getattr(tuning, name) / _tokens(inputs, key) * 1e3)
            for name, label, color in parts
        )
        for key, tuning in result.by_method.items()
    }
    most = max(sum(value for *_, value in rows) for rows in each.values())
    return Bars(
        title="Time for a thousand tokens, by method",
        axis=present.axis("step", "time", low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=key,
                label=METHODS[key].name,
                segments=tuple(
                    Segment(key=name, label=label, value=value, color=color)
                    for name, label, color, value in rows
                ),
            )
            for key, rows in each.items()
        ),
        caption="If nothing hides behind anything else. More sequences per step share one update.",
    )


def _methods(inputs: Inputs, result: Result) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            METHODS[key].name,
            say("{m}", m=(tuning.fullest.total, BYTES)),
            fits,
            say("{m}", m=(tuning.host, BYTES)) if tuning.host else "none",
            say("{t}", t=(tuning.step, SECONDS)),
            say("{r}", r=(_tokens(inputs, key) / tuning.step, TOKEN_RATE)),
        )
        for (key, tuning), fits in zip(result.by_method.items(), result.fits, strict=True)
    ]
    return Table(
        title="Nine methods",
        columns=("Method", "On the GPU", "Verdict", "On the host", "Step", "Tokens per second"),
        rows=tuple(rows),
    )


# What torchtune's authors ran in bf16 with every layer recomputed. Sequences of the older runs are
# short, their length is not given. The README's batches are two sequences of 2,048.
_PUBLISHED: tuple[tuple[str, str, str, Tokens, Bytes, str], ...] = (
    ("llama-2-7b", "bf16", "AdamW, foreach=False", 512, 54 * GB, "torchtune389"),
    ("llama-2-7b", "8bit", "AdamW8bit", 512, 40.5 * GB, "torchtune389"),
    ("llama-2-7b", "paged_backward", "PagedAdamW in backward", 512, 13.99 * GB, "torchtune527"),
    ("llama-3-8b", "paged_backward", "PagedAdamW8bit in the backward", 4096, 18.9 * GiB, _README),
    ("llama-3-8b", "lora", "LoRA, rank 8", 4096, 16.2 * GiB, _README),
    ("llama-3-8b", "qlora", "QLoRA, rank 8", 4096, 7.4 * GiB, _README),
)


def _measured() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for model, method, ran, tokens, measured, source in _PUBLISHED:
        job = FineTuningJob(
            model=MODELS[model],
            gpu=ACCELERATORS["A100-SXM-80GB"],
            sequence_length=tokens,
            sequences=1,
            recompute="full",
            lora_rank=8,
            fused=True,
        )
        ours = fine_tuning(job, METHODS[method]).fullest.allocated
        rows.append(
            (
                f"{MODELS[model].name}: {ran}",
                say("{m}", m=(measured, BYTES)),
                say("{m}", m=(ours, BYTES)),
                Citation((source,)),
            )
        )
    return Table(
        title="One GPU, bf16, every layer recomputed: peak of the tensors",
        columns=("Run by torchtune", "Measured", "Modeled", "Source"),
        rows=tuple(rows),
        caption=(
            "Llama 2 7B: the length of the sequences is not given; modeled with 512 tokens. "
            "Llama 3 8B: two sequences of 2,048 tokens on an RTX 4090; torchtune computes the loss "
            "in chunks there, which is not modeled."
        ),
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    full = METHODS[inputs.method].trained == "full"
    return Challenge(
        title="Challenge: 8 billion parameters on an RTX 4090",
        goal="Train all parameters of Llama 3 8B on one RTX 4090, without the host's processors.",
        conditions=(
            Condition(text="Llama 3 8B, all parameters", met=_is_8b(inputs) and full),
            Condition(text="an RTX 4090", met=inputs.gpu == "RTX-4090"),
            Condition(text="it fits", met=result.fit.verdict == "fits"),
            Condition(text="no update on the host's processors", met=result.on_host == 0),
        ),
        hints=(
            "Parameters in bf16 alone take 16 GB. What else must be there at the same time?",
            "A gradient that is used at once need not be kept.",
        ),
        start={"method": "8bit"},
        solution={"method": "paged_backward"},
    )


def _is_8b(inputs: Inputs) -> bool:
    return inputs.model == "llama-3-8b"
