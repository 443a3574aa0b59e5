"""Write how far off the model is on what stands in no table of runs: collectives, one article.

    python -m tests.validation.outside

writes `outside_rows.py` of the calculator of published runs, for the tables of its page. Run it
after every change of a formula or a constant; `test_outside.py` compares it with what this prints.
"""

import statistics
from collections.abc import Iterator, Sequence

from tests.validation import curves, fit_collectives, folding, unseen_curves
from tests.validation.published import ROOT

PACKAGE = ROOT / "engine" / "calculators" / "whole_runs" / "published_runs"
TARGET = PACKAGE / "outside_rows.py"
OPERATIONS = {
    "reduce": "all-reduce",
    "gather": "all-gather",
    "scatter": "reduce-scatter",
    "exchange": "all-to-all",
    "send": "send",
}


def _numbers(errors: Sequence[float]) -> str:
    """Mean and worst absolute error."""
    sizes = [abs(value) for value in errors]
    return f"{statistics.fmean(sizes):.3f}, {max(sizes):.3f}"


def _shown(name: str) -> str:
    """Return the name of a curve without the operation, which has a column of its own."""
    *words, last = name.split(", ")
    kept = [word for word in last.split() if word not in OPERATIONS]
    return ", ".join([*words, " ".join(kept)] if kept else words)


def held_out() -> Iterator[str]:
    """Yield the curves that the constants are fitted to, each predicted without itself."""
    for name, one in curves.CURVES.items():
        if name != fit_collectives.OWN:
            numbers = _numbers(fit_collectives.held_out(name))
            yield f'    ("{name}", "all-reduce", {one.ranks}, {one.nodes}, {numbers}, ""),'


def unseen() -> Iterator[str]:
    """Yield the curves that no constant saw, and why some are further off."""
    for name, one in unseen_curves.CURVES.items():
        what, numbers = OPERATIONS[one.operation], _numbers(unseen_curves.errors(name))
        start = f'    ("{_shown(name)}", "{what}", {one.ranks}, {one.nodes}, {numbers},'
        yield f'{start}\n     "{one.fault}"),' if one.fault else f'{start} ""),'


def plans() -> Iterator[str]:
    """Yield the plans of the article that ran: measured and predicted share of the peak."""
    for job in folding.JOBS:
        for row in folding.rows(job):
            if row.mfu:
                mfu = folding.predicted(row)["mfu"]
                yield f'    ("{job}", "{row.way}", {row.sharded}, {row.mfu:.3f}, {mfu:.3f}),'


def text() -> str:
    """Return the module."""
    return (
        '"""Errors on collectives and on one article. Written by tests.validation.outside."""\n\n'
        "# fmt: off\n"
        "# Curve, operation, GPUs, nodes; mean and worst absolute error of the bus bandwidth from\n"
        "# 1 MiB on; why, where the mean is above 15 %.\n"
        "HELD_OUT: tuple[tuple[str, str, int, int, float, float, str], ...] = (\n"
        + "\n".join(held_out())
        + "\n)\nUNSEEN: tuple[tuple[str, str, int, int, float, float, str], ...] = (\n"
        + "\n".join(unseen())
        + "\n)\n# Job, way to split it, fully sharded; share of the peak measured and predicted.\n"
        "PLANS: tuple[tuple[str, str, bool, float, float], ...] = (\n"
        + "\n".join(plans())
        + "\n)\n"
    )


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
