"""What data parallelism and the optimizer add to a step: gathers, reductions, the update."""

from engine.catalog.models import Model, num_sparse_layers
from engine.core.record import record
from engine.core.units import Bytes, Count, Parameters, Ratio, Seconds
from engine.formulas.parameters import dense_layer_parameters, sparse_layer_parameters
from engine.formulas.transfer_time import (
    Half,
    scatter_and_gather_time,
    scatter_or_gather_time,
)
from engine.run.parallelism import (
    Plan,
    Training,
    expert_data_parallel,
    expert_sharding_ranks,
    halves_gradients,
    num_microbatches,
    sharding_ranks,
)
from engine.simulate.layer.device_model import Axis, Rank, group_of
from engine.simulate.layer.layer_exchange import HALF

# Bytes of a moment of the optimizer.
MOMENT: Bytes = 4.0


@record
class Weights:
    """Parameters of a rank: those outside the experts, and those of its experts."""

    common: Parameters
    experts: Parameters


def rank_weights(model: Model, plan: Plan) -> Weights:
    """Return the parameters of the fullest rank, taken as the mean stage and an embedding."""
    stages, tensor = plan.pipeline_parallel, plan.tensor_parallel
    sparse = num_sparse_layers(model)
    common = experts = 0.0
    if dense := model.num_layers - sparse:
        common = dense * dense_layer_parameters(model).matrices
    if sparse:
        one = sparse_layer_parameters(model)
        common += sparse * one.matrices
        experts = sparse * one.experts
    ends = 1 if stages > 1 or model.tied_embeddings else 2
    embedding = ends * model.vocab_size * model.hidden_size
    return Weights(
        common=(common / stages + embedding) / tensor,
        experts=experts / stages / plan.expert_parallel / plan.expert_tensor_parallel,
    )


@record
class Exchange:
    """What data parallelism sends, alone on the wire, whatever it may hide behind.

    Attributes:
        gather: seconds, of all parameters of a rank.
        reduce: seconds, of its gradients.
        gradient: bytes of one on the wire.
    """

    gather: Seconds
    reduce: Seconds
    gradient: Bytes


def exchange_of(plan: Plan, training: Training, rank: Rank, weights: Weights) -> Exchange:
    """Return what data parallelism sends; the same for all micro-batches and recomputations."""
    gradient = HALF if halves_gradients(training) else rank.software.gradient
    reduce = _sharded(plan, rank, weights, gradient, "reduce_scatter")
    reduce += _replicas(plan, rank, weights, gradient)
    if training.lora_rank:  # of frozen weights there are no gradients
        gradient = reduce = 0.0
    gather = _sharded(plan, rank, weights, HALF, "all_gather")
    return Exchange(gather=gather, reduce=reduce, gradient=gradient)


def data_parallel_time(
    model: Model,
    plan: Plan,
    training: Training,
    rank: Rank,
    sent: tuple[Weights, Exchange],
    forward: Seconds,
    backward: Seconds,
) -> Seconds:
    """Return the exposed communication of data parallelism of one step.

    `sent` are the parameters of a rank and their exchange. `forward` and `backward` are what it may
    hide behind in one micro-batch: the computation, with what is repeated, and, backward, the
    layers' own exposed collectives on other links.
    """
    if plan.data_parallel * plan.context_parallel == 1:
        return 0.0
    weights, exchange = sent
    reduce, gather = exchange.reduce, exchange.gather
    layers = max(1.0, model.num_layers / plan.pipeline_parallel)
    if plan.zero_stage == 3:
        return num_microbatches(plan, training) * _fully_sharded(
            plan, rank, weights, (gather, reduce, layers, exchange.gradient), forward + backward
        )
    if not plan.zero_stage:
        reduce, gather = reduce + gather * exchange.gradient / HALF, 0.0
    if not training.overlap_gradient_reduce:
        return reduce + gather
    if rank.software.gathers_after_step:
        return _beside(reduce, backward, layers) + gather
    return _beside(reduce + gather, forward + backward, layers)


def _beside(communication: Seconds, computation: Seconds, layers: Ratio) -> Seconds:
    """Return what communication beside computation adds.

    Its excess, and at least the part of one layer, which has nothing to hide behind: the last
    gradients, the first parameters.
    """
    return max(communication / layers, communication - computation)


def _fully_sharded(
    plan: Plan,
    rank: Rank,
    weights: Weights,
    times: tuple[Seconds, Seconds, Ratio, Bytes],
    computation: Seconds,
) -> Seconds:
    """Return what each micro-batch waits for where parameters are sharded.

    They are gathered forward and again backward, and gradients scattered; `times` is that of a
    gather, of a reduction, the number of layers, and the bytes of a gradient.
    """
    gather, reduce, layers, gradient = times
    if rank.software.sharded_ports:
        one = _serial_gathers(plan, rank, weights, gather + reduce)
        return max(0.0, one - rank.common.fetch_ahead * computation)
    # What the channels take depends on the bytes, not on how long a slow network takes for them.
    moved = (2 * HALF + gradient) * (weights.common + weights.experts)
    slowed = rank.common.taken * min(moved / rank.scale_up, computation)
    return slowed + _beside(2 * gather + reduce, computation, layers)


def _sharded(plan: Plan, rank: Rank, weights: Weights, each: Bytes, what: Half) -> Seconds:
    """Return the time of a gather (or a scatter) of all parameters of a rank, over their shards."""
    ranks, stride = sharding_ranks(plan), plan.tensor_parallel
    common = _round(rank, "data", each * weights.common, ranks, stride, what)
    if not weights.experts:
        return common
    ranks, stride = expert_sharding_ranks(plan), plan.expert_parallel * plan.expert_tensor_parallel
    return common + _round(rank, "expert_data", each * weights.experts, ranks, stride, what)


def _replicas(plan: Plan, rank: Rank, weights: Weights, each: Bytes) -> Seconds:
    """Return the all-reduce of the shards over the groups that each hold a full copy."""
    shards = sharding_ranks(plan)
    copies = plan.data_parallel * plan.context_parallel // shards
    time = _all_reduce(
        rank, "copies", each * weights.common / shards, copies, plan.tensor_parallel * shards
    )
    if not weights.experts:
        return time
    shards = expert_sharding_ranks(plan)
    copies = expert_data_parallel(plan) // shards
    stride = plan.expert_parallel * plan.expert_tensor_parallel * shards
    return time + _all_reduce(
        rank, "expert_copies", each * weights.experts / shards, copies, stride
    )


def _all_reduce(rank: Rank, axis: Axis, size: Bytes, copies: Count, stride: Count) -> Seconds:
    if copies <= 1:
        return 0.0
    group = group_of(rank, copies, stride, axis)
    return scatter_and_gather_time(size, copies, group.nodes, group.bandwidth, group.network)


def _round(rank: Rank, axis: Axis, size: Bytes, ranks: Count, stride: Count, what: Half) -> Seconds:
    """Return the time of a gather or a scatter over ranks that are `stride` apart."""
    if ranks <= 1:
        return 0.0
    group = group_of(rank, ranks, stride, axis)
    return scatter_or_gather_time(size, ranks, group.nodes, group.bandwidth, group.network, what)


def _serial_gathers(plan: Plan, rank: Rank, weights: Weights, inside: Seconds) -> Seconds:
    """Return the time of two gathers and a scatter in 16 bits over few ports of each node."""
    ranks = sharding_ranks(plan)
    if group_of(rank, ranks, plan.tensor_parallel, "data").nodes == 1:
        return inside
    ports = rank.software.sharded_ports * rank.port
    return 3 * HALF * (weights.common + weights.experts) * (ranks - 1) / ranks / ports


def optimizer_time(plan: Plan, training: Training, rank: Rank, weights: Weights) -> Seconds:
    """Return the optimizer's pass over the states of a rank, and the cast of its gradients."""
    if training.lora_rank:
        return 0.0
    sharded = plan.zero_stage > 0
    own = weights.common / (sharding_ranks(plan) if sharded else 1)
    own += weights.experts / (expert_sharding_ranks(plan) if sharded else 1)
    software = rank.software
    each = software.optimizer if training.compiled else software.optimizer_unfused
    if training.optimizer != "adam":  # one moment less, read and written
        each -= 2 * MOMENT
    # Sharded parameters have sharded gradients; others are read once more in full.
    whole = 0.0 if plan.zero_stage == 3 else weights.common + weights.experts
    return (own * each + whole * 2 * HALF) / rank.memory
