"""NCCL's choice: modeled time of every algorithm and protocol, and the cost of a setting."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.catalog.hardware import MEASURED
from engine.catalog.nccl_constants import VERSION
from engine.core.inputs import Choice, Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import (
    BANDWIDTH,
    COUNT,
    RATIO,
    SECONDS,
    Bandwidth,
    Bytes,
    Count,
    GiB,
    KiB,
    MiB,
    Quantity,
    Ratio,
    Seconds,
)
from engine.core.views import (
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
)
from engine.form.collective_names import TESTED
from engine.form.fields import OwnConstants
from engine.form.nccl_fields import LARGEST, SMALLEST, Machine, Message, Nodes, size_text
from engine.formulas.bandwidth import Operation
from engine.simulate.collectives.nccl_effect import (
    CollectivePlacement,
    algorithm_times,
    bus_bandwidth_of,
    chosen_algorithm,
    fastest_allowed,
    place_collective,
    reached_bandwidth,
)

_RATIO = ("The time with the setting over the time without.",)
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")
FORCED_SETTINGS = {
    "": "nothing: NCCL chooses",
    "Ring": "NCCL_ALGO=Ring",
    "Tree": "NCCL_ALGO=Tree",
    "NVLS": "NCCL_ALGO=NVLS,NVLSTree",
    "LL": "NCCL_PROTO=LL",
    "Simple": "NCCL_PROTO=Simple",
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "One node, 1 GiB": {"nodes": 1, "message": 1 * GiB},
    "One node, 64 KiB": {"nodes": 1, "message": 64 * KiB},
    "128 nodes, 1 MiB": {"nodes": 128, "message": 1 * MiB},
    "One GPU per node, all-gather": {
        "operation": "all_gather",
        "nodes": 128,
        "gpus_per_node": 1,
        "message": 1 * MiB,
    },
}
SIZES = tuple(2.0**power for power in range(10, 35))
RACK = "gb200_nvl72"  # of the measured all-reduces
NODE_COUNTS = tuple(2**power for power in range(11))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    message: Message = 32 * MiB
    machine: Machine = "dgx-h100"
    nodes: Nodes = 4
    operation: Annotated[
        str, Choice(label="Operation", options={key: TESTED[key] for key in OPERATIONS})
    ] = "all_reduce"
    gpus_per_node: Annotated[
        int,
        Number(
            label="GPUs that take part, per node",
            low=1,
            high=72,
            whole=True,
            help="At most as many as a node has.",
        ),
    ] = 8
    setting: Annotated[
        str,
        Choice(
            label="Set in the environment",
            options={key or "none": FORCED_SETTINGS[key] for key in FORCED_SETTINGS},
        ),
    ] = "none"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Times of the message by algorithm and protocol, size and nodes; `rack` is for `RACK`."""

    where: CollectivePlacement
    now: Mapping[str, Seconds]
    ranks: Count
    time: Annotated[
        Seconds,
        Output(
            "Taken",
            "",
            "{best}",
            "communication",
            ("Latencies and ramps as fitted to measured all-reduces; those of a training step.",),
            ("nccl_tuning", "nccl_tests"),
        ),
    ]
    set_time: Annotated[
        Seconds,
        Output(
            "As set",
            "",
            "the fastest that the setting leaves; what NCCL takes if nothing is set",
            assumes=("Of the same times, those whose name the setting allows.",),
            sources=("nccl_tuning", "nccl_env"),
        ),
    ]
    costs: Annotated[
        Ratio, Output("The setting costs", "", "the time of what NCCL takes", assumes=_RATIO)
    ]
    bus_bandwidth: Annotated[
        Bandwidth, Output("Bus bandwidth", "", "of what NCCL takes", sources=("nccl_tests",))
    ]
    best: str
    columns: Mapping[str, tuple[Bandwidth, ...]]
    over_nodes: Mapping[str, tuple[Seconds, ...]]
    size: Bytes
    rack: Bandwidth


def solve(inputs: Inputs) -> Result:
    """Return the times of NCCL's algorithms and protocols."""
    where = _collective_placement(inputs, inputs.nodes)
    operation, ranks = cast(Operation, inputs.operation), where.group.ranks
    now = algorithm_times(operation, inputs.message, where)
    best = chosen_algorithm(operation, inputs.message, where, now)
    setting = _setting(inputs)
    set_time = fastest_allowed(now, setting) if setting else now[best]
    rows = [algorithm_times(operation, size, where) for size in SIZES]
    counts = [
        algorithm_times(operation, inputs.message, _collective_placement(inputs, nodes))
        for nodes in NODE_COUNTS
        if nodes * inputs.gpus_per_node > 1
    ]
    rack = MEASURED[RACK]
    names = {name: None for row in counts for name in row}
    return Result(
        where=where,
        now=now,
        ranks=ranks,
        time=now[best],
        set_time=set_time,
        costs=set_time / now[best],
        bus_bandwidth=bus_bandwidth_of(operation, inputs.message, now[best], ranks),
        best=best,
        columns={
            name: tuple(
                # Not every protocol is possible, or known, for every size.
                bus_bandwidth_of(operation, size, row[name], ranks) if name in row else math.nan
                for size, row in zip(SIZES, rows, strict=True)
            )
            for name in now
        },
        over_nodes={name: tuple(row.get(name, math.nan) for row in counts) for name in names},
        size=inputs.message,
        rack=reached_bandwidth(
            "all_reduce", rack.size, place_collective("gb200-nvl72", rack.world_size)
        ),
    )


def _setting(inputs: Inputs) -> str:
    return "" if inputs.setting == "none" else inputs.setting


def _collective_placement(inputs: Inputs, nodes: Count) -> CollectivePlacement:
    """Return the ranks on so many nodes; a single GPU becomes two, on two nodes."""
    probe = place_collective(inputs.machine, 2)
    per_node = min(inputs.gpus_per_node, probe.node.gpus_per_node)
    if per_node * nodes < 2:
        nodes = 2
    return place_collective(
        inputs.machine, per_node * nodes, nodes, own_constants=inputs.own_constants
    )


LOW, HIGH = SMALLEST, LARGEST


# Name of an algorithm and protocol -> color.
_COLORS = {
    "Ring Simple": "communication",
    "Ring LL": "expert",
    "Ring LL128": "pipeline",
    "Tree Simple": "tensor",
    "Tree LL": "pipeline",
    "NVLS Simple": "data",
    "NVLSTree Simple": "activations",
    "PAT Simple": "context",
}
_RACK = (
    " Sums in the switch were fitted to nodes of eight GPUs. For {ranks} GPUs of an NVL72, "
    "the model gives {modelled} for large messages, and {measured} were measured."
)
_NVLS_NOTE = (
    " That is no reason for the setting: a published table of NVLSTree took less time than the "
    "model says."
)
_WORST, _LEAST, _NODES = 3.0, 1 * MiB, 64


def choice_badge(inputs: Inputs, result: Result) -> Badge:
    """Return the badge on NCCL's choice and the loss by a forced setting."""
    setting = FORCED_SETTINGS["" if inputs.setting == "none" else inputs.setting]
    numbers = {"t": (result.time, SECONDS), "s": (result.set_time, SECONDS)}
    if inputs.setting == "none":
        words = "It takes {t} on {n} GPUs in {k} nodes."
    elif not math.isfinite(result.set_time):
        words = f"The model has no time for what {setting} leaves here."
        if inputs.operation == "all_to_all":
            words = f"{setting} does not apply: NCCL makes an all-to-all of sends and receives."

    elif result.costs < 0.9999:
        words = (
            f"{setting} takes {{s}}, less than the {{t}} of {result.best}, which NCCL plans with."
        )
        if result.best.startswith("NVLSTree"):
            words += _NVLS_NOTE
    elif result.costs < 1.0001:
        words = f"{setting} costs nothing for this message: it is what NCCL would take."
    else:
        words = f"{setting} takes {{s}}, and {result.best} takes {{t}}."
    rack: dict[str, tuple[float, Quantity]] = {}
    if _extrapolates(result):
        words += _RACK
        run = MEASURED[RACK]
        rack = {
            "ranks": (run.world_size, COUNT),
            "modelled": (result.rack, BANDWIDTH),
            "measured": (run.bus_bandwidth, BANDWIDTH),
        }
    return Badge(
        text=result.best,
        sentence=say(
            words,
            **numbers,
            n=(result.ranks, COUNT),
            k=(result.where.group.nodes, COUNT),
            **rack,
        ),
        color=_COLORS.get(result.best, "communication"),
    )


def _extrapolates(result: Result) -> bool:
    """Return whether more GPUs than were fitted share the switch that adds."""
    few = MEASURED["h200_nvls"].world_size
    return result.best.startswith("NVLS") and result.where.node.gpus_per_node > few


def time_bars(present: Presenter, result: Result) -> Bars:
    """Return the time of each."""
    shown = sorted(result.now.items(), key=lambda item: item[1])
    return Bars(
        title="Time of this message",
        axis=present.axis("time", "time", low=0.0, high=1.15 * max(result.now.values())),
        bars=tuple(
            Bar(
                key=name,
                label=name,
                segments=(
                    Segment(
                        key=name,
                        label=name,
                        value=time,
                        color=_COLORS.get(name, "communication"),
                    ),
                ),
            )
            for name, time in shown
        ),
        caption=present.say(
            f"{size_text(result.size)} on {{ranks}} GPUs, as NCCL {VERSION} chooses."
        ),
    )


def _line(name: str, y: Iterable[float], x: Iterable[float] | None = None) -> Line:
    color, dashed = _COLORS.get(name, "communication"), not name.endswith("Simple")
    return Line(name, name, y, color, dashed=dashed, x=x)


def bandwidth_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the bus bandwidth of each by size of the message."""
    every = [value for column in result.columns.values() for value in column if value > 0]
    line = result.where.line
    return present.curve(
        "Bus bandwidth by size of the message",
        over=Scale("message", "message", LOW, HIGH, log=True),
        shows=Scale("bus_bandwidth", "bus bandwidth", 0.0, 1.15 * max(line, *every)),
        x=SIZES,
        lines=(_line(name, column) for name, column in result.columns.items()),
        rules=(Rule(key="line", label="line rate", axis="y", at=line, color="muted"),),
        caption="The axis of sizes is logarithmic. Drag the message.",
    )


def time_over_nodes(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the time of each by number of nodes, for this message."""
    every = [t for column in result.over_nodes.values() for t in column if math.isfinite(t)]
    xs = NODE_COUNTS[-len(next(iter(result.over_nodes.values()))) :]
    lines = []
    for name, column in result.over_nodes.items():
        kept = [(float(x), t) for x, t in zip(xs, column, strict=True) if math.isfinite(t)]
        lines.append(_line(name, [t for _, t in kept], [x for x, _ in kept]))
    return present.curve(
        "Time by number of nodes",
        over=Scale("nodes", "nodes", 1.0, float(NODE_COUNTS[-1]), log=True),
        shows=Scale("time", "time", min(every) / 1.5, max(every) * 1.5, log=True),
        lines=lines,
        caption="Both axes are logarithmic. The latency of a ring grows with every GPU, that of a "
        "tree with the logarithm of the nodes. Drag the handle.",
    )


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the goal: find where a setting that looks harmless costs most."""
    return Challenge(
        title="Challenge: the harmless setting",
        goal=say(
            "A colleague has set NCCL_ALGO=Ring, since it was fastest in a test of 8 GiB. Find an "
            "all-reduce of 1 MiB or more on {n} nodes of DGX H100 or fewer, all GPUs, where it "
            "takes {r} the time of what NCCL takes, or longer.",
            n=(_NODES, COUNT),
            r=(_WORST, RATIO),
        ),
        conditions=(
            Condition(
                text="NCCL_ALGO=Ring, all-reduce, 8 GPUs of each DGX H100",
                met=inputs.setting == "Ring"
                and inputs.operation == "all_reduce"
                and inputs.machine == "dgx-h100"
                and inputs.gpus_per_node == 8,
            ),
            Condition(text="1 MiB or more", met=inputs.message >= _LEAST),
            Condition(text=say("at most {n} nodes", n=(_NODES, COUNT)), met=inputs.nodes <= _NODES),
            Condition(
                text=say("{r} the time of what NCCL takes", r=(_WORST, RATIO)),
                met=result.costs >= _WORST,
            ),
        ),
        hints=(
            "Where does the ring's latency come from?",
            "Small messages are all latency, and latency grows with the number of GPUs.",
        ),
        start={"setting": "Ring", "nodes": 2, "message": 1024 * MiB},
        solution={"setting": "Ring", "nodes": 64, "message": 1 * MiB},
    )


TITLE = "What NCCL would choose"
QUESTION = "Which algorithm and which protocol is fastest for this message on these machines?"
HEADLINE = "time"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "time": present.value("time", note=result.best),
        **present.values("bus_bandwidth"),
        "winner": choice_badge(inputs, result),
        **present.values("set_time", "costs"),
        "bars": partial(time_bars, present, result),
        "curve": partial(bandwidth_curve, present, inputs, result),
        "over_nodes": partial(time_over_nodes, present, inputs, result),
        "challenge": challenge(inputs, result),
    }
