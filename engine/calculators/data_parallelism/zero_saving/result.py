"""Results of the ZeRO saving: every number with its label, symbol and note."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.data_parallelism.zero_saving.inputs import STAGES, Inputs, job_of
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Parameters, Ratio, Share
from engine.formulas.states import MIXED_PRECISION
from engine.formulas.volumes import gradient_passes, parameter_passes
from engine.formulas.zero_gains import zero_saving
from engine.simulate.data_parallel.zero_saving import StageSharding, rank_bytes_sent, stage_sharding
from engine.simulate.memory.allocator import usable_bytes

RANKS = tuple(sorted({round(2 ** (i / 4)) for i in range(41)}))
BATCHES = tuple(2**i for i in range(7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Memory and traffic of the chosen stage, and the results by stage in the order of `STAGES`.

    Attributes:
        stages: all of it.
        published: the share saved as the published guide prints it, on two GPUs.
        compared: the share saved on two GPUs, the reader's, and 1,024.
        over_ranks: the same as `RANKS` are, from stage 1 on.
        over_batches: bytes sent in a step, as `BATCHES` are.
    """

    stage: Count
    stages: tuple[StageSharding, ...]
    published: tuple[Share, ...]
    compared: tuple[tuple[Share, ...], ...]
    over_ranks: Lazy[tuple[tuple[Share, ...], ...]]
    over_batches: tuple[tuple[Bytes, ...], ...]
    saving: Annotated[
        Share,
        Output(
            "States saved",
            "s",
            "on {ranks} GPUs",
            "optimizer",
            assumes=("Of parameters, gradients and optimizer; activations are untouched.",),
            sources=("rajbhandari2020",),
        ),
    ]
    published_saving: Share
    bytes_per_parameter: Annotated[
        Bytes,
        Output(
            "Bytes per parameter",
            "M",
            "of {whole} without sharding",
            "optimizer",
            assumes=("Of one parameter's states, on each GPU.",),
        ),
    ]
    whole: Bytes
    held: Annotated[
        Bytes,
        Output(
            "States on each GPU",
            "M",
            "",
            "optimizer",
            assumes=("Shares are even; padding and buffers of the collectives are left out.",),
        ),
    ]
    rest: Bytes
    usable: Bytes
    fits: bool
    size: Annotated[Parameters, Output(symbol="P")]
    one: Parameters = 1.0
    share_parameters: Annotated[Count, Output(symbol="a", of="ranks")]
    share_gradients: Annotated[Count, Output(symbol="b", of="ranks")]
    share_optimizer: Annotated[Count, Output(symbol="c", of="ranks")]
    sent: Annotated[
        Bytes,
        Output(
            "Sent by each GPU in a step",
            "V",
            "{extra} of plain data parallelism",
            "communication",
            assumes=(
                "Rings; gradients and parameters are sent in the types in which they are kept.",
                "Stages 0 and 1 reduce once per step, stages 2 and 3 after every micro-batch.",
            ),
        ),
    ]
    gradient_passes: Annotated[Count, Output(symbol="r", of="num_microbatches")]
    parameter_passes: Annotated[Count, Output(of="num_microbatches")]
    gradient_size: Annotated[Bytes, Output(symbol="G")]
    parameter_size: Bytes
    extra: Annotated[
        Ratio,
        Output(
            "Over plain data parallelism",
            "",
            "",
            "communication",
            assumes=("Bytes that each GPU sends in a step, divided by those of an all-reduce.",),
            sources=("rajbhandari2020",),
        ),
    ]
    even: Ratio


def solve(inputs: Inputs) -> Result:
    """Return the results of every stage, and of the chosen stage in full."""
    job, stage = job_of(inputs), int(inputs.zero_stage)
    stages = tuple(stage_sharding(job, stage) for stage in STAGES)
    own, types = stages[stage], job.types
    total, micro = own.states.total, inputs.num_microbatches
    usable = usable_bytes(inputs.capacity)
    published = tuple(zero_saving(MIXED_PRECISION, stage, 2) for stage in STAGES)

    def saved(
        counts: tuple[Count, ...], stages: tuple[Count, ...]
    ) -> tuple[tuple[Share, ...], ...]:
        return tuple(
            tuple(zero_saving(types, stage, ranks) for ranks in counts) for stage in stages
        )

    return Result(
        stage=stage,
        stages=stages,
        published=published,
        compared=saved((2, inputs.ranks, 1024), STAGES),
        over_ranks=Lazy(lambda: saved(RANKS, STAGES[1:])),
        over_batches=tuple(
            tuple(rank_bytes_sent(job, stage, count) for count in BATCHES) for stage in STAGES
        ),
        saving=own.saving,
        published_saving=published[stage],
        bytes_per_parameter=total / job.parameters,
        whole=types.total,
        held=total,
        usable=usable,
        rest=abs(usable - total),
        fits=total <= usable,
        size=job.parameters,
        share_parameters=inputs.ranks if stage >= 3 else 1,
        share_gradients=inputs.ranks if stage >= 2 else 1,
        share_optimizer=inputs.ranks if stage >= 1 else 1,
        sent=own.sent,
        gradient_passes=gradient_passes(stage, micro),
        parameter_passes=parameter_passes(stage, micro),
        gradient_size=job.parameters * types.gradient,
        parameter_size=job.parameters * types.parameter,
        extra=own.extra,
        even=types.break_even_ranks(stage),
    )
