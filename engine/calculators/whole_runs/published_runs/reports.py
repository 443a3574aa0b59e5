"""Famous runs in brackets: what is predicted, its range, and what was published."""

from engine.basis.text import Sentence, say
from engine.basis.units import SECONDS, SHARE, TOKEN_RATE
from engine.basis.views import Cell, Cite, Table
from engine.catalog.reported import REPORTED, Reported
from engine.form.run.inputs import Inputs
from engine.form.run.repair import run_of
from engine.form.run.result import estimated

_FIGURES = {
    "step_time": ("step", SECONDS),
    "token_rate": ("tokens per second of a GPU", TOKEN_RATE),
    "mfu": ("MFU", SHARE),
}


def reports() -> Table:
    """Return each of them; a rate or an MFU goes with one over the step."""
    return Table(
        title="Predicted with its range, and published",
        columns=("Run", "Figure", "Predicted", "Range", "Published", "It lies", "Source"),
        rows=tuple(_row(name, one) for name, one in REPORTED.items()),
        caption="Published figures of whole runs hold restarts and slow phases, which a predicted "
        "step does not. Where a source gives no plan, we take the usual one of its software.",
    )


def _row(name: str, one: Reported) -> tuple[Cell, ...]:
    run, _ = run_of(Inputs(**one.settings))  # type: ignore[arg-type]
    found = estimated(run)
    label, quantity = _FIGURES[one.figure]
    value = float(getattr(found, one.figure))
    ends_of_step = ("step_time_low", "step_time_high")
    low, high = (found.estimate[end] / found.step_time for end in ends_of_step)
    ends = (value * low, value * high)
    if one.figure != "step_time":
        ends = (value / high, value / low)

    def told(number: float) -> Sentence:
        return say("{x}", x=(number, quantity))

    between = say("{a} to {b}", a=(ends[0], quantity), b=(ends[1], quantity))
    where = "inside" if ends[0] <= one.value <= ends[1] else "outside"
    return (name, label, told(value), between, told(one.value), where, Cite((one.source,)))
