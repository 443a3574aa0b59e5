"""Verdict on a calibration, and its constants against the catalog's."""

from collections.abc import Mapping
from math import isfinite

from engine.calculators.whole_runs.calibrate.result import Result
from engine.catalog.accelerators import Gpu
from engine.catalog.reader_constants import NAMES, MeasuredConstant, gpu_constants
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, COUNT, FLOP_RATE, RATIO, SECONDS, SHARE, Quantity
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Rule, Segment, Table
from engine.run.parallelism import Cluster

_LABELS: Mapping[str, tuple[str, str]] = {
    "matmul": ("Large products, 16 bits", "compute"),
    "matmul_fp8": ("Large products, 8 bits", "compute"),
    "attention_forward": ("Attention forward", "compute"),
    "attention_backward": ("Attention backward", "compute"),
    "fill": ("Fill of a tile", "compute"),
    "memory": ("Memory, streaming", "memory"),
    "scale_up": ("Links in a node", "communication"),
    "network": ("Network ports", "communication"),
}
# What the fastest of each kind counts.
FASTEST: Mapping[str, str] = {
    "product": "",
    "copy": "read and written together",
    "collective": "on the bus",
}


def verdict(result: Result) -> Badge:
    """Return a badge with the measurements, and how many of them count."""
    if not result.machine:
        return Badge(
            text="No machine of the catalog",
            sentence="Nothing here says which GPU of the catalog this is, so nothing can be "
            "compared. If it is one of them, choose it under Machines.",
            color="muted",
        )
    if result.own is None:
        return Badge(
            text="Too few measurements",
            sentence="A constant needs at least two timed products, copies or attentions, or a "
            "collective of 8 MiB or more.",
            color="communication",
        )
    numbers = {
        "n": (len(result.own.measured), COUNT),
        "all": (len(NAMES), COUNT),
        "off": (abs(result.step_time / result.ours - 1), SHARE),
    }
    way = "longer" if result.step_time > result.ours else "shorter"
    words = f"{{n}} of {{all}} constants are yours. The step below is {{off}} {way} with them."
    if result.logged:
        numbers["ratio"] = (result.logged[1], RATIO)
        words += " The log's median step is {ratio} times as long as the catalog predicts; a "
        words += "third of that is taken to be the cluster's, and the rest the job's."
    if result.unread:
        numbers["unread"] = (result.unread, COUNT)
        words += " Rows that are no measurement: {unread}."
    return Badge(text="Calibrated", sentence=say(words, **numbers), color="compute")


def count_note(result: Result, name: str) -> str:
    """Return the note of a fastest measurement, or that none of its kind exists."""
    return FASTEST[name] if isfinite(getattr(result, name)) else "not measured"


def comparison(result: Result) -> Table:
    """Return each constant: measured, the catalog's, and the datasheet."""
    gpu = result.run.cluster.gpu
    table = gpu_constants(gpu, None)
    measured = dict(result.own.measured) if result.own else {}
    rows: list[tuple[Cell, ...]] = []
    for name in NAMES:
        measurement = measured.get(name)
        ours = getattr(table, name)
        rows.append((_LABELS[name][0], *_row(name, measurement, ours, result)))
    if result.own and result.own.paced:
        bits, _, software = result.own.paced.partition(".")
        pace = say("{p}", p=(result.own.pace, RATIO))
        rows.append((f"Pace of {software} in {bits} bits", pace, "", "1×", "", "none"))
    return Table(
        title="Your constants beside ours",
        columns=("Constant", "Yours", "Error", "Ours", "Yours over ours", "Datasheet"),
        rows=tuple(rows),
        caption=f"Shares are of the datasheet of {gpu.name}. What was not measured stays ours.",
    )


def _row(
    name: str, measurement: MeasuredConstant | None, ours: float, result: Result
) -> tuple[Cell, ...]:
    quantity: Quantity = SECONDS if name == "fill" else SHARE
    sheet = _datasheet_figure(name, result.run.cluster)
    if measurement is None:
        return "not measured", "", say("{o}", o=(ours, quantity)), "", sheet
    return (
        say("{v}", v=(measurement.value, quantity)),
        say("{e}", e=(measurement.error, SHARE)),
        say("{o}", o=(ours, quantity)),
        say("{r}", r=(measurement.value / ours, RATIO)),
        sheet,
    )


def _datasheet_figure(name: str, cluster: Cluster) -> Text:
    """Return the datasheet figure behind a share."""
    gpu = cluster.gpu
    if name == "fill":
        return "none"
    if name == "memory":
        return say("{b}", b=(gpu.memory_bandwidth, BANDWIDTH))
    if name == "scale_up":
        return say("{b}, one way", b=(gpu.scale_up or gpu.pcie, BANDWIDTH))
    if name == "network":
        return say("{b} per port, one way", b=(cluster.nic_bandwidth, BANDWIDTH))
    return _peak(gpu, "fp8" if name == "matmul_fp8" else "fp16")


def _peak(gpu: Gpu, precision: str) -> Text:
    rate = gpu.peak.get(precision, 0.0)
    return say("{r}, dense", r=(rate, FLOP_RATE)) if rate else "none"


def shares(result: Result) -> Bars:
    """Return reached shares of the datasheet figures: yours with its error, and ours."""
    table = gpu_constants(result.run.cluster.gpu, None)
    measured = dict(result.own.measured) if result.own else {}
    bars: list[Bar] = []
    for name in NAMES:
        if name == "fill":
            continue
        label, color = _LABELS[name]
        bars.append(_bar(f"{name}_ours", f"{label}, ours", getattr(table, name), "muted"))
        if measurement := measured.get(name):
            bars.append(
                _bar(
                    name,
                    f"{label}, yours",
                    measurement.value,
                    color,
                    measurement.error * measurement.value,
                )
            )
    most = max(bar.segments[0].value + (bar.high - bar.low) / 2 for bar in bars)
    return Bars(
        title="What is reached of the datasheet",
        axis=Axis(
            label="share of the datasheet", quantity=SHARE, low=0.0, high=max(1.0, 1.02 * most)
        ),
        bars=tuple(bars),
        rules=(Rule(key="sheet", label="datasheet", axis="x", at=1.0),),
        caption="Gray is the catalog's constant, fitted to published runs. A colored bar is "
        "yours, with its standard error.",
    )


def _bar(key: str, label: str, value: float, color: str, error: float = 0.0) -> Bar:
    return Bar(
        key=key,
        label=label,
        segments=(Segment(key=key, label=label, value=value, color=color),),
        low=max(0.0, value - error) if error else 0.0,
        high=value + error if error else 0.0,
    )
