"""Steps of MLPerf® Training: measured in audited runs, and predicted."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.mlperf_runs.result import (
    BENCHMARKS,
    DIVISIONS,
    NETWORKS,
    SHORT,
    TIME_TO_TRAIN,
    Compared,
    Picked,
    Result,
    compared,
    result_of,
)
from engine.catalog.mlperf_steps import TERMS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE, TOKENS, Quantity, Ratio
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    CalculatorLink,
    Cell,
    Challenge,
    Code,
    Condition,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Table,
    WebLink,
)

# Tables of the rows of MLPerf® Training: groups, all rows, and the picked one.

PER_PAGE = 12
ESTIMATE_PAGE = "guides/reproduce-published-runs"


def signed_share(value: Ratio) -> str:
    """Return a share in percent with its sign."""
    return f"{'+' if value >= 0 else '−'}{abs(value) * 100:.1f} %"


def picked_table(picked: Picked) -> Table:
    """Return the table of the picked row: its job, its log and its estimate."""
    row = picked.row
    lines = _details(row) if row else ()
    return Table(title="The row", columns=("What", "As submitted"), rows=tuple(lines))


def _details(row: Compared) -> tuple[tuple[Cell, ...], ...]:
    run, training = row.row, row.document["training"]
    batch = training["global_batch_size"], training["micro_batch_size"]
    logs = say(
        f"{run.method}; samples: {{s}}, logs: {{r}}",
        s=(float(run.samples), COUNT),
        r=(float(run.runs), COUNT),
    )
    return (
        ("Benchmark", f"MLPerf® Training {run.version} Closed, {BENCHMARKS[run.benchmark]}"),
        ("Submitter and system", f"{run.submitter}, {run.system}"),
        ("GPUs", f"{run.world_size:,} × {run.accelerator}; {NETWORKS[row.network]}"),
        ("Plan", f"{row.plan}, {run.precision}; batch {batch[0]:,}, micro-batch {batch[1]}"),
        ("Tokens of a GPU in a step", say("{t}", t=(row.tokens, TOKENS))),
        ("Step", logs),
        *_clock(row),
        ("Assumed", run.note or "nothing"),
        ("Memory", "fits by the model" if row.step.fits else "does not fit by the model, and ran"),
        ("Seen by a constant", "yes" if row.step.seen else "no"),
        ("Range calibrated on it", "yes" if row.step.calibrates else "no"),
        ("Read from", ", ".join(run.repository.split("/"))),
        ("Log", _log(row)),
        ("Estimate", _estimate(row) or "no field of the form says this run; its file is below"),
    )


def _clock(row: Compared) -> tuple[tuple[Cell, ...], ...]:
    """Return what the logs tell beside the median step."""
    run = row.row
    times = (
        ("Mean step between evaluations", run.block_mean),
        ("Start to stop, median of the logs", run.time_to_train),
    )
    return tuple((name, say("{t}, unverified", t=(time, SECONDS))) for name, time in times if time)


def _log(row: Compared) -> WebLink:
    run = row.row
    return WebLink(text=f"{run.log.split('/')[-1]}, {run.commit[:8]}", address=run.log_address)


def _estimate(row: Compared) -> Cell:
    if not row.step.query:
        return ""
    return CalculatorLink("open", "estimate_run", row.step.query, page=ESTIMATE_PAGE)


def group_table(result: Result) -> Table:
    """Return errors and hits of the ranges by group."""
    body: list[tuple[Cell, ...]] = []
    for group in result.groups():
        count = say("{n}", n=(float(len(group.rows)), COUNT))
        off = group.errors
        shares = (say("{x}", x=(x, SHARE)) for x in (off.mean, off.worst))
        ends = (say("{x}", x=(x, SHARE)) for x in (group.inside, group.warned))
        body.append((group.name, count, *shares, signed_share(off.bias), *ends))
    return Table(
        title="Errors and ranges, by group",
        columns=("Group", "Rows", "Mean", "Worst", "Bias", "In the range", "Warned"),
        rows=tuple(body),
        caption="The range is to hold four rows in five. Warned: the estimate says that the run "
        "goes beyond all runs that constants were fitted to.",
    )


def run_table(rows: Sequence[Compared], page: int) -> Table:
    """Return a page of the chosen rows, each with its log and its estimate."""
    pages = max(1, -(-len(rows) // PER_PAGE))
    page = min(page, pages)
    shown = rows[(page - 1) * PER_PAGE : page * PER_PAGE]
    return Table(
        title="Row by row",
        columns=(
            *("Run", "Error", "Measured, unverified", "Predicted", "Range", "Jitter"),
            *("Submitter", "Log", "Estimate"),
        ),
        rows=tuple(_line(row) for row in shown),
        caption=say(
            "Page {page} of {pages}. Jitter: 99th percentile over median, where the log tells it. "
            "The form of the estimate has no field for what a row without a link says.",
            page=(page, COUNT),
            pages=(pages, COUNT),
        ),
    )


def _line(row: Compared) -> tuple[Cell, ...]:
    run, step = row.row, row.step
    jitter: Text = say("{j}", j=(run.jitter, RATIO)) if run.jitter else ""
    return (
        row.name,
        signed_share(row.error) + ("" if row.inside else ", outside"),
        say("{t}", t=(run.step, SECONDS)),
        say("{t}", t=(step.predicted, SECONDS)),
        say("{a} to {b}", a=(step.low, SECONDS), b=(step.high, SECONDS)),
        jitter,
        f"{run.submitter}, {run.version}",
        WebLink(text="log", address=run.log_address),
        _estimate(row),
    )


# Verdict and run file of the picked row of MLPerf® Training, and the challenge.

# What the challenge asks for: so many rows, and so much jitter.
FEWEST, JITTER = 5, 1.2


def verdict(present: Presenter, picked: Picked) -> Badge:
    """Return whether the measured step of the picked row lies in its range."""
    row = picked.row
    if row is None:
        return Badge(text="No row", sentence="No row is left to pick.", color="muted")
    words = f"{row.name}, {row.row.submitter}, {row.row.version}: measured {{picked_measured}} "
    words += f"(unverified), predicted {{picked_step}} ({signed_share(row.error)}), with a range "
    words += "from {low} to {high}."
    if row.row.jitter:
        words += " The 99th percentile of its steps is {picked_jitter} the median."
    return Badge(
        text="Inside the range" if row.inside else "Outside the range",
        sentence=present.say(words, low=(row.step.low, SECONDS), high=(row.step.high, SECONDS)),
        color="compute" if row.inside else "bad",
    )


def run_file(picked: Picked) -> Code:
    """Return the run file of the picked row."""
    row = picked.row
    text = json.dumps(row.document, indent=1) if row else "{}"
    return Code(title="The run file of this row", language="json", text=text)


def challenge(present: Presenter, result: Result) -> Challenge:
    """Return the goal: the rows whose steps vary most."""
    return Challenge(
        title="Where do steps vary?",
        goal="Filter the rows until those are left whose steps vary most.",
        conditions=(
            Condition(
                text=say("{n} rows or more are left", n=(float(FEWEST), COUNT)),
                met=result.rows >= FEWEST,
            ),
            Condition(
                text=present.say(
                    "their median jitter, {jitter_median}, is {most} or more",
                    most=(JITTER, RATIO),
                ),
                met=result.jitter_median >= JITTER,
            ),
        ),
        hints=(
            "The slowest of many takes longer than the slowest of few.",
            "Try the largest dense model, and then one type of GPU.",
        ),
        start={"benchmark": "all", "gpu": "all", "network": "all", "submitter": "all",
               "tokens": "all"},
        solution={"benchmark": "llama31_405b", "gpu": "H100"},
    )  # fmt: skip


# Charts of the rows of MLPerf® Training: errors, jitter, and the parts of a step.

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


def _x_of_row(row: Compared, across: str) -> float:
    return {"step": row.row.step, "tokens": row.tokens, "gpus": float(row.row.world_size)}[across]


def scatter(result: Result, across: str) -> Lines:
    """Return the error of every row, and which of them lie in their range."""
    rows, picked = result.chosen, result.picked.row
    xs = [_x_of_row(row, across) for row in rows] or [1.0]
    most = max([abs(row.error) for row in rows], default=0.0)
    high = max(0.2, 1.15 * most)
    points = () if picked is None else (
        Point(key="picked", label="picked", x=_x_of_row(picked, across), y=picked.error),
    )  # fmt: skip
    return Lines(
        title="Predicted over measured, row by row",
        x=Axis(
            label=ACROSS[across],
            quantity=_QUANTITY[across],
            low=min(xs) / 1.3,
            high=max(xs) * 1.3,
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
    of = sorted(
        (row for row in rows if row.inside == inside), key=lambda row: _x_of_row(row, across)
    )
    return Series(
        key=key,
        label=label,
        x=tuple(_x_of_row(row, across) for row in of),
        y=tuple(row.error for row in of),
        color="compute" if inside else "bad",
    )


def jitters(rows: Sequence[Compared]) -> Lines:
    """Return the jitter of every row whose log tells it, across its GPUs."""
    with_jitter = [row for row in rows if row.row.jitter]
    most = max([row.row.jitter for row in with_jitter], default=1.1)
    sizes = [float(row.row.world_size) for row in with_jitter] or [8.0]
    one_domain = [row for row in with_jitter if row.network == "one"]
    several_domains = [row for row in with_jitter if row.network != "one"]
    return Lines(
        title="Jitter across GPUs",
        x=Axis(label="GPUs", quantity=COUNT, low=min(sizes) / 1.3, high=1.3 * max(sizes),
               scale="log"),
        y=Axis(label="99th percentile over median", quantity=RATIO, low=1.0, high=1.05 * most),
        series=(
            _jitter("one", "one NVLink domain", one_domain, "compute"),
            _jitter("more", "several, over ports", several_domains, "communication"),
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


TITLE = "MLPerf® Training"
QUESTION = "How far are predicted steps from those of audited runs?"
HEADLINE = "mean"
EQUATIONS = (TIME_TO_TRAIN,)
PRESETS = {
    "Short steps": {"tokens": "short", "across": "tokens"},
    "Mixtures: DeepSeek-V3": {"benchmark": "deepseekv3_671b", "across": "gpus"},
    "By type of GPU": {"division": "gpu"},
}
ALL = "all"
_GPUS = tuple(sorted({row.row.gpu for row in compared()}))
_SUBMITTERS = tuple(sorted({row.row.submitter for row in compared()}))
_PAGES = -(-len(compared()) // PER_PAGE)
_KEYS: Mapping[str, Callable[[Compared], float]] = {
    "worst": lambda row: -abs(row.error),
    "fast": lambda row: row.error,
    "slow": lambda row: -row.error,
    "short": lambda row: row.tokens,
}


def _options(names: tuple[str, ...]) -> dict[str, str]:
    return {ALL: "all"} | {name: name for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs: filter, order and view of the rows."""

    benchmark: Annotated[
        str, Choice(label="Benchmark", options={ALL: "all"} | dict(BENCHMARKS))
    ] = ALL
    gpu: Annotated[str, Choice(label="GPU", options=_options(_GPUS))] = ALL
    network: Annotated[str, Choice(label="Network", options={ALL: "all"} | dict(NETWORKS))] = ALL
    submitter: Annotated[str, Choice(label="Submitter", options=_options(_SUBMITTERS))] = ALL
    tokens: Annotated[
        str,
        Choice(
            label="Tokens of a GPU in a step",
            options={ALL: "all", "short": f"{SHORT:,.0f} or fewer", "long": "more"},
        ),
    ] = ALL
    order: Annotated[
        str,
        Choice(
            label="Order",
            options={
                "worst": "largest miss first",
                "fast": "most optimistic first",
                "slow": "too slow first",
                "short": "fewest tokens first",
            },
        ),
    ] = "worst"
    pick: Annotated[
        int,
        Number(
            label="Row",
            low=1,
            high=len(compared()),
            whole=True,
            help="Of the chosen rows, in their order.",
        ),
    ] = 1
    across: Annotated[str, Choice(label="Across", options=ACROSS)] = "step"
    division: Annotated[str, Choice(label="Group by", options=DIVISIONS)] = "benchmark"
    page: Annotated[int, Number(label="Page", low=1, high=_PAGES, whole=True)] = 1


def solve(inputs: Inputs) -> Result:
    """Return the chosen rows, their errors, and the picked row."""
    chosen = [row for row in compared() if _wanted(row, inputs)]
    return result_of(sorted(chosen, key=_KEYS[inputs.order]), inputs.pick, inputs.division)


def _wanted(row: Compared, inputs: Inputs) -> bool:
    size = "short" if row.tokens <= SHORT else "long"
    return (
        inputs.benchmark in (ALL, row.row.benchmark)
        and inputs.gpu in (ALL, row.row.gpu)
        and inputs.network in (ALL, row.network)
        and inputs.submitter in (ALL, row.row.submitter)
        and inputs.tokens in (ALL, size)
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, equations=EQUATIONS)
    picked = result.picked
    chosen = Presenter(picked)
    return {
        **present.values("rows", "mean", "median", "bias", "worst", "inside"),
        "scatter": partial(scatter, result, inputs.across),
        "picked_verdict": verdict(chosen, picked),
        "picked_bars": partial(bars, picked),
        **chosen.values("picked_step", "picked_measured"),
        "table": partial(run_table, result.chosen, inputs.page),
        "picked_table": partial(picked_table, picked),
        "run_file": partial(run_file, picked),
        "jitters": partial(jitters, result.chosen),
        "groups": partial(group_table, result),
        **present.values("jitter_median", "jitter_most", "pauses_most", "unfit"),
        **present.values("seen", "unseen", "calibrating", "inside_new"),
        **present.values("duplicates", "unpredicted"),
        **present.values("to_train", "steps", "step", "evaluations", "evaluation"),
        **present.values("evaluation_share", "clock", "untimed"),
        "challenge": partial(challenge, present, result),
    }
