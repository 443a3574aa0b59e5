"""Errors and hits of the ranges, by group of rows."""

from collections.abc import Callable, Mapping, Sequence

from engine.calculators.whole_runs.mlperf_runs.read import BENCHMARKS, NETWORKS, Compared
from engine.core.record import record
from engine.core.units import Share
from engine.simulate.numerics.error_spread import ErrorSpread, summarize_errors


@record
class Group:
    """Rows of a group, their errors, and how often the range held.

    Attributes:
        name: of the group.
        rows: of it.
        errors: of their predicted steps.
        inside: share of rows whose measured step lies in the range.
        warned: share of rows whose estimate says that it extrapolates.
    """

    name: str
    rows: Sequence[Compared]
    errors: ErrorSpread
    inside: Share
    warned: Share


def _tokens(row: Compared) -> str:
    low = 1024
    while low * 2 <= row.tokens:
        low *= 2
    return f"{low // 1024}K tokens per GPU"


def _benchmark(row: Compared) -> str:
    name = BENCHMARKS[row.row.benchmark]
    return f"{name}, {_tokens(row)}" if row.row.benchmark == "llama31_8b" else name


DIVISIONS: Mapping[str, str] = {
    "benchmark": "benchmark",
    "tokens": "tokens of a GPU in a step",
    "gpu": "type of GPU",
    "precision": "precision",
    "network": "network",
    "version": "version",
    "range": "class of the range",
    "warned": "whether the estimate extrapolates",
    "calibrates": "whether the range was calibrated on it",
}
_GROUP: Mapping[str, Callable[[Compared], str]] = {
    "benchmark": _benchmark,
    "tokens": _tokens,
    "gpu": lambda row: row.row.gpu,
    "precision": lambda row: row.row.precision.split()[0].upper(),
    "network": lambda row: NETWORKS[row.network],
    "version": lambda row: row.row.version,
    "range": lambda row: row.step.range_class,
    "warned": lambda row: "it says that it extrapolates" if row.step.warned else "no warning",
    "calibrates": lambda row: "calibrated on it" if row.step.calibrates else "not seen",
}


def _place(name: str, division: str) -> tuple[int, int, str]:
    """Return the sort key of a group: benchmarks in their order, numbers by size, words by name."""
    first = next((i for i, title in enumerate(BENCHMARKS.values()) if name.startswith(title)), 0)
    digits = name.partition(", ")[2] or name
    number = digits.split("K ")[0]
    size = int(number) if number.isdigit() else 0
    return (first if division == "benchmark" else 0), size, name


def groups(rows: Sequence[Compared], division: str) -> tuple[Group, ...]:
    """Return the groups of the rows that are not empty."""
    parts: dict[str, list[Compared]] = {}
    for row in rows:
        parts.setdefault(_GROUP[division](row), []).append(row)
    names = sorted(parts, key=lambda name: _place(name, division))
    return tuple(_group(name, parts[name]) for name in names)


def _group(name: str, rows: Sequence[Compared]) -> Group:
    return Group(
        name=name,
        rows=rows,
        errors=summarize_errors([row.error for row in rows]),
        inside=sum(row.inside for row in rows) / len(rows),
        warned=sum(row.step.warned for row in rows) / len(rows),
    )
