"""Errors on runs whose source the fit had not seen, by class, and how often the range held."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp, expm1

from engine.calculators.whole_runs.published_runs.read import Published
from engine.catalog.unseen_runs import ROUNDED, unseen_both, unseen_logs
from engine.core.record import record
from engine.core.units import Count, Ratio, Share
from engine.simulate.numerics.error_spread import Spread, spread
from engine.simulate.step.step_range import Spread as Range
from engine.simulate.step.step_range import spread as range_of

_KINDS = {"dense": "dense", "mixture": "mixtures"}
_SOFTWARE = {"megatron": "Megatron", "fsdp": "FSDP", "deepspeed": "DeepSpeed", "xla": "XLA"}


@record
class Class:
    """Runs of one class, what their unseen errors amount to, and how many the range holds.

    Attributes:
        name: of the class.
        runs: of it.
        errors: with constants fitted without the source of each.
        inside: the range, of those runs.
        inside_model: likewise, with constants fitted without the model of each.
    """

    name: str
    runs: Count
    errors: Spread
    inside: Share
    inside_model: Share


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


@cache
def unseen_error(row: Published) -> Ratio:
    """Return the error of a run with constants fitted without its source."""
    return expm1(unseen_logs()[row.key])


@cache
def held(row: Published) -> tuple[bool, bool]:
    """Return whether the measured step lies in the range of predictions that had not seen it.

    Without the source, and without the model.
    """
    found = range_of(row.case.run)
    source, model = (exp(-log) for log in unseen_both()[row.key])
    return _in(found, source), _in(found, model)


def _in(found: Range, ratio: Ratio) -> bool:
    """Return whether a share of the predicted step lies in a range, but for its rounding."""
    return found.low - ROUNDED <= ratio <= found.high + ROUNDED


def classes(runs: Sequence[Published], division: str) -> tuple[Class, ...]:
    """Return each class of the runs that has any, after one for all of a kind."""
    found = []
    for kind, words in _KINDS.items():
        of = [row for row in runs if row.kind == kind]
        parts: dict[str, list[Published]] = {}
        for row in of:
            parts.setdefault(_CLASS[division](row), []).append(row)
        if of:
            found.append(_class(f"{words}, all", of))
        found += [_class(f"{words}, {name}", parts[name]) for name in sorted(parts, key=_order)]
    return tuple(found)


def _class(name: str, runs: Sequence[Published]) -> Class:
    held_by_source, held_by_model = zip(*map(held, runs), strict=True)
    return Class(
        name=name,
        runs=len(runs),
        errors=spread([unseen_error(row) for row in runs]),
        inside=sum(held_by_source) / len(runs),
        inside_model=sum(held_by_model) / len(runs),
    )
