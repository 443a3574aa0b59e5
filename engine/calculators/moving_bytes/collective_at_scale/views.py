"""Collectives at scale: bars by algorithm and by link, tables, the challenge."""

from collections.abc import Mapping

from engine.calculators.moving_bytes.collective_at_scale.inputs import NAMES, Inputs
from engine.calculators.moving_bytes.collective_at_scale.result import Result
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE, Seconds, with_digits
from engine.core.views import Axis, Bar, Bars, Challenge, Condition, Segment, Table
from engine.simulate.collectives.collective_comparison import AlgorithmRun

LINKS: Mapping[str, str] = {
    "nvlink": "NVLink of a GPU",
    "pcie": "PCIe of a GPU",
    "port": "network port",
    "leaf": "leaf to spines",
}


def algorithms(present: Presenter, result: Result) -> Bars:
    """Return the time of every algorithm; a star is cut off, so that the others differ visibly."""
    times = {name: run.timed.time for name, run in result.played.items()}
    others = [time for name, time in times.items() if name != "star"]
    most = max(others or times.values()) * 1.6
    return Bars(
        title="The same buffer by every algorithm",
        axis=present.axis("time", "time", low=0.0, high=most),
        bars=tuple(
            Bar(
                key=name,
                label=NAMES[name] + (" (cut off)" if time > most else ""),
                segments=(
                    Segment(key="time", label=NAMES[name], value=time, color="communication"),
                ),
                links=(f"algorithm:{name}",),
            )
            for name, time in times.items()
        ),
        caption=_missing_algorithms(result),
    )


def _missing_algorithms(result: Result) -> str:
    if "halving_doubling" in result.played or "ring" not in result.played:
        return result.repaired
    return f"{result.repaired} Halving and doubling needs a power of two of GPUs.".strip()


def links(present: Presenter, result: Result) -> Bars:
    """Return how busy the busiest link of every kind is."""
    return Bars(
        title=f"Busiest link of each kind: {NAMES[result.shown]}",
        axis=Axis(label="share of the time it is full", quantity=SHARE, low=0.0, high=1.0),
        bars=tuple(
            Bar(
                key=kind,
                label=LINKS[kind],
                segments=(
                    Segment(key="busy", label=LINKS[kind], value=share, color="communication"),
                ),
                links=(f"link:{kind}",),
            )
            for kind, share in result.busy.items()
        ),
        caption="If no bar comes near the end, latency or another phase takes the time.",
    )


def algorithm_table(result: Result) -> Table:
    """Return the table of rounds, latency, time and limiting link by algorithm."""
    return Table(
        title="Every algorithm on this cluster",
        columns=("Algorithm", "Hops in a row", "Empty buffer", "Time", "Waits for"),
        rows=tuple(
            (
                NAMES[name],
                say("{n}", n=(run.rounds, COUNT)),
                say("{t}", t=(run.timed.latency, SECONDS)),
                say("{t}", t=(run.timed.time, SECONDS)),
                _limiting_link(run),
            )
            for name, run in result.played.items()
        ),
        links=tuple((f"algorithm:{name}",) for name in result.played),
    )


def _limiting_link(run: AlgorithmRun) -> Text:
    if run.is_latency_bound:
        return "latency"
    return LINKS[run.waits_for[0]] if run.waits_for else "nothing"


def phases_table(result: Result) -> Table:
    """Return the phases of the shown algorithm."""
    return Table(
        title=f"Phases: {NAMES[result.shown]}",
        columns=("Phase", "Rounds", "Bytes of a message", "Time"),
        rows=tuple(
            (
                step.label,
                say("{n}", n=(step.rounds, COUNT)),
                say("{s}", s=(step.message * result.size, BYTES)),
                say("{t}", t=(step.time, SECONDS)),
            )
            for step in result.played[result.shown].steps
        ),
        caption=f"Slow: {result.slow}." if result.slow else "",
    )


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


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: the same wires, four times as fast, by placement alone."""
    same = inputs.world_size == 512 and inputs.parameters >= 7e9
    wires = (
        inputs.oversubscription >= 7
        and inputs.port <= 50e9
        and inputs.ports_per_node == 8
        and inputs.nodes_per_group <= 32
        and inputs.rails
    )
    hierarchical = result.played.get("hierarchical")
    fast = hierarchical is not None and hierarchical.timed.time < _GOAL
    return Challenge(
        title="Challenge: the same wires, without new switches",
        goal="Somebody numbered the ranks carelessly. Make the hierarchical all-reduce fast again.",
        conditions=(
            Condition(text="512 GPUs, a buffer of 7 billion bf16 gradients", met=same),
            Condition(text="7:1 above the leaf, eight ports of 400 Gb/s per node", met=wires),
            Condition(
                text=say(
                    "the hierarchical all-reduce in less than {t}", t=(_GOAL, with_digits(SECONDS))
                ),
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
