"""The engine beside what was measured, by class: python -m tests.validation.device.compare [-v]."""

import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from tests.validation.device import adapter_tables, tables

PARTS = (
    tables.products, tables.grouped, tables.attention, tables.layers, tables.steps,
    adapter_tables.adapters,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """How far the engine is off in one class on one GPU."""

    gpu: str
    kind: str
    count: int
    bias: float
    mean: float
    worst: tables.Pair


def classes() -> tuple[Class, ...]:
    """Return all classes, those of one GPU together."""
    found: dict[tuple[str, str], list[tables.Pair]] = {}
    for part in PARTS:
        for pair in part():
            found.setdefault((pair.gpu, pair.kind), []).append(pair)
    return tuple(_class(gpu, kind, found[gpu, kind]) for gpu, kind in sorted(found))


def _class(gpu: str, kind: str, pairs: list[tables.Pair]) -> Class:
    errors = [pair.error for pair in pairs]
    return Class(
        gpu=gpu,
        kind=kind,
        count=len(pairs),
        bias=statistics.fmean(errors),
        mean=statistics.fmean(abs(error) for error in errors),
        worst=max(pairs, key=lambda pair: abs(pair.error)),
    )


def lines(found: Iterable[Class]) -> Iterable[str]:
    for one in found:
        worst = f"{one.worst.error:+7.1%}  {one.worst.name}"
        yield f"{one.gpu:9} {one.kind:40} {one.count:3} {one.bias:+7.1%} {one.mean:6.1%} {worst}"


if __name__ == "__main__":
    print("GPU       class                                      n    bias   mean   worst")
    print("\n".join(lines(classes())))
    if "-v" in sys.argv:
        for part in PARTS[3:]:
            for pair in part():
                print(
                    f"{pair.gpu} {pair.kind:24} {pair.error:+7.1%} {pair.measured:.4g} {pair.name}"
                )
