"""How long one training step takes, and on what: exposed seconds of the slowest rank."""

from collections.abc import Mapping
from dataclasses import replace

from engine.catalog.constants import COMMON, Achieved, Common
from engine.catalog.models import Model
from engine.core.record import record
from engine.core.units import Count, Ratio, Seconds, Share
from engine.formulas.operations import local_tokens
from engine.formulas.pipeline_idle import dualpipe_idle, one_f_one_b_idle, zb_h1_idle
from engine.formulas.send_time import send_time
from engine.formulas.stragglers import deviations_behind
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.parallelism import Cluster, Plan, Training, num_microbatches
from engine.simulate.layer.device_model import Axis, Hops, Rank, group_of, rank_of, stage_hops
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.layer_time import LayerTime
from engine.simulate.layer.orthogonal_work import orthogonalizing_time
from engine.simulate.step.sharding_time import (
    Exchange,
    Weights,
    data_parallel_time,
    exchange_of,
    optimizer_time,
    rank_weights,
)
from engine.simulate.step.stage_time import Layers, fullness, layers_of, slowest_stage

NO_BUBBLE = ("zb-2p", "zbv")
# Of the bubble of 1F1B, with stages laid in a V (Qi et al. 2024b: p/2m and 2p/3m of the step).
V_BUBBLE: Mapping[str, Ratio] = {"v-half": 1 / 2, "v-min": 2 / 3}


@record
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
        """The step."""
        layers = self.compute + self.tensor_parallel + self.context_parallel + self.expert_parallel
        around = self.pipeline + self.data_parallel + self.bubble
        return layers + around + self.optimizer + self.other

    @property
    def exposed(self) -> Seconds:
        """The communication that the step waits for, of all axes."""
        inside = self.tensor_parallel + self.context_parallel + self.expert_parallel
        return inside + self.pipeline + self.data_parallel


@record
class Flow:
    """What the micro-batches of a pipeline cost, whatever is sharded over its replicas.

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
    weights: Weights


@record
class Shared:
    """What the replicas of a pipeline share, whatever its micro-batches and what they repeat.

    Attributes:
        exchange: of data parallelism.
        optimizer: seconds of its update.
        behind: share of the computation by which the slowest GPU is behind.
    """

    exchange: Exchange
    optimizer: Seconds
    behind: Share


def step_time(
    model: Model,
    cluster: Cluster,
    plan: Plan,
    training: Training,
    constants: Achieved | None = None,
    common: Common = COMMON,
    placed: Mapping[Axis, Count] | None = None,
) -> StepTime:
    """Return the time of one step.

    `constants` and `common` replace the tables (for their fit); `placed` says how many GPUs of a
    node belong to the same group, for another order of the ranks than that of `Rank.placed`.
    """
    rank = rank_of(cluster, training, constants, common)
    if placed:
        rank = replace(rank, placed=placed)
    layers = layers_of(model, plan, training, rank)
    return step_of_flow(model, plan, training, rank, flow_of(model, plan, training, layers))


def flow_of(
    model: Model,
    plan: Plan,
    training: Training,
    layers: Layers,
    known: tuple[Weights, Hops] | None = None,
) -> Flow:
    """Return what the micro-batches of a pipeline cost.

    `known` are the parameters of a rank and the hops between stages, where they are known already.
    """
    weights, hops = known or (rank_weights(model, plan), stage_hops(layers.rank, plan))
    slowest = slowest_stage(model, plan, layers)
    microbatches = num_microbatches(plan, training)
    return Flow(
        slowest=slowest,
        microbatches=microbatches,
        messages=_messages(model, plan, training, (layers.rank, hops), microbatches),
        bubble=_bubble(plan, training, slowest) * fullness(model, plan, layers, slowest.total),
        weights=weights,
    )


def shared_of(model: Model, plan: Plan, training: Training, rank: Rank, weights: Weights) -> Shared:
    """Return what the replicas of a pipeline share."""
    return Shared(
        exchange=exchange_of(plan, training, rank, weights),
        optimizer=optimizer_time(plan, training, rank, weights)
        + orthogonalizing_time(model, plan, training, rank),
        behind=_behind(plan, rank.common),
    )


def shortest_of_flow(flow: Flow) -> Seconds:
    """Return a bound: the micro-batches of a pipeline, without replicas, optimizer and host."""
    one, many = flow.slowest, flow.microbatches
    computing = many * (one.forward + one.backward + one.repeated)
    exposed = many * one.tensor_parallel, many * one.context_parallel, many * one.expert_parallel
    # Added up as a step is, so that rounding cannot make it longer.
    return computing + exposed[0] + exposed[1] + exposed[2] + (flow.messages + flow.bubble)


def step_of_flow(
    model: Model,
    plan: Plan,
    training: Training,
    rank: Rank,
    flow: Flow,
    shared: Shared | None = None,
) -> StepTime:
    """Return the step of a pipeline with what its replicas share and the optimizer.

    `shared` is that of the plan, where it is known already.
    """
    shared = shared or shared_of(model, plan, training, rank, flow.weights)
    slowest, microbatches = flow.slowest, flow.microbatches
    compute = microbatches * (slowest.forward + slowest.backward + slowest.repeated)
    return StepTime(
        compute=compute,
        tensor_parallel=microbatches * slowest.tensor_parallel,
        context_parallel=microbatches * slowest.context_parallel,
        expert_parallel=microbatches * slowest.expert_parallel,
        pipeline=flow.messages,
        data_parallel=data_parallel_time(
            model,
            plan,
            training,
            rank,
            (flow.weights, shared.exchange),
            slowest.forward,
            _backward_cover(plan, rank, slowest),
        ),
        bubble=flow.bubble,
        optimizer=shared.optimizer,
        other=rank.common.host + compute * shared.behind,
    )


def _backward_cover(plan: Plan, rank: Rank, slowest: LayerTime) -> Seconds:
    """Return what gathers and reductions of data parallelism may hide behind, backward.

    That is all but an exchange of tokens between nodes: it needs the same ports, so that neither
    can hide the other.
    """
    cover = slowest.total - slowest.forward
    if not slowest.expert_parallel:
        return cover
    exchange = group_of(rank, plan.expert_parallel, plan.expert_tensor_parallel, "expert")
    return cover if exchange.nodes == 1 else cover - slowest.expert_parallel


def _behind(plan: Plan, common: Common) -> Share:
    """Return how far the slowest of all GPUs is behind their mean, once per step or per layer."""
    each = common.layer_deviation if plan.zero_stage == 3 else common.deviation
    return each * deviations_behind(plan.world_size)


def _bubble(plan: Plan, training: Training, stage: LayerTime) -> Seconds:
    """Return how long the slowest stage waits while the pipeline fills and drains.

    1F1B and GPipe: (p - 1)(F + B + W), divided by the pieces of an interleaved schedule. ZB-1p
    hides weight gradients in it; ZB-2p and ZBV wait for less than 1 % of the step (Qi et al. 2024),
    the V-shaped schedules that hold less for a part of 1F1B's wait. Collectives and what is
    repeated count to the backward pass.
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
    waits = one_f_one_b_idle(
        ranks, forward, inputs, weight, plan.virtual_pipeline, num_microbatches(plan, training)
    )
    return waits * V_BUBBLE.get(name, 1.0)


def _messages(
    model: Model, plan: Plan, training: Training, over: tuple[Rank, Hops], microbatches: Count
) -> Seconds:
    """Return the exposed messages between stages: forward and backward of every micro-batch.

    Each rank of tensor parallelism sends its part; without sequence parallelism the parts are
    gathered on arrival.
    """
    ranks = plan.pipeline_parallel
    if ranks == 1:
        return 0.0
    rank, hops = over
    tensor = plan.tensor_parallel
    size = HALF * local_tokens(plan, training) * model.hidden_size
    across = send_time(size / tensor, hops.slowest.bandwidth, hops.slowest.nodes, rank.network)
    inside = send_time(size / tensor, rank.scale_up, 1)
    # Few hops over a node's edge cost little more than none: sends run ahead. The mean comes
    # closer to measured steps than the slowest hop does.
    one = hops.crossing * across + (1 - hops.crossing) * inside
    if tensor > 1 and not plan.sequence_parallel:
        shared = group_of(rank, tensor, 1, "tensor")
        one += scatter_or_gather_time(size, tensor, shared.nodes, shared.bandwidth, rank.network)
    fill = 2 * (ranks - 1) * one
    pieces = plan.virtual_pipeline
    if pieces > 1:
        return fill + rank.common.exposed_sends * 2 * microbatches * pieces * one
    return fill + 2 * microbatches * one
