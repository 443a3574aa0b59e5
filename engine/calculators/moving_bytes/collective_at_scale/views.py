"""Collectives at scale: bars by algorithm and by link, tables, the challenge."""

from collections.abc import Mapping

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE, Seconds, Share
from engine.basis.views import Axis, Bar, Bars, Challenge, Condition, Scalar, Segment, Table
from engine.calculators.moving_bytes.collective_at_scale.model import (
    NAMES,
    Inputs,
    Scale,
    num_rounds,
)
from engine.simulate.collective_time import Phase, Timed
from engine.simulate.fair_share import Link
from engine.simulate.topology import describe

KINDS: Mapping[str, str] = {
    "nvlink": "NVLink of a GPU",
    "pcie": "PCIe of a GPU",
    "port": "network port",
    "leaf": "leaf to spines",
}


def kind_of(link: Link) -> str:
    """Return "nvlink", "pcie", "port" or "leaf"."""
    return str(link[0]).partition("_")[0]


def algorithms(scale: Scale) -> Bars:
    """Return the time of every algorithm; a star is cut off, so that the others differ visibly."""
    times = {name: result.time for name, result in scale.results.items()}
    others = [time for name, time in times.items() if name != "star"]
    most = max(others or times.values()) * 1.6
    return Bars(
        title="The same buffer by every algorithm",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=most),
        bars=tuple(
            Bar(
                key=name,
                label=NAMES[name] + (" (cut off)" if time > most else ""),
                segments=(
                    Segment(
                        key="time",
                        label=NAMES[name],
                        value=time,
                        color="communication",
                    ),
                ),
                links=(f"algorithm:{name}",),
            )
            for name, time in times.items()
        ),
        caption=_missing(scale),
    )


def _missing(scale: Scale) -> str:
    if "halving_doubling" in scale.results or "ring" not in scale.results:
        return scale.repaired
    return f"{scale.repaired} Halving and doubling needs a power of two of GPUs.".strip()


def busy(scale: Scale) -> dict[str, Share]:
    """Return for every kind of link what share of the time the busiest of its kind is full."""
    plan, _ = scale.plans[scale.shown]
    result = scale.results[scale.shown]
    found = dict.fromkeys(KINDS, 0.0)
    spent: dict[Link, Seconds] = {}
    for phase in plan:
        for flow in phase.flows:
            for link, weight in flow.links.items():
                need = weight * flow.size * scale.size * phase.times / phase.capacity[link]
                spent[link] = spent.get(link, 0.0) + need
    for link, need in spent.items():
        kind = kind_of(link)
        found[kind] = max(found[kind], need / result.time)
    return {kind: min(share, 1.0) for kind, share in found.items()}


def links(scale: Scale) -> Bars:
    """Return how busy the busiest link of every kind is."""
    return Bars(
        title=f"Busiest link of each kind: {NAMES[scale.shown]}",
        axis=Axis(label="share of the time it is full", quantity=SHARE, low=0.0, high=1.0),
        bars=tuple(
            Bar(
                key=kind,
                label=KINDS[kind],
                segments=(
                    Segment(key="busy", label=KINDS[kind], value=share, color="communication"),
                ),
                links=(f"link:{kind}",),
            )
            for kind, share in busy(scale).items()
        ),
        caption="Where no bar comes near the end, latency or another phase takes the time.",
    )


def table(scale: Scale) -> Table:
    """Return rounds, latency, time and the full link of every algorithm."""
    return Table(
        title="Every algorithm on this cluster",
        columns=("Algorithm", "Rounds", "Latency", "Time", "Waits for"),
        rows=tuple(
            (
                NAMES[name],
                say("{n}", n=(num_rounds(scale.plans[name][0]), COUNT)),
                say("{t}", t=(result.latency, SECONDS)),
                say("{t}", t=(result.time, SECONDS)),
                _waits(result),
            )
            for name, result in scale.results.items()
        ),
        links=tuple((f"algorithm:{name}",) for name in scale.results),
    )


def _waits(result: Timed) -> Text:
    if result.latency > result.time / 2:
        return "latency"
    return KINDS[kind_of(result.binding[0])] if result.binding else "nothing"


def phases_table(scale: Scale) -> Table:
    """Return the phases of the shown algorithm."""
    plan, _ = scale.plans[scale.shown]
    result = scale.results[scale.shown]
    rows = [
        (
            phase.label,
            say("{n}", n=(phase.times, COUNT)),
            say("{s}", s=(_largest(phase) * scale.size, BYTES)),
            say("{t}", t=(one * phase.times, SECONDS)),
        )
        for phase, one in zip(plan, result.rounds, strict=True)
    ]
    slow = [describe(link) for link, _ in scale.cluster.topology.slow]
    return Table(
        title=f"Phases: {NAMES[scale.shown]}",
        columns=("Phase", "Rounds", "Bytes of a message", "Time"),
        rows=tuple(rows),
        caption=f"Slow: {slow[0]}." if slow else "",
    )


def _largest(phase: Phase) -> float:
    return max(flow.size for flow in phase.flows)


START: Mapping[str, Scalar] = {
    "world_size": 512,
    "oversubscription": 7.0,
    "scattered": True,
    "wrong_rail": True,
    "pxn": False,
    "algorithm": "hierarchical",
}
SOLUTION: Mapping[str, Scalar] = {**START, "scattered": False, "wrong_rail": False}
_GOAL: Seconds = 0.15


def challenge(inputs: Inputs, scale: Scale) -> Challenge:
    """Return the challenge: the same wires, four times as fast, by placement alone."""
    same = inputs.world_size == 512 and inputs.parameters >= 7e9
    wires = (
        inputs.oversubscription >= 7
        and inputs.port <= 50e9
        and inputs.ports_per_node == 8
        and inputs.nodes_per_group <= 32
        and inputs.rails
    )
    found = scale.results.get("hierarchical")
    fast = found is not None and found.time < _GOAL
    return Challenge(
        title="Challenge: the same wires, without new switches",
        goal="Somebody numbered the ranks carelessly. Make the hierarchical all-reduce fast again.",
        conditions=(
            Condition(text="512 GPUs, a buffer of 7 billion bf16 gradients", met=same),
            Condition(text="7:1 above the leaf, eight ports of 400 Gb/s per node", met=wires),
            Condition(
                text=say("the hierarchical all-reduce in less than {t}", t=(_GOAL, SECONDS)),
                met=fast,
            ),
        ),
        hints=(
            "Ask which messages climb to the spines, and which of them have to.",
            "A rank's neighbor should be on the same rail, and in the same leaf group.",
        ),
        start=START,
        solution=SOLUTION,
    )
