"""Famous runs: prediction, range and published figure."""

from engine.calculators.whole_runs.published_runs.grouped import Bracket
from engine.calculators.whole_runs.published_runs.result import Result
from engine.catalog.reported_runs import REPORTED, ReportedRun
from engine.core.text import Sentence, say
from engine.core.units import SECONDS, SHARE, TOKEN_RATE
from engine.core.views import Cell, Citation, Table

_FIGURES = {
    "step_time": ("step", SECONDS),
    "token_rate": ("tokens per second of a GPU", TOKEN_RATE),
    "mfu": ("MFU", SHARE),
}


def reports(result: Result) -> Table:
    """Return each of them."""
    brackets = result.brackets()
    return Table(
        title="Predicted with its range, and published",
        columns=("Run", "Figure", "Predicted", "Range", "Published", "It lies", "Source"),
        rows=tuple(_row(name, report, brackets[name]) for name, report in REPORTED.items()),
        caption="Published figures of whole runs hold restarts and slow phases, which a predicted "
        "step does not. Where a source gives no plan, we take the usual one of its software.",
    )


def _row(name: str, report: ReportedRun, bracket: Bracket) -> tuple[Cell, ...]:
    label, quantity = _FIGURES[report.figure]

    def told(number: float) -> Sentence:
        return say("{x}", x=(number, quantity))

    between = say("{a} to {b}", a=(bracket.low, quantity), b=(bracket.high, quantity))
    where = "inside" if bracket.holds(report.value) else "outside"
    return (
        name,
        label,
        told(bracket.value),
        between,
        told(report.value),
        where,
        Citation((report.source,)),
    )
