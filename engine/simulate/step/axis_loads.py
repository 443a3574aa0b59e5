"""What every axis of a plan moves in a step, over which wire, and what of it is waited for."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.catalog.models import num_sparse_layers
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.formulas.axes import HALF, least_bandwidth, stage_message
from engine.formulas.operations import local_tokens
from engine.formulas.send_time import send_time
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.formulas.volumes import gradient_passes, parameter_passes, tensor_passes
from engine.run.parallelism import num_microbatches, sharding_ranks
from engine.run.run import Run
from engine.simulate.layer.device_model import Axis, Group, Rank, group_of, stage_hops
from engine.simulate.layer.layer_exchange import all_reduced, exchange_time
from engine.simulate.step.axis_bytes import (
    axis_bytes_sent,
    context_block,
    deferred_stage,
    passes_again,
)
from engine.simulate.step.sharding_time import rank_weights
from engine.simulate.step.step_time import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisLoad:
    """An axis of the plan, by what one GPU sends for it in a step.

    Attributes:
        key: its color.
        label: its name.
        ranks: that share it.
        what: it moves.
        sent: by a GPU of a middle stage.
        messages: collectives or messages that a GPU takes part in.
        needed: bandwidth at which sending takes as long as computing.
        has: bandwidth of its wire, as large messages reach it.
        wire: "NVLink" or "network".
        alone: time of all of it with nothing beside.
        exposed: what of it the step waits for.
    """

    key: str
    label: str
    ranks: Count
    what: str
    sent: Bytes
    messages: Ratio
    needed: Bandwidth
    has: Bandwidth
    wire: str
    alone: Seconds
    exposed: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    """What a kind of communication comes to: messages, seconds alone, its group."""

    messages: Ratio
    alone: Seconds
    group: Group


def axis_loads(run: Run, rank: Rank, step: StepTime, computation: Seconds) -> tuple[AxisLoad, ...]:
    """Return the axes with more than one rank; sequence parallelism stands for its tensor axis."""
    plan = run.plan
    sequence = plan.sequence_parallel and plan.tensor_parallel > 1
    axes: tuple[tuple[Axis, str, Count, str, Callable[[Run, Rank], _Load], Seconds], ...] = (
        (
            "tensor",
            "TP with SP" if sequence else "TP",
            plan.tensor_parallel,
            "gathers and scatters in every layer" if sequence else "all-reduces in every layer",
            _tensor,
            step.tensor_parallel,
        ),
        (
            "context",
            "CP",
            plan.context_parallel,
            "keys and values around a ring",
            _context,
            step.context_parallel,
        ),
        (
            "expert",
            "EP",
            plan.expert_parallel,
            "tokens to their experts and back",
            _expert,
            step.expert_parallel,
        ),
        (
            "pipeline",
            "PP",
            plan.pipeline_parallel,
            "hidden states between stages",
            _pipeline,
            step.pipeline,
        ),
        (
            "data",
            "DP",
            plan.world_size // plan.tensor_parallel // plan.pipeline_parallel,
            "gradients and parameters",
            _data,
            step.data_parallel,
        ),
    )
    sent = axis_bytes_sent(run.model, plan, run.training)
    found = []
    for key, label, ranks, what, count, exposed in axes:
        if ranks == 1:
            continue
        load = count(run, rank)
        found.append(
            AxisLoad(
                key=key,
                label=label,
                ranks=ranks,
                what=what,
                sent=sent[key],
                messages=load.messages,
                needed=least_bandwidth(sent[key], computation),
                has=load.group.bandwidth,
                wire="NVLink" if load.group.nodes == 1 else "network",
                alone=load.alone,
                exposed=exposed,
            )
        )
    return tuple(found)


def _repeats(run: Run) -> tuple[Count, Ratio]:
    """Return the micro-batches of a step and the layers of a stage."""
    layers = run.model.num_layers / run.plan.pipeline_parallel
    return num_microbatches(run.plan, run.training), layers


def _tensor(run: Run, rank: Rank) -> _Load:
    """All-reduces of the hidden state, or each as a reduce-scatter and an all-gather."""
    model, plan, training = run.model, run.plan, run.training
    many, layers = _repeats(run)
    ranks, tokens = plan.tensor_parallel, local_tokens(plan, training)
    group = group_of(rank, ranks, 1, "tensor")
    size = HALF * tokens * model.hidden_size
    times = many * layers
    passes = tensor_passes(
        sequence_parallel=plan.sequence_parallel, recompute=training.recompute == "full"
    )
    if plan.sequence_parallel:
        one, calls = (
            scatter_or_gather_time(size, ranks, group.nodes, group.bandwidth, group.network),
            passes,
        )
    else:
        one = all_reduced(size, group, rank)
        calls = passes // 2
    return _Load(
        messages=times * calls,
        alone=times * calls * one,
        group=group,
    )


def _context(run: Run, rank: Rank) -> _Load:
    """The ring of keys and values: once forward, twice backward."""
    plan = run.plan
    many, layers = _repeats(run)
    block = context_block(run.model, plan, run.training)
    group = group_of(rank, plan.context_parallel, plan.tensor_parallel, "context")
    hop = rank.scale_up if group.nodes == 1 else rank.port
    hops = many * layers * 3 * (plan.context_parallel - 1)
    return _Load(
        messages=hops,
        alone=hops * send_time(block, hop, min(2, group.nodes), rank.network),
        group=Group(ranks=group.ranks, nodes=group.nodes, bandwidth=hop),
    )


def _expert(run: Run, rank: Rank) -> _Load:
    """The exchange of tokens: out and back, forward and backward."""
    model, plan, training = run.model, run.plan, run.training
    many = num_microbatches(plan, training)
    layers = num_sparse_layers(model) / plan.pipeline_parallel
    own = local_tokens(plan, training) / plan.tensor_parallel
    group = group_of(rank, plan.expert_parallel, plan.expert_tensor_parallel, "expert")
    calls = many * layers * 4 * passes_again(run.training)
    hop = rank.scale_up if group.nodes == 1 else rank.port
    return _Load(
        messages=calls,
        alone=calls * exchange_time(own, model, rank, group, training.exchange),
        group=Group(ranks=group.ranks, nodes=group.nodes, bandwidth=hop),
    )


def _pipeline(run: Run, rank: Rank) -> _Load:
    """A hidden state on and a gradient back for every micro-batch and piece, one share each."""
    model, plan, training = run.model, run.plan, run.training
    many = 2 * num_microbatches(plan, training) * plan.virtual_pipeline
    size = stage_message(local_tokens(plan, training), model.hidden_size) / plan.tensor_parallel
    hop = stage_hops(rank, plan).slowest
    return _Load(
        messages=many,
        # The pipeline also fills and drains.
        alone=(many + 2 * (plan.pipeline_parallel - 1))
        * send_time(size, hop.bandwidth, hop.nodes, rank.network),
        group=hop,
    )


def _data(run: Run, rank: Rank) -> _Load:
    """Gradients and parameters, by the stage of ZeRO; one collective for each layer."""
    plan = run.plan
    many, layers = _repeats(run)
    ranks = sharding_ranks(plan)
    held = rank_weights(run.model, plan)
    stage = deferred_stage(plan)
    gradients = rank.software.gradient * (held.common + held.experts)
    parameters = HALF * (held.common + held.experts)
    group = group_of(rank, ranks, plan.tensor_parallel, "data")
    passes = gradient_passes(stage, many), parameter_passes(stage, many)
    ends = (ranks, group.nodes, group.bandwidth, group.network)
    scatter = scatter_or_gather_time(gradients, *ends, "reduce_scatter")
    gather = scatter_or_gather_time(parameters, *ends)
    return _Load(
        messages=layers * sum(passes),
        alone=passes[0] * scatter + passes[1] * gather,
        group=group,
    )
