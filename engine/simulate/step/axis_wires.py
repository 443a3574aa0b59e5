"""Three times of every axis: its bytes at line rate, alone, and what the step waits for."""

from dataclasses import dataclass, replace

from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.formulas.operations import local_tokens
from engine.formulas.send_time import send_time
from engine.run.parallelism import Cluster
from engine.run.run import Run
from engine.simulate.layer.device_model import Rank, group_of, rank_of
from engine.simulate.layer.layer_exchange import exchange_time
from engine.simulate.step.axis_loads import AxisLoad, axis_loads
from engine.simulate.step.step_time import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisWire:
    """An axis of a run.

    Attributes:
        key: of the axis.
        ranks: that share it.
        nodes: that one of its groups spreads over.
        inside: whether it stays inside a node.
        sent: bytes of a GPU per step.
        messages: collectives or messages that it takes part in.
        wire: time of the bytes at line rate.
        alone: time of all of it with nothing beside.
        waits: what of it the step waits for.
    """

    key: str
    ranks: Count
    nodes: Count
    inside: bool
    sent: Bytes
    messages: Ratio
    wire: Seconds
    alone: Seconds
    waits: Seconds


def line_rank(cluster: Cluster, rank: Rank) -> Rank:
    """Return a rank whose links and ports reach their line rate."""
    port = cluster.nic_bandwidth * cluster.nics_per_node / cluster.gpus_per_node
    return replace(rank, scale_up=cluster.gpu.scale_up or cluster.gpu.pcie, port=port)


def line_rate(cluster: Cluster, rank: Rank, ranks: Count, stride: Count) -> Bandwidth:
    """Return at what rate bytes go around a ring of `ranks` ranks, `stride` apart, at most.

    Inside a node at that of the links. A ring over several nodes crosses the edge of each once,
    over all ports that its ranks of the node have together.
    """
    return group_of(line_rank(cluster, rank), ranks, stride).bandwidth


def axis_wires(run: Run, step: StepTime) -> tuple[AxisWire, ...]:
    """Return the axes with more than one rank, the innermost first."""
    rank = rank_of(run.cluster, run.training)
    ideal = line_rank(run.cluster, rank)
    loads = axis_loads(run, rank, step, step.compute)
    lines = axis_loads(run, ideal, step, step.compute)
    return tuple(
        AxisWire(
            key=load.key,
            ranks=load.ranks,
            nodes=_nodes(run, rank, load.key),
            inside=load.wire == "NVLink",
            sent=load.sent,
            messages=load.messages,
            wire=_exchanged(run, ideal, line) if load.key == "expert" else line.sent / line.has,
            alone=load.alone,
            waits=load.exposed,
        )
        for load, line in zip(loads, lines, strict=True)
    )


def _exchanged(run: Run, ideal: Rank, load: AxisLoad) -> Seconds:
    """Return the exchanges of tokens at line rate: one copy per node crosses the network."""
    plan = run.plan
    group = group_of(ideal, plan.expert_parallel, plan.expert_tensor_parallel)
    own = local_tokens(plan, run.training) / plan.tensor_parallel
    latency = send_time(0.0, ideal.port, min(2, group.nodes), ideal.network)
    return load.messages * max(0.0, exchange_time(own, run.model, ideal, group) - latency)


def _nodes(run: Run, rank: Rank, key: str) -> Count:
    plan = run.plan
    stage = plan.world_size // plan.pipeline_parallel
    groups = {
        "tensor": (plan.tensor_parallel, 1),
        "context": (plan.context_parallel, plan.tensor_parallel),
        "expert": (plan.expert_parallel, plan.expert_tensor_parallel),
        "data": (stage // plan.tensor_parallel, plan.tensor_parallel),
        "pipeline": (plan.pipeline_parallel, stage),
    }
    return group_of(rank, *groups[key]).nodes
