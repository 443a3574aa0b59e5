"""Calibrate to your cluster: measured constants in place of the catalog's, in every prediction."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from urllib.parse import quote

from engine.calculators.whole_runs.calibrate.result import PRESETS as PRESETS
from engine.calculators.whole_runs.calibrate.result import Inputs as Inputs
from engine.calculators.whole_runs.calibrate.result import Result
from engine.calculators.whole_runs.calibrate.result import solve as solve
from engine.catalog.accelerators import Gpu
from engine.catalog.reader_constants import NAMES, MeasuredConstant, format_constants, gpu_constants
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, COUNT, FLOP_RATE, RATIO, SECONDS, SHARE, Quantity
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    CalculatorLink,
    Cell,
    Code,
    Lines,
    Rule,
    Segment,
    Series,
    Table,
)
from engine.form.run.prediction_text import evidence_assumptions
from engine.run.parallelism import Cluster
from engine.simulate.measured.calibration import CalibrationPoint

TITLE = "Calibrate to your cluster"
QUESTION = "How far are my machines from the catalog's, and what does that change for my job?"
HEADLINE = "step_time"

_MEASURED = "The cost model with the measured constants in place of the catalog's."


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "step_time": present.value(
            "step_time", assumes=(_MEASURED, *evidence_assumptions(result.evidence))
        ),
        "verdict": verdict(result),
        **present.values("least", "most", "width"),
        **{name: present.value(name, note=count_note(result, name)) for name in FASTEST},
        "compared": comparison(result),
        "shares": partial(shares, result),
        "takes": constant_links(result),
        "points": partial(points, result),
        "text": Code(
            title="Your constants, for any field that asks for them",
            language="text",
            text=format_constants(result.constants) if result.constants else "nothing to carry",
        ),
    }


# Fit of the formulas to the measured times.

# Of two kinds of one color, the one that is drawn hollow.
_SECOND = ("products, 8 bits", "attention backward", "between nodes")


def points(result: Result) -> Lines:
    """Return each measured time against the formula with the fitted constants."""
    measured_points = result.calibration.points
    kinds = dict.fromkeys(point.kind for point in measured_points)
    series = tuple(
        Series(
            key=kind.replace(" ", "_").replace(",", ""),
            label=kind,
            x=tuple(point.measured for point in _of_kind(kind, result)),
            y=tuple(point.fitted / point.measured for point in _of_kind(kind, result)),
            color=_color(kind),
            dashed=kind in _SECOND,
        )
        for kind in kinds
    )
    times = [point.measured for point in measured_points] or [1e-5, 1.0]
    ratios = [point.fitted / point.measured for point in measured_points] or [1.0]
    return Lines(
        title="How well the formulas fit your times",
        x=Axis(
            label="measured time",
            quantity=SECONDS,
            low=min(times) / 1.1,
            high=max(times) * 1.1,
            scale="log",
        ),
        y=_around_one(ratios),
        series=series,
        dots=tuple(point.key for point in series),
        rules=(Rule(key="alike", label="", axis="y", at=1.0),),  # the axis names it
        caption="Small messages and small products show latency, which is not fitted here: the "
        "catalog's stays.",
    )


def _around_one(ratios: Sequence[float]) -> Axis:
    """Return an axis around 1 that spans all ratios, up to 3."""
    low, high = min(1.0, *ratios), max(1.0, *ratios)
    edge = max(0.005, 0.15 * (high - low))
    return Axis(
        label="formula over measured",
        quantity=RATIO,
        low=max(0.0, low - edge),
        high=min(3.0, high + edge),
    )


def _of_kind(kind: str, result: Result) -> list[CalibrationPoint]:
    """Return the points of a kind by time."""
    return sorted(
        (point for point in result.calibration.points if point.kind == kind),
        key=lambda point: point.measured,
    )


def _color(kind: str) -> str:
    if "node" in kind:
        return "communication"
    if kind.startswith("attention"):
        return "accent"
    return "memory" if kind == "copies" else "compute"


# Verdict on a calibration, and its constants against the catalog's.

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
    if result.constants is None:
        return Badge(
            text="Too few measurements",
            sentence="A constant needs at least two timed products, copies or attentions, or a "
            "collective of 8 MiB or more.",
            color="communication",
        )
    numbers = {
        "n": (len(result.constants.measured), COUNT),
        "all": (len(NAMES), COUNT),
        "off": (abs(result.step_time / result.ours - 1), SHARE),
    }
    change = "longer" if result.step_time > result.ours else "shorter"
    words = f"{{n}} of {{all}} constants are yours. The step below is {{off}} {change} with them."
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
    measured = dict(result.constants.measured) if result.constants else {}
    rows: list[tuple[Cell, ...]] = []
    for name in NAMES:
        measurement = measured.get(name)
        ours = getattr(table, name)
        rows.append((_LABELS[name][0], *_row(name, measurement, ours, result)))
    if result.constants and result.constants.paced:
        bits, _, software = result.constants.paced.partition(".")
        pace = say("{p}", p=(result.constants.pace, RATIO))
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
    measured = dict(result.constants.measured) if result.constants else {}
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


# Links to calculators that accept measured constants.

# Where a job's constants go, with the pages.
_PLACES: Mapping[str, tuple[str, str]] = {
    "estimate_run": ("Estimate a run", "guides/reproduce-published-runs"),
    "import_job": ("Your own configuration", "tools/import"),
    "planner": ("Plan a run", "guides/choosing-a-configuration"),
    "levers": ("What each lever gives", "guides/optimization-frontier"),
    "parallelism_modeler": ("Memory and time of every axis", "guides/parallelism-modeler"),
    "parallel_map": ("Which rank talks to which", "guides/the-map"),
    "largest_batch": ("The largest micro-batch that fits", "guides/largest-batch"),
    "stack_explorer": ("From nanoseconds to days", "guides/stack-explorer"),
    "log_check": ("Read my log", "tools/log"),
    "trace_check": ("Read my trace", "tools/trace"),
}
# These have no field for the GPU of the measurement.
_WITHOUT_GPU = ("import_job", "parallel_map")


def constant_links(result: Result) -> Table:
    """Return links that open other pages with the constants, or store them for all."""
    if result.constants is None:
        return Table(title="", columns=(), rows=())
    text, gpu = quote(format_constants(result.constants), safe=",:"), result.constants.gpu
    job = f"job.gpu={gpu}&job.machine={result.machine}&job.own_constants={text}"
    rows: list[tuple[Cell, ...]] = []
    for index, (name, (title, page)) in enumerate(_PLACES.items()):
        query = f"{name}.own_constants={text}"
        if name not in _WITHOUT_GPU:
            query = f"{name}.gpu={gpu}&{query}"
        rows.append(
            (
                title,
                CalculatorLink(
                    "open on my cluster", name, query, page=page, job=job if not index else ""
                ),
            )
        )
    return Table(
        title="Predict on your cluster",
        columns=("What it shows", ""),
        rows=tuple(rows),
        caption="A link holds the constants above, never your text. They are kept on this device "
        "with your job, and 'Use my job' puts them into any calculator that predicts a step.",
    )
