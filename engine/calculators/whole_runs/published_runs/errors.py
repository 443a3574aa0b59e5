"""How far the chosen runs are off: by group, in numbers with their receipts."""

import math
from collections.abc import Sequence

from engine.basis.equation import Equation
from engine.basis.units import COUNT, SECONDS, SHARE, Ratio
from engine.basis.views import Receipt, Value
from engine.calculators.whole_runs.published_runs.read import Published, sources

ERROR = Equation(
    name="relative_error",
    tex=r"\v{e} = \frac{\v{P}}{\v{M}} - 1",
    symbols={
        "e": ("e", "error; above zero the prediction is too slow"),
        "P": (r"T_{\mathrm{predicted}}", "predicted step"),
        "M": (r"T_{\mathrm{measured}}", "measured step"),
    },
)
_SIZE = {
    "gpus": "world_size",
    "tensor": "tensor_parallel",
    "pipeline": "pipeline_parallel",
    "sequence": "sequence_length",
    "batch": "micro_batch_size",
}


def group_of(row: Published, by: str) -> str:
    """Return the group of a run: its source, GPU, precision, or a size down to a power of two."""
    if by == "source":
        return sources()[row.source][1] + (" (mixtures)" if row.mixture else "")
    if by == "gpu":
        return row.family
    if by == "board":
        return "B200/300" if row.family in ("B200", "B300") else row.family
    if by == "precision":
        return row.precision
    return str(1 << (row.sizes[_SIZE[by]].bit_length() - 1))


def split(rows: Sequence[Published], by: str) -> dict[str, list[Published]]:
    """Return the runs of each group, groups in the order of their sizes or names."""
    found: dict[str, list[Published]] = {}
    for row in rows:
        found.setdefault(group_of(row, by), []).append(row)
    return {name: found[name] for name in sorted(found, key=_order)}


def _order(name: str) -> tuple[int, str]:
    return int(name) if name.isdigit() else 0, name.lower()


def statistics(errors: Sequence[Ratio]) -> dict[str, float]:
    """Return median, mean, 90th percentile and worst of the absolute errors, and their bias."""
    if not errors:
        return dict.fromkeys(("median", "mean", "p90", "worst", "bias", "within"), math.nan)
    sizes = sorted(map(abs, errors))
    count = len(sizes)
    middle = sizes[count // 2] + sizes[(count - 1) // 2]
    return {
        "median": middle / 2,
        "mean": math.fsum(sizes) / count,
        "p90": sizes[min(count - 1, int(0.9 * count))],
        "worst": sizes[-1],
        "bias": math.fsum(errors) / count,
        "within": sum(size <= 0.1 for size in sizes) / count,
    }


def named(rows: Sequence[Published]) -> tuple[str, ...]:
    """Return the names of the sources of the rows, each once."""
    return tuple(dict.fromkeys(sources()[row.source][0] for row in rows))


def signed(value: Ratio) -> str:
    """Return a share in percent with its sign."""
    return f"{'+' if value >= 0 else '−'}{abs(value) * 100:.1f} %"


def summary(rows: Sequence[Published]) -> dict[str, Value]:
    """Return the errors of all chosen runs together."""
    found = statistics([row.error for row in rows])
    receipt = Receipt(
        assumptions=(
            "Error: predicted step time over the measured one, less one.",
            "The constants were fitted to most of these runs; no row has a factor of its own.",
        ),
        sources=named(rows),
    )
    labels = {
        "mean": "Mean error",
        "median": "Median error",
        "p90": "Nine in ten are within",
        "bias": "Bias",
        "within": "Within 10 %",
    }
    count = Value(
        label="Runs",
        value=float(len(rows)),
        quantity=COUNT,
        receipt=Receipt(
            basis="measured",
            assumptions=("Rows of content/data/published_runs.csv with a step time.",),
            sources=named(rows),
        ),
    )
    numbers = {
        key: Value(label=label, value=found[key], quantity=SHARE, receipt=receipt)
        for key, label in labels.items()
    }
    return {"rows": count, **numbers, "worst": _worst(rows)}


def _worst(rows: Sequence[Published]) -> Value:
    """Return the largest error of either sign."""
    worst = max(rows, key=lambda row: abs(row.error), default=None)
    if worst is None:
        return Value(
            label="Worst error",
            value=math.nan,
            quantity=SHARE,
            receipt=Receipt(assumptions=("No run is left.",)),
        )
    return Value(
        label="Worst error",
        value=worst.error,
        quantity=SHARE,
        receipt=Receipt(
            equation=ERROR,
            symbols={
                "e": (worst.error, SHARE),
                "P": (worst.predicted, SECONDS),
                "M": (worst.measured, SECONDS),
            },
            assumptions=("The run with the largest error of either sign.",),
            sources=named([worst]),
        ),
        note=f"{worst.name}, row {worst.key}",
    )


def noise(rows: Sequence[Published]) -> dict[str, Value]:
    """Return how far runs with the same inputs lie from their own median."""
    alike: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        key = (row.model, row.cluster, row.switches, *row.sizes.values())
        alike.setdefault(key, []).append(row.measured)
    errors = []
    for times in (sorted(times) for times in alike.values() if len(times) > 1):
        middle = (times[len(times) // 2] + times[(len(times) - 1) // 2]) / 2
        errors += [time / middle - 1 for time in times]
    receipt = Receipt(
        basis="measured",
        assumptions=(
            "Runs of which every input of ours is the same, in other releases or papers.",
            "Distance from the median of their group, which no prediction can beat by much.",
        ),
        sources=named(rows),
    )
    return {
        "repeated": Value(
            label="Runs with a twin",
            value=float(len(errors)),
            quantity=COUNT,
            receipt=receipt,
        ),
        "noise": Value(
            label="Mean distance of twins",
            value=statistics(errors)["mean"],
            quantity=SHARE,
            receipt=receipt,
        ),
    }
