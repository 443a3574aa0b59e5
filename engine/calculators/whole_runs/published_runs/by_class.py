"""Errors on runs whose source the fit had not seen, by class, and how often the range held."""

from collections.abc import Callable, Mapping, Sequence
from math import exp, expm1

from engine.basis.text import say
from engine.basis.units import COUNT, SHARE, Ratio
from engine.basis.views import Cell, Table
from engine.calculators.whole_runs.published_runs.read import Published
from engine.calculators.whole_runs.published_runs.tables import signed
from engine.catalog.unseen_runs import unseen_logs
from engine.simulate.errors import spread
from engine.simulate.step_range import spread as range_of

_KINDS = {"dense": "dense", "mixture": "mixtures"}
_SOFTWARE = {"megatron": "Megatron", "fsdp": "FSDP", "deepspeed": "DeepSpeed", "xla": "XLA"}


def _software(row: Published) -> str:
    training = row.case.run.training
    return ("" if training.compiled else "eager ") + _SOFTWARE[training.framework]


def _scale(row: Published) -> str:
    low = 8
    while low * 4 <= row.world_size:
        low *= 4
    return f"{low:,} to {low * 4 - 1:,} GPUs"


DIVISIONS: Mapping[str, str] = {
    "gpu": "type of GPU",
    "precision": "precision",
    "software": "software",
    "scale": "number of GPUs",
    "source": "source",
}
_CLASS: Mapping[str, Callable[[Published], str]] = {
    "gpu": lambda row: row.family,
    "precision": lambda row: row.given.precision,
    "software": _software,
    "scale": _scale,
    "source": lambda row: row.cited[1],
}


def _order(name: str) -> tuple[int, str]:
    """Return what sorts classes: ranges of numbers by the first, others by their letters."""
    first = name.split()[0].replace(",", "")
    return int(first) if first.isdigit() else 0, name.lower()


def unseen_error(row: Published) -> Ratio:
    """Return the error of a run with constants fitted without its source."""
    return expm1(unseen_logs()[row.key])


def held(row: Published) -> bool:
    """Return whether the measured step lies in the range of the prediction that had not seen it."""
    found = range_of(row.case.run)
    return found.low <= exp(-unseen_logs()[row.key]) <= found.high


def table(runs: Sequence[Published], division: str) -> Table:
    """Return a row for each class of the runs that has any, after one for all of a kind."""
    rows: list[tuple[Cell, ...]] = []
    for kind, words in _KINDS.items():
        of = [row for row in runs if row.kind == kind]
        classes: dict[str, list[Published]] = {}
        for row in of:
            classes.setdefault(_CLASS[division](row), []).append(row)
        if of:
            rows.append(_row(f"{words}, all", of))
        for name in sorted(classes, key=_order):
            rows.append(_row(f"{words}, {name}", classes[name]))
    return Table(
        title="Errors on unseen runs, by class",
        columns=("Class", "Runs", "Mean", "90 %", "Worst", "Bias", "In the range"),
        rows=tuple(rows),
        caption="Absolute errors with constants fitted without the source of each run; the bias "
        "keeps the sign. The range is to hold four in five.",
    )


def _row(name: str, runs: Sequence[Published]) -> tuple[Cell, ...]:
    found = spread([unseen_error(row) for row in runs])
    inside = sum(held(row) for row in runs) / len(runs)
    sizes = (say("{x}", x=(x, SHARE)) for x in (found.mean, found.p90, found.worst))
    count = say("{n}", n=(float(len(runs)), COUNT))
    return (name, count, *sizes, signed(found.bias), say("{x}", x=(inside, SHARE)))
