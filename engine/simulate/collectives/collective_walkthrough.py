"""A collective played twice: on small numbers, and on one port per GPU, one of them slow."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import ModuleType

from engine.core import registry
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.simulate.collectives.collective_execution import OPERATIONS, promise, run
from engine.simulate.collectives.collective_time import Phase, Timed, drained, phases, timed
from engine.simulate.collectives.collective_trace import Trace
from engine.simulate.collectives.flow_aggregation import lumped
from engine.simulate.network.fair_share import Drain, Link, drain
from engine.simulate.network.topology import Topology

PACKAGE = "engine.collectives"
# Those that come first where several can do an operation.
ORDER = (
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
class Setup:
    """What is played, on which wires.

    Attributes:
        operation: key of `OPERATIONS`.
        algorithm: the one wanted; one that can do the operation is taken if it cannot.
        world_size: GPUs, one port each.
        seed: of the small numbers; 0 counts up.
        slow_gpu: whose port is slow; the last one where there are fewer.
        slow_share: what that port still sends, as a share of what it should.
        size: buffer of a GPU.
        port: of a GPU, one way.
        latency: of one message.
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
class Hand:
    """One run.

    Attributes:
        algorithm: the one played, which exists for the operation.
        module: of the collective.
        trace: its run on small numbers.
        slow_gpu: the GPU with the slow port, among those there are.
        plan: its rounds on equal ports.
        drains: what they take there.
        timed: its run on ports, one of them slow.
        even: its run on equal ports.
    """

    algorithm: str
    module: ModuleType
    trace: Trace
    slow_gpu: int
    plan: tuple[Phase, ...]
    drains: tuple[Drain, ...]
    timed: Timed
    even: Timed

    @property
    def slow_port(self) -> Link:
        """The port that may be slow."""
        return ("port_out", self.slow_gpu, 0)


@cache
def algorithms() -> Mapping[str, Mapping[str, str]]:
    """Return operation -> algorithm -> module of every collective in the folder.

    A module is called by its algorithm and its operation: `ring_all_reduce`.
    """
    found: dict[str, dict[str, str]] = {operation: {} for operation in OPERATIONS}
    for name in registry.names(PACKAGE):
        operation = registry.module(PACKAGE, name).OPERATION
        found[operation][name.removesuffix(f"_{operation}")] = name
    return {
        operation: dict(sorted(names.items(), key=lambda pair: place(pair[0])))
        for operation, names in found.items()
    }


def place(algorithm: str) -> int:
    """Return where an algorithm stands in lists; unknown ones come last."""
    return ORDER.index(algorithm) if algorithm in ORDER else len(ORDER)


def play(setup: Setup) -> Hand:
    """Return the run, of the first algorithm if the operation has none of that name."""
    known = algorithms()[setup.operation]
    algorithm = setup.algorithm if setup.algorithm in known else next(iter(known))
    module = registry.module(PACKAGE, known[algorithm])
    trace = traced(known[algorithm], setup.world_size, setup.seed)
    plan = phases(trace, _wires(setup))
    drains = drained(plan)
    even = timed(plan, drains, setup.size)
    hand = Hand(
        algorithm=algorithm,
        module=module,
        trace=trace,
        slow_gpu=min(setup.slow_gpu, setup.world_size - 1),
        plan=plan,
        drains=drains,
        timed=even,
        even=even,
    )
    if setup.slow_share == 1:
        return hand
    return replace(hand, timed=slowed(hand, setup, setup.slow_share))


@lru_cache(maxsize=4)
def traced(name: str, world_size: Count, seed: int) -> Trace:
    """Return the run of a module; a reader who drags the slow port stays with one."""
    return run(registry.module(PACKAGE, name), world_size, seed)


def slowed(hand: Hand, setup: Setup, share: Ratio) -> Timed:
    """Return the same run with another share of the slow port left."""
    link = hand.slow_port
    plan = [
        replace(phase, capacity={**phase.capacity, link: share * setup.port})
        if link in phase.capacity
        else phase
        for phase in hand.plan
    ]
    # Rounds in which that port sends nothing stay as they are.
    drains = [
        before if phase is old else drain(phase.flows, phase.capacity)
        for phase, old, before in zip(plan, hand.plan, hand.drains, strict=True)
    ]
    return timed(plan, drains, setup.size)


@lru_cache(maxsize=48)
def slow_times(setup: Setup, shares: tuple[Ratio, ...]) -> tuple[Seconds, ...]:
    """Return the times with every one of several shares of the slow port left."""
    hand = play(replace(setup, slow_share=1.0))
    # Flows that no slow port tells apart are simulated once.
    plan = tuple(lumped(phase, [hand.slow_port]) for phase in hand.plan)
    few = replace(hand, plan=plan, drains=drained(plan))
    return tuple(slowed(few, setup, share).time for share in shares)


def agreed(trace: Trace) -> tuple[bool, ...]:
    """Return for every cell that was promised whether the run left in it what was promised."""
    final = trace.frames[-1].state
    return tuple(
        final[rank][chunk] == cell
        for rank in range(trace.world_size)
        for chunk in range(trace.chunks)
        if (cell := promise(trace, rank, chunk)) is not None
    )


def _wires(setup: Setup) -> Topology:
    """Return one port per GPU on one leaf switch that never blocks."""
    return Topology(
        world_size=setup.world_size,
        gpus_per_node=1,
        ports_per_node=1,
        port=setup.port,
        # The ports alone count here: what is behind them is never the limit.
        pcie=16 * setup.port,
        nodes_per_group=setup.world_size,
        network_latency=setup.latency,
    )
