"""What the largest batch shows: what fits, what fills the memory, and how fast it is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.calculators.one_gpu.largest_batch.inputs import RECOMPUTE, Inputs, fit, fitted
from engine.calculators.one_gpu.largest_batch.tried import Tried, tried
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.text import Text
from engine.core.units import Bytes, Count, Ratio, TokenRate
from engine.formulas.operations import hardware_operations, model_operations
from engine.run.doubts import Doubts, doubts
from engine.simulate.memory.allocator import Memory
from engine.simulate.step.batch_search import Probe, search
from engine.simulate.step.largest_batch import Fit, memory_of, speed
from engine.simulate.step.prediction_evidence import Evidence, evidence

# No search of the page tries more.
LIMIT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What fits.

    Attributes:
        context: memory outside of the framework's tensors.
        capacity: of the GPU.
        parameters, gradients, optimizer, activations, buffers, reserve: parts of `total`.
        ranks: of data parallelism.
        again: operations computed over those that the model needs.
        found: all of it.
        changes: what differs from the inputs.
        held: memory of some micro-batches, up to one that does not fit.
        probes: the search for the largest micro-batch by trial.
        speeds: (recomputed, micro-batch) -> speed, with one sequence and with the most that fit.
        lengths: sequence length -> what fits with fused attention, and with scores kept.
        tried: single changes that free memory, the best first.
        doubts: what speaks against the run.
        evidence: on which the speed rests.
    """

    largest: Annotated[Count, Told("Largest micro-batch", "b", color="activations")]
    total: Annotated[
        Bytes, Told("Fullest GPU at your micro-batch", "M", "of {usable} that may be filled")
    ]
    fixed: Annotated[
        Bytes,
        Told(
            "Without any sequence",
            "M0",
            color="optimizer",
            assumes=(
                "States of the rank's parameters under ZeRO, and the buffers of its framework.",
                "Extrapolated to a batch of zero from two calls of the memory model.",
            ),
            sources=("rajbhandari2020",),
        ),
    ]
    per_sequence: Annotated[
        Bytes,
        Told(
            "Each sequence adds",
            "M1",
            color="activations",
            assumes=(
                "What all layers of the stage keep for the backward pass, the logits, and what "
                "one layer works with.",
                "The difference of two calls of the memory model.",
            ),
            sources=("korthikanti2022",),
        ),
    ]
    usable: Annotated[
        Bytes,
        Told(
            "May be filled",
            "U",
            assumes=("The share left free is a planning value of the reader's.",),
        ),
    ]
    token_rate: Annotated[TokenRate, Told("Speed at your micro-batch", color="compute")]
    context: Annotated[Bytes, Told(symbol="X")]
    capacity: Annotated[Bytes, Told(symbol="C", of="gpu")]
    parameters: Annotated[Bytes, Told(symbol="P")]
    gradients: Annotated[Bytes, Told(symbol="G")]
    optimizer: Annotated[Bytes, Told(symbol="O")]
    activations: Annotated[Bytes, Told(symbol="A")]
    buffers: Annotated[Bytes, Told(symbol="B")]
    reserve: Annotated[Bytes, Told(symbol="R")]
    ranks: Count
    again: Ratio
    found: Fit
    changes: tuple[Text, ...]
    held: Later[Mapping[Count, Memory]]
    probes: Later[tuple[Probe, ...]]
    speeds: Later[Mapping[tuple[str, Count], TokenRate]]
    lengths: Later[Mapping[Count, tuple[Fit, Fit]]]
    tried: Later[tuple[Tried, ...]]
    doubts: Doubts
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    found, changes = fitted(inputs)
    run, held = found.run, found.held
    # What does not fit has no speed.
    rate = speed(run, inputs.micro_batch_size) if found.fits else 0.0
    return Result(
        largest=found.largest,
        total=held.total,
        fixed=found.line.fixed,
        per_sequence=found.line.per_sequence,
        usable=found.usable,
        token_rate=rate,
        context=found.context,
        capacity=run.cluster.gpu.memory,
        parameters=held.parameters,
        gradients=held.gradients,
        optimizer=held.optimizer,
        activations=held.activations,
        buffers=held.buffers,
        reserve=held.reserve,
        ranks=run.plan.data_parallel,
        again=hardware_operations(run.model, run.training)
        / model_operations(run.model, run.training),
        found=found,
        changes=changes,
        held=Later(partial(_held, inputs.micro_batch_size, found)),
        probes=Later(partial(search, lambda one: memory_of(run, one).total, found.usable, LIMIT)),
        speeds=Later(partial(_speeds, inputs)),
        lengths=Later(partial(_lengths, inputs)),
        tried=Later(partial(tried, inputs, found, rate)),
        doubts=doubts(run),
        evidence=evidence(run),
    )


def _held(mine: Count, found: Fit) -> Mapping[Count, Memory]:
    """One, the reader's, half of the largest, the largest and the next, without repeats."""
    most = min(found.largest, LIMIT)
    batches = sorted({1, mine, max(1, most // 2), max(1, most), most + 1})
    return {batch: memory_of(found.run, batch) for batch in batches}


def _speeds(inputs: Inputs) -> Mapping[tuple[str, Count], TokenRate]:
    speeds = {}
    for kind in RECOMPUTE:
        other = fit(replace(inputs, recompute=kind))
        largest = min(other.largest, LIMIT)
        for batch in sorted({min(1, largest), largest} - {0}):
            speeds[kind, batch] = speed(other.run, batch)
    return speeds


def _lengths(inputs: Inputs) -> Mapping[Count, tuple[Fit, Fit]]:
    lengths = (round(inputs.sequence_length * factor) for factor in (1 / 4, 1 / 2, 1, 2, 4))
    return {
        length: (
            fit(replace(inputs, sequence_length=length, flash_attention=True)),
            fit(replace(inputs, sequence_length=length, flash_attention=False)),
        )
        for length in lengths
    }
