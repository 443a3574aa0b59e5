"""Comparison of a tiny training on several GPUs with the same on one."""

from collections.abc import Sequence

from engine.core.numbers import format_significant, typeset
from engine.core.views import Badge, Table

_LEAST, _EQUAL = 1e-14, 1e-12


def equality_badge(difference: float) -> Badge:
    """Return the parameter difference after three steps, relative to the largest."""
    bound = "less than" if difference < _LEAST else "up to"
    how = f"by {bound} {typeset(format_significant(max(difference, _LEAST), 2))} of the largest"
    return Badge(
        text="Equal to one GPU" if difference <= _EQUAL else "Not equal",
        sentence=f"After three steps the parameters differ {how} from those of one GPU.",
        color="parameters" if difference <= _EQUAL else "communication",
    )


def loss_table(ranks: int, several: Sequence[float], alone: Sequence[float], why: str) -> Table:
    """Return the loss before every step, on several GPUs and on one; `why` is the caption."""
    rows = tuple(
        (f"step {step + 1}", typeset(f"{here:.12f}"), typeset(f"{there:.12f}"))
        for step, (here, there) in enumerate(zip(several, alone, strict=True))
    )
    return Table(
        title="The loss before every step",
        columns=("Step", f"Over {ranks} GPUs" if ranks > 1 else "Over 1 GPU", "One GPU"),
        rows=rows,
        caption=f"Twelve digits. {why}",
    )
