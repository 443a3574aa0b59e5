"""Three communication times of each axis: at line rate, isolated, and exposed."""

from dataclasses import dataclass, replace

from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.formulas.operations import local_tokens
from engine.formulas.send_time import send_time
from engine.run.parallelism import Cluster
from engine.run.run import Run
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.layer.layer_exchange import exchange_time
from engine.simulate.step.axis_loads import AxisLoad, axis_loads
from engine.simulate.step.step_time import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisTimes:
    """Communication times of one parallelism axis.

    Attributes:
        key: of the axis.
        ranks: that share it.
        nodes: that one of its groups spreads over.
        inside: whether it stays inside a node.
        sent: bytes of a GPU per step.
        messages: collectives or messages that it takes part in.
        at_line_rate: time of the bytes at line rate.
        alone: isolated communication time.
        exposed: exposed communication time.
    """

    key: str
    ranks: Count
    nodes: Count
    inside: bool
    sent: Bytes
    messages: Ratio
    at_line_rate: Seconds
    alone: Seconds
    exposed: Seconds


def line_rate_rank(cluster: Cluster, rank: RankRates) -> RankRates:
    """Return the device model of a rank whose links and ports reach their line rate."""
    port = cluster.nic_bandwidth * cluster.nics_per_node / cluster.gpus_per_node
    return replace(rank, scale_up=cluster.gpu.scale_up or cluster.gpu.pcie, port=port)


def ring_line_rate(cluster: Cluster, rank: RankRates, ranks: Count, stride: Count) -> Bandwidth:
    """Return the highest bandwidth of a ring of `ranks` ranks, `stride` apart.

    Inside a node at that of the links. A ring over several nodes crosses the edge of each once,
    over all ports that its ranks of the node have together.
    """
    return rank_group(line_rate_rank(cluster, rank), ranks, stride).bandwidth


def axis_times(run: Run, step: StepTime) -> tuple[AxisTimes, ...]:
    """Return the communication times of each axis with more than one rank, innermost first."""
    rank = rank_rates(run.cluster, run.training)
    ideal = line_rate_rank(run.cluster, rank)
    loads = axis_loads(run, rank, step, step.compute)
    ideal_loads = axis_loads(run, ideal, step, step.compute)
    return tuple(
        AxisTimes(
            key=load.key,
            ranks=load.ranks,
            nodes=_group_nodes(run, rank, load.key),
            inside=load.wire == "NVLink",
            sent=load.sent,
            messages=load.messages,
            at_line_rate=_exchange_line_time(run, ideal, ideal_load)
            if load.key == "expert"
            else ideal_load.sent / ideal_load.bandwidth,
            alone=load.alone,
            exposed=load.exposed,
        )
        for load, ideal_load in zip(loads, ideal_loads, strict=True)
    )


def _exchange_line_time(run: Run, ideal: RankRates, load: AxisLoad) -> Seconds:
    """Return the all-to-all time at line rate; one copy per node crosses the network."""
    plan = run.plan
    group = rank_group(ideal, plan.expert_parallel, plan.expert_tensor_parallel)
    own = local_tokens(plan, run.training) / plan.tensor_parallel
    latency = send_time(0.0, ideal.port, min(2, group.nodes), ideal.network)
    return load.messages * max(0.0, exchange_time(own, run.model, ideal, group) - latency)


def _group_nodes(run: Run, rank: RankRates, key: str) -> Count:
    plan = run.plan
    stage = plan.world_size // plan.pipeline_parallel
    groups = {
        "tensor": (plan.tensor_parallel, 1),
        "context": (plan.context_parallel, plan.tensor_parallel),
        "expert": (plan.expert_parallel, plan.expert_tensor_parallel),
        "data": (stage // plan.tensor_parallel, plan.tensor_parallel),
        "pipeline": (plan.pipeline_parallel, stage),
    }
    return rank_group(rank, *groups[key]).nodes
