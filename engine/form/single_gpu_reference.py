"""A tiny training over several GPUs beside the same on one: are they equal, step by step?"""

from collections.abc import Sequence

from engine.core.numbers import significant, typeset
from engine.core.views import Badge, Table

_LEAST, _EQUAL = 1e-14, 1e-12


def equal(off: float) -> Badge:
    """Return by what share of the largest the parameters differ after three steps."""
    bound = "less than" if off < _LEAST else "up to"
    how = f"by {bound} {typeset(significant(max(off, _LEAST), 2))} of the largest"
    return Badge(
        text="Equal to one GPU" if off <= _EQUAL else "Not equal",
        sentence=f"After three steps the parameters differ {how} from those of one GPU.",
        color="parameters" if off <= _EQUAL else "communication",
    )


def losses(ranks: int, several: Sequence[float], alone: Sequence[float], why: str) -> Table:
    """Return the loss before every step, over so many GPUs and on one; `why` is told below."""
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
