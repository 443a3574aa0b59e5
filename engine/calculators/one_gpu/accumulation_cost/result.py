"""What accumulation at scale shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.one_gpu.accumulation_cost.inputs import SCHEMES, Inputs, step_of
from engine.calculators.one_gpu.accumulation_cost.sweeps import (
    COUNTS,
    Scheme,
    scheme_of,
    speeds,
    tokens_of,
    volumes,
)
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Ratio, Share, TokenRate, Tokens
from engine.formulas.parameters import total_parameters
from engine.formulas.pipeline import bubble_share, one_f_one_b_peak
from engine.run.parallelism import Training
from engine.simulate.data_parallel.accumulation import (
    GRADIENT,
    PARAMETER,
    Held,
    accumulated_passes,
    held,
    run_of,
    sent,
    speed,
)
from engine.simulate.memory.allocator import usable
from engine.simulate.step.prediction_evidence import Evidence, evidence

MODELLED = (
    "The step model of all pages; nodes of 8 GPUs. It times DDP with no_sync, ZeRO-1, ZeRO-2 and "
    "FSDP as it comes. The other schemes get the time of the nearest of these."
)
_WIRE = ("Gradients travel in 4 bytes, parameters in 2, in rings over all GPUs.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One step of so many micro-batches.

    Attributes:
        evidence: on which the speed rests.
        parts: what the fullest GPU holds, in micro-batches and in one batch.
        volumes, speeds: scheme -> what a GPU sends for a token, and its rate, over `COUNTS`.
        bubbles: idle shares of a pipeline over `COUNTS`.
        schemes: every scheme with the reader's numbers.
        own: tokens of one GPU.
        usable: of a GPU's memory.
    """

    sent: Annotated[
        Bytes, Told("Sent by each GPU in a step", "V", color="communication", assumes=_WIRE)
    ]
    reductions: Annotated[Count, Told(symbol="r", of="num_microbatches")]
    gathers: Annotated[Count, Told(symbol="a", of="num_microbatches")]
    gradients: Annotated[Bytes, Told(symbol="G", of="model")]
    parameters: Annotated[Bytes, Told(symbol="P", of="model")]
    per_token: Annotated[
        Bytes,
        Told(
            "For each of its tokens",
            color="communication",
            assumes=("What is sent in a step over the GPU's tokens of a step.", *_WIRE),
            sources=("rajbhandari2020",),
        ),
    ]
    collectives: Annotated[
        Count,
        Told(
            "Passes around the ring",
            note="{reductions} of the gradients, {gathers} of the parameters",
            color="communication",
            assumes=("An all-reduce is two passes, a reduce-scatter or an all-gather one.",),
            sources=("rajbhandari2020",),
        ),
    ]
    tokens: Annotated[
        Tokens,
        Told("Tokens of a step", assumes=("All GPUs, all micro-batches.",)),
    ]
    own: Tokens
    held: Annotated[
        Bytes,
        Told(
            "Fullest GPU, in micro-batches",
            note="of {usable} that may be filled",
            color="activations",
            assumes=(
                "The memory model of all pages, with selective recomputation; gradients that are "
                "not reduced yet are whole.",
            ),
            sources=("korthikanti2022", "rajbhandari2020"),
        ),
    ]
    at_once: Annotated[
        Bytes,
        Told(
            "Fullest GPU, in one batch",
            color="activations",
            assumes=("The same sequences in one forward pass.",),
            sources=("korthikanti2022",),
        ),
    ]
    usable: Bytes
    token_rate: Annotated[
        TokenRate,
        Told(
            "Tokens per second per GPU",
            color="compute",
            assumes=(MODELLED,),
            sources=("korthikanti2022",),
        ),
    ]
    gained: Annotated[
        Ratio,
        Told(
            "Over a single micro-batch",
            color="compute",
            assumes=("Tokens per second with your micro-batches over those with one.",),
            sources=("korthikanti2022",),
        ),
    ]
    bubble: Annotated[
        Share,
        Told(
            "Pipeline idle",
            assumes=("1F1B on {pipeline_parallel} equal stages, of the step.",),
            sources=("huang2019",),
        ),
    ]
    in_flight: Annotated[
        Count,
        Told(
            "Micro-batches held by the first stage",
            color="activations",
            assumes=("1F1B on {pipeline_parallel} stages.",),
            sources=("narayanan2019",),
        ),
    ]
    parts: tuple[Held, Held]
    volumes: Later[Mapping[str, tuple[Bytes, ...]]]
    speeds: Later[Mapping[str, tuple[TokenRate, ...]]]
    bubbles: tuple[Share, ...]
    schemes: Later[Mapping[str, Scheme]]
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    step = step_of(inputs)
    reductions, gathers = accumulated_passes(step.scheme, step.count)
    own = tokens_of(step)
    size, volume = total_parameters(step.model), sent(step)
    training = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
    stages, count = inputs.pipeline_parallel, inputs.num_microbatches
    rate = speed(step)
    parts = held(step), held(step, at_once=True)
    return Result(
        sent=volume,
        reductions=reductions,
        gathers=gathers,
        gradients=GRADIENT * size,
        parameters=PARAMETER * size,
        per_token=volume / own,
        collectives=reductions + gathers,
        tokens=own * step.ranks,
        own=own,
        held=parts[0].total,
        at_once=parts[1].total,
        usable=usable(step.cluster.gpu.memory, training),
        token_rate=rate,
        parts=parts,
        volumes=Later(partial(volumes, inputs)),
        speeds=Later(partial(speeds, inputs)),
        bubbles=tuple(bubble_share(stages, n) for n in COUNTS),
        schemes=Later(lambda: {scheme: scheme_of(inputs, scheme) for scheme in SCHEMES}),
        evidence=evidence(run_of(step)),
        gained=rate / speed(step_of(inputs, count=1)),
        bubble=bubble_share(stages, count),
        in_flight=one_f_one_b_peak(0, stages, count),
    )
