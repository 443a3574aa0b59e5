"""Candidate changes of a plan that could lower its GPU hours."""

from collections.abc import Iterator, Mapping

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.core.inputs import Number

Change = Mapping[str, float | int | str | bool]
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


def changes_of(inputs: Inputs) -> dict[str, Change]:
    """Return the changes that are within range, by name."""
    every = (*_sizes(inputs), *_settings(inputs), *_moves(inputs))
    return {key: change for key, change in every if _in_range(change)}


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _sizes(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    batches, stages, tensor = (
        inputs.num_microbatches,
        inputs.pipeline_parallel,
        inputs.tensor_parallel,
    )
    yield "microbatches", {"num_microbatches": 2 * batches}
    if batches > 1 and batches % 2 == 0:
        sequences = 2 * inputs.micro_batch_size
        yield "larger", {"num_microbatches": batches // 2, "micro_batch_size": sequences}
    if stages > 1:
        yield "stages", {"pipeline_parallel": stages - 1}
    if stages > 2 and stages % 2 == 0:
        yield "half_stages", {"pipeline_parallel": stages // 2}
    yield "less_tensor", {"tensor_parallel": tensor // 2}
    yield "more_tensor", {"tensor_parallel": 2 * tensor}
    if inputs.context_parallel > 1:
        yield "context", {"context_parallel": inputs.context_parallel // 2}


def _settings(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    if inputs.pipeline_parallel > 1 and inputs.schedule != "interleaved":
        yield "interleaved", {"schedule": "interleaved"}
    if inputs.pipeline_parallel > 1 and inputs.schedule != "zb-1p":
        yield "zero_bubble", {"schedule": "zb-1p"}
    if not inputs.overlap and inputs.tensor_parallel > 1:
        yield "overlap", {"overlap": True}
    if not inputs.sequence_parallel and inputs.tensor_parallel > 1:
        yield "sequence", {"sequence_parallel": True}
    if inputs.recompute != "none":
        yield "recompute", {"recompute": "none"}
    yield "port", {"nic_bandwidth": 2 * inputs.nic_bandwidth}


def _moves(inputs: Inputs) -> Iterator[tuple[str, Change]]:
    """Yield variants with a layer moved off the last stage, and off both ends."""
    if inputs.pipeline_parallel < 3:
        return
    last, first = inputs.off_last + 1, inputs.off_first + 1
    yield "off_last", {"off_last": last}
    yield "off_ends", {"off_last": last, "off_first": first}
