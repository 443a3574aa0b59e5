"""Collectives by hand: the inputs, and one run of them on numbers and on wires."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import ModuleType
from typing import Annotated

from engine.basis import discover
from engine.basis.inputs import GBITS, GIGABYTES, MICROSECONDS, PERCENT, Choice, Number
from engine.basis.units import GB, KB, MICRO, TB, Count, Gbit, Ratio
from engine.basis.views import Scene
from engine.draw.collective import collective_scene
from engine.form.fields import FewGpus
from engine.simulate.collective import OPERATIONS, run
from engine.simulate.collective_time import Phase, Timed, drained, phases, timed
from engine.simulate.fair_share import Drain, Link, drain
from engine.simulate.topology import Topology
from engine.simulate.trace import Trace

PACKAGE = "engine.collectives"
_LABELS = {
    "ring": "Ring",
    "star": "Star",
    "tree": "Double binary tree",
    "hierarchical": "Hierarchical",
    "halving_doubling": "Halving and doubling",
    "in_network": "In the switch",
    "binomial": "Binomial tree",
    "direct": "Direct",
    "two_level": "Two levels",
}


@cache
def algorithms() -> Mapping[str, Mapping[str, str]]:
    """Return operation -> algorithm -> module of every collective in the folder.

    A module is called by its algorithm and its operation: `ring_all_reduce`.
    """
    found: dict[str, dict[str, str]] = {operation: {} for operation in OPERATIONS}
    for name in discover.names(PACKAGE):
        operation = discover.module(PACKAGE, name).OPERATION
        found[operation][name.removesuffix(f"_{operation}")] = name
    order = list(_LABELS)
    return {
        operation: dict(sorted(names.items(), key=lambda pair: _place(order, pair[0])))
        for operation, names in found.items()
    }


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def label(algorithm: str) -> str:
    """Return what the reader sees for an algorithm."""
    return _LABELS.get(algorithm, algorithm.replace("_", " ").capitalize())


def _options() -> dict[str, str]:
    every = {name for names in algorithms().values() for name in names}
    return {name: label(name) for name in sorted(every, key=lambda one: _place(list(_LABELS), one))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    operation: Annotated[
        str,
        Choice(
            label="Operation",
            options={key: name.capitalize() for key, name in OPERATIONS.items()},
        ),
    ] = "all_reduce"
    algorithm: Annotated[
        str,
        Choice(
            label="Algorithm",
            options=_options(),
            help="Not every operation has every algorithm; the nearest one is then shown.",
        ),
    ] = "ring"
    world_size: FewGpus = 8
    slow_share: Annotated[
        float,
        Number(
            label="Speed left of one port",
            unit=PERCENT,
            low=0.05,
            high=1.0,
            step=0.05,
            help="What the port of one GPU still sends, as a share of what it should.",
        ),
    ] = 1.0
    seed: Annotated[
        int,
        Number(
            label="Numbers",
            low=0,
            high=999,
            whole=True,
            help="Other numbers to start with; 0 counts up.",
        ),
    ] = 0
    slow_gpu: Annotated[
        int,
        Number(label="Slow GPU", low=0, high=15, whole=True, advanced=True),
    ] = 1
    size: Annotated[
        float,
        Number(
            label="Buffer of a GPU",
            unit=GIGABYTES,
            low=1 * KB,
            high=1 * TB,
            scale="log",
            symbol="S",
            advanced=True,
        ),
    ] = 14 * GB
    port: Annotated[
        float,
        Number(
            label="Port per GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            symbol="B",
            advanced=True,
        ),
    ] = 400 * Gbit
    latency: Annotated[
        float,
        Number(
            label="Latency of one message",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
            advanced=True,
        ),
    ] = 5 * MICRO


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One run.

    Attributes:
        algorithm: the one shown, which exists for the operation.
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


def model(inputs: Inputs) -> Hand:
    """Return the run, of the nearest algorithm if the operation has none of that name."""
    known = algorithms()[inputs.operation]
    algorithm = inputs.algorithm if inputs.algorithm in known else next(iter(known))
    module = discover.module(PACKAGE, known[algorithm])
    trace = _run(module.__name__, inputs.world_size, inputs.seed)
    plan = phases(trace, _wires(inputs))
    drains = drained(plan)
    even = timed(plan, drains, inputs.size)
    hand = Hand(
        algorithm=algorithm,
        module=module,
        trace=trace,
        slow_gpu=min(inputs.slow_gpu, inputs.world_size - 1),
        plan=plan,
        drains=drains,
        timed=even,
        even=even,
    )
    if inputs.slow_share == 1:
        return hand
    return replace(hand, timed=slowed(hand, inputs, inputs.slow_share))


@lru_cache(maxsize=4)
def _run(name: str, world_size: Count, seed: int) -> Trace:
    """Return the run of a module; a reader who drags the slow port stays with one."""
    return run(discover.module(PACKAGE, name.rpartition(".")[2]), world_size, seed)


def scene(hand: Hand) -> Scene:
    """Return the frames of the run."""
    return _scene(hand.module.__name__, hand.trace.world_size, hand.trace.seed)


@lru_cache(maxsize=4)
def _scene(name: str, world_size: Count, seed: int) -> Scene:
    star = hasattr(discover.module(PACKAGE, name.rpartition(".")[2]), "ROOT")
    drawn = collective_scene(_run(name, world_size, seed), star=star)
    # A page sets the title of a figure once; what the reader chose belongs into the caption.
    return replace(drawn, title="Round by round", caption=f"{drawn.title}. {drawn.caption}")


def slowed(hand: Hand, inputs: Inputs, share: Ratio) -> Timed:
    """Return the same run with another share of the slow port left."""
    link: Link = ("port_out", hand.slow_gpu, 0)
    plan = [
        replace(phase, capacity={**phase.capacity, link: share * inputs.port})
        if link in phase.capacity
        else phase
        for phase in hand.plan
    ]
    # Rounds in which that port sends nothing stay as they are.
    drains = [
        before if phase is old else drain(phase.flows, phase.capacity)
        for phase, old, before in zip(plan, hand.plan, hand.drains, strict=True)
    ]
    return timed(plan, drains, inputs.size)


def _wires(inputs: Inputs) -> Topology:
    """Return one port per GPU on one leaf switch that never blocks."""
    return Topology(
        world_size=inputs.world_size,
        gpus_per_node=1,
        ports_per_node=1,
        port=inputs.port,
        # The ports alone count here: what is behind them is never the limit.
        pcie=16 * inputs.port,
        nodes_per_group=inputs.world_size,
        network_latency=inputs.latency,
    )


def nearest(inputs: Inputs, hand: Hand) -> str:
    """Return a sentence if another algorithm is shown than the one chosen, else an empty text."""
    if hand.algorithm == inputs.algorithm:
        return ""
    operation, shown = OPERATIONS[inputs.operation], label(hand.algorithm).lower()
    return f'There is no such {operation} here; shown is the algorithm "{shown}".'
