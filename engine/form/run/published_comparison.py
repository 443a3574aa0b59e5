"""What was published of a run, beside its prediction."""

from engine.catalog.reported_runs import REPORTED, Reported
from engine.core.text import say
from engine.core.units import SECONDS, SHARE, TOKEN_RATE
from engine.core.views import Cite, Table
from engine.form.run.inputs import Inputs
from engine.form.run.result import Estimated

_FIGURES = {
    "step_time": ("Step", SECONDS),
    "token_rate": ("Tokens per second of a GPU", TOKEN_RATE),
    "mfu": ("MFU", SHARE),
}


def reported_of(inputs: Inputs) -> Reported | None:
    """Return what was published of exactly this run, if anything."""
    return next((one for one in REPORTED.values() if Inputs(**one.settings) == inputs), None)  # type: ignore[arg-type]


def beside(inputs: Inputs, found: Estimated) -> Table:
    """Return the published figure beside the predicted one; empty for a run nobody published."""
    one = reported_of(inputs)
    if one is None:
        return Table(title="", columns=(), rows=())
    label, quantity = _FIGURES[one.figure]
    predicted = float(getattr(found, one.figure))
    off = predicted / one.value - 1
    return Table(
        title="Published of this run",
        columns=("What", "Predicted", "Published", "Prediction off by", "As published", "Source"),
        rows=(
            (
                label,
                say("{p}", p=(predicted, quantity)),
                say("{v}", v=(one.value, quantity)),
                say(f"{'+' if off >= 0 else '−'}{{off}}", off=(abs(off), SHARE)),
                one.said,
                Cite((one.source,)),
            ),
        ),
    )
