"""What the reader can change about the job, and its step."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Number, Switch
from engine.core.lazy import Later
from engine.core.units import Bytes, Gbit, Seconds, Share
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import (
    LabContention,
    LabMicro,
    LabModel,
    LabPort,
    LabRanks,
    LabTokens,
    simulated,
)
from engine.simulate.data_parallel.sharded_step import Sharded, sharded
from engine.simulate.overlap.overlap_job import Setting

_SOURCES = ("rajbhandari2020", "zhao2023")
_told = partial(simulated, _SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    prefetch: Annotated[
        int,
        Number(
            label="Prefetch depth",
            low=0,
            high=4,
            whole=True,
            help="Parameters are gathered this many layers ahead of the one that computes.",
        ),
    ] = 1
    reshard: Annotated[
        bool,
        Switch(
            label="Free after the forward pass",
            help="reshard_after_forward of FSDP2. Off: one gather per micro-batch less.",
        ),
    ] = True
    tokens: LabTokens = 4096
    micro_batches: LabMicro = 1
    model: LabModel = "llama-3-8b"
    ranks: LabRanks = 64
    port: LabPort = 400 * Gbit
    slow_down: LabContention = 0.0
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step; `by_depth` is one micro-batch at each prefetch depth from 0 on."""

    ran: Sharded
    by_depth: Later[tuple[Sharded, ...]]
    step_time: Annotated[Seconds, _told("Step", "without its optimizer; {computing} computing")]
    computing: Share
    exposed: Annotated[
        Seconds,
        _told("Exposed communication", "of {isolated} in all collectives, alone", "communication"),
    ]
    isolated: Seconds
    peak: Annotated[Bytes, _told("States and buffers, at most", "{kept} of it states", "buffers")]
    kept: Annotated[Bytes, _told("States on each GPU", "between steps", "optimizer")]
    sent: Annotated[Bytes, _told("Sent by each GPU", "per step", "communication")]


def setting_of(inputs: Inputs, prefetch: int) -> Setting:
    """Return the job, its parameters gathered so many layers ahead."""
    return Setting(
        model=inputs.model,
        gpu=inputs.gpu,
        tensor_parallel=1,
        pipeline_parallel=1,
        data_parallel=inputs.ranks,
        num_microbatches=inputs.micro_batches,
        tokens=inputs.tokens,
        port=inputs.port,
        slow_down=inputs.slow_down,
        own=inputs.own_constants,
        prefetch=prefetch,
        reshard=inputs.reshard,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = setting_of(inputs, inputs.prefetch)
    ran = sharded(setting, 3)
    return Result(
        ran=ran,
        by_depth=Later(partial(_by_depth, setting)),
        step_time=ran.seen.length,
        computing=1 - ran.seen.exposed / ran.seen.length,
        exposed=ran.seen.exposed,
        isolated=ran.isolated,
        peak=ran.peak,
        kept=ran.states.total,
        sent=ran.sent,
    )


def _by_depth(setting: Setting) -> tuple[Sharded, ...]:
    one = replace(setting, num_microbatches=1)
    return tuple(sharded(replace(one, prefetch=depth), 3) for depth in range(5))
