"""Tables of the rows of MLPerf® Training: groups, all rows, and the picked one."""

from collections.abc import Sequence

from engine.calculators.whole_runs.mlperf_runs.read import BENCHMARKS, NETWORKS, Compared
from engine.calculators.whole_runs.mlperf_runs.result import Picked, Result
from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE, TOKENS, Ratio
from engine.core.views import CalculatorLink, Cell, Table, WebLink

PER_PAGE = 12
ESTIMATE_PAGE = "guides/reproduce-published-runs"


def signed_share(value: Ratio) -> str:
    """Return a share in percent with its sign."""
    return f"{'+' if value >= 0 else '−'}{abs(value) * 100:.1f} %"


def picked_table(picked: Picked) -> Table:
    """Return what the picked row is, with its log and its estimate."""
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
    told = (
        ("Mean step between evaluations", run.block_mean),
        ("Start to stop, median of the logs", run.time_to_train),
    )
    return tuple((name, say("{t}, unverified", t=(time, SECONDS))) for name, time in told if time)


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
