"""Links to calculators that accept measured constants."""

from collections.abc import Mapping
from urllib.parse import quote

from engine.calculators.whole_runs.calibrate.result import Result
from engine.catalog.reader_constants import format_constants
from engine.core.views import CalculatorLink, Cell, Table

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
    if result.own is None:
        return Table(title="", columns=(), rows=())
    text, gpu = quote(format_constants(result.own), safe=",:"), result.own.gpu
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
