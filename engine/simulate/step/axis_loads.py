"""Communication of each parallelism axis in a step: bytes, link, isolated and exposed time."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.catalog.models import num_sparse_layers, residual_size
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.formulas.axes import HALF, least_bandwidth, stage_message
from engine.formulas.operations import local_tokens
from engine.formulas.send_time import send_time
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.formulas.volumes import gradient_passes, parameter_passes, tensor_passes
from engine.run.parallelism import num_microbatches, sharding_ranks
from engine.run.run import Run
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import Axis, RankGroup, RankRates, rank_group, stage_hops
from engine.simulate.layer.layer_exchange import exchange_time
from engine.simulate.step.axis_bytes import (
    axis_bytes_sent,
    context_block_bytes,
    recompute_factor,
    traffic_zero_stage,
)
from engine.simulate.step.sharding_time import data_parallel_exchange, rank_weights
from engine.simulate.step.step_time import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisLoad:
    """Communication of one parallelism axis, for one GPU and one step.

    Attributes:
        key: its color.
        label: its name.
        ranks: that share it.
        description: description of the traffic.
        sent: by a GPU of a middle stage.
        messages: collectives or messages that a GPU takes part in.
        required_bandwidth: bandwidth at which communication takes as long as computation.
        bandwidth: bandwidth of its link, as large messages reach it.
        wire: "NVLink" or "network".
        alone: isolated communication time.
        exposed: exposed communication time.
    """

    key: str
    label: str
    ranks: Count
    description: str
    sent: Bytes
    messages: Ratio
    required_bandwidth: Bandwidth
    bandwidth: Bandwidth
    wire: str
    alone: Seconds
    exposed: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Communication:
    """Number of messages, isolated time and process group of one axis."""

    messages: Ratio
    alone: Seconds
    group: RankGroup


def axis_loads(
    run: Run, rank: RankRates, step: StepTime, computation: Seconds
) -> tuple[AxisLoad, ...]:
    """Return the communication of each axis with more than one rank.

    Sequence parallelism counts to its tensor axis.
    """
    plan = run.plan
    sequence = plan.sequence_parallel and plan.tensor_parallel > 1
    axes: tuple[
        tuple[Axis, str, Count, str, Callable[[Run, RankRates], _Communication], Seconds], ...
    ] = (
        (
            "tensor",
            "TP with SP" if sequence else "TP",
            plan.tensor_parallel,
            "gathers and scatters in every layer" if sequence else "all-reduces in every layer",
            _tensor_communication,
            step.tensor_parallel,
        ),
        (
            "context",
            "CP",
            plan.context_parallel,
            "keys and values around a ring",
            _context_communication,
            step.context_parallel,
        ),
        (
            "expert",
            "EP",
            plan.expert_parallel,
            "tokens to their experts and back",
            _expert_communication,
            step.expert_parallel,
        ),
        (
            "pipeline",
            "PP",
            plan.pipeline_parallel,
            "hidden states between stages",
            _pipeline_communication,
            step.pipeline,
        ),
        (
            "data",
            "DP",
            plan.world_size // plan.tensor_parallel // plan.pipeline_parallel,
            "gradients and parameters",
            _data_communication,
            step.data_parallel,
        ),
    )
    sent = axis_bytes_sent(run.model, plan, run.training)
    loads = []
    for key, label, ranks, description, communication_of, exposed in axes:
        if ranks == 1:
            continue
        load = communication_of(run, rank)
        loads.append(
            AxisLoad(
                key=key,
                label=label,
                ranks=ranks,
                description=description,
                sent=sent[key],
                messages=load.messages,
                required_bandwidth=least_bandwidth(sent[key], computation),
                bandwidth=load.group.bandwidth,
                wire="NVLink" if load.group.nodes == 1 else "network",
                alone=load.alone,
                exposed=exposed,
            )
        )
    return tuple(loads)


def _microbatches_and_layers(run: Run) -> tuple[Count, Ratio]:
    """Return the micro-batches of a step and the layers of a stage."""
    layers = run.model.num_layers / run.plan.pipeline_parallel
    return num_microbatches(run.plan, run.training), layers


def _tensor_communication(run: Run, rank: RankRates) -> _Communication:
    """Return the all-reduces of the hidden state, or reduce-scatters and all-gathers."""
    model, plan, training = run.model, run.plan, run.training
    microbatches, layers = _microbatches_and_layers(run)
    ranks, tokens = plan.tensor_parallel, local_tokens(plan, training)
    group = rank_group(rank, ranks, 1, "tensor")
    size = HALF * tokens * model.hidden_size
    rounds = microbatches * layers
    passes = tensor_passes(
        sequence_parallel=plan.sequence_parallel, recompute=training.recompute == "full"
    )
    if plan.sequence_parallel:
        call_time, calls = (
            scatter_or_gather_time(size, ranks, group.nodes, group.bandwidth, group.network),
            passes,
        )
    else:
        call_time = nccl_collective_time(rank, group, size)
        calls = passes // 2
    return _Communication(
        messages=rounds * calls,
        alone=rounds * calls * call_time,
        group=group,
    )


def _context_communication(run: Run, rank: RankRates) -> _Communication:
    """Return the ring exchange of keys and values: once forward, twice backward."""
    plan = run.plan
    microbatches, layers = _microbatches_and_layers(run)
    block = context_block_bytes(run.model, plan, run.training)
    group = rank_group(rank, plan.context_parallel, plan.tensor_parallel, "context")
    hop = rank.scale_up if group.nodes == 1 else rank.port
    hops = microbatches * layers * 3 * (plan.context_parallel - 1)
    return _Communication(
        messages=hops,
        alone=hops * send_time(block, hop, min(2, group.nodes), rank.network),
        group=RankGroup(ranks=group.ranks, nodes=group.nodes, bandwidth=hop),
    )


def _expert_communication(run: Run, rank: RankRates) -> _Communication:
    """Return the all-to-alls of tokens: dispatch and combine, forward and backward."""
    model, plan, training = run.model, run.plan, run.training
    microbatches = num_microbatches(plan, training)
    layers = num_sparse_layers(model) / plan.pipeline_parallel
    own = local_tokens(plan, training) / plan.tensor_parallel
    group = rank_group(rank, plan.expert_parallel, plan.expert_tensor_parallel, "expert")
    calls = microbatches * layers * 4 * recompute_factor(run.training)
    hop = rank.scale_up if group.nodes == 1 else rank.port
    return _Communication(
        messages=calls,
        alone=calls * exchange_time(own, model, rank, group, training.exchange),
        group=RankGroup(ranks=group.ranks, nodes=group.nodes, bandwidth=hop),
    )


def _pipeline_communication(run: Run, rank: RankRates) -> _Communication:
    """Return the sends of hidden states and gradients between pipeline stages."""
    model, plan, training = run.model, run.plan, run.training
    messages = 2 * num_microbatches(plan, training) * plan.virtual_pipeline
    size = stage_message(local_tokens(plan, training), residual_size(model)) / plan.tensor_parallel
    hop = stage_hops(rank, plan).slowest
    return _Communication(
        messages=messages,
        # The pipeline also fills and drains.
        alone=(messages + 2 * (plan.pipeline_parallel - 1))
        * send_time(size, hop.bandwidth, hop.nodes, rank.network),
        group=hop,
    )


def _data_communication(run: Run, rank: RankRates) -> _Communication:
    """Return the collectives of gradients and parameters, as the step model times them."""
    plan, training = run.plan, run.training
    microbatches, _ = _microbatches_and_layers(run)
    weights = rank_weights(run.model, plan)
    exchange = data_parallel_exchange(plan, training, rank, weights)
    stage = traffic_zero_stage(plan)
    # An all-reduce is one call that goes around the ring twice.
    passes = (
        gradient_passes(stage, microbatches) if stage else 1,
        parameter_passes(stage, microbatches),
    )
    return _Communication(
        messages=exchange.units * sum(passes),
        alone=passes[0] * exchange.reduce + passes[1] * exchange.gather,
        group=rank_group(rank, sharding_ranks(plan), plan.tensor_parallel, "data"),
    )
