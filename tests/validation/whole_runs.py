"""GPU-hours of the steps of every published whole run, by the step model.

`python -m tests.validation.whole_runs` writes `engine/catalog/whole_run_forecasts.py` again.
"""

from pathlib import Path

from engine.catalog import whole_run_forecasts
from engine.catalog.reported_hours import WHOLE_RUNS
from engine.catalog.whole_run_record import WholeRun
from engine.core.units import HOUR
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.run.run import Run
from engine.simulate.job.forecast import forecast

_HEAD = '''"""Published whole runs: GPU-hours of their steps by the step model, published, source.

Written by `python -m tests.validation.whole_runs`; the plans stand in `reported_hours`, which pages
that need the factor alone do without. The steps are without failures.
"""

from collections.abc import Mapping

FORECAST_HOURS: Mapping[str, tuple[float, float, str]] = {
'''


def run_of(whole: WholeRun) -> tuple[Run, bool]:
    """Return the run of a row, and whether its plan is possible as it stands."""
    run, changes = nearest_run(Inputs(**whole.settings))  # type: ignore[arg-type]
    return run, not changes


def forecast_hours(whole: WholeRun) -> float:
    """Return the GPU-hours of the steps alone."""
    run, _ = run_of(whole)
    return forecast(run, whole.tokens, None).run.wall * run.plan.world_size / HOUR


def table() -> str:
    """Return the text of the module."""
    rows = "".join(
        f'    "{run.name}": ({forecast_hours(run):_.0f}, {run.gpu_time / HOUR:_.0f}, '
        f'"{run.source}"),\n'
        for run in WHOLE_RUNS
    )
    return f"{_HEAD}{rows}}}\n"


def main() -> None:
    """Write the table."""
    Path(whole_run_forecasts.__file__).write_text(table())


if __name__ == "__main__":
    main()
