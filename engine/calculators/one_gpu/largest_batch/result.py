"""Results of the largest batch: fit, memory by part, and speed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.calculators.one_gpu.largest_batch.inputs import RECOMPUTE, Inputs, fit, fit_with_changes
from engine.calculators.one_gpu.largest_batch.tried import TriedChange, try_changes
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import Bytes, Count, Ratio, TokenRate
from engine.formulas.step_operations import hardware_operations, model_operations
from engine.run.doubts import RunWarnings, run_warnings
from engine.simulate.memory.allocator import Memory
from engine.simulate.step.batch_search import Probe, search_largest_batch
from engine.simulate.step.largest_batch import BatchFit, batch_memory, batch_token_rate
from engine.simulate.step.prediction_evidence import Evidence, evidence

# No search of the page tries more.
LIMIT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The fit, memory and speed of the job.

    Attributes:
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

    largest: Annotated[Count, Output("Largest micro-batch", "b", color="activations")]
    total: Annotated[
        Bytes, Output("Fullest GPU at your micro-batch", "M", "of {usable} that may be filled")
    ]
    fixed: Annotated[
        Bytes,
        Output(
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
        Output(
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
        Output(
            "May be filled",
            "U",
            assumes=("The share left free is a planning value of the reader's.",),
        ),
    ]
    token_rate: Annotated[TokenRate, Output("Speed at your micro-batch", color="compute")]
    capacity: Annotated[Bytes, Output(symbol="C", of="gpu")]
    parameters: Annotated[Bytes, Output(symbol="P")]
    gradients: Annotated[Bytes, Output(symbol="G")]
    optimizer: Annotated[Bytes, Output(symbol="O")]
    activations: Annotated[Bytes, Output(symbol="A")]
    buffers: Annotated[Bytes, Output(symbol="B")]
    reserve: Annotated[Bytes, Output(symbol="R")]
    ranks: Count
    again: Ratio
    found: BatchFit
    changes: tuple[Text, ...]
    held: Lazy[Mapping[Count, Memory]]
    probes: Lazy[tuple[Probe, ...]]
    speeds: Lazy[Mapping[tuple[str, Count], TokenRate]]
    lengths: Lazy[Mapping[Count, tuple[BatchFit, BatchFit]]]
    tried: Lazy[tuple[TriedChange, ...]]
    doubts: RunWarnings
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    fit, changes = fit_with_changes(inputs)
    run, memory = fit.run, fit.memory
    # What does not fit has no speed.
    rate = batch_token_rate(run, inputs.micro_batch_size) if fit.fit.runs else 0.0
    return Result(
        largest=fit.largest,
        total=memory.total,
        fixed=fit.line.fixed,
        per_sequence=fit.line.per_sequence,
        usable=fit.usable,
        token_rate=rate,
        capacity=run.cluster.gpu.memory,
        parameters=memory.parameters,
        gradients=memory.gradients,
        optimizer=memory.optimizer,
        activations=memory.activations,
        buffers=memory.buffers,
        reserve=memory.reserve,
        ranks=run.plan.data_parallel,
        again=hardware_operations(run.model, run.training)
        / model_operations(run.model, run.training),
        found=fit,
        changes=changes,
        held=Lazy(partial(_memory_by_batch, inputs.micro_batch_size, fit)),
        probes=Lazy(
            partial(
                search_largest_batch,
                lambda micro_batch: batch_memory(run, micro_batch).total,
                fit.usable,
                LIMIT,
            )
        ),
        speeds=Lazy(partial(_speed_by_recomputation, inputs)),
        lengths=Lazy(partial(_largest_by_length, inputs)),
        tried=Lazy(partial(try_changes, inputs, fit, rate)),
        doubts=run_warnings(run),
        evidence=evidence(run),
    )


def _memory_by_batch(micro_batch: Count, fit: BatchFit) -> Mapping[Count, Memory]:
    """Return memory by micro-batch: 1, the reader's, half the largest, the largest and the next."""
    most = min(fit.largest, LIMIT)
    batches = sorted({1, micro_batch, max(1, most // 2), max(1, most), most + 1})
    return {batch: batch_memory(fit.run, batch) for batch in batches}


def _speed_by_recomputation(inputs: Inputs) -> Mapping[tuple[str, Count], TokenRate]:
    speeds = {}
    for kind in RECOMPUTE:
        other = fit(replace(inputs, recompute=kind))
        largest = min(other.largest, LIMIT)
        for batch in sorted({min(1, largest), largest} - {0}):
            speeds[kind, batch] = batch_token_rate(other.run, batch)
    return speeds


def _largest_by_length(inputs: Inputs) -> Mapping[Count, tuple[BatchFit, BatchFit]]:
    lengths = (round(inputs.sequence_length * factor) for factor in (1 / 4, 1 / 2, 1, 2, 4))
    return {
        length: (
            fit(replace(inputs, sequence_length=length, flash_attention=True)),
            fit(replace(inputs, sequence_length=length, flash_attention=False)),
        )
        for length in lengths
    }
