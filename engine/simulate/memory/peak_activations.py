"""Activations of a rank at their peak: the layers of all micro-batches in flight."""

from functools import lru_cache

from engine.catalog.models import Model, num_sparse_in
from engine.core.record import record
from engine.core.units import Bytes, Count
from engine.formulas.activations import (
    LayerMemory,
    embedding_kept,
    logits_memory,
)
from engine.run.parallelism import (
    V_SHAPED,
    Plan,
    Schedule,
    Training,
    first_piece,
    last_piece,
    layers_of_pipeline_stage,
    num_microbatches,
)


def in_flight(
    schedule: Schedule, ranks: Count, virtual: Count, stage: Count, microbatches: Count
) -> tuple[float, ...]:
    """Return the micro-batches whose activations a rank holds at most, for each of its pieces.

    1F1B holds one for itself and each later stage. Interleaved, a rank runs its pieces in turn,
    `ranks` micro-batches at a time, and warms up with (v - 1)p + 2(p - 1 - stage) of them
    (Narayanan et al. 2021). Zero bubble: its memory limit, p or 2p - 1; laid in a V, p pieces of
    half the size twice, or the half or third of it that the schedule is named after (Qi et al.
    2024; in practice v-half and v-min hold a constant few more).
    """
    if schedule == "interleaved" and virtual > 1:
        steps = min((virtual - 1) * ranks + 2 * (ranks - 1 - stage) + 1, microbatches * virtual)
        cycles, left = divmod(steps, ranks * virtual)
        return tuple(
            cycles * ranks + min(max(left - piece * ranks, 0), ranks) for piece in range(virtual)
        )
    if schedule in V_SHAPED:
        share = {"zbv": 1.0, "v-half": 1 / 2, "v-min": 1 / 3}[schedule]
        return (min(microbatches, ranks * share),) * 2
    if schedule == "dualpipe":
        return (min(microbatches, ranks + 1) / 2,) * 2
    held = {"gpipe": microbatches, "zb-1p": ranks, "zb-2p": 2 * ranks - 1}
    return (min(microbatches, held.get(schedule, ranks - stage)),) * virtual


@record
class StageParts:
    """The activations of a rank, by the moment that needs them.

    Attributes:
        kept: of all layers and micro-batches in flight.
        working: of the layer whose backward pass runs.
        logits: of the loss; 0 without an output layer.
    """

    kept: Bytes
    working: Bytes
    logits: Bytes


def stage_activations(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    layers: tuple[LayerMemory, LayerMemory],
) -> Bytes:
    """Return the activations of a rank at their peak.

    Either the loss has just been computed, with the logits beside all that is kept, or the
    backward pass of a layer runs.
    """
    parts = stage_parts(model, plan, training, stage, layers)
    return parts.kept + max(parts.working, parts.logits)


def stage_parts(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    layers: tuple[LayerMemory, LayerMemory],
) -> StageParts:
    """Return what a rank keeps, and what it needs on top in a layer and in the loss."""
    dense, sparse = layers
    pipeline = (plan.pipeline_parallel, plan.virtual_pipeline, plan.stage_layers)
    held = _layers_held(model, pipeline, training.schedule, stage, num_microbatches(plan, training))
    kept = held.dense * dense.kept + held.sparse * sparse.kept
    if first_piece(plan, stage, training.schedule):
        kept += held.first * embedding_kept(model, plan, training)
    working = sparse.working if model.num_experts else dense.working
    loss = 0.0
    if last_piece(plan, stage, training.schedule):
        logits = logits_memory(model, plan, training)
        # A prediction layer ends in logits of its own.
        kept += model.num_prediction_layers * (sparse.kept + logits.kept)
        loss = logits.kept + logits.working
    return StageParts(kept=kept, working=working, logits=loss)


@record
class _Held:
    """Layers whose activations a rank keeps at most, each once for every micro-batch in flight.

    Attributes:
        dense: without experts.
        sparse: with experts.
        first: micro-batches in flight in its first piece.
    """

    dense: float
    sparse: float
    first: float


@lru_cache(maxsize=4096)
def _layers_held(
    model: Model,
    pipeline: tuple[Count, Count, tuple[Count, ...]],
    schedule: Schedule,
    stage: Count,
    microbatches: Count,
) -> _Held:
    """Return them: the same for all micro-batch sizes and recomputations of a pipeline."""
    ranks, virtual, _ = pipeline
    pieces = layers_of_pipeline_stage(model.num_layers, pipeline, stage, schedule)
    held = in_flight(schedule, ranks, virtual, stage, microbatches)
    dense = sparse = 0.0
    for piece, count in zip(pieces, held, strict=True):
        experts = num_sparse_in(model, piece)
        dense += count * (len(piece) - experts)
        sparse += count * experts
    return _Held(dense=dense, sparse=sparse, first=held[0])
