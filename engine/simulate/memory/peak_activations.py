"""Peak activations of a rank: the layers of all micro-batches in flight."""

from collections.abc import Sequence
from functools import lru_cache

from engine.catalog.models import Model, kinds_in, layer_kinds
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


def microbatches_in_flight(
    schedule: Schedule, ranks: Count, virtual: Count, stage: Count, microbatches: Count
) -> tuple[float, ...]:
    """Return the peak number of micro-batches in flight on a rank, for each of its pieces.

    1F1B holds one for itself and each later stage. Interleaved, a rank runs its pieces in turn,
    `ranks` micro-batches at a time, and warms up with (v - 1)p + 2(p - 1 - stage) of them
    (Narayanan et al. 2021). Zero bubble: its memory limit, p or 2p - 1; laid in a V, p pieces of
    half the size twice, or the half or third of it that the schedule is named after (Qi et al.
    2024; in practice v-half and v-min hold a constant few more).
    """
    if schedule == "interleaved" and virtual > 1:
        steps = min((virtual - 1) * ranks + 2 * (ranks - 1 - stage) + 1, microbatches * virtual)
        cycles, remaining = divmod(steps, ranks * virtual)
        return tuple(
            cycles * ranks + min(max(remaining - piece * ranks, 0), ranks)
            for piece in range(virtual)
        )
    if schedule in V_SHAPED:
        share = {"zbv": 1.0, "v-half": 1 / 2, "v-min": 1 / 3}[schedule]
        return (min(microbatches, ranks * share),) * 2
    if schedule == "dualpipe":
        return (min(microbatches, ranks + 1) / 2,) * 2
    by_schedule = {"gpipe": microbatches, "zb-1p": ranks, "zb-2p": 2 * ranks - 1}
    return (min(microbatches, by_schedule.get(schedule, ranks - stage)),) * virtual


@record
class StageParts:
    """Activation memory of a rank, by moment.

    Attributes:
        kept: kept activations of all layers and micro-batches in flight.
        working: working memory of the layer whose backward pass runs.
        logits: memory of the loss; 0 without an output layer.
    """

    kept: Bytes
    working: Bytes
    logits: Bytes


def stage_activations(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    layers: Sequence[LayerMemory],
) -> Bytes:
    """Return the peak activation memory of a rank.

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
    layers: Sequence[LayerMemory],
) -> StageParts:
    """Return the kept activations of a rank, and the working memory of a layer and of the loss.

    `layers` are those of the model's kinds.
    """
    pipeline = (plan.pipeline_parallel, plan.virtual_pipeline, plan.stage_layers)
    in_flight = _layers_in_flight(
        model, pipeline, training.schedule, stage, num_microbatches(plan, training)
    )
    kept = sum(
        (n * layer.kept for n, layer in zip(in_flight.kinds, layers, strict=True)), start=0.0
    )
    if first_piece(plan, stage, training.schedule):
        kept += in_flight.first * embedding_kept(model, plan, training)
    working = max(layer.working for layer in layers) if model.mix else layers[-1].working
    loss = 0.0
    if last_piece(plan, stage, training.schedule):
        logits = logits_memory(model, plan, training)
        # A prediction layer ends in logits of its own.
        further = kinds_in(model, range(0), model.num_prediction_layers)
        kept += sum(n * layer.kept for n, layer in zip(further, layers, strict=True))
        kept += model.num_prediction_layers * logits.kept
        loss = logits.kept + logits.working
    return StageParts(kept=kept, working=working, logits=loss)


@record
class _LayersInFlight:
    """Layers in flight on a rank at the peak, counted once per micro-batch.

    Attributes:
        kinds: of each kind of the model.
        first: micro-batches in flight in its first piece.
    """

    kinds: tuple[float, ...]
    first: float


@lru_cache(maxsize=4096)
def _layers_in_flight(
    model: Model,
    pipeline: tuple[Count, Count, tuple[Count, ...]],
    schedule: Schedule,
    stage: Count,
    microbatches: Count,
) -> _LayersInFlight:
    """Return the layers in flight, which do not depend on micro-batch size or recomputation."""
    ranks, virtual, _ = pipeline
    pieces = layers_of_pipeline_stage(model.num_layers, pipeline, stage, schedule)
    in_flight = microbatches_in_flight(schedule, ranks, virtual, stage, microbatches)
    kinds = [0.0] * len(layer_kinds(model))
    for piece, count in zip(pieces, in_flight, strict=True):
        for kind, layers in enumerate(kinds_in(model, piece)):
            kinds[kind] += count * layers
    return _LayersInFlight(kinds=tuple(kinds), first=in_flight[0])
