"""Fit of the formulas to the measured times."""

from collections.abc import Sequence

from engine.calculators.whole_runs.calibrate.result import Result
from engine.core.units import RATIO, SECONDS
from engine.core.views import Axis, Lines, Rule, Series
from engine.simulate.measured.calibration import CalibrationPoint

# Of two kinds of one color, the one that is drawn hollow.
_SECOND = ("products, 8 bits", "attention backward", "between nodes")


def points(result: Result) -> Lines:
    """Return each measured time against the formula with the fitted constants."""
    measured_points = result.found.points
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
        (point for point in result.found.points if point.kind == kind),
        key=lambda point: point.measured,
    )


def _color(kind: str) -> str:
    if "node" in kind:
        return "communication"
    if kind.startswith("attention"):
        return "accent"
    return "memory" if kind == "copies" else "compute"
