"""What the largest batch shows: what fits, what fills the memory, and how fast it is."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.text import Text
from engine.basis.told import Told
from engine.basis.units import Bytes, Count, Ratio, TokenRate
from engine.calculators.one_gpu.largest_batch.inputs import Inputs, fitted
from engine.formulas.operations import hardware_operations, model_operations
from engine.run.doubts import Doubts, doubts
from engine.run.parallelism import data_parallel
from engine.simulate.evidence import Evidence, evidence
from engine.simulate.largest_batch import Fit, speed


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
    doubts: Doubts
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    found, changes = fitted(inputs)
    run, held = found.run, found.held
    return Result(
        largest=found.largest,
        total=held.total,
        fixed=found.line.fixed,
        per_sequence=found.line.per_sequence,
        usable=found.usable,
        # What does not fit has no speed.
        token_rate=speed(run, inputs.micro_batch_size) if found.fits else 0.0,
        context=found.context,
        capacity=run.cluster.gpu.memory,
        parameters=held.parameters,
        gradients=held.gradients,
        optimizer=held.optimizer,
        activations=held.activations,
        buffers=held.buffers,
        reserve=held.reserve,
        ranks=data_parallel(run.plan),
        again=hardware_operations(run.model, run.training)
        / model_operations(run.model, run.training),
        found=found,
        changes=changes,
        doubts=doubts(run),
        evidence=evidence(run),
    )
