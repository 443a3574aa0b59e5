"""The inputs, and the numbers that they give."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Annotated

from engine.core.inputs import BILLIONS, ELEMENTS, PERCENT, Number, Scalar, Switch
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import GIGA, MEGA, Bytes, Count, Gbit, Seconds, Share
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.knobs import KnobPort
from engine.form.sharded.lab import LabRanks, LabTokens
from engine.simulate.data_parallel.reduce_buckets import Job, Piece, Reduced, pieces, reduced

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "0.3B: one bucket": {"parameters": 0.3 * GIGA},
    "0.3B, buckets of 25 M": {"parameters": 0.3 * GIGA, "bucket": 25 * MEGA},
    "All-reduce, as stages 1 and 2 do": {"whole": True},
    "64 GPUs, ports of 100 Gb/s": {"ranks": 64, "port": 100 * Gbit},
}
BUCKETS = (1 * MEGA, 4 * GIGA)
MODELS = (0.1 * GIGA, 100 * GIGA)
_ASSUMED = (
    "Gradients in bf16, complete at an even pace; one reduction on the wire at a time.",
    "Nodes of eight GPUs. Attention scores are left out.",
)


def _told(label: str, note: str, color: str = "ink") -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=_ASSUMED,
        sources=("deepspeed_config",),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change; M is a million elements."""

    bucket: Annotated[
        float,
        Number(
            label="reduce_bucket_size",
            unit=ELEMENTS,
            low=BUCKETS[0],
            high=BUCKETS[1],
            scale="log",
            help="Elements, not bytes.",
        ),
    ] = 500 * MEGA
    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=MODELS[0], high=MODELS[1], scale="log"),
    ] = 7 * GIGA
    tokens: LabTokens = 4096
    utilization: Annotated[
        float,
        Number(label="MFU while computing", unit=PERCENT, low=0.1, high=1.0, step=0.01),
    ] = 0.4
    ranks: LabRanks = 8
    overlap: Annotated[
        bool, Switch(label="overlap_comm", help="Off, the backward pass stops for each bucket.")
    ] = True
    whole: Annotated[
        bool,
        Switch(
            label="All-reduce",
            help="What stages 1 and 2 send by default (use_multi_rank_bucket_allreduce).",
        ),
    ] = False
    port: KnobPort = 400 * Gbit
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What is exposed of full buckets, and all reductions, over the range of an input."""

    x: tuple[float, ...]
    exposed: tuple[Seconds, ...]
    isolated: tuple[Seconds, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The buckets of one backward pass, and input -> its curve."""

    pieces: Later[tuple[Piece, ...]]
    curves: Mapping[str, Later[Curve]]
    buckets: Annotated[
        Count,
        Told(
            "Buckets",
            note="of {bucket} elements at most",
            assumes=("Parameters over the size of a bucket, rounded up.",),
            sources=("deepspeed_config",),
        ),
    ]
    computing: Annotated[Seconds, _told("To compute a bucket", "backward", "compute")]
    sending: Annotated[Seconds, _told("To reduce it", "alone on the wire", "communication")]
    exposed: Annotated[Seconds, _told("Exposed", "of {isolated} in all", "communication")]
    share: Annotated[Share, _told("Exposed share", "of all reductions", "communication")]
    isolated: Annotated[Seconds, _told("All reductions", "one after the other", "communication")]
    buffers: Annotated[
        Bytes, _told("Memory of the buckets", "allocated whole, however small the model", "buffers")
    ]
    backward: Annotated[Seconds, _told("Backward pass", "alone", "compute")]


def _job(inputs: Inputs) -> Job:
    """Return the job of the inputs."""
    return Job(
        parameters=inputs.parameters,
        bucket=inputs.bucket,
        tokens=inputs.tokens,
        utilization=inputs.utilization,
        gpu=inputs.gpu,
        ranks=inputs.ranks,
        port=inputs.port,
        whole=inputs.whole,
        overlap=inputs.overlap,
        own=inputs.own_constants,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = _job(inputs)
    ran = reduced(job)
    return Result(
        pieces=Later(partial(pieces, job)),
        curves={
            "bucket": Later(partial(_curve, job, "bucket", BUCKETS)),
            "parameters": Later(partial(_curve, job, "parameters", MODELS)),
        },
        buckets=ran.count,
        computing=ran.computing,
        sending=ran.sending,
        exposed=ran.exposed,
        share=ran.exposed / ran.isolated,
        isolated=ran.isolated,
        buffers=ran.buffers,
        backward=ran.backward,
    )


def _curve(job: Job, name: str, ends: tuple[float, float]) -> Curve:
    low, high = ends
    xs = tuple(low * (high / low) ** (i / 60) for i in range(61))
    jobs = [replace(job, **{name: x}) for x in xs]
    return Curve(
        x=xs,
        exposed=tuple(_with_full_buckets(one).exposed for one in jobs),
        isolated=tuple(reduced(one).isolated for one in jobs),
    )


def _with_full_buckets(job: Job) -> Reduced:
    """Return the pass of a model whose last bucket is full too, if there are several."""
    if job.bucket >= job.parameters:
        return reduced(job)
    return reduced(replace(job, parameters=ceil(job.parameters / job.bucket) * job.bucket))
