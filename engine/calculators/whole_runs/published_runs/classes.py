"""Held-out errors of published runs by class, and hit rates of the range."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp, expm1

from engine.calculators.whole_runs.published_runs.read import Published
from engine.catalog.unseen_runs import ROUNDED, unseen_log_pairs, unseen_logs
from engine.core.record import record
from engine.core.units import Count, Ratio, Share
from engine.simulate.numerics.error_spread import ErrorSpread, summarize_errors
from engine.simulate.step.step_range import PredictionSpread as Range
from engine.simulate.step.step_range import prediction_spread as range_of

_KINDS = {"dense": "dense", "mixture": "mixtures"}
_SOFTWARE = {"megatron": "Megatron", "fsdp": "FSDP", "deepspeed": "DeepSpeed", "xla": "XLA"}


@record
class Class:
    """Runs of a class, their held-out error statistics, and hits of the range.

    Attributes:
        name: of the class.
        runs: of it.
        errors: with constants fitted without the source of each.
        inside: the range, of those runs.
        inside_model: likewise, with constants fitted without the model of each.
    """

    name: str
    runs: Count
    errors: ErrorSpread
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
    "precision": lambda row: row.inputs.precision,
    "software": _software,
    "scale": _scale,
    "source": lambda row: row.cited[1],
}


def _sort_key(name: str) -> tuple[int, str]:
    """Return the sort key of a class: first number of a range, else its letters."""
    first = name.split()[0].replace(",", "")
    return int(first) if first.isdigit() else 0, name.lower()


@cache
def unseen_error(row: Published) -> Ratio:
    """Return the error of a run with constants fitted without its source."""
    return expm1(unseen_logs()[row.key])


@cache
def range_hits(row: Published) -> tuple[bool, bool]:
    """Return whether the measured step lies in the range of held-out predictions.

    Without the source, and without the model.
    """
    predicted_range = range_of(row.case.run)
    source, model = (exp(-log) for log in unseen_log_pairs()[row.key])
    return _in_range(predicted_range, source), _in_range(predicted_range, model)


def _in_range(predicted_range: Range, ratio: Ratio) -> bool:
    """Return whether a share of the predicted step lies in a range, but for its rounding."""
    return predicted_range.low - ROUNDED <= ratio <= predicted_range.high + ROUNDED


def classes(runs: Sequence[Published], division: str) -> tuple[Class, ...]:
    """Return the nonempty classes of the runs, after a class of all runs of a kind."""
    groups = []
    for kind, words in _KINDS.items():
        of = [row for row in runs if row.kind == kind]
        parts: dict[str, list[Published]] = {}
        for row in of:
            parts.setdefault(_CLASS[division](row), []).append(row)
        if of:
            groups.append(_class(f"{words}, all", of))
        groups += [_class(f"{words}, {name}", parts[name]) for name in sorted(parts, key=_sort_key)]
    return tuple(groups)


def _class(name: str, runs: Sequence[Published]) -> Class:
    held_by_source, held_by_model = zip(*map(range_hits, runs), strict=True)
    return Class(
        name=name,
        runs=len(runs),
        errors=summarize_errors([unseen_error(row) for row in runs]),
        inside=sum(held_by_source) / len(runs),
        inside_model=sum(held_by_model) / len(runs),
    )
