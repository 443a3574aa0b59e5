"""Layer times per micro-batch, and the pipeline stages that the layers form."""

from functools import lru_cache
from itertools import accumulate

from engine.catalog.models import Model, kinds_in, layer_kinds
from engine.core.record import record
from engine.core.units import Count, Seconds, Share
from engine.run.parallelism import Plan, Training
from engine.run.stage_cut import cut_layers
from engine.simulate.layer.device_model import RankRates
from engine.simulate.layer.layer_time import LayerTime, embedding_time, layer_time, output_time


@record
class StageLayers:
    """Layers of one pipeline rank, with embedding and output layer if it holds them.

    Attributes:
        layers: of each kind of the model.
        ends: seconds of embedding and output layer for one micro-batch.
    """

    layers: tuple[Count, ...]
    ends: Seconds


@record
class LayerCosts:
    """Layer times per micro-batch, independent of pipeline and sharding.

    Plans that agree in tensor, context and expert parallelism, in the micro-batch and in all that
    `Training` says of kernels have these in common.

    Attributes:
        rank: what one rank can do.
        kinds: of a layer of each kind of the model: without experts, and with them; of one kind
            only, both are that one.
        embedding: seconds of looking tokens up.
        output: seconds of the output layer and the loss, one for each further token predicted.
    """

    rank: RankRates
    kinds: tuple[LayerTime, ...]
    embedding: Seconds
    output: Seconds


def layer_costs(model: Model, plan: Plan, training: Training, rank: RankRates) -> LayerCosts:
    """Return the layer times for one micro-batch."""
    return LayerCosts(
        rank=rank,
        kinds=_layer_times(model, plan, training, rank),
        embedding=embedding_time(model, plan, training, rank),
        output=(1 + model.num_prediction_layers) * output_time(model, plan, training, rank),
    )


def _layer_times(
    model: Model, plan: Plan, training: Training, rank: RankRates
) -> tuple[LayerTime, ...]:
    """Return the times of a layer of each kind; the same twice if there is one kind."""
    if model.mix:
        return tuple(
            layer_time(kind, plan, training, rank, sparse=sparse)
            for kind, sparse in layer_kinds(model)
        )
    if not model.num_experts:
        dense = layer_time(model, plan, training, rank, sparse=False)
        return dense, dense
    sparse = layer_time(model, plan, training, rank, sparse=True)
    if not model.num_dense_layers and not model.dense_layer_every:
        return sparse, sparse
    return layer_time(model, plan, training, rank, sparse=False), sparse


def slowest_stage(model: Model, plan: Plan, layers: LayerCosts) -> LayerTime:
    """Return the times of the slowest stage for one micro-batch."""
    stage = max(
        _candidate_stages(model, plan, layers),
        key=lambda candidate: _stage_time(candidate, layers.kinds),
    )
    return _stage_layer_time(stage, layers.kinds)


def _candidate_stages(model: Model, plan: Plan, layers: LayerCosts) -> tuple[StageLayers, ...]:
    """Return the stages that can be the slowest: first, longest middle, and last.

    Layers that predict further tokens sit on the last stage and need an output layer each.
    """
    extra, embedding, output = model.num_prediction_layers, layers.embedding, layers.output
    ranks = plan.pipeline_parallel
    if ranks == 1:
        return (_first_stage(model, model.num_layers, extra, embedding + output),)
    sizes = plan.stage_layers or cut_layers(model, ranks * plan.virtual_pipeline)
    if model.mix:
        return _mixed_stages(model, sizes, ranks, (embedding, output))
    first, between, last = _stage_layer_counts(sizes, ranks, bool(plan.stage_layers))
    return (
        _first_stage(model, first, 0, embedding),
        _later_stage(model, between, 0, 0.0),
        _later_stage(model, last, extra, output),
    )


def _mixed_stages(
    model: Model, sizes: tuple[Count, ...], ranks: Count, ends: tuple[Seconds, Seconds]
) -> tuple[StageLayers, ...]:
    """Return every stage of a model whose layers differ, `sizes` layers in each piece."""
    starts = [0, *accumulate(sizes)]
    stages = []
    for stage in range(ranks):
        last = stage == ranks - 1
        counts = [
            kinds_in(model, range(starts[piece], starts[piece + 1]))
            for piece in range(stage, len(sizes), ranks)
        ]
        counts.append(kinds_in(model, range(0), model.num_prediction_layers * last))
        layers = tuple(sum(each) for each in zip(*counts, strict=True))
        time = (ends[0] if not stage else 0.0) + (ends[1] if last else 0.0)
        stages.append(StageLayers(layers=layers, ends=time))
    return tuple(stages)


@lru_cache(maxsize=1024)
def _stage_layer_counts(
    sizes: tuple[Count, ...], ranks: Count, by_hand: bool
) -> tuple[Count, Count, Count]:
    """Return the layer counts of the first rank, the longest middle rank, and the last."""
    counts = [sum(sizes[stage::ranks]) for stage in range(ranks)]
    return counts[0], max(counts[1:-1] or counts) if by_hand else max(counts), counts[-1]


def _first_stage(model: Model, layers: Count, extra: Count, ends: Seconds) -> StageLayers:
    """Return a stage at the start of the model, with its dense layers."""
    return StageLayers(layers=kinds_in(model, range(layers), extra), ends=ends)


def _later_stage(model: Model, layers: Count, extra: Count, ends: Seconds) -> StageLayers:
    """Return a stage behind the first dense layers of the model."""
    if not model.num_experts:
        return StageLayers(layers=(layers + extra, 0), ends=ends)
    every = model.dense_layer_every
    dense = layers // every if every else 0
    return StageLayers(layers=(dense, layers - dense + extra), ends=ends)


def _stage_time(stage: StageLayers, kinds: tuple[LayerTime, ...]) -> Seconds:
    layers = sum(n * kind.total for n, kind in zip(stage.layers, kinds, strict=True))
    return layers + stage.ends


def _stage_layer_time(stage: StageLayers, kinds: tuple[LayerTime, ...]) -> LayerTime:
    """Return the times of a whole stage for one micro-batch, the ends with the backward pass."""
    layers = [*zip(stage.layers, kinds, strict=True)]
    return LayerTime(
        forward=sum(n * kind.forward for n, kind in layers),
        backward=sum(n * kind.backward for n, kind in layers) + stage.ends,
        weight_gradient=sum(n * kind.weight_gradient for n, kind in layers),
        repeated=sum(n * kind.repeated for n, kind in layers),
        tensor_parallel=sum(n * kind.tensor_parallel for n, kind in layers),
        context_parallel=sum(n * kind.context_parallel for n, kind in layers),
        expert_parallel=sum(n * kind.expert_parallel for n, kind in layers),
    )


def mean_stage_share(model: Model, plan: Plan, layers: LayerCosts, slowest: Seconds) -> Share:
    """Return the mean time of the other stages relative to the slowest stage.

    While a pipeline fills and drains, the slowest stage waits for the others once: a step takes
    the sum of all stages and the slowest for every further micro-batch (Zheng et al. 2022,
    Alpa, equation 2). Exact for 1F1B where the last stage is the slowest, else at most that.
    """
    ranks = plan.pipeline_parallel
    if ranks == 1 or not slowest:
        return 1.0
    ends = layers.embedding + layers.output
    whole = _first_stage(model, model.num_layers, model.num_prediction_layers, ends)
    others = _stage_time(whole, layers.kinds) - slowest
    return others / ((ranks - 1) * slowest)
