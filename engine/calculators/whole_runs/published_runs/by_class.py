"""The table of errors on unseen runs, by class."""

from engine.calculators.whole_runs.published_runs.classes import Class
from engine.calculators.whole_runs.published_runs.tables import signed
from engine.core.lazy import Later
from engine.core.text import say
from engine.core.units import COUNT, SHARE
from engine.core.views import Cell, Table


def table(found: Later[tuple[Class, ...]]) -> Table:
    """Return a row for each class."""
    return Table(
        title="Errors on unseen runs, by class",
        columns=(
            *("Class", "Runs", "Mean", "90 %", "Worst", "Bias"),
            *("In the range", "Without the model"),
        ),
        rows=tuple(_row(one) for one in found()),
        caption="Absolute errors with constants fitted without the source of each run; the bias "
        "keeps the sign. The range is to hold four in five, also with constants fitted without the "
        "model of each run: the last column.",
    )


def _row(one: Class) -> tuple[Cell, ...]:
    errors = one.errors
    sizes = (say("{x}", x=(x, SHARE)) for x in (errors.mean, errors.p90, errors.worst))
    count = say("{n}", n=(float(one.runs), COUNT))
    inside = (say("{x}", x=(x, SHARE)) for x in (one.inside, one.inside_model))
    return (one.name, count, *sizes, signed(errors.bias), *inside)
