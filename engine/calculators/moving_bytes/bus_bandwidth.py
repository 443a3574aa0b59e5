"""Bus bandwidth: a measured time as algorithm bandwidth, bus bandwidth, and bytes on the wire."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.catalog.hardware import LINKS
from engine.core.inputs import GBYTES_PER_SECOND, Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import (
    BANDWIDTH,
    COUNT,
    GB,
    MICRO,
    RATIO,
    Bandwidth,
    Bytes,
    GiB,
    Ratio,
    Share,
)
from engine.core.views import (
    Badge,
    Bar,
    Bars,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
    Table,
)
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import LARGEST, MESSAGES, SMALLEST, TIMES, size_text
from engine.formulas.bandwidth import (
    ALGORITHM_BANDWIDTH,
    BUS_BANDWIDTH,
    Operation,
    algorithm_bandwidth,
    bus_bandwidth,
    bus_bandwidth_factor,
)
from engine.formulas.communication import in_network_bytes_sent

MOST = 4096
COLUMN = tuple(2**power for power in range(1, 13))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    operation: Annotated[str, Choice(label="Operation", options=TESTED)] = "all_reduce"
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=MOST, scale="log2", whole=True, symbol="n")
    ] = 8
    size: Annotated[
        float,
        Number(
            label="Size, first column",
            unit=MESSAGES,
            low=SMALLEST,
            high=LARGEST,
            scale="log2",
            symbol="S",
        ),
    ] = 16 * GiB
    time: Annotated[
        float,
        Number(
            label="Time, as printed",
            unit=TIMES,
            low=5 * MICRO,
            high=1.0,
            scale="log",
            symbol="T",
        ),
    ] = 62_648 * MICRO
    adds: Annotated[
        str,
        Choice(
            label="Who adds",
            options={"gpus": "the GPUs", "switch": "the switch (NVLS)"},
            help="Of an all-reduce; the switch adds nothing in the other operations.",
        ),
    ] = "switch"
    link: Annotated[
        float,
        Number(
            label="Link of a GPU, one way",
            unit=GBYTES_PER_SECOND,
            low=1 * GB,
            high=2000 * GB,
            scale="log",
        ),
    ] = LINKS["nvlink4"].bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The time as three bandwidths."""

    factor: Annotated[
        Ratio,
        Output(
            "Factor of the operation",
            "f",
            basis="definition",
            assumes=("Of ranks that send to each other on a flat network.",),
            sources=("nccl_tests",),
        ),
    ]
    algorithm_bandwidth: Annotated[
        Bandwidth, Output("Algorithm bandwidth", "Ba", "size over time", basis="definition")
    ]
    bus_bandwidth: Annotated[
        Bandwidth,
        Output(
            "Bus bandwidth", "Bb", "as nccl-tests print it", "communication", basis="definition"
        ),
    ]
    wire: Annotated[
        Bandwidth,
        Output(
            "On the wire",
            "",
            "what the link of each GPU carries, one way",
            "data",
            assumes=(
                "Where the switch adds, a GPU sends (n + 1)/n of the buffer, and receives as much.",
            ),
            sources=("nccl_tests", "graham2016"),
        ),
    ]
    share: Annotated[Share, Output("Of the link", assumes=("On the wire, over its line rate.",))]
    sent: Annotated[
        Bytes,
        Output(
            "Sent by each GPU",
            assumes=("Factor times size; where the switch adds, (n + 1)/n of it.",),
            sources=("nccl_tests", "graham2016"),
        ),
    ]
    above: Share
    switched: bool
    few: tuple[Ratio, ...]
    parts: tuple[Ratio, ...]
    operations: Mapping[str, tuple[Ratio, Bandwidth]]


def solve(inputs: Inputs) -> Result:
    """Return the bandwidths of the time."""
    operation = cast(Operation, inputs.operation)
    n, size, time = inputs.world_size, inputs.size, inputs.time
    factor = bus_bandwidth_factor(operation, n)
    switched = inputs.adds == "switch" and operation == "all_reduce"
    sent = in_network_bytes_sent(size, n) if switched else factor * size
    bus = bus_bandwidth(size, time, operation, n)
    return Result(
        factor=factor,
        algorithm_bandwidth=algorithm_bandwidth(size, time),
        bus_bandwidth=bus,
        wire=sent / time,
        share=sent / time / inputs.link,
        sent=sent,
        above=bus / inputs.link - 1,
        switched=switched,
        few=tuple(bus_bandwidth_factor("all_reduce", item) for item in COLUMN),
        parts=tuple(bus_bandwidth_factor("all_gather", item) for item in COLUMN),
        operations={item: _factor_and_bus(inputs, cast(Operation, item)) for item in TESTED},
    )


def _factor_and_bus(inputs: Inputs, operation: Operation) -> tuple[Ratio, Bandwidth]:
    n = inputs.world_size
    return bus_bandwidth_factor(operation, n), bus_bandwidth(inputs.size, inputs.time, operation, n)


TITLE = "Algorithm bandwidth and bus bandwidth"
QUESTION = "What does a time of nccl-tests say about the wire?"
HEADLINE = "bus_bandwidth"
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
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        "bars": partial(_bars, present, inputs, result),
        **present.values("algorithm_bandwidth", "bus_bandwidth", "factor", "wire", "share", "sent"),
        "verdict": _verdict(present, result),
        "factors": partial(_factors, present, inputs, result),
        "operations": partial(_operations, inputs, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.share > 1:
        return Badge(
            text="More than the link",
            sentence=present.say("The wire would carry {wire} of {link}: a number is not right."),
            color="bad",
        )
    if result.above > 0:
        return Badge(
            text="Above the link, and correct",
            sentence=present.say(
                "busbw is {above} above the line rate, because the factor counts bytes that the "
                "switch saves. The wire carries {wire}, {share} of it."
            ),
            color="data",
        )
    return Badge(
        text="Below the link",
        sentence=present.say("The wire carries {wire}, {share} of its line rate."),
        color="compute",
    )


def _bars(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    shown = (
        ("algorithm", "algbw: size over time", result.algorithm_bandwidth, "muted"),
        ("bus", "busbw: times the factor", result.bus_bandwidth, "communication"),
        ("wire", "on each GPU's link", result.wire, "data"),
    )
    # Room for the numbers at the ends of the rows beside the line of the link.
    high = 1.3 * max(inputs.link, *(value for _, _, value, _ in shown))
    return Bars(
        title="One time, three bandwidths",
        axis=present.axis("bus_bandwidth", "bandwidth", low=0.0, high=high),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=label, value=value, color=color),),
            )
            for key, label, value, color in shown
        ),
        rules=(Rule(key="link", label=present.say("link {link}"), axis="x", at=inputs.link),),
        caption=present.say(f"{size_text(inputs.size)} on {{world_size}} GPUs in {{time}}."),
    )


def _factors(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    shown = (
        ("few", "all-reduce", result.few, "communication"),
        ("parts", "gathers, scatters, all-to-all", result.parts, "data"),
    )
    return present.curve(
        "The factor, by the number of GPUs",
        over=Scale("world_size", "GPUs", 2.0, float(MOST), log=True),
        shows=Scale("factor", "busbw over algbw", 0.0, 2.4),
        x=COLUMN,
        lines=(Line(key, label, column, color) for key, label, column, color in shown),
        rules=(Rule(key="one", label="broadcast, reduce, send: 1", axis="y", at=1.0),),
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
