"""Step time of one training step and its parts, on the slowest rank."""

from collections.abc import Mapping
from dataclasses import replace

from engine.catalog.constants import COMMON, AchievedShares, CommonConstants
from engine.catalog.models import Model, residual_size
from engine.core.record import record
from engine.core.units import Count, Seconds, Share
from engine.formulas.operations import local_tokens
from engine.formulas.pipeline_idle import dualpipe_idle, one_f_one_b_idle, zb_h1_idle
from engine.formulas.send_time import send_time
from engine.formulas.stragglers import deviations_behind
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.formulas.v_idle import v_idle
from engine.run.parallelism import Cluster, Plan, Training, num_microbatches
from engine.simulate.layer.device_model import (
    Axis,
    RankRates,
    StageHops,
    rank_group,
    rank_rates,
    stage_hops,
)
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.layer_time import LayerTime
from engine.simulate.step.sharding_time import (
    DataParallelExchange,
    RankWeights,
    data_parallel_exchange,
    data_parallel_time,
    optimizer_time,
    rank_weights,
)
from engine.simulate.step.stage_time import LayerCosts, layer_costs, mean_stage_share, slowest_stage

NO_BUBBLE = ("zb-2p", "zbv")


@record
class StepTime:
    """Parts of the step time on the slowest rank; they add up to the step.

    Attributes:
        compute: products, attention, element-wise kernels, output layer, recomputation.
        tensor_parallel: collectives inside layers that nothing hides.
        context_parallel: the ring of keys and values, likewise.
        expert_parallel: the exchange of tokens, likewise.
        pipeline: messages between stages, likewise.
        data_parallel: gathers and reductions of parameters and gradients, likewise.
        bubble: waiting for the first and for the last micro-batch.
        optimizer: its pass over the states, and Newton-Schulz where it is Muon.
        other: the host's share, and waiting for the slowest of all GPUs.
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
        """Step time."""
        layers = self.compute + self.tensor_parallel + self.context_parallel + self.expert_parallel
        around = self.pipeline + self.data_parallel + self.bubble
        return layers + around + self.optimizer + self.other

    @property
    def exposed(self) -> Seconds:
        """Exposed communication of all axes."""
        inside = self.tensor_parallel + self.context_parallel + self.expert_parallel
        return inside + self.pipeline + self.data_parallel


@record
class PipelineCost:
    """Time of a pipeline's micro-batches, independent of sharding over replicas.

    Attributes:
        slowest: times of the slowest stage for one micro-batch.
        microbatches: of a step.
        messages: exposed seconds between stages.
        bubble: seconds of waiting to fill and to drain.
        weights: parameters of a rank.
    """

    slowest: LayerTime
    microbatches: Count
    messages: Seconds
    bubble: Seconds
    weights: RankWeights


@record
class ReplicaCost:
    """Communication and optimizer time of replicas, independent of micro-batches.

    Attributes:
        exchange: of data parallelism.
        optimizer: seconds of its update.
        straggler_share: share of the computation by which the slowest GPU is behind.
    """

    exchange: DataParallelExchange
    optimizer: Seconds
    straggler_share: Share


def step_time(
    model: Model,
    cluster: Cluster,
    plan: Plan,
    training: Training,
    constants: AchievedShares | None = None,
    common: CommonConstants = COMMON,
    placed: Mapping[Axis, Count] | None = None,
) -> StepTime:
    """Return the step time by parts.

    `constants` and `common` replace the tables (for their fit); `placed` says how many GPUs of a
    node belong to the same group, for another order of the ranks than that of `Rank.placed`.
    """
    rank = rank_rates(cluster, training, constants, common)
    if placed:
        rank = replace(rank, placed=placed)
    layers = layer_costs(model, plan, training, rank)
    return step_from_costs(
        model, plan, training, rank, pipeline_cost(model, plan, training, layers)
    )


def pipeline_cost(
    model: Model,
    plan: Plan,
    training: Training,
    layers: LayerCosts,
    cached: tuple[RankWeights, StageHops] | None = None,
) -> PipelineCost:
    """Return the time of a pipeline's micro-batches.

    `cached` are the parameters of a rank and the hops between stages, where they are known already.
    """
    weights, hops = cached or (rank_weights(model, plan), stage_hops(layers.rank, plan))
    slowest = slowest_stage(model, plan, layers)
    microbatches = num_microbatches(plan, training)
    return PipelineCost(
        slowest=slowest,
        microbatches=microbatches,
        messages=_exposed_messages(model, plan, training, (layers.rank, hops), microbatches),
        bubble=_bubble(plan, training, slowest)
        * mean_stage_share(model, plan, layers, slowest.total),
        weights=weights,
    )


def replica_cost(
    model: Model, plan: Plan, training: Training, rank: RankRates, weights: RankWeights
) -> ReplicaCost:
    """Return the communication and optimizer time of a plan's replicas."""
    optimizer = optimizer_time(plan, training, rank, weights)
    if training.optimizer == "muon":  # most pages have no need for it
        from engine.simulate.layer.orthogonal_work import muon_time

        optimizer += muon_time(model, plan, training, rank)
    return ReplicaCost(
        exchange=data_parallel_exchange(plan, training, rank, weights),
        optimizer=optimizer,
        straggler_share=_straggler_share(plan, rank.common),
    )


def pipeline_lower_bound(pipeline: PipelineCost) -> Seconds:
    """Return a lower bound of the step: the pipeline without replicas, optimizer and host."""
    slowest, microbatches = pipeline.slowest, pipeline.microbatches
    computing = microbatches * (slowest.forward + slowest.backward + slowest.repeated)
    exposed = (
        microbatches * slowest.tensor_parallel,
        microbatches * slowest.context_parallel,
        microbatches * slowest.expert_parallel,
    )
    # Added up as a step is, so that rounding cannot make it longer.
    return computing + exposed[0] + exposed[1] + exposed[2] + (pipeline.messages + pipeline.bubble)


def step_from_costs(
    model: Model,
    plan: Plan,
    training: Training,
    rank: RankRates,
    pipeline: PipelineCost,
    replicas: ReplicaCost | None = None,
) -> StepTime:
    """Return the step time from the cost of the pipeline and of its replicas.

    `replicas` is that of the plan, where it is known already.
    """
    replicas = replicas or replica_cost(model, plan, training, rank, pipeline.weights)
    slowest, microbatches = pipeline.slowest, pipeline.microbatches
    compute = microbatches * (slowest.forward + slowest.backward + slowest.repeated)
    return StepTime(
        compute=compute,
        tensor_parallel=microbatches * slowest.tensor_parallel,
        context_parallel=microbatches * slowest.context_parallel,
        expert_parallel=microbatches * slowest.expert_parallel,
        pipeline=pipeline.messages,
        data_parallel=data_parallel_time(
            model,
            plan,
            training,
            rank,
            (pipeline.weights, replicas.exchange),
            slowest.forward,
            _backward_cover(plan, rank, slowest),
        ),
        bubble=pipeline.bubble,
        optimizer=replicas.optimizer,
        other=rank.common.host + compute * replicas.straggler_share,
    )


def _backward_cover(plan: Plan, rank: RankRates, slowest: LayerTime) -> Seconds:
    """Return the backward time that can hide data-parallel communication.

    That is all but an exchange of tokens between nodes: it needs the same ports, so that neither
    can hide the other.
    """
    cover = slowest.total - slowest.forward
    if not slowest.expert_parallel:
        return cover
    exchange = rank_group(rank, plan.expert_parallel, plan.expert_tensor_parallel, "expert")
    return cover if exchange.nodes == 1 else cover - slowest.expert_parallel


def _straggler_share(plan: Plan, common: CommonConstants) -> Share:
    """Return how far the slowest GPU lags the mean, per step or (ZeRO-3) per layer."""
    deviation = common.layer_deviation if plan.zero_stage == 3 else common.deviation
    return deviation * deviations_behind(plan.world_size)


def _bubble(plan: Plan, training: Training, stage: LayerTime) -> Seconds:
    """Return the bubble of the slowest stage while the pipeline fills and drains.

    1F1B and GPipe: (p - 1)(F + B + W), divided by the pieces of an interleaved schedule. ZB-1p
    hides weight gradients in it; ZB-2p and ZBV wait for less than 1 % of the step (Qi et al. 2024),
    V-Half and V-Min as long as their orders play it. Collectives and what is repeated count to the
    backward pass.
    """
    ranks, name = plan.pipeline_parallel, training.schedule
    forward, weight = stage.forward, stage.weight_gradient
    if ranks == 1 or name in NO_BUBBLE:
        return 0.0
    inputs = stage.total - forward - weight
    if name == "zb-1p":
        return max(0.0, zb_h1_idle(ranks, forward, inputs, weight))
    if name == "dualpipe":
        return max(0.0, dualpipe_idle(ranks, stage.total, inputs + weight, weight))
    if name in ("v-half", "v-min"):
        count = num_microbatches(plan, training)
        return max(0.0, v_idle(name, ranks, count, forward, inputs, weight))
    return one_f_one_b_idle(
        ranks, forward, inputs, weight, plan.virtual_pipeline, num_microbatches(plan, training)
    )


def _exposed_messages(
    model: Model,
    plan: Plan,
    training: Training,
    links: tuple[RankRates, StageHops],
    microbatches: Count,
) -> Seconds:
    """Return the exposed messages between stages: forward and backward of every micro-batch.

    Each rank of tensor parallelism sends its part; without sequence parallelism the parts are
    gathered on arrival.
    """
    ranks = plan.pipeline_parallel
    if ranks == 1:
        return 0.0
    rank, hops = links
    tensor = plan.tensor_parallel
    size = HALF * local_tokens(plan, training) * residual_size(model)
    across = send_time(size / tensor, hops.slowest.bandwidth, hops.slowest.nodes, rank.network)
    inside = send_time(size / tensor, rank.scale_up, 1)
    # Few hops over a node's edge cost little more than none: sends run ahead. The mean comes
    # closer to measured steps than the slowest hop does.
    message_time = hops.crossing * across + (1 - hops.crossing) * inside
    if tensor > 1 and not plan.sequence_parallel:
        shared = rank_group(rank, tensor, 1, "tensor")
        message_time += scatter_or_gather_time(
            size, tensor, shared.nodes, shared.bandwidth, rank.network
        )
    fill = 2 * (ranks - 1) * message_time
    pieces = plan.virtual_pipeline
    if pieces > 1:
        return fill + rank.common.exposed_sends * 2 * microbatches * pieces * message_time
    return fill + 2 * microbatches * message_time
