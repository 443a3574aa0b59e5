"""Time of a collective: of these ranks of this machine, as NCCL would run it or as it is told to.

Every page asks here; a step asks what stands under its NCCL's choice,
`engine.simulate.layer.collective`. Under both stand the calibrated forms of
`engine.formulas.transfer_time`, which are compared with measured curves.
"""

from collections.abc import Mapping
from dataclasses import replace

from engine.catalog.transports import LAUNCH, NVLINK, SWITCH
from engine.core.units import Bytes, Count, Seconds
from engine.formulas import transfer_time, tree_time
from engine.formulas.ring_time import ramp, ring_latency
from engine.formulas.send_time import send_time
from engine.formulas.switch_time import switch_buffers
from engine.formulas.transfer_time import all_reduce_choice, half_choice
from engine.run.parallelism import Cluster, Training
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_rates
from engine.simulate.layer.expert_exchange import TokenRoutes, exchange_tokens

HALF_COLLECTIVES = ("all_gather", "reduce_scatter")
# What NCCL chooses; else an algorithm, or an algorithm and a protocol as NCCL writes them.
NCCL = "nccl"
# Algorithm -> how the names of its choices start. Two more are composed: "hierarchical", and
# "in_network", whose sums form in the switches of nodes and network.
FAMILIES: Mapping[str, str] = {"ring": "Ring ", "tree": "Tree ", "in_node_switch": "NVLS"}
# The rates of a group do not depend on the training settings.
_ANY = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)


def collective_rank(cluster: Cluster, step: Seconds = 0.0) -> RankRates:
    """Return the rates of a rank; `step` replaces the latency of a step between nodes.

    That of small messages and of eager ones changes in the same proportion.
    """
    rank = rank_rates(cluster, _ANY)
    network = rank.network
    if not step or step == network.step:
        return rank
    share = step / network.step
    changed = replace(
        network,
        step=step,
        step_small=network.step_small * share,
        step_eager=network.step_eager * share,
    )
    return replace(rank, network=changed)


def collective_time(
    rank: RankRates,
    group: RankGroup,
    size: Bytes,
    operation: str = "all_reduce",
    algorithm: str = NCCL,
) -> Seconds:
    """Return the time of a collective; infinite where no model has it.

    Args:
        rank: rates of one rank of the machine.
        group: ranks that take part, by `rank_group`.
        size: whole buffer of a rank: before a reduce-scatter, after an all-gather.
        operation: "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
            "reduce" or "send_receive".
        algorithm: `NCCL` for its choice; a key of `FAMILIES` for its fastest protocol;
            "hierarchical" or "in_network"; or a name of `collective_times`.
    """
    if group.ranks <= 1 or size <= 0:
        return 0.0
    if operation == "all_reduce" and algorithm in ("hierarchical", "in_network"):
        composed = _hierarchical_time if algorithm == "hierarchical" else _in_network_time
        return composed(rank, group, size)
    if algorithm == NCCL or operation not in ("all_reduce", *HALF_COLLECTIVES):
        return _chosen_time(rank, group, size, operation)
    times = collective_times(rank, group, size, operation)
    if algorithm in times:
        return times[algorithm]
    allowed = (time for name, time in times.items() if name.startswith(FAMILIES[algorithm]))
    return min(allowed, default=float("inf"))


def _chosen_time(rank: RankRates, group: RankGroup, size: Bytes, operation: str) -> Seconds:
    """Return the time of NCCL's choice, which a step is charged."""
    if operation in ("all_reduce", *HALF_COLLECTIVES):
        return nccl_collective_time(rank, group, size, operation)
    times = collective_times(rank, group, size, operation)
    return min(times.values(), default=float("inf"))


def collective_times(
    rank: RankRates, group: RankGroup, size: Bytes, operation: str = "all_reduce"
) -> Mapping[str, Seconds]:
    """Return "algorithm protocol" -> time of every possible choice; empty without a model."""
    if group.ranks <= 1 or size <= 0:
        return {}
    if operation == "all_reduce":
        return _all_reduce_times(rank, group, size)
    if operation in HALF_COLLECTIVES:
        ends = (group.ranks, group.nodes, group.bandwidth, group.network)
        return transfer_time.half_times(size, *ends)
    if operation == "all_to_all":
        routes = TokenRoutes(copies=1, joined=False)
        return {"Send and receive Simple": exchange_tokens(1.0, size, routes, rank, group).time}
    if operation in ("broadcast", "reduce"):
        return {"Ring Simple": _chain_time(size, group)}
    if operation == "send_receive":
        port = rank.scale_up if group.nodes == 1 else rank.port
        return {"Send and receive Simple": send_time(size, port, group.nodes, group.network)}
    return {}


def collective_choice(
    rank: RankRates,
    group: RankGroup,
    size: Bytes,
    operation: str,
    times: Mapping[str, Seconds],
) -> str:
    """Return the algorithm and protocol that NCCL takes of `times`, by its tuner or its plan."""
    ends = (group.ranks, group.nodes, group.bandwidth, group.network)
    if times and operation == "all_reduce":
        return all_reduce_choice(times, size, ends, rank.switch, rank.scale_up)
    if times and operation in HALF_COLLECTIVES:
        return half_choice(operation, size, ends)
    return min(times, key=times.__getitem__, default="")


def _all_reduce_times(rank: RankRates, group: RankGroup, size: Bytes) -> Mapping[str, Seconds]:
    """Return the times of all choices; a step is never charged those of `_forced_small_times`."""
    links = rank.scale_up
    transfer = (size, group.ranks, group.nodes, group.bandwidth)
    times = transfer_time.all_reduce_times(*transfer, rank.switch, group.network, links)
    if group.nodes == 1:
        tree = tree_time.tree_all_reduce_ramped_time(*transfer, NVLINK, links)
        times["Tree Simple"] = tree
    return {**times, **_forced_small_times(size, group)}


def _forced_small_times(size: Bytes, group: RankGroup) -> Mapping[str, Seconds]:
    """Return small-message times of the slower algorithm, which only NCCL_ALGO selects.

    A tree in one node is a chain, and a ring over nodes takes every step in turn; both are as the
    other way for small messages, with more latency or more bytes.
    """
    steps, ranks, nodes = NVLINK.step_small, group.ranks, group.nodes
    start = LAUNCH + NVLINK.start_small
    if nodes == 1:
        steps = group.network.step_small if group.network.trays else steps
        wire = 2 * size / (group.bandwidth * NVLINK.share_small)
        return {"Tree LL": start + 2 * (ranks - 1) * steps + wire}
    if not group.network.share_small:
        return {}
    latency = 2 * ((ranks - nodes) * steps + nodes * group.network.step_small)
    wire = 2 * (ranks - 1) / ranks * size / (group.bandwidth * group.network.share_small)
    return {"Ring LL": start + latency + wire}


def _chain_time(size: Bytes, group: RankGroup) -> Seconds:
    """Return the time of a pipelined chain from or to a root: the buffer crosses each link once.

    Source: NCCL's tuning.cc (a ring whose bus bandwidth is its algorithm bandwidth); ramp as of
    one round of an all-reduce.
    """
    latency = ring_latency(size, group.ranks, group.nodes, group.network)
    ramped = (1 + ramp(size, NVLINK if group.nodes == 1 else group.network)) / 2
    return LAUNCH + NVLINK.start + latency + size / group.bandwidth * ramped


def ranks_per_node(group: RankGroup) -> Count:
    """Return the ranks of a group in a full node."""
    return -(-group.ranks // group.nodes)


def _hierarchical_time(rank: RankRates, group: RankGroup, size: Bytes) -> Seconds:
    """Return reduce-scatter in the nodes, all-reduce of the shards between them, all-gather.

    Three calls of NCCL, one after the other, as hybrid sharding makes them; with one rank per
    node, or in one node, a ring.
    """
    local = ranks_per_node(group)
    if local == 1 or group.nodes == 1:
        return collective_time(rank, group, size, algorithm="ring")
    inside = replace(group, ranks=local, nodes=1, bandwidth=rank.scale_up, network=rank.network)
    port = min(rank.scale_up, group.bandwidth / local)
    across = replace(group, ranks=group.nodes, bandwidth=port)
    halves = (collective_time(rank, inside, size, half) for half in HALF_COLLECTIVES)
    return sum(halves) + collective_time(rank, across, size / local)


def _in_network_time(rank: RankRates, group: RankGroup, size: Bytes) -> Seconds:
    """Return an all-reduce whose sums form in the switches of the nodes and of the network (SHARP).

    The node's switch adds (NVLS), or its ranks as a chain where it cannot; each node sends its sum
    once and receives the total once. Chunks stream through both, so that the slower sets the pace.

    Source: Graham et al. 2016; 32 H100 reach 480 GB/s of bus bandwidth (GTC 2024), and 96 H100
    387 GB/s (CoreWeave 2025).
    """
    if group.nodes == 1:
        algorithm = "in_node_switch" if rank.switch and group.ranks > 2 else "ring"
        return collective_time(rank, group, size, algorithm=algorithm)
    local, sent, latency = ranks_per_node(group), size / group.bandwidth, 2 * group.network.step
    if local > 1:
        chain = 2 * size / rank.scale_up
        buffers = switch_buffers(group.ranks, local)
        inside = buffers * size / (rank.switch * rank.scale_up) if rank.switch else chain
        sent = max(sent, inside)
        latency += SWITCH.start if rank.switch else 2 * (local - 1) * NVLINK.step
    return LAUNCH + NVLINK.start + latency + sent * ramp(size, SWITCH)
