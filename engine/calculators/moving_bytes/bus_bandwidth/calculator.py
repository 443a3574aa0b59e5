"""Bus bandwidth: a measured time as algorithm bandwidth, bus bandwidth, and bytes on the wire."""

from functools import partial

from engine.calculators.moving_bytes.bus_bandwidth.result import COLUMN, MOST, Result
from engine.calculators.moving_bytes.bus_bandwidth.result import Inputs as Inputs
from engine.calculators.moving_bytes.bus_bandwidth.result import solve as solve
from engine.catalog.hardware import LINKS
from engine.core.outputs import Teller, Views
from engine.core.text import say
from engine.core.units import BANDWIDTH, COUNT, MICRO, RATIO
from engine.core.views import Badge, Bar, Bars, Lines, Point, Rule, Segment, Series, Table
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import size_words
from engine.formulas.bandwidth import ALGORITHM_BANDWIDTH, BUS_BANDWIDTH

TITLE = "Algorithm bandwidth and bus bandwidth"
QUESTION = "What does a time of nccl-tests say about the wire?"
EQUATIONS = (ALGORITHM_BANDWIDTH, BUS_BANDWIDTH)
PRESETS = {
    "8 H200, ring only": {"time": 81_870 * MICRO, "adds": "gpus"},
    "8 H200, all-gather": {"operation": "all_gather", "time": 41_594 * MICRO, "adds": "gpus"},
    "8 A100": {"time": 127_997 * MICRO, "adds": "gpus", "link": LINKS["nvlink3"].bandwidth},
}
# Operation -> the program, and what its first column counts.
_TESTS = {
    "all_reduce": ("all_reduce_perf", "the buffer of a rank"),
    "reduce_scatter": ("reduce_scatter_perf", "the buffer before it is scattered"),
    "all_gather": ("all_gather_perf", "the buffer after it is gathered"),
    "all_to_all": ("alltoall_perf", "what a rank sends, its own part included"),
    "broadcast": ("broadcast_perf", "the buffer of the root"),
    "reduce": ("reduce_perf", "the buffer of a rank"),
    "send_receive": ("sendrecv_perf", "what a rank sends to its neighbor"),
    "gather": ("gather_perf", "the buffer of the root"),
    "scatter": ("scatter_perf", "the buffer of the root"),
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {
        "bars": partial(_bars, tell, inputs, result),
        **tell.values("algorithm_bandwidth", "bus_bandwidth", "factor", "wire", "share", "sent"),
        "verdict": _verdict(tell, result),
        "factors": partial(_factors, tell, inputs, result),
        "operations": partial(_operations, inputs, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.share > 1:
        return Badge(
            text="More than the link",
            sentence=tell.say("The wire would carry {wire} of {link}: a number is not right."),
            color="bad",
        )
    if result.above > 0:
        return Badge(
            text="Above the link, and correct",
            sentence=tell.say(
                "busbw is {above} above the line rate, because the factor counts bytes that the "
                "switch saves. The wire carries {wire}, {share} of it."
            ),
            color="data",
        )
    return Badge(
        text="Below the link",
        sentence=tell.say("The wire carries {wire}, {share} of its line rate."),
        color="compute",
    )


def _bars(tell: Teller, inputs: Inputs, result: Result) -> Bars:
    shown = (
        ("algorithm", "algbw: size over time", result.algorithm_bandwidth, "muted"),
        ("bus", "busbw: times the factor", result.bus_bandwidth, "communication"),
        ("wire", "on each GPU's link", result.wire, "data"),
    )
    # Room for the numbers at the ends of the rows beside the line of the link.
    high = 1.3 * max(inputs.link, *(value for _, _, value, _ in shown))
    return Bars(
        title="One time, three bandwidths",
        axis=tell.axis("bus_bandwidth", "bandwidth", low=0.0, high=high),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=label, value=value, color=color),),
            )
            for key, label, value, color in shown
        ),
        rules=(Rule(key="link", label=tell.say("link {link}"), axis="x", at=inputs.link),),
        caption=tell.say(f"{size_words(inputs.size)} on {{world_size}} GPUs in {{time}}."),
    )


def _factors(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    ranks = tuple(map(float, COLUMN))
    shown = (
        ("few", "all-reduce", result.few, "communication"),
        ("parts", "gathers, scatters, all-to-all", result.parts, "data"),
    )
    return Lines(
        title="The factor, by the number of GPUs",
        x=tell.axis("world_size", "GPUs", low=2.0, high=float(MOST), scale="log"),
        y=tell.axis("factor", "busbw over algbw", low=0.0, high=2.4),
        series=tuple(
            Series(key=key, label=label, x=ranks, y=column, color=color)
            for key, label, column, color in shown
        ),
        points=(
            Point(key="now", label=tell.say("{factor}"), x=inputs.world_size, y=result.factor),
        ),
        rules=(Rule(key="one", label="broadcast, reduce, send: 1", axis="y", at=1.0),),
        handle="world_size",
        caption="The axis of GPUs is logarithmic. Drag the handle.",
    )


def _operations(inputs: Inputs, result: Result) -> Table:
    return Table(
        title="Nine tests, three factors",
        columns=("Operation", "Program", "Its size counts", "Factor", "busbw of this time"),
        rows=tuple(
            (
                TESTED[key],
                *_TESTS[key],
                say("{f}", f=(factor, RATIO)),
                say("{b}", b=(bus, BANDWIDTH)),
            )
            for key, (factor, bus) in result.operations.items()
        ),
        caption=say("{n} GPUs.", n=(inputs.world_size, COUNT)),
    )
