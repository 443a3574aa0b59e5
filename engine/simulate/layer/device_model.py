"""What one rank can do: the rates of its GPU under its software, and the groups it talks to."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from engine.catalog.accelerators import Gpu
from engine.catalog.constants import COMMON, Achieved, Common
from engine.catalog.reader_constants import reached as reached_of
from engine.catalog.transports import INFINIBAND, NVLINK_NETWORK, TRANSPORTS, Transport
from engine.core.record import record
from engine.core.units import Bandwidth, Count, FlopRate, Ratio, Seconds, Share
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.software import SOFTWARE, Software

# The groups that a rank belongs to. Of the states of data parallelism: those outside the experts
# and those of the experts, each over the ranks that share one copy, and over the copies.
Axis = Literal[
    "tensor", "context", "pipeline", "expert", "data", "copies", "expert_data", "expert_copies"
]

# FlashAttention-2 uses the matrix instructions of Ampere; on Hopper and later they reach about
# 0.6 of what the newer ones do (Shah et al. 2024: 350 against 600 TFLOP/s and more on an H100).
OLD_INSTRUCTIONS: Share = 0.6
# Links that join more GPUs than a node holds join the trays of a rack.
_IN_A_NODE: Count = 8


@record
class Rank:
    """Rates of one rank.

    Attributes:
        matmul: of large products in 16 bits.
        linear: of large products of linear layers, in fp8 if the run uses it.
        attention_forward: of a fused attention.
        attention_backward: likewise.
        fill: of a tile of a product.
        sms: multiprocessors.
        memory: streaming bandwidth.
        scale_up: bus bandwidth inside the node.
        port: of the network ports, per GPU.
        network: how messages travel between nodes.
        domain: GPUs that the scale-up links join.
        switch_adds: the scale-up switch can add.
        software: the family.
        quantized: linear layers convert their operands to fp8.
        launches: of the host, for a layer with experts, forward.
        busiest: tokens of the busiest rank of experts over their mean.
        common: constants of all types of GPU.
        placed: GPUs of one node that belong to the same group, by axis. What is not there follows
            from the order tensor, context, data, pipeline, the innermost first.
    """

    matmul: FlopRate
    linear: FlopRate
    attention_forward: FlopRate
    attention_backward: FlopRate
    fill: Seconds
    sms: Count
    memory: Bandwidth
    scale_up: Bandwidth
    port: Bandwidth
    network: Transport
    domain: Count
    switch_adds: bool
    software: Software
    quantized: bool
    launches: Seconds
    busiest: Ratio
    common: Common
    placed: Mapping[Axis, Count] = field(default_factory=dict)


def rank_of(
    cluster: Cluster,
    training: Training,
    constants: Achieved | None = None,
    common: Common = COMMON,
) -> Rank:
    """Return the rates of a rank; `constants` and `common` replace the tables (for their fit).

    What was measured on the cluster itself replaces the catalog's constants here, and nowhere else.
    """
    gpu = cluster.gpu
    reached = constants or reached_of(gpu, cluster.own)
    software = SOFTWARE[training.framework]
    network = TRANSPORTS[cluster.transport]
    peak = gpu.peak.get("fp16") or gpu.peak["bf16"]
    quantized = training.precision in ("fp8", "fp4") and "fp8" in gpu.peak
    attention = peak * _attention_share(gpu, software, training, common)
    rank = Rank(
        matmul=peak * reached.matmul,
        linear=_linear_rate(gpu, training, reached, common),
        attention_forward=attention * reached.attention_forward,
        attention_backward=attention * reached.attention_backward,
        fill=reached.fill,
        sms=gpu.sms,
        memory=gpu.memory_bandwidth * reached.memory,
        scale_up=(gpu.scale_up or gpu.pcie) * reached.scale_up,
        port=cluster.nics_per_node
        * cluster.nic_bandwidth
        / cluster.gpus_per_node
        * reached.network
        * network.share,
        network=network,
        domain=max(cluster.gpus_per_node, _scale_up_domain(gpu)),
        switch_adds=gpu.switch_adds,
        software=software,
        quantized=quantized,
        launches=common.grace_launches if gpu.host_link != "PCIe" else common.expert_launches,
        busiest=1.0 if training.even_routing else common.busiest,
        common=common,
    )
    return rank if constants else _paced(rank, _pace(cluster, training))


def _pace(cluster: Cluster, training: Training) -> Ratio:
    own = cluster.own
    if own is None or not own.of(cluster.gpu):
        return 1.0
    return own.of_job(training.precision, training.framework)


def _paced(rank: Rank, pace: Ratio) -> Rank:
    """Return a rank that takes `pace` times as long for all that it does."""
    if pace == 1:
        return rank
    return replace(
        rank,
        matmul=rank.matmul / pace,
        linear=rank.linear / pace,
        attention_forward=rank.attention_forward / pace,
        attention_backward=rank.attention_backward / pace,
        fill=rank.fill * pace,
        memory=rank.memory / pace,
        scale_up=rank.scale_up / pace,
        port=rank.port / pace,
        launches=rank.launches * pace,
    )


def _linear_rate(gpu: Gpu, training: Training, reached: Achieved, common: Common) -> FlopRate:
    """Return the rate of large products of linear layers, in the precision of the run."""
    if training.precision == "fp4" and "fp4" in gpu.peak:
        return gpu.peak["fp4"] * common.matmul_fp4
    if training.precision in ("fp8", "fp4") and "fp8" in gpu.peak:
        return gpu.peak["fp8"] * reached.matmul_fp8
    return (gpu.peak.get("fp16") or gpu.peak["bf16"]) * reached.matmul


def _attention_share(gpu: Gpu, software: Software, training: Training, common: Common) -> Share:
    share = common.first_attention if training.first_flash_attention else 1.0
    newer = "fp8" in gpu.peak
    return share * OLD_INSTRUCTIONS if newer and not software.current_attention else share


def _scale_up_domain(gpu: Gpu) -> Count:
    """Return the GPUs of an NVL72 rack that jobs use together, whatever a node is taken to be."""
    return 64 if gpu.name.endswith("NVL72") else 1


@record
class Group:
    """Ranks that communicate.

    Attributes:
        ranks: in the group.
        nodes: that they spread over.
        bandwidth: bus bandwidth of large messages: of the links inside one node, or of the
            group's share of the ports of a node.
        network: how messages travel between the nodes, or between the trays of a rack.
    """

    ranks: Count
    nodes: Count
    bandwidth: Bandwidth
    network: Transport = INFINIBAND


def links_of(rank: Rank) -> Transport:
    """Return how messages travel where no port is met: a rack has longer steps than a node."""
    return NVLINK_NETWORK if rank.domain > _IN_A_NODE else INFINIBAND


def group_of(rank: Rank, ranks: Count, stride: Count, axis: Axis | None = None) -> Group:
    """Return the group of `ranks` ranks, `stride` apart unless those of its axis are `placed`."""
    placed = rank.placed.get(axis, 0) if axis and rank.placed else 0
    per_node = placed or min(ranks, rank.domain // stride) or 1
    nodes = -(-ranks // per_node)
    if nodes == 1:
        return Group(ranks=ranks, nodes=1, bandwidth=rank.scale_up, network=links_of(rank))
    bandwidth = min(rank.scale_up, per_node * rank.port)
    return Group(ranks=ranks, nodes=nodes, bandwidth=bandwidth, network=rank.network)


@record
class Hops:
    """The hops between neighboring stages of a pipeline.

    Attributes:
        slowest: over a node's edge, if any hop leads there.
        crossing: share of the hops that do.
    """

    slowest: Group
    crossing: Share


def stage_hops(rank: Rank, plan: Plan) -> Hops:
    """Return the hops between neighboring stages, the ranks in their usual order or as placed."""
    stages = plan.pipeline_parallel
    if "pipeline" in rank.placed:
        crossing = float(rank.placed["pipeline"] == 1)
    else:
        per_node = group_of(rank, stages, plan.world_size // stages)
        crossing = (per_node.nodes - 1) / max(1, stages - 1)
    if not crossing:
        inside = Group(ranks=2, nodes=1, bandwidth=rank.scale_up)
        return Hops(slowest=inside, crossing=0.0)
    across = Group(ranks=2, nodes=2, bandwidth=rank.port, network=rank.network)
    return Hops(slowest=across, crossing=crossing)
