"""Famous runs in brackets: what is predicted, its range, and what was published."""

from engine.calculators.whole_runs.published_runs.grouped import Bracket
from engine.calculators.whole_runs.published_runs.result import Result
from engine.catalog.reported_runs import REPORTED, Reported
from engine.core.text import Sentence, say
from engine.core.units import SECONDS, SHARE, TOKEN_RATE
from engine.core.views import Cell, Cite, Table

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
        rows=tuple(_row(name, one, brackets[name]) for name, one in REPORTED.items()),
        caption="Published figures of whole runs hold restarts and slow phases, which a predicted "
        "step does not. Where a source gives no plan, we take the usual one of its software.",
    )


def _row(name: str, one: Reported, found: Bracket) -> tuple[Cell, ...]:
    label, quantity = _FIGURES[one.figure]

    def told(number: float) -> Sentence:
        return say("{x}", x=(number, quantity))

    between = say("{a} to {b}", a=(found.low, quantity), b=(found.high, quantity))
    where = "inside" if found.holds(one.value) else "outside"
    return (name, label, told(found.value), between, told(one.value), where, Cite((one.source,)))
