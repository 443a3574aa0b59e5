"""A collective executed on small numbers, and timed on one port per GPU, one of them slow."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import ModuleType

from engine.catalog.accelerators import ACCELERATORS
from engine.core import registry
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.run.parallelism import Cluster
from engine.simulate.collectives.collective import NCCL, collective_rank, collective_time
from engine.simulate.collectives.collective_execution import (
    OPERATION_NAMES,
    expected_cell,
    run_collective,
)
from engine.simulate.collectives.collective_time import (
    CollectiveTime,
    Phase,
    scale_time,
    simulate_phases,
    time_phases,
    trace_phases,
)
from engine.simulate.collectives.collective_trace import CollectiveTrace
from engine.simulate.collectives.flow_aggregation import aggregate_flows
from engine.simulate.layer.device_model import RankRates, rank_group
from engine.simulate.network.fair_share import FlowTimes, Link, simulate_flows
from engine.simulate.network.topology import Topology

PACKAGE = "engine.collectives"
# Order of the algorithms of an operation.
ALGORITHM_ORDER = (
    "ring",
    "star",
    "tree",
    "hierarchical",
    "halving_doubling",
    "in_network",
    "binomial",
    "direct",
    "two_level",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkthroughSetup:
    """Collective, buffer and links of a walkthrough.

    Attributes:
        operation: key of `OPERATION_NAMES`.
        algorithm: requested algorithm; replaced by one that implements the operation if needed.
        world_size: GPUs, one port each.
        seed: seed of the small numbers; 0 counts up.
        slow_gpu: GPU with the slow port; the last GPU if there are fewer.
        slow_share: bandwidth left of that port, as a share.
        size: buffer of a GPU.
        port: one-way line rate of a GPU's port.
        latency: latency of one message.
    """

    operation: str = "all_reduce"
    algorithm: str
    world_size: Count
    seed: int = 0
    slow_gpu: int
    slow_share: Ratio = 1.0
    size: Bytes
    port: Bandwidth
    latency: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Walkthrough:
    """Trace and times of one run.

    Attributes:
        algorithm: executed algorithm, which implements the operation.
        module: module of the collective.
        trace: execution on small numbers.
        slow_gpu: GPU with the slow port, among the existing ones.
        plan: phases on equal ports.
        flow_times: simulated flows of the phases on equal ports.
        timed: times with one slow port.
        even: times on equal ports.
        ratio: how many times as long as simulated these take, by `collective_time`.
    """

    algorithm: str
    module: ModuleType
    trace: CollectiveTrace
    slow_gpu: int
    plan: tuple[Phase, ...]
    flow_times: tuple[FlowTimes, ...]
    timed: CollectiveTime
    even: CollectiveTime
    ratio: Ratio

    @property
    def slow_port(self) -> Link:
        """Link of the port that may be slow."""
        return ("port_out", self.slow_gpu, 0)


@cache
def algorithm_modules() -> Mapping[str, Mapping[str, str]]:
    """Return operation -> algorithm -> module name of every collective in the package.

    A module is called by its algorithm and its operation: `ring_all_reduce`.
    """
    modules: dict[str, dict[str, str]] = {operation: {} for operation in OPERATION_NAMES}
    for name in registry.module_names(PACKAGE):
        operation = registry.module(PACKAGE, name).OPERATION
        modules[operation][name.removesuffix(f"_{operation}")] = name
    return {
        operation: dict(sorted(names.items(), key=lambda pair: algorithm_position(pair[0])))
        for operation, names in modules.items()
    }


def algorithm_position(algorithm: str) -> int:
    """Return the position of an algorithm in lists; unknown algorithms come last."""
    return (
        ALGORITHM_ORDER.index(algorithm) if algorithm in ALGORITHM_ORDER else len(ALGORITHM_ORDER)
    )


def run_walkthrough(setup: WalkthroughSetup) -> Walkthrough:
    """Return the run; an algorithm unknown to the operation is replaced by the first one."""
    modules = algorithm_modules()[setup.operation]
    algorithm = setup.algorithm if setup.algorithm in modules else next(iter(modules))
    module = registry.module(PACKAGE, modules[algorithm])
    trace = cached_trace(modules[algorithm], setup.world_size, setup.seed)
    plan = trace_phases(trace, _port_topology(setup))
    flow_times = simulate_phases(plan)
    simulated = time_phases(plan, flow_times, setup.size)
    ratio = _calibrated_ratio(setup, algorithm, simulated.time)
    baseline = scale_time(simulated, ratio)
    walkthrough = Walkthrough(
        algorithm=algorithm,
        module=module,
        trace=trace,
        slow_gpu=min(setup.slow_gpu, setup.world_size - 1),
        plan=plan,
        flow_times=flow_times,
        timed=baseline,
        even=baseline,
        ratio=ratio,
    )
    if setup.slow_share == 1:
        return walkthrough
    return replace(walkthrough, timed=time_with_slow_port(walkthrough, setup, setup.slow_share))


@lru_cache(maxsize=4)
def cached_trace(name: str, world_size: Count, seed: int) -> CollectiveTrace:
    """Return the cached trace of a module, which does not depend on the slow port."""
    return run_collective(registry.module(PACKAGE, name), world_size, seed)


def time_with_slow_port(
    walkthrough: Walkthrough, setup: WalkthroughSetup, share: Ratio
) -> CollectiveTime:
    """Return the times of the same run with another share of the slow port left."""
    link = walkthrough.slow_port
    plan = [
        replace(phase, capacity={**phase.capacity, link: share * phase.capacity[link]})
        if link in phase.capacity
        else phase
        for phase in walkthrough.plan
    ]
    # Rounds in which that port sends nothing stay as they are.
    flow_times = [
        before if phase is old else simulate_flows(phase.flows, phase.capacity)
        for phase, old, before in zip(plan, walkthrough.plan, walkthrough.flow_times, strict=True)
    ]
    return scale_time(time_phases(plan, flow_times, setup.size), walkthrough.ratio)


@lru_cache(maxsize=48)
def slow_port_times(setup: WalkthroughSetup, shares: tuple[Ratio, ...]) -> tuple[Seconds, ...]:
    """Return the time for each of several shares of the slow port."""
    walkthrough = run_walkthrough(replace(setup, slow_share=1.0))
    # Flows that no slow port tells apart are simulated once.
    plan = tuple(aggregate_flows(phase, [walkthrough.slow_port]) for phase in walkthrough.plan)
    aggregated = replace(walkthrough, plan=plan, flow_times=simulate_phases(plan))
    return tuple(time_with_slow_port(aggregated, setup, share).time for share in shares)


def correct_cells(trace: CollectiveTrace) -> tuple[bool, ...]:
    """Return for every chunk with a required result whether the run produced it."""
    final = trace.frames[-1].state
    return tuple(
        final[rank][chunk] == cell
        for rank in range(trace.world_size)
        for chunk in range(trace.chunks)
        if (cell := expected_cell(trace, rank, chunk)) is not None
    )


# Of operation and algorithm, as `collective_time` calls the same.
_CALIBRATED: Mapping[tuple[str, str], str] = {
    ("all_reduce", "ring"): "ring",
    ("all_reduce", "tree"): "tree",
    ("all_reduce", "in_network"): "in_network",
    ("all_gather", "ring"): "ring",
    ("reduce_scatter", "ring"): "ring",
    ("broadcast", "ring"): NCCL,
    ("reduce", "ring"): NCCL,
    ("all_to_all", "direct"): NCCL,
}


def _rank(setup: WalkthroughSetup) -> RankRates:
    """Return the rates of an H100 alone in its node, with one port."""
    cluster = Cluster(
        gpu=ACCELERATORS["H100-SXM"], gpus_per_node=1, nics_per_node=1, nic_bandwidth=setup.port
    )
    return collective_rank(cluster, setup.latency)


def _calibrated_ratio(setup: WalkthroughSetup, algorithm: str, simulated: Seconds) -> Ratio:
    """Return the calibrated time on equal ports over the simulated one; 1 if NCCL has none."""
    way = _CALIBRATED.get((setup.operation, algorithm), "")
    if not way or not simulated:
        return 1.0
    rank = _rank(setup)
    group = rank_group(rank, setup.world_size, 1)
    return collective_time(rank, group, setup.size, setup.operation, way) / simulated


def _port_topology(setup: WalkthroughSetup) -> Topology:
    """Return a topology of one port per GPU, as NCCL reaches it, on one non-blocking switch."""
    port = _rank(setup).port
    return Topology(
        world_size=setup.world_size,
        gpus_per_node=1,
        ports_per_node=1,
        port=port,
        # The ports alone count here: what is behind them is never the limit.
        pcie=16 * port,
        nodes_per_group=setup.world_size,
        network_latency=setup.latency,
    )
