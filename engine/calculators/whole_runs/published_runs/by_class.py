"""The table of errors on unseen runs, by class."""

from engine.calculators.whole_runs.published_runs.classes import Class
from engine.calculators.whole_runs.published_runs.tables import signed_share
from engine.core.lazy import Lazy
from engine.core.text import say
from engine.core.units import COUNT, SHARE
from engine.core.views import Cell, Table


def table(classes: Lazy[tuple[Class, ...]]) -> Table:
    """Return a row for each class."""
    return Table(
        title="Errors on unseen runs, by class",
        columns=(
            *("Class", "Runs", "Mean", "90 %", "Worst", "Bias"),
            *("In the range", "Without the model"),
        ),
        rows=tuple(_row(run_class) for run_class in classes()),
        caption="Absolute errors with constants fitted without the source of each run; the bias "
        "keeps the sign. The range is to hold four in five, also with constants fitted without the "
        "model of each run: the last column.",
    )


def _row(run_class: Class) -> tuple[Cell, ...]:
    errors = run_class.errors
    sizes = (say("{x}", x=(x, SHARE)) for x in (errors.mean, errors.p90, errors.worst))
    count = say("{n}", n=(float(run_class.runs), COUNT))
    inside = (say("{x}", x=(x, SHARE)) for x in (run_class.inside, run_class.inside_model))
    return (run_class.name, count, *sizes, signed_share(errors.bias), *inside)
