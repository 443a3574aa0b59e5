"""Results of accumulation at scale."""

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
    tokens_per_gpu,
    volumes,
)
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Ratio, Share, TokenRate, Tokens
from engine.formulas.parameters import total_parameters
from engine.formulas.pipeline import bubble_share, one_f_one_b_peak
from engine.simulate.data_parallel.accumulation import (
    GRADIENT,
    PARAMETER,
    AccumulationMemory,
    accumulated_passes,
    accumulation_bytes_sent,
    accumulation_memory,
    accumulation_run,
    accumulation_token_rate,
)
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.step.prediction_evidence import Evidence, evidence

MODELLED = (
    "The step model of all pages; nodes of 8 GPUs. It times DDP with no_sync, ZeRO-1, ZeRO-2 and "
    "FSDP as it comes. The other schemes get the time of the nearest of these."
)
_WIRE = ("Gradients travel in 4 bytes, parameters in 2, in rings over all GPUs.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The results of one step with the chosen number of micro-batches.

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
        Bytes, Output("Sent by each GPU in a step", "V", color="communication", assumes=_WIRE)
    ]
    reductions: Annotated[Count, Output(symbol="r", of="num_microbatches")]
    gathers: Annotated[Count, Output(symbol="a", of="num_microbatches")]
    gradients: Annotated[Bytes, Output(symbol="G", of="model")]
    parameters: Annotated[Bytes, Output(symbol="P", of="model")]
    per_token: Annotated[
        Bytes,
        Output(
            "For each of its tokens",
            color="communication",
            assumes=("What is sent in a step over the GPU's tokens of a step.", *_WIRE),
            sources=("rajbhandari2020",),
        ),
    ]
    collectives: Annotated[
        Count,
        Output(
            "Passes around the ring",
            note="{reductions} of the gradients, {gathers} of the parameters",
            color="communication",
            assumes=("An all-reduce is two passes, a reduce-scatter or an all-gather one.",),
            sources=("rajbhandari2020",),
        ),
    ]
    tokens: Annotated[
        Tokens,
        Output("Tokens of a step", assumes=("All GPUs, all micro-batches.",)),
    ]
    own: Tokens
    held: Annotated[
        Bytes,
        Output(
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
        Output(
            "Fullest GPU, in one batch",
            color="activations",
            assumes=("The same sequences in one forward pass.",),
            sources=("korthikanti2022",),
        ),
    ]
    usable: Bytes
    token_rate: Annotated[
        TokenRate,
        Output(
            "Tokens per second per GPU",
            color="compute",
            assumes=(MODELLED,),
            sources=("korthikanti2022",),
        ),
    ]
    gained: Annotated[
        Ratio,
        Output(
            "Over a single micro-batch",
            color="compute",
            assumes=("Tokens per second with your micro-batches over those with one.",),
            sources=("korthikanti2022",),
        ),
    ]
    bubble: Annotated[
        Share,
        Output(
            "Pipeline idle",
            assumes=("1F1B on {pipeline_parallel} equal stages, of the step.",),
            sources=("huang2019",),
        ),
    ]
    in_flight: Annotated[
        Count,
        Output(
            "Micro-batches held by the first stage",
            color="activations",
            assumes=("1F1B on {pipeline_parallel} stages.",),
            sources=("narayanan2019",),
        ),
    ]
    parts: tuple[AccumulationMemory, AccumulationMemory]
    volumes: Lazy[Mapping[str, tuple[Bytes, ...]]]
    speeds: Lazy[Mapping[str, tuple[TokenRate, ...]]]
    bubbles: tuple[Share, ...]
    schemes: Lazy[Mapping[str, Scheme]]
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    step = step_of(inputs)
    reductions, gathers = accumulated_passes(step.scheme, step.count)
    own = tokens_per_gpu(step)
    size, volume = total_parameters(step.model), accumulation_bytes_sent(step)
    stages, count = inputs.pipeline_parallel, inputs.num_microbatches
    rate = accumulation_token_rate(step)
    parts = accumulation_memory(step), accumulation_memory(step, at_once=True)
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
        usable=usable_bytes(step.cluster.gpu.memory),
        token_rate=rate,
        parts=parts,
        volumes=Lazy(partial(volumes, inputs)),
        speeds=Lazy(partial(speeds, inputs)),
        bubbles=tuple(bubble_share(stages, n) for n in COUNTS),
        schemes=Lazy(lambda: {scheme: scheme_of(inputs, scheme) for scheme in SCHEMES}),
        evidence=evidence(accumulation_run(step)),
        gained=rate / accumulation_token_rate(step_of(inputs, count=1)),
        bubble=bubble_share(stages, count),
        in_flight=one_f_one_b_peak(0, stages, count),
    )
