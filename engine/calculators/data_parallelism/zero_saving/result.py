"""What the saving shows: every number, with its label, symbol and note."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.data_parallelism.zero_saving.inputs import STAGES, Inputs, job_of
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Parameters, Ratio, Share
from engine.formulas.states import MIXED_PRECISION
from engine.formulas.volumes import gradient_passes, parameter_passes
from engine.formulas.zero_gains import zero_saving
from engine.simulate.data_parallel.zero_saving import Sharding, sent, sharding

RANKS = tuple(sorted({round(2 ** (i / 4)) for i in range(41)}))
BATCHES = tuple(2**i for i in range(7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The chosen stage on one GPU, and what differs by stage, as `STAGES` are.

    Attributes:
        stages: all of it.
        published: the share saved as the published guide prints it, on two GPUs.
        compared: the share saved on two GPUs, the reader's, and 1,024.
        over_ranks: the same as `RANKS` are, from stage 1 on.
        over_batches: bytes sent in a step, as `BATCHES` are.
    """

    stage: Count
    stages: tuple[Sharding, ...]
    published: tuple[Share, ...]
    compared: tuple[tuple[Share, ...], ...]
    over_ranks: Later[tuple[tuple[Share, ...], ...]]
    over_batches: tuple[tuple[Bytes, ...], ...]
    saving: Annotated[
        Share,
        Told(
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
        Told(
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
        Told(
            "States on each GPU",
            "M",
            "",
            "optimizer",
            assumes=("Shares are even; padding and buffers of the collectives are left out.",),
        ),
    ]
    rest: Bytes
    fits: bool
    size: Annotated[Parameters, Told(symbol="P")]
    one: Parameters = 1.0
    share_parameters: Annotated[Count, Told(symbol="a", of="ranks")]
    share_gradients: Annotated[Count, Told(symbol="b", of="ranks")]
    share_optimizer: Annotated[Count, Told(symbol="c", of="ranks")]
    sent: Annotated[
        Bytes,
        Told(
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
    gradient_passes: Annotated[Count, Told(symbol="r", of="num_microbatches")]
    parameter_passes: Annotated[Count, Told(of="num_microbatches")]
    gradient_size: Annotated[Bytes, Told(symbol="G")]
    parameter_size: Bytes
    extra: Annotated[
        Ratio,
        Told(
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
    """Return every stage, and the chosen one in full."""
    job, stage = job_of(inputs), int(inputs.zero_stage)
    stages = tuple(sharding(job, one) for one in STAGES)
    own, types = stages[stage], job.types
    held, micro = own.states.total, inputs.num_microbatches
    published = tuple(zero_saving(MIXED_PRECISION, one, 2) for one in STAGES)

    def saved(counts: tuple[Count, ...], some: tuple[Count, ...]) -> tuple[tuple[Share, ...], ...]:
        return tuple(tuple(zero_saving(types, one, ranks) for ranks in counts) for one in some)

    return Result(
        stage=stage,
        stages=stages,
        published=published,
        compared=saved((2, inputs.ranks, 1024), STAGES),
        over_ranks=Later(lambda: saved(RANKS, STAGES[1:])),
        over_batches=tuple(tuple(sent(job, one, count) for count in BATCHES) for one in STAGES),
        saving=own.saving,
        published_saving=published[stage],
        bytes_per_parameter=held / job.parameters,
        whole=types.total,
        held=held,
        rest=abs(inputs.capacity - held),
        fits=held <= inputs.capacity,
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
