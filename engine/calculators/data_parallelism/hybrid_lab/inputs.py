"""What the reader changes in the lab of hierarchical sharding, and the step that it gives."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Switch
from engine.core.lazy import Later
from engine.core.units import Bytes, Count, Gbit, Seconds, Share
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import (
    LabContention,
    LabMicro,
    LabModel,
    LabPort,
    LabTokens,
    simulated,
)
from engine.simulate.data_parallel.sharded_step import Sharded, sharded, step_timed
from engine.simulate.overlap.overlap_job import Setting
from engine.simulate.streams.stream_account import Account, Timed

PRESETS = {
    "Full sharding": {"shard": 128},
    "A second copy in the node (hpZ)": {"shard": 128, "second": True},
    "Four micro-batches": {"micro_batches": 4},
    "70B, ports of 50 Gb/s": {
        "model": "llama-3-70b",
        "shard": 16,
        "port": 50 * Gbit,
        "tokens": 8192,
    },
}
NODE: Count = 8
TOKENS = tuple(512 * 2**i for i in range(9))
_SIZES = (16, 32, 64, 128, 256, 512)
_told = partial(simulated, ("zhang2022_mics", "zhao2023"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    shard: Annotated[
        int,
        Number(
            label="GPUs that share one copy",
            low=2,
            high=512,
            scale="log2",
            whole=True,
            help="It is rounded to a power of two, at most all GPUs.",
        ),
    ] = 8
    second: Annotated[
        bool,
        Switch(
            label="Backward gathers stay in the node",
            help="A second copy of the parameters in every node: zero_hpz_partition_size=8 in "
            "DeepSpeed, reshard_after_forward=8 in FSDP2.",
        ),
    ] = False
    micro_batches: LabMicro = 1
    sums: Annotated[
        str,
        Choice(
            label="Copies add their gradients",
            options={"once": "once a step", "each": "with every micro-batch"},
        ),
    ] = "each"
    tokens: LabTokens = 4096
    port: LabPort = 100 * Gbit
    model: LabModel = "llama-3-8b"
    ranks: Annotated[str, Choice(label="GPUs", options={str(n): f"{n:,}" for n in _SIZES})] = "128"
    slow_down: LabContention = 0.0
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step; without a second copy, those of every width, and what part of them computes.

    Attributes:
        by_width: as `widths` are.
        by_tokens: (width, share of the step that computes, as `TOKENS` are): over all, a node.
    """

    ran: Sharded
    width: Count
    widths: tuple[Count, ...]
    by_width: Later[tuple[Sharded, ...]]
    by_tokens: Later[tuple[tuple[Count, tuple[Share, ...]], ...]]
    step_time: Annotated[Seconds, _told("Step", "without its optimizer; {computing} computing")]
    computing: Share
    exposed: Annotated[
        Seconds,
        _told("Exposed communication", "of {isolated} in all collectives, alone", "communication"),
    ]
    isolated: Seconds
    peak: Annotated[Bytes, _told("States and buffers, at most", "{kept} of it states", "buffers")]
    kept: Annotated[Bytes, _told("States on each GPU", "between steps", "optimizer")]


def width_of(inputs: Inputs) -> Count:
    """Return the reader's width as a power of two that divides the GPUs."""
    return int(min(2 ** round(math.log2(inputs.shard)), int(inputs.ranks)))


def _setting(inputs: Inputs, shard: Count) -> Setting:
    """Return the job with another width."""
    ranks = int(inputs.ranks)
    wide = shard > NODE and inputs.second
    return Setting(
        model=inputs.model,
        gpu=inputs.gpu,
        tensor_parallel=1,
        pipeline_parallel=1,
        data_parallel=ranks,
        num_microbatches=inputs.micro_batches,
        tokens=inputs.tokens,
        port=inputs.port,
        slow_down=inputs.slow_down,
        own=inputs.own_constants,
        again=NODE if wide else 0,
        shard=0 if shard == ranks else shard,
        sum_once=inputs.sums == "once",
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    width = width_of(inputs)
    ran = sharded(_setting(inputs, width), 3)
    widths = tuple(2**i for i in range(1, int(inputs.ranks).bit_length()))
    plain = replace(inputs, second=False)
    return Result(
        ran=ran,
        width=width,
        widths=widths,
        by_width=Later(lambda: tuple(sharded(_setting(plain, one), 3) for one in widths)),
        by_tokens=Later(partial(_by_tokens, plain)),
        step_time=ran.seen.length,
        computing=_computing(ran.seen),
        exposed=ran.seen.exposed,
        isolated=ran.isolated,
        peak=ran.peak,
        kept=ran.states.total,
    )


def _by_tokens(plain: Inputs) -> tuple[tuple[Count, tuple[Share, ...]], ...]:
    return tuple(
        (width, tuple(_computing(step_timed(replace(one, tokens=count), 3)) for count in TOKENS))
        for width, one in ((width, _setting(plain, width)) for width in (int(plain.ranks), NODE))
    )


def _computing(seen: Account | Timed) -> Share:
    return 1 - seen.exposed / seen.length
