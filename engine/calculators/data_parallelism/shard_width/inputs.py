"""What the reader changes, and every way to shard the job."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Parameters, Ratio
from engine.form.fields import LabGpu
from engine.form.sharded.lab import LabModel
from engine.formulas.parameters import total_parameters
from engine.simulate.data_parallel.sharding_width import (
    Sharers,
    Way,
    crossings,
    front,
    kept,
    replicated,
    sent,
    way,
)

PRESETS = {
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": "128", "shard": 32},
    "Eight micro-batches": {"micro_batches": 8},
    "Eight micro-batches, summed each time": {"micro_batches": 8, "sums": "each"},
}
NODE: Count = 8
_SIZES = (16, 32, 64, 128, 256, 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    shard: Annotated[
        int,
        Number(
            label="GPUs that share one copy",
            low=1,
            high=512,
            scale="log2",
            whole=True,
            help="The width of a shard group. It is rounded to a power of two, at most all GPUs.",
        ),
    ] = 64
    micro_batches: Annotated[
        int, Number(label="Micro-batches per step", low=1, high=32, whole=True)
    ] = 1
    sums: Annotated[
        str,
        Choice(
            label="Copies add their gradients",
            options={"once": "once a step", "each": "with every micro-batch"},
            help="set_requires_all_reduce in FSDP2; MiCS adds them once a step.",
        ),
    ] = "once"
    model: LabModel = "llama-3-8b"
    ranks: Annotated[str, Choice(label="GPUs", options={str(n): f"{n:,}" for n in _SIZES})] = "64"
    gpu: LabGpu = "h100"


_told = partial(
    Told,
    assumes=(
        "Nodes of eight GPUs. Each ring enters and leaves a node once, as NCCL lays them.",
        "Parameters and gradients cross in bf16.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The reader's width, and every other."""

    job: Sharers
    widths: tuple[Count, ...]
    fixed: tuple[Way, ...]
    along: tuple[Way, ...]
    once: tuple[Bytes, ...]
    each: tuple[Bytes, ...]
    best: tuple[Way, ...]
    width: Annotated[Count, Told(symbol="s", of="shard")]
    copies: Annotated[
        Count,
        Told("Copies", "c", "of all states", "data", ("All GPUs over the width.",), of="shard"),
    ]
    memory: Annotated[
        Bytes,
        Told(
            "States on each GPU",
            "M",
            "of {capacity} that the GPU has",
            "optimizer",
            assumes=("Mixed precision with Adam. Activations and gathered layers come on top.",),
        ),
    ]
    capacity: Bytes
    sent: Annotated[
        Bytes,
        _told("Leaves each node", "V", "per step, all its GPUs together", color="communication"),
    ]
    full: Annotated[Bytes, _told("Leaves each node, fully sharded", "", "", color="communication")]
    less: Annotated[
        Ratio,
        _told(
            "Full sharding sends",
            "",
            "what this width sends",
            color="communication",
        ),
    ]
    parameters: Annotated[Parameters, Told(symbol="N")]
    sent_parameters: Annotated[Bytes, Told(symbol="P")]
    sent_gradients: Annotated[Bytes, Told(symbol="G")]
    gathers: Annotated[Ratio, Told(symbol="a")]
    reductions: Annotated[Ratio, Told(symbol="r", of="micro_batches")]
    summed: Annotated[Ratio, Told(symbol="k", of="sums")]
    node: Annotated[Count, Told(symbol="g")] = NODE


def job_of(inputs: Inputs) -> Sharers:
    """Return the job with the reader's width as a power of two."""
    ranks = int(inputs.ranks)
    return Sharers(
        parameters=total_parameters(MODELS[inputs.model]),
        ranks=ranks,
        gpus_per_node=NODE,
        shard=min(2 ** round(math.log2(inputs.shard)), ranks),
        num_microbatches=inputs.micro_batches,
        sum_once=inputs.sums == "once",
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = job_of(inputs)
    widths = tuple(2**i for i in range(job.ranks.bit_length()))
    along = tuple(way(_name(width, job.ranks), replace(job, shard=width)) for width in widths)
    fixed = _fixed(job)
    gathers, reductions, summed = crossings(job)
    full = sent(replace(job, shard=job.ranks))
    return Result(
        job=job,
        widths=widths,
        fixed=fixed,
        along=along,
        once=tuple(sent(replace(job, shard=width, sum_once=True)) for width in widths),
        each=tuple(sent(replace(job, shard=width, sum_once=False)) for width in widths),
        best=front([one for one in (*fixed, *along) if one.key != "ZeRO++"]),
        width=job.shard,
        copies=job.ranks // job.shard,
        memory=kept(job),
        capacity=GPUS[inputs.gpu].memory,
        sent=sent(job),
        full=full,
        less=full / sent(job),
        parameters=job.parameters,
        sent_parameters=2.0 * job.parameters,
        sent_gradients=2.0 * job.parameters,
        gathers=gathers,
        reductions=reductions,
        summed=summed,
    )


def _name(width: Count, ranks: Count) -> str:
    if width == ranks:
        return "ZeRO-3"
    return "plain" if width == 1 else f"HSDP {width}"


def _fixed(job: Sharers) -> tuple[Way, ...]:
    """Return the ways that have no width: stages 1 and 2, hpZ, and ZeRO++."""
    wide = replace(job, shard=job.ranks, second=True)
    return (
        *(
            replicated(f"ZeRO-{stage}", stage, job.parameters, job.ranks, job.num_microbatches)
            for stage in (1, 2)
        ),
        way("hpZ", wide),
        way("ZeRO++", replace(wide, quantized=True)),
    )
