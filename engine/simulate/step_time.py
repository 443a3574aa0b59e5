"""How long one training step takes, and on what: exposed seconds of the slowest rank."""

from dataclasses import dataclass

from engine.constants import Achieved
from engine.formulas.operations import output_gemm
from engine.formulas.parameters import dense_layer_parameters, sparse_layer_parameters
from engine.formulas.transfer_time import scatter_or_gather_time, send_time
from engine.models import Model
from engine.parallelism import (
    Cluster,
    Plan,
    Training,
    chunk_sizes,
    data_parallel,
    expert_data_parallel,
    num_microbatches,
    sharding_ranks,
)
from engine.simulate.layer_time import (
    HALF,
    LayerTime,
    embedding_time,
    layer_time,
    output_time,
    tokens_of,
)
from engine.simulate.rank import Rank, group_of, rank_of
from engine.units import MILLI, Count, Parameters, Ratio, Seconds, Share

# Of the messages between pieces of an interleaved pipeline so much is not hidden.
EXPOSED_SENDS: Share = 0.25
# Channels of a collective hold multiprocessors while it runs beside products, which slows them by
# this share of its time: 24 of 108 to 132 inside a node, 8 where the network sets the pace.
TAKEN_INSIDE: Share = 0.20
TAKEN_ACROSS: Share = 0.07
# Reading the batch, the loss on the host, logging: what every step costs beside.
HOST: Seconds = 2 * MILLI


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Seconds of one step of the slowest rank; all together they are the step.

    Attributes:
        compute: products, attention, element-wise kernels, output layer, recomputation.
        tensor_parallel: collectives inside layers that nothing hides.
        context_parallel: the ring of keys and values, likewise.
        expert_parallel: the exchange of tokens, likewise.
        pipeline: messages between stages, likewise.
        data_parallel: gathers and reductions of parameters and gradients, likewise.
        bubble: waiting for the first and for the last micro-batch.
        optimizer: its pass over the states.
        other: the host's share.
    """

    compute: Seconds
    tensor_parallel: Seconds
    context_parallel: Seconds
    expert_parallel: Seconds
    pipeline: Seconds
    data_parallel: Seconds
    bubble: Seconds
    optimizer: Seconds
    other: Seconds

    @property
    def total(self) -> Seconds:
        """The step."""
        layers = self.compute + self.tensor_parallel + self.context_parallel + self.expert_parallel
        around = self.pipeline + self.data_parallel + self.bubble
        return layers + around + self.optimizer + self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """One micro-batch on one stage: all its layers, and the ends of the model if it has them."""

    forward: Seconds
    backward: Seconds
    weight_gradient: Seconds
    repeated: Seconds
    tensor_parallel: Seconds
    context_parallel: Seconds
    expert_parallel: Seconds

    @property
    def compute(self) -> Seconds:
        return self.forward + self.backward + self.repeated

    @property
    def total(self) -> Seconds:
        exposed = self.tensor_parallel + self.context_parallel + self.expert_parallel
        return self.compute + exposed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weights:
    """Parameters of the fullest rank: those outside the experts, and those of its experts."""

    common: Parameters
    experts: Parameters


def step_time(
    model: Model,
    cluster: Cluster,
    plan: Plan,
    training: Training,
    constants: Achieved | None = None,
) -> StepTime:
    """Return the time of one step; `constants` replaces those of the table (for their fit)."""
    rank = rank_of(cluster, training, constants)
    stages = _stages(model, plan, training, rank)
    slowest = max(stages, key=lambda stage: stage.total)
    microbatches = num_microbatches(plan, training)
    weights = _weights(model, plan)
    return StepTime(
        compute=microbatches * slowest.compute,
        tensor_parallel=microbatches * slowest.tensor_parallel,
        context_parallel=microbatches * slowest.context_parallel,
        expert_parallel=microbatches * slowest.expert_parallel,
        pipeline=_messages(model, plan, training, rank, microbatches),
        data_parallel=_data_parallel(model, plan, training, rank, slowest, weights),
        bubble=_bubble(plan, training, slowest),
        optimizer=_optimizer(plan, training, rank, weights, bool(model.num_experts)),
        other=HOST,
    )


def _stages(model: Model, plan: Plan, training: Training, rank: Rank) -> tuple[_Stage, ...]:
    """Return the stages that can be the slowest: the first, the last, and the longest between."""
    dense = sparse = None
    if not model.num_experts or model.num_dense_layers:
        dense = layer_time(model, plan, training, rank, sparse=False)
    if model.num_experts:
        sparse = layer_time(model, plan, training, rank, sparse=True)
    tokens = tokens_of(plan, training)
    output = output_time(model, plan, training, rank, output_gemm(model, plan, training))
    embedding = embedding_time(model, plan, rank, tokens)
    if plan.pipeline_parallel == 1:
        counts = _split(model, model.num_layers + model.num_prediction_layers, first=True)
        ends = embedding + output * (1 + model.num_prediction_layers)
        return (_stage(dense, sparse, counts, ends),)
    layers = _layers_of_ranks(model, plan)
    last = layers[-1] + model.num_prediction_layers
    return (
        _stage(dense, sparse, _split(model, layers[0], first=True), embedding),
        _stage(dense, sparse, _split(model, max(layers), first=False), 0.0),
        _stage(
            dense,
            sparse,
            _split(model, last, first=False),
            output * (1 + model.num_prediction_layers),
        ),
    )


def _layers_of_ranks(model: Model, plan: Plan) -> list[Count]:
    ranks = plan.pipeline_parallel
    sizes = chunk_sizes(model.num_layers, ranks * plan.virtual_pipeline)
    return [sum(sizes[stage::ranks]) for stage in range(ranks)]


def _split(model: Model, layers: Count, *, first: bool) -> tuple[Count, Count]:
    """Return how many of the layers of a stage are dense and how many have experts."""
    if not model.num_experts:
        return layers, 0
    dense = min(layers, model.num_dense_layers) if first else 0
    return dense, layers - dense


def _stage(
    dense: LayerTime | None, sparse: LayerTime | None, counts: tuple[Count, Count], ends: Seconds
) -> _Stage:
    parts = [(n, layer) for n, layer in zip(counts, (dense, sparse), strict=True) if n and layer]
    return _Stage(
        forward=sum(n * layer.forward for n, layer in parts),
        backward=ends + sum(n * layer.backward for n, layer in parts),
        weight_gradient=sum(n * layer.weight_gradient for n, layer in parts),
        repeated=sum(n * layer.repeated for n, layer in parts),
        tensor_parallel=sum(n * layer.tensor_parallel for n, layer in parts),
        context_parallel=sum(n * layer.context_parallel for n, layer in parts),
        expert_parallel=sum(n * layer.expert_parallel for n, layer in parts),
    )


def _bubble(plan: Plan, training: Training, stage: _Stage) -> Seconds:
    """Return how long the slowest stage waits while the pipeline fills and drains.

    1F1B: (p - 1)(F + B + W), divided by the pieces of an interleaved schedule. Zero bubble
    (Qi et al. 2024): ZB-1p waits for (p - 1)(F + B - W), where B is the input gradient with what
    is repeated and W the weight gradient; ZB-2p and the V-shaped schedules wait for less than
    1 % of the step.
    """
    waits = plan.pipeline_parallel - 1
    if training.schedule == "zb-1p":
        return waits * max(0.0, stage.total - 2 * stage.weight_gradient)
    if training.schedule in ("zb-2p", "zbv", "dualpipe"):
        return 0.0
    return waits * stage.total / plan.virtual_pipeline


def _messages(
    model: Model, plan: Plan, training: Training, rank: Rank, microbatches: Count
) -> Seconds:
    """Return the exposed messages between stages: forward and backward of every micro-batch.

    Each rank of tensor parallelism sends its part; without sequence parallelism the parts are
    gathered on arrival.
    """
    ranks = plan.pipeline_parallel
    if ranks == 1:
        return 0.0
    tokens, tensor = tokens_of(plan, training), plan.tensor_parallel
    size = HALF * tokens * model.hidden_size
    pairs = group_of(rank, 2, plan.world_size // ranks)
    bandwidth = rank.scale_up if pairs.nodes == 1 else rank.port
    one = send_time(size / tensor, bandwidth, pairs.nodes)
    if tensor > 1 and not plan.sequence_parallel:
        inside = group_of(rank, tensor, 1)
        one += scatter_or_gather_time(size, tensor, inside.nodes, inside.bandwidth)
    fill = 2 * (ranks - 1) * one
    pieces = plan.virtual_pipeline
    if pieces > 1:
        return fill + EXPOSED_SENDS * 2 * microbatches * pieces * one
    return fill + 2 * microbatches * one


def _weights(model: Model, plan: Plan) -> _Weights:
    """Return the parameters of the fullest rank, taken as the mean stage plus an embedding."""
    stages, tensor = plan.pipeline_parallel, plan.tensor_parallel
    sparse = model.num_layers - model.num_dense_layers if model.num_experts else 0
    common = experts = 0.0
    if dense := model.num_layers - sparse:
        common += dense * dense_layer_parameters(model).matrices
    if sparse:
        one = sparse_layer_parameters(model)
        common += sparse * one.matrices
        experts = sparse * one.experts
    ends = 1 if stages > 1 or model.tied_embeddings else 2
    embedding = ends * model.vocab_size * model.hidden_size
    return _Weights(
        common=(common / stages + embedding) / tensor,
        experts=experts / stages / plan.expert_parallel / plan.expert_tensor_parallel,
    )


def _collectives(plan: Plan, rank: Rank, weights: _Weights, bytes_each: float) -> Seconds:
    """Return the time of a gather (or a scatter) of all sharded parameters of a rank."""
    tensor = plan.tensor_parallel
    ranks = sharding_ranks(plan)
    group = group_of(rank, ranks, tensor)
    common = scatter_or_gather_time(
        bytes_each * weights.common, ranks, group.nodes, group.bandwidth
    )
    if not weights.experts:
        return common
    same = expert_data_parallel(plan)
    experts = group_of(rank, same, plan.expert_parallel * plan.expert_tensor_parallel)
    return common + scatter_or_gather_time(
        bytes_each * weights.experts, same, experts.nodes, experts.bandwidth
    )


def _replicas(plan: Plan, rank: Rank, weights: _Weights, bytes_each: float) -> Seconds:
    """Return the all-reduce of the shards over the groups that each hold a full copy."""
    shards = sharding_ranks(plan)
    copies = data_parallel(plan) * plan.context_parallel // shards
    if copies <= 1:
        return 0.0
    group = group_of(rank, copies, plan.tensor_parallel * shards)
    size = bytes_each * weights.common / shards
    return 2 * scatter_or_gather_time(size, copies, group.nodes, group.bandwidth)


def _data_parallel(
    model: Model, plan: Plan, training: Training, rank: Rank, stage: _Stage, weights: _Weights
) -> Seconds:
    """Return the exposed communication of data parallelism of one step."""
    if data_parallel(plan) * plan.context_parallel == 1:
        return 0.0
    gradient = rank.software.gradient
    reduce = _collectives(plan, rank, weights, gradient)
    replicas = _replicas(plan, rank, weights, gradient)
    gather = _collectives(plan, rank, weights, HALF)
    layers = max(1.0, model.num_layers / plan.pipeline_parallel)
    if plan.zero_stage == 3:
        microbatches = num_microbatches(plan, training)
        if rank.software.sharded_ports:
            return _serial_gathers(plan, rank, stage, weights, gather + reduce, microbatches)
        inside = group_of(rank, sharding_ranks(plan), plan.tensor_parallel).nodes == 1
        taken = TAKEN_INSIDE if inside else TAKEN_ACROSS
        return _sharded(stage, gather, reduce + replicas, layers, microbatches, taken)
    if not plan.zero_stage:
        reduce, gather = 2 * reduce, 0.0
    reduce += replicas
    backward = stage.backward + stage.repeated
    exposed = reduce
    if training.overlap_gradient_reduce:
        # The reduction of the last layer has nothing left to hide behind.
        exposed = max(reduce / layers, reduce - backward)
    if rank.software.gathers_after_step or not training.overlap_gradient_reduce:
        return exposed + gather
    return exposed + max(gather / layers, gather - stage.forward)


def _sharded(
    stage: _Stage,
    gather: Seconds,
    reduce: Seconds,
    layers: Ratio,
    microbatches: Count,
    taken: Share,
) -> Seconds:
    """Return what FSDP exposes: every micro-batch gathers twice and reduces once.

    One layer is gathered ahead of its use; the first gathers and the last reduction have nothing
    to hide behind.
    """
    forward = _beside(gather, stage.forward, taken)
    backward = _beside(gather + reduce, stage.backward + stage.repeated, taken)
    return microbatches * (forward + backward + (2 * gather + reduce) / layers)


def _beside(communication: Seconds, computation: Seconds, taken: Share) -> Seconds:
    """Return what communication beside computation adds: its excess, and the slow-down."""
    return max(0.0, communication - computation) + taken * min(communication, computation)


def _serial_gathers(
    plan: Plan, rank: Rank, stage: _Stage, weights: _Weights, inside: Seconds, microbatches: Count
) -> Seconds:
    """Return what the ZeRO-3 of DeepSpeed exposes, whose gathers use few ports of a node.

    Parameters are gathered twice and gradients scattered once, all in 16 bits; half of the
    computation hides them (one parameter is fetched ahead).
    """
    ranks = sharding_ranks(plan)
    one = 3 * inside / 2
    if group_of(rank, ranks, plan.tensor_parallel).nodes > 1:
        ports = rank.software.sharded_ports * rank.port
        one = 3 * HALF * (weights.common + weights.experts) * (ranks - 1) / ranks / ports
    return microbatches * max(0.0, one - stage.compute / 2)


def _optimizer(
    plan: Plan, training: Training, rank: Rank, weights: _Weights, experts: bool
) -> Seconds:
    """Return the optimizer's pass over the states of a rank, and the cast of its gradients."""
    shards = sharding_ranks(plan) if plan.zero_stage else 1
    own = weights.common / shards
    if experts:
        own += weights.experts / (min(shards, expert_data_parallel(plan)) if shards > 1 else 1)
    software = rank.software
    each = software.optimizer if training.compiled else software.optimizer_unfused
    whole = 0.0 if plan.zero_stage == 3 else weights.common + weights.experts
    return (own * each + whole * 2 * HALF) / rank.memory
