"""Step time of data parallelism and the optimizer: gathers, reductions, the update."""

from dataclasses import replace
from functools import lru_cache
from math import ceil

from engine.catalog.models import Model, head_size, sum_over_layers
from engine.core.record import record
from engine.core.units import Bytes, Count, Parameters, Seconds
from engine.formulas.parameters import kind_parameters
from engine.formulas.states import NF4
from engine.run.parallelism import (
    Plan,
    Training,
    expert_data_parallel,
    expert_sharding_ranks,
    num_microbatches,
    sharding_ranks,
)
from engine.run.software import Software, gradient_bytes
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import Axis, RankRates, rank_group
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.step.exposed_exchange import ShardedUnits, bucketed_wait, sharded_time

# Bytes of a moment of the optimizer.
MOMENT: Bytes = 4.0


@record
class RankWeights:
    """Parameters of a rank.

    Attributes:
        common: outside the experts.
        experts: of its experts.
        layers: that they are in, of the fullest stage.
        matrices: that they are, of the fullest stage; those of all experts of a layer are one.
        embedding: of the embedding, one tensor, whose gradient is the last to be there.
        layer: of each matrix of a dense layer, in the order in which gradients are ready; empty:
            taken as larger than a bucket.
    """

    common: Parameters
    experts: Parameters
    layers: Count = 1
    matrices: Count = 1
    embedding: Parameters = 0.0
    layer: tuple[Parameters, ...] = ()

    @property
    def total(self) -> Parameters:
        """All parameters of the rank."""
        return self.common + self.experts


def rank_weights(model: Model, plan: Plan) -> RankWeights:
    """Return the parameters of the fullest rank, taken as the mean stage and an embedding."""
    stages, tensor = plan.pipeline_parallel, plan.tensor_parallel
    common = sum_over_layers(model, lambda kind: kind_parameters(kind).matrices)
    experts = sum_over_layers(model, lambda kind: kind_parameters(kind).experts)
    ends = 1 if stages > 1 or model.tied_embeddings else 2
    embedding = model.vocab_size * model.hidden_size
    layers = ceil(model.num_layers / stages)
    return RankWeights(
        common=(common / stages + ends * embedding) / tensor,
        experts=experts / stages / plan.expert_parallel / plan.expert_tensor_parallel,
        layers=layers,
        matrices=layers * _matrices_of_layer(model) + ends,
        embedding=embedding / tensor,
        layer=tuple(size / tensor for size in _dense_matrices(model)),
    )


def _dense_matrices(model: Model) -> tuple[Parameters, ...]:
    """Return the parameters of each matrix of a dense layer, the last that is used first."""
    if model.num_experts or model.mix or model.attention != "mha":
        return ()
    hidden = float(model.hidden_size)
    query = model.num_attention_heads * head_size(model) * hidden
    shared = model.num_key_value_heads * head_size(model) * hidden
    mlp = (hidden * model.ffn_hidden_size,) * (3 if model.mlp == "swiglu" else 2)
    return (*mlp, query, shared, shared, query)


def _matrices_of_layer(model: Model) -> Count:
    """Return the matrices of a layer, with those of all its experts counted once.

    Four of attention (six with latents of queries and keys, five with those of keys alone), and
    three of a gated MLP, two of another; beside experts a router, and an MLP that all tokens share.
    """
    if model.mix:
        matrices = sum_over_layers(model, lambda kind: _matrices_of_layer(kind[0]))
        return round(matrices / model.num_layers)
    attention = 4
    if model.attention == "mla":
        attention = 6 if model.query_latent_size else 5
    if model.mixer:
        attention = attention * model.mixer.attends + len(model.mixer.matrices(model))
    mlp = 3 if model.mlp == "swiglu" else 2
    if not model.num_experts:
        return attention + (mlp if model.ffn_hidden_size else 0)
    return attention + 1 + mlp * (2 if model.num_shared_experts else 1)


@record
class DataParallelExchange:
    """Isolated communication of data parallelism, before any overlap.

    Attributes:
        gather: seconds, of all parameters of a rank.
        scatter: seconds to reduce-scatter its gradients over the shards; without shards, to
            all-reduce them.
        copies: seconds to all-reduce the shards over replicas, on the wires between them.
        gradient: bytes of one on the wire.
        units: collectives that each of these is made of; of buckets, those beside the embedding's.
        last_gather, last_reduce: seconds of the gather and of the reductions that are the
            embedding's alone, where buckets end with it.
    """

    gather: Seconds
    scatter: Seconds
    copies: Seconds
    gradient: Bytes
    units: Count
    last_gather: Seconds = 0.0
    last_reduce: Seconds = 0.0

    @property
    def reduce(self) -> Seconds:
        """The scatter and the all-reduce of the copies, one after the other."""
        return self.scatter + self.copies


def data_parallel_exchange(
    plan: Plan, training: Training, rank: RankRates, weights: RankWeights
) -> DataParallelExchange:
    """Return the isolated communication of data parallelism per step."""
    gradient = gradient_bytes(training, rank.software)
    units = collective_units(plan, training, rank, weights)
    body, last = weights, RankWeights(common=0.0, experts=0.0)
    if plan.zero_stage < 3 and training.overlap_gradient_reduce:
        # The gradient of the embedding is there last, in a bucket of its own.
        body = replace(weights, common=weights.common - weights.embedding)
        last = replace(last, common=weights.embedding)
    whole = plan.zero_stage == 0 or (plan.zero_stage < 3 and rank.software.reduces_whole)
    operation = "all_reduce" if whole else "reduce_scatter"
    scatters, copies, gathers = (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)
    if not training.lora_rank:  # of frozen weights there are no gradients
        scatters = (
            _sharded_collective_time(plan, rank, body, gradient, operation, units),
            _sharded_collective_time(plan, rank, last, gradient, operation, 1),
        )
        copies = (
            _replica_all_reduce_time(plan, rank, body, gradient, units),
            _replica_all_reduce_time(plan, rank, last, gradient, 1),
        )
    # Parameters that are whole on each GPU stay, and so do frozen ones.
    if plan.zero_stage == 3 or (plan.zero_stage and not training.lora_rank):
        kept = NF4 if training.nf4_weights else HALF
        gathers = (
            _sharded_collective_time(plan, rank, body, kept, "all_gather", units),
            _sharded_collective_time(plan, rank, last, HALF, "all_gather", 1),
        )
    return DataParallelExchange(
        gather=sum(gathers),
        scatter=sum(scatters),
        copies=sum(copies),
        gradient=0.0 if training.lora_rank else gradient,
        units=units,
        last_gather=gathers[1],
        last_reduce=scatters[1] + copies[1],
    )


def data_parallel_time(
    model: Model,
    plan: Plan,
    training: Training,
    rank: RankRates,
    weights_and_exchange: tuple[RankWeights, DataParallelExchange],
    forward: Seconds,
    backward: Seconds,
) -> Seconds:
    """Return the exposed communication of data parallelism of one step.

    `weights_and_exchange` are the parameters of a rank and their exchange. `forward` and `backward`
    are what it may hide behind in one micro-batch: the computation, with what is repeated, and,
    backward, the layers' own exposed collectives on other links.
    """
    if plan.data_parallel * plan.context_parallel == 1:
        return 0.0
    weights, exchange = weights_and_exchange
    microbatches = num_microbatches(plan, training)
    if plan.zero_stage == 3:
        return _fully_sharded_wait(plan, rank, weights, exchange, (microbatches, forward, backward))
    reduce, gather, buckets = exchange.reduce, exchange.gather, exchange.units
    # Stage 2 keeps no whole gradient, so that each micro-batch scatters its own; in a pipeline,
    # PyTorch scatters behind the last one alone (`last_backward` of pipelining/stage.py).
    scattering = microbatches if plan.zero_stage == 2 and plan.pipeline_parallel == 1 else 1
    if not training.overlap_gradient_reduce:
        return scattering * reduce + gather
    passes = lengthened_pass(rank, weights, (exchange.gradient, backward))
    waits = scattering * (
        passes - backward + bucketed_wait(reduce, buckets, passes, exchange.last_reduce)
    )
    if not gather or rank.software.gathers_after_step:
        return waits + gather
    passes = lengthened_pass(rank, weights, (HALF, forward))
    return waits + passes - forward + bucketed_wait(gather, buckets, passes, exchange.last_gather)


def lengthened_pass(rank: RankRates, weights: RankWeights, sent: tuple[Bytes, Seconds]) -> Seconds:
    """Return how long a pass takes beside collectives of so many bytes for each parameter.

    What the channels take of the computation depends on the bytes, not on how long a slow network
    takes for them. `sent` are these bytes, and the pass alone.
    """
    element, alone = sent
    moved = element * weights.total
    return alone + rank.common.taken * min(moved / rank.scale_up, alone)


def _fully_sharded_wait(
    plan: Plan,
    rank: RankRates,
    weights: RankWeights,
    exchange: DataParallelExchange,
    passes: tuple[Count, Seconds, Seconds],
) -> Seconds:
    """Return the exposed communication of a step with sharded parameters.

    `passes` are the micro-batches, and what each computes forward and backward.
    """
    microbatches, forward, backward = passes
    computing = microbatches * (forward + backward)
    if rank.software.sharded_ports:
        serial = _serial_collective_time(plan, rank, weights, exchange)
        return max(0.0, microbatches * serial - rank.common.fetch_ahead * computing)
    units = sharded_units(plan, rank, weights, exchange, (forward, backward))
    return sharded_time(units, microbatches) - computing


def sharded_units(
    plan: Plan,
    rank: RankRates,
    weights: RankWeights,
    exchange: DataParallelExchange,
    passes: tuple[Seconds, Seconds],
) -> ShardedUnits:
    """Return the passes and collectives of one micro-batch, unit by unit.

    `passes` are those forward and backward, alone. Where shards are divided inside a node, copies
    are summed on wires of their own; else on the same ports as gathers and scatters.
    """
    units, (forward, backward) = exchange.units, passes
    inside = rank_group(rank, sharding_ranks(plan), plan.tensor_parallel, "data").nodes == 1
    return ShardedUnits(
        count=units,
        forward=lengthened_pass(rank, weights, (HALF, forward)) / units,
        backward=lengthened_pass(rank, weights, (HALF + exchange.gradient, backward)) / units,
        gather=exchange.gather / units,
        scatter=(exchange.scatter if inside else exchange.reduce) / units,
        copy=exchange.copies / units if inside else 0.0,
    )


def collective_units(
    plan: Plan, training: Training, rank: RankRates, weights: RankWeights
) -> Count:
    """Return in how many collectives the parameters of a rank are gathered and reduced.

    Where all is sharded, one for each layer and one for embedding and output layer, and so in
    FSDP where gradients are; else one for each bucket; one for all where nothing runs beside the
    backward pass.

    Source: `fully_shard` of PyTorch, one group per call, whatever `reshard_after_forward`;
    Megatron-LM's distributed_data_parallel.py (bucket_size: None without overlap_grad_reduce, else
    40 million parameters or one million for each rank); DeepSpeed's reduce_bucket_size.
    """
    software = rank.software
    if plan.zero_stage == 3 and not software.sharded_ports:
        return weights.layers + 1
    if not training.overlap_gradient_reduce:
        return 1
    if software.bucket_bytes:
        return weights.layers + 1 if plan.zero_stage == 2 else _ddp_buckets(training, rank, weights)
    bucket = max(software.bucket, software.bucket_per_rank * sharding_ranks(plan))
    return max(1, ceil(weights.total / bucket))


def _ddp_buckets(training: Training, rank: RankRates, weights: RankWeights) -> Count:
    """Return the buckets of PyTorch's DDP.

    A tensor is not cut: the one that reaches the limit closes its bucket, so that there are no
    more buckets than matrices, and fewer where small ones share a bucket.

    Source: `compute_bucket_assignment_by_size` of PyTorch's reducer.cpp.
    """
    software = rank.software
    element = gradient_bytes(training, software)
    if weights.layer:
        output = weights.matrices - weights.layers * len(weights.layer) > 1
        sizes = tuple(element * size for size in weights.layer)
        first = (element * weights.embedding,) if output else ()
        return _packed(first, sizes, weights.layers, software)
    left = element * weights.total - software.first_bucket_bytes
    return max(1, min(weights.matrices, 1 + ceil(left / software.bucket_bytes)))


@lru_cache(maxsize=256)
def _packed(
    before: tuple[Bytes, ...], layer: tuple[Bytes, ...], layers: Count, software: Software
) -> Count:
    """Return the buckets of layers with gradients of these sizes, the open one at the end left.

    It goes with the embedding.
    """
    closed, size, limit = 0, 0.0, software.first_bucket_bytes
    for tensor in (*before, *layer * layers):
        size += tensor
        if size >= limit:
            closed, size, limit = closed + 1, 0.0, software.bucket_bytes
    return max(1, closed)


def _sharded_collective_time(
    plan: Plan,
    rank: RankRates,
    weights: RankWeights,
    element_bytes: Bytes,
    collective: str,
    units: Count,
) -> Seconds:
    """Return the time of a collective of all parameters of a rank, unit by unit."""
    ranks, stride = sharding_ranks(plan), plan.tensor_parallel
    common = units * _collective_time(
        rank, "data", element_bytes * weights.common / units, ranks, stride, collective
    )
    if not weights.experts:
        return common
    ranks, stride = expert_sharding_ranks(plan), plan.expert_parallel * plan.expert_tensor_parallel
    return common + units * _collective_time(
        rank, "expert_data", element_bytes * weights.experts / units, ranks, stride, collective
    )


def _replica_all_reduce_time(
    plan: Plan, rank: RankRates, weights: RankWeights, element_bytes: Bytes, units: Count
) -> Seconds:
    """Return the time to all-reduce shards over the replicas of hybrid sharding."""
    shards = sharding_ranks(plan)
    copies = plan.data_parallel * plan.context_parallel // shards
    time = units * _all_reduce_time(
        rank,
        "copies",
        element_bytes * weights.common / shards / units,
        copies,
        plan.tensor_parallel * shards,
    )
    if not weights.experts:
        return time
    shards = expert_sharding_ranks(plan)
    copies = expert_data_parallel(plan) // shards
    stride = plan.expert_parallel * plan.expert_tensor_parallel * shards
    size = element_bytes * weights.experts / shards / units
    return time + units * _all_reduce_time(rank, "expert_copies", size, copies, stride)


def _all_reduce_time(
    rank: RankRates, axis: Axis, size: Bytes, copies: Count, stride: Count
) -> Seconds:
    if copies <= 1 or not size:
        return 0.0
    return nccl_collective_time(rank, rank_group(rank, copies, stride, axis), size)


def _collective_time(
    rank: RankRates, axis: Axis, size: Bytes, ranks: Count, stride: Count, collective: str
) -> Seconds:
    """Return the time of a collective over ranks that are `stride` apart."""
    if ranks <= 1 or not size:
        return 0.0
    return nccl_collective_time(rank, rank_group(rank, ranks, stride, axis), size, collective)


def _serial_collective_time(
    plan: Plan, rank: RankRates, weights: RankWeights, exchange: DataParallelExchange
) -> Seconds:
    """Return the time of two gathers and a scatter over few ports of each node."""
    ranks = sharding_ranks(plan)
    if rank_group(rank, ranks, plan.tensor_parallel, "data").nodes == 1:
        return 2 * exchange.gather + exchange.reduce
    ports = rank.software.sharded_ports * rank.port
    return (2 * HALF + exchange.gradient) * weights.total * (ranks - 1) / ranks / ports


def optimizer_time(
    plan: Plan, training: Training, rank: RankRates, weights: RankWeights
) -> Seconds:
    """Return the optimizer's pass over the states of a rank, and the cast of its gradients."""
    if training.lora_rank:
        return 0.0
    sharded = plan.zero_stage > 0
    parameters = weights.common / (sharding_ranks(plan) if sharded else 1)
    parameters += weights.experts / (expert_sharding_ranks(plan) if sharded else 1)
    software = rank.software
    bytes_per_parameter = software.optimizer if training.compiled else software.optimizer_unfused
    if training.optimizer != "adam":  # one moment less, read and written
        bytes_per_parameter -= 2 * MOMENT
    # Sharded parameters have sharded gradients; others are read once more in full.
    whole = 0.0 if plan.zero_stage == 3 else weights.total
    return (parameters * bytes_per_parameter + whole * 2 * HALF) / rank.memory
