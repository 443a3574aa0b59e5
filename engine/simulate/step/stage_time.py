"""What layers cost for one micro-batch, and the stages of a pipeline that they make up."""

from functools import lru_cache

from engine.catalog.models import Model, num_sparse_in
from engine.core.record import record
from engine.core.units import Count, Seconds, Share
from engine.run.parallelism import Plan, Training
from engine.run.stage_cut import cut_layers
from engine.simulate.layer.device_model import Rank
from engine.simulate.layer.layer_time import LayerTime, embedding_time, layer_time, output_time


@record
class Stage:
    """The layers of one pipeline rank, and the ends of the model if it holds them.

    Attributes:
        dense: layers without experts.
        sparse: layers with experts.
        ends: seconds of embedding and output layer for one micro-batch.
    """

    dense: Count
    sparse: Count
    ends: Seconds


@record
class Layers:
    """What layers cost for one micro-batch, whatever the pipeline and the sharding around them.

    Plans that agree in tensor, context and expert parallelism, in the micro-batch and in all that
    `Training` says of kernels have these in common.

    Attributes:
        rank: what one rank can do.
        dense: of a layer without experts.
        sparse: of a layer with experts; of one kind only, both are that one.
        embedding: seconds of looking tokens up.
        output: seconds of the output layer and the loss, one for each further token predicted.
    """

    rank: Rank
    dense: LayerTime
    sparse: LayerTime
    embedding: Seconds
    output: Seconds


def layers_of(model: Model, plan: Plan, training: Training, rank: Rank) -> Layers:
    """Return what layers cost for one micro-batch."""
    dense, sparse = _layer_times(model, plan, training, rank)
    return Layers(
        rank=rank,
        dense=dense,
        sparse=sparse,
        embedding=embedding_time(model, plan, training, rank),
        output=(1 + model.num_prediction_layers) * output_time(model, plan, training, rank),
    )


def _layer_times(
    model: Model, plan: Plan, training: Training, rank: Rank
) -> tuple[LayerTime, LayerTime]:
    """Return the times of a dense and of a sparse layer; of one kind only, that one twice."""
    if not model.num_experts:
        dense = layer_time(model, plan, training, rank, sparse=False)
        return dense, dense
    sparse = layer_time(model, plan, training, rank, sparse=True)
    if not model.num_dense_layers and not model.dense_layer_every:
        return sparse, sparse
    return layer_time(model, plan, training, rank, sparse=False), sparse


def slowest_stage(model: Model, plan: Plan, layers: Layers) -> LayerTime:
    """Return the times of the slowest stage for one micro-batch."""
    dense, sparse = layers.dense, layers.sparse
    stage = max(_stages(model, plan, layers), key=lambda one: _stage_time(one, dense, sparse))
    return _stage_layers(stage, dense, sparse)


def _stages(model: Model, plan: Plan, layers: Layers) -> tuple[Stage, ...]:
    """Return the stages that can be the slowest: the first, the longest between, and the last.

    Layers that predict further tokens sit on the last stage and need an output layer each.
    """
    extra, embedding, output = model.num_prediction_layers, layers.embedding, layers.output
    ranks = plan.pipeline_parallel
    if ranks == 1:
        return (_split(model, model.num_layers, extra, embedding + output),)
    sizes = plan.stage_layers or cut_layers(model, ranks * plan.virtual_pipeline)
    first, between, last = _counts(sizes, ranks, bool(plan.stage_layers))
    return (
        _split(model, first, 0, embedding),
        _further(model, between, 0, 0.0),
        _further(model, last, extra, output),
    )


@lru_cache(maxsize=1024)
def _counts(sizes: tuple[Count, ...], ranks: Count, by_hand: bool) -> tuple[Count, Count, Count]:
    """Return the layers of the first rank, the most of those between, and those of the last."""
    counts = [sum(sizes[stage::ranks]) for stage in range(ranks)]
    return counts[0], max(counts[1:-1] or counts) if by_hand else max(counts), counts[-1]


def _split(model: Model, layers: Count, extra: Count, ends: Seconds) -> Stage:
    """Return a stage that starts the model, with its dense layers."""
    sparse = num_sparse_in(model, range(layers))
    if not model.num_experts:
        return Stage(dense=layers + extra, sparse=0, ends=ends)
    return Stage(dense=layers - sparse, sparse=sparse + extra, ends=ends)


def _further(model: Model, layers: Count, extra: Count, ends: Seconds) -> Stage:
    """Return a stage behind the first dense layers of the model."""
    if not model.num_experts:
        return Stage(dense=layers + extra, sparse=0, ends=ends)
    every = model.dense_layer_every
    dense = layers // every if every else 0
    return Stage(dense=dense, sparse=layers - dense + extra, ends=ends)


def _stage_time(stage: Stage, dense: LayerTime, sparse: LayerTime) -> Seconds:
    return stage.dense * dense.total + stage.sparse * sparse.total + stage.ends


def _stage_layers(stage: Stage, dense: LayerTime, sparse: LayerTime) -> LayerTime:
    """Return the times of a whole stage for one micro-batch, the ends with the backward pass."""
    n, m = stage.dense, stage.sparse
    return LayerTime(
        forward=n * dense.forward + m * sparse.forward,
        backward=n * dense.backward + m * sparse.backward + stage.ends,
        weight_gradient=n * dense.weight_gradient + m * sparse.weight_gradient,
        repeated=n * dense.repeated + m * sparse.repeated,
        tensor_parallel=n * dense.tensor_parallel + m * sparse.tensor_parallel,
        context_parallel=n * dense.context_parallel + m * sparse.context_parallel,
        expert_parallel=n * dense.expert_parallel + m * sparse.expert_parallel,
    )


def fullness(model: Model, plan: Plan, layers: Layers, slowest: Seconds) -> Share:
    """Return how long the other stages take in the mean, as a share of the slowest one.

    While a pipeline fills and drains, the slowest stage waits for the others once: a step takes
    the sum of all stages and the slowest for every further micro-batch (Zheng et al. 2022,
    Alpa, equation 2). Exact for 1F1B where the last stage is the slowest, else at most that.
    """
    ranks = plan.pipeline_parallel
    if ranks == 1 or not slowest:
        return 1.0
    ends = layers.embedding + layers.output
    whole = _split(model, model.num_layers, model.num_prediction_layers, ends)
    others = _stage_time(whole, layers.dense, layers.sparse) - slowest
    return others / ((ranks - 1) * slowest)
