"""The charts of NCCL's choice: times now, bandwidth by size, time by nodes, and the challenge."""

import math

from engine.calculators.moving_bytes.nccl_choice.inputs import (
    FORCED,
    HIGH,
    LOW,
    NODE_COUNTS,
    RACK,
    SIZES,
    Inputs,
    Result,
)
from engine.catalog.hardware import MEASURED
from engine.core.outputs import Teller
from engine.core.text import say
from engine.core.units import BANDWIDTH, COUNT, RATIO, SECONDS, MiB, Quantity
from engine.core.views import (
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
)
from engine.form.nccl_fields import size_words

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
_DOUBT = (
    " That is no reason for the setting: a published table of NVLSTree took less time than the "
    "model says."
)
_WORST, _LEAST, _NODES = 3.0, 1 * MiB, 64


def winner(inputs: Inputs, result: Result) -> Badge:
    """Return which NCCL takes, and what is lost by a setting."""
    setting = FORCED["" if inputs.setting == "none" else inputs.setting]
    numbers = {"t": (result.time, SECONDS), "s": (result.set_time, SECONDS)}
    if inputs.setting == "none":
        words = f"{result.best} takes {{t}} on {{n}} GPUs in {{k}} nodes."
    elif not math.isfinite(result.set_time):
        words = f"The model has no time for what {setting} leaves here."
        if inputs.operation == "all_to_all":
            words = f"{setting} does not apply: NCCL makes an all-to-all of sends and receives."

    elif result.costs < 0.9999:
        words = (
            f"{setting} takes {{s}}, less than the {{t}} of {result.best}, which NCCL plans with."
        )
        if result.best.startswith("NVLSTree"):
            words += _DOUBT
    elif result.costs < 1.0001:
        words = f"{setting} costs nothing for this message: it is what NCCL would take."
    else:
        words = f"{setting} takes {{s}}, and {result.best} takes {{t}}."
    rack: dict[str, tuple[float, Quantity]] = {}
    if _beyond(result):
        words += _RACK
        one = MEASURED[RACK]
        rack = {
            "ranks": (one.world_size, COUNT),
            "modelled": (result.rack, BANDWIDTH),
            "measured": (one.bus_bandwidth, BANDWIDTH),
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


def _beyond(result: Result) -> bool:
    """Return whether more GPUs than were fitted share the switch that adds."""
    few = MEASURED["h200_nvls"].world_size
    return result.best.startswith("NVLS") and result.where.node.gpus_per_node > few


def bars(tell: Teller, result: Result) -> Bars:
    """Return the time of each."""
    shown = sorted(result.now.items(), key=lambda one: one[1])
    return Bars(
        title="Time of this message",
        axis=tell.axis("time", "time", low=0.0, high=1.15 * max(result.now.values())),
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
        caption=tell.say(f"{size_words(result.size)} on {{ranks}} GPUs."),
    )


def curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the bus bandwidth of each by size of the message."""
    every = [value for column in result.columns.values() for value in column if value > 0]
    line = result.where.line
    return Lines(
        title="Bus bandwidth by size of the message",
        x=tell.axis("message", "message", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("bus_bandwidth", "bus bandwidth", low=0.0, high=1.15 * max(line, *every)),
        series=tuple(
            Series(
                key=name,
                label=name,
                x=SIZES,
                y=column,
                color=_COLORS.get(name, "communication"),
                dashed=not name.endswith("Simple"),
            )
            for name, column in result.columns.items()
        ),
        points=(
            Point(
                key="now",
                label=tell.say("{bus_bandwidth}"),
                x=inputs.message,
                y=result.bus_bandwidth,
            ),
        ),
        rules=(Rule(key="line", label="line rate", axis="y", at=line, color="muted"),),
        handle="message",
        caption="The axis of sizes is logarithmic. Drag the message.",
    )


def over_nodes(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the time of each by number of nodes, for this message."""
    every = [t for column in result.over_nodes.values() for t in column if math.isfinite(t)]
    xs = NODE_COUNTS[-len(next(iter(result.over_nodes.values()))) :]
    series = []
    for name, column in result.over_nodes.items():
        kept = [(float(x), t) for x, t in zip(xs, column, strict=True) if math.isfinite(t)]
        series.append(
            Series(
                key=name,
                label=name,
                x=tuple(x for x, _ in kept),
                y=tuple(t for _, t in kept),
                color=_COLORS.get(name, "communication"),
                dashed=not name.endswith("Simple"),
            )
        )
    return Lines(
        title="Time by number of nodes",
        x=tell.axis("nodes", "nodes", low=1.0, high=float(NODE_COUNTS[-1]), scale="log"),
        y=tell.axis("time", "time", low=min(every) / 1.5, high=max(every) * 1.5, scale="log"),
        series=tuple(series),
        points=(Point(key="now", label=tell.say("{time}"), x=float(inputs.nodes), y=result.time),),
        handle="nodes",
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
