"""Rates of one rank: its GPU under its software, and its communication groups."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from engine.catalog.accelerators import Gpu
from engine.catalog.constants import COMMON, AchievedShares, CommonConstants, switch_share
from engine.catalog.reader_constants import gpu_constants as reached_of
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
class RankRates:
    """Compute, memory and network rates of one rank.

    Attributes:
        matmul: rate of large products in 16 bits.
        linear: rate of large products of linear layers, in fp8 if the run uses it.
        attention_forward: forward rate of a fused attention.
        attention_backward: backward rate of a fused attention.
        fill: pipeline fill time of a tile of a product.
        sms: multiprocessors.
        memory: streaming bandwidth.
        scale_up: bus bandwidth inside the node.
        port: bandwidth of the network ports, per GPU.
        network: transport between nodes.
        domain: GPUs that the scale-up links join.
        switch: share of `scale_up` that sums in the switch reach; 0: it cannot add.
        software: family of the software.
        quantized: whether linear layers convert their operands to fp8.
        launches: launch time of the host for a layer with experts, forward.
        dense_launches: likewise, for a layer without; 0: nothing waits for it.
        busiest: tokens of the busiest expert rank over the mean.
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
    switch: Share
    software: Software
    quantized: bool
    launches: Seconds
    dense_launches: Seconds
    busiest: Ratio
    common: CommonConstants
    placed: Mapping[Axis, Count] = field(default_factory=dict)


def rank_rates(
    cluster: Cluster,
    training: Training,
    constants: AchievedShares | None = None,
    common: CommonConstants = COMMON,
) -> RankRates:
    """Return the rates of a rank; `constants` and `common` replace the tables (for their fit).

    What was measured on the cluster itself replaces the catalog's constants here, and nowhere else.
    """
    gpu = cluster.gpu
    reached = constants or reached_of(gpu, cluster.own_constants)
    software = SOFTWARE[training.framework]
    network = TRANSPORTS[cluster.transport]
    peak = gpu.peak.get("fp16") or gpu.peak["bf16"]
    quantized = training.precision in ("fp8", "fp4") and "fp8" in gpu.peak
    attention = peak * _attention_share(gpu, software, training, common)
    rank = RankRates(
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
        domain=cluster.nvlink_domain or max(cluster.gpus_per_node, _scale_up_domain(gpu)),
        switch=switch_share(gpu),
        software=software,
        quantized=quantized,
        launches=common.grace_launches if gpu.host_link != "PCIe" else common.expert_launches,
        dense_launches=_dense_launches(gpu, training, common),
        busiest=1.0 if training.even_routing else common.busiest,
        common=common,
    )
    return rank if constants else _scale_rates(rank, _measured_pace(cluster, training))


def _measured_pace(cluster: Cluster, training: Training) -> Ratio:
    constants = cluster.own_constants
    if constants is None or not constants.of(cluster.gpu):
        return 1.0
    return constants.of_job(training.precision, training.framework)


def _scale_rates(rank: RankRates, pace: Ratio) -> RankRates:
    """Return the rates of a rank that takes `pace` times as long for everything."""
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
        dense_launches=rank.dense_launches * pace,
    )


def _linear_rate(
    gpu: Gpu, training: Training, reached: AchievedShares, common: CommonConstants
) -> FlopRate:
    """Return the rate of large products of linear layers, in the precision of the run."""
    if training.precision == "fp4" and "fp4" in gpu.peak:
        return gpu.peak["fp4"] * common.matmul_fp4
    if training.precision in ("fp8", "fp4") and "fp8" in gpu.peak:
        return gpu.peak["fp8"] * reached.matmul_fp8
    return (gpu.peak.get("fp16") or gpu.peak["bf16"]) * reached.matmul


def _attention_share(
    gpu: Gpu, software: Software, training: Training, common: CommonConstants
) -> Share:
    share = common.first_attention if training.first_flash_attention else 1.0
    newer = "fp8" in gpu.peak
    return share * OLD_INSTRUCTIONS if newer and not software.current_attention else share


def _dense_launches(gpu: Gpu, training: Training, common: CommonConstants) -> Seconds:
    """Return the host's time to launch a pass of a layer without experts; 0: kernels are captured.

    Megatron's modules are Python around Transformer Engine's; what the compiler of PyTorch makes of
    a layer has few kernels, which the host launches in less time than they take.
    """
    if training.cuda_graphs or training.framework != "megatron":
        return 0.0
    grace = gpu.host_link != "PCIe"
    share = common.grace_launches / common.expert_launches if grace else 1.0
    return share * common.dense_launches


def _scale_up_domain(gpu: Gpu) -> Count:
    """Return the number of GPUs that a job uses of an NVL72 rack; 1 for other GPUs."""
    return 64 if gpu.name.endswith("NVL72") else 1


@record
class RankGroup:
    """A group of communicating ranks.

    Attributes:
        ranks: number of ranks.
        nodes: number of nodes.
        bandwidth: bus bandwidth of large messages: of the links inside one node, or of the
            group's share of the ports of a node.
        network: transport between the nodes, or between the trays of a rack.
    """

    ranks: Count
    nodes: Count
    bandwidth: Bandwidth
    network: Transport = INFINIBAND


def scale_up_transport(rank: RankRates) -> Transport:
    """Return the transport over scale-up links: steps in a rack are longer than in a node."""
    return NVLINK_NETWORK if rank.domain > _IN_A_NODE else INFINIBAND


def rank_group(rank: RankRates, ranks: Count, stride: Count, axis: Axis | None = None) -> RankGroup:
    """Return the group of `ranks` ranks, `stride` apart unless those of its axis are `placed`."""
    placed = rank.placed.get(axis, 0) if axis and rank.placed else 0
    per_node = placed or min(ranks, rank.domain // stride) or 1
    nodes = -(-ranks // per_node)
    if nodes == 1:
        return RankGroup(
            ranks=ranks, nodes=1, bandwidth=rank.scale_up, network=scale_up_transport(rank)
        )
    bandwidth = min(rank.scale_up, per_node * rank.port)
    return RankGroup(ranks=ranks, nodes=nodes, bandwidth=bandwidth, network=rank.network)


@record
class StageHops:
    """Hops between neighboring stages of a pipeline.

    Attributes:
        slowest: group of the slowest hop: between nodes, if any hop crosses nodes.
        crossing: share of the hops between nodes.
    """

    slowest: RankGroup
    crossing: Share


def stage_hops(rank: RankRates, plan: Plan) -> StageHops:
    """Return the hops between neighboring stages, the ranks in their usual order or as placed."""
    stages = plan.pipeline_parallel
    if "pipeline" in rank.placed:
        crossing = float(rank.placed["pipeline"] == 1)
    else:
        per_node = rank_group(rank, stages, plan.world_size // stages)
        crossing = (per_node.nodes - 1) / max(1, stages - 1)
    if not crossing:
        inside = RankGroup(ranks=2, nodes=1, bandwidth=rank.scale_up)
        return StageHops(slowest=inside, crossing=0.0)
    across = RankGroup(ranks=2, nodes=2, bandwidth=rank.port, network=rank.network)
    return StageHops(slowest=across, crossing=crossing)
