"""Charts of the rows of MLPerf® Training: errors, jitter, and the parts of a step."""

from collections.abc import Mapping, Sequence

from engine.calculators.whole_runs.mlperf_runs.read import Compared
from engine.calculators.whole_runs.mlperf_runs.result import Picked, Result
from engine.catalog.mlperf_steps import TERMS
from engine.core.units import COUNT, RATIO, SECONDS, SHARE, TOKENS, Quantity
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series

ACROSS: Mapping[str, str] = {
    "step": "measured step",
    "tokens": "tokens of a GPU in a step",
    "gpus": "GPUs",
}
_QUANTITY: Mapping[str, Quantity] = {"step": SECONDS, "tokens": TOKENS, "gpus": COUNT}
_TERM_LOOK: Mapping[str, tuple[str, str]] = {
    "compute": ("computation", "compute"),
    "tensor_parallel": ("tensor parallel, exposed", "tensor"),
    "context_parallel": ("context parallel, exposed", "context"),
    "expert_parallel": ("expert parallel, exposed", "expert"),
    "pipeline": ("between stages, exposed", "pipeline"),
    "data_parallel": ("data parallel, exposed", "data"),
    "bubble": ("pipeline bubble", "idle"),
    "optimizer": ("optimizer", "memory"),
    "other": ("host and stragglers", "muted"),
}


def _place(row: Compared, across: str) -> float:
    return {"step": row.row.step, "tokens": row.tokens, "gpus": float(row.row.world_size)}[across]


def scatter(result: Result, across: str) -> Lines:
    """Return the error of every row, and which of them lie in their range."""
    rows, picked = result.chosen, result.picked.row
    places = [_place(row, across) for row in rows] or [1.0]
    most = max([abs(row.error) for row in rows], default=0.0)
    high = max(0.2, 1.15 * most)
    points = () if picked is None else (
        Point(key="picked", label=picked.name, x=_place(picked, across), y=picked.error),
    )  # fmt: skip
    return Lines(
        title="Predicted over measured, row by row",
        x=Axis(
            label=ACROSS[across],
            quantity=_QUANTITY[across],
            low=min(places) / 1.3,
            high=max(places) * 1.3,
            scale="log",
        ),
        y=Axis(label="error of the predicted step", quantity=SHARE, low=-high, high=high),
        series=(
            _dots("inside", "measured step in the range", rows, across, inside=True),
            _dots("outside", "outside of it", rows, across, inside=False),
        ),
        points=points,
        rules=(Rule(key="none", label="as measured", axis="y", at=0.0),),
        caption="Above zero the model is too slow. Measured steps are derived from logs of MLPerf® "
        "Training and not verified by MLCommons Association; logs submitted twice count once.",
        dots=("inside", "outside"),
    )


def _dots(key: str, label: str, rows: Sequence[Compared], across: str, *, inside: bool) -> Series:
    of = sorted((row for row in rows if row.inside == inside), key=lambda row: _place(row, across))
    return Series(
        key=key,
        label=label,
        x=tuple(_place(row, across) for row in of),
        y=tuple(row.error for row in of),
        color="compute" if inside else "bad",
    )


def jitters(rows: Sequence[Compared]) -> Lines:
    """Return the jitter of every row whose log tells it, across its GPUs."""
    told = [row for row in rows if row.row.jitter]
    most = max([row.row.jitter for row in told], default=1.1)
    sizes = [float(row.row.world_size) for row in told] or [8.0]
    one = [row for row in told if row.network == "one"]
    more = [row for row in told if row.network != "one"]
    return Lines(
        title="Jitter across GPUs",
        x=Axis(label="GPUs", quantity=COUNT, low=min(sizes) / 1.3, high=1.3 * max(sizes),
               scale="log"),
        y=Axis(label="99th percentile over median", quantity=RATIO, low=1.0, high=1.05 * most),
        series=(
            _jitter("one", "one NVLink domain", one, "compute"),
            _jitter("more", "several, over ports", more, "communication"),
        ),
        caption="Measured, from logs; not verified by MLCommons Association. A sample of a log may "
        "be the mean of many steps, which hides a part of the tail.",
        dots=("one", "more"),
    )  # fmt: skip


def _jitter(key: str, label: str, rows: Sequence[Compared], color: str) -> Series:
    of = sorted(rows, key=lambda row: row.row.world_size)
    return Series(
        key=key,
        label=label,
        x=tuple(float(row.row.world_size) for row in of),
        y=tuple(row.row.jitter for row in of),
        color=color,
    )


def bars(picked: Picked) -> Bars:
    """Return the terms of the predicted step above the measured one and its 99th percentile."""
    row = picked.row
    if row is None:
        axis = Axis(label="time of a step", quantity=SECONDS, low=0.0, high=1.0)
        return Bars(title="Where the step goes", axis=axis, bars=())
    step, run = row.step, row.row
    terms = tuple(
        Segment(key=name, label=_TERM_LOOK[name][0], value=value, color=_TERM_LOOK[name][1])
        for name, value in zip(TERMS, step.terms, strict=True)
        if value
    )
    slow = (_whole("p99", "measured, 99th percentile", run.step_p99),) if run.step_p99 else ()
    most = max(step.high, run.step, run.step_p99)
    return Bars(
        title="Where the step goes",
        axis=Axis(label="time of a step", quantity=SECONDS, low=0.0, high=1.06 * most),
        bars=(
            Bar(key="predicted", label="predicted", segments=terms, low=step.low, high=step.high),
            _whole("measured", "measured, median", run.step),
            *slow,
        ),
        caption="The parts are those of our model; a log has none. The thin line is the range.",
    )


def _whole(key: str, label: str, value: float) -> Bar:
    segment = Segment(key="measured", label="measured", value=value, color="accent")
    return Bar(key=key, label=label, segments=(segment,))
