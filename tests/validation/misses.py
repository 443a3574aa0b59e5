"""Write how far off the model is beside measurements that no fit saw: kernels, steps, peaks.

    python -m tests.validation.misses

writes `engine/catalog/unfitted_errors.py`, for pages. Run it after every change of a formula or a
constant; `test_misses.py` compares it with what this prints.
"""

import statistics
from collections.abc import Iterator

from engine.core.units import GB, GiB
from tests.validation import peaks
from tests.validation.device import compare
from tests.validation.published import ROOT

TARGET = ROOT / "engine" / "catalog" / "unfitted_errors.py"


def own() -> Iterator[str]:
    """Yield the classes of our own measurements, both GPUs together."""
    found: dict[str, list[float]] = {}
    for part in compare.PARTS:
        for pair in part():
            found.setdefault(pair.kind, []).append(pair.error)
    for kind, errors in sorted(found.items(), key=lambda one: one[0].lower()):
        mean, bias = statistics.fmean(map(abs, errors)), statistics.fmean(errors)
        worst = max(errors, key=abs)
        yield f'    ("{kind}", {len(errors)}, {mean:.3f}, {worst:.3f}, {bias:.3f}),'


def held() -> Iterator[str]:
    """Yield the published peaks of memory that nothing was fitted to."""
    for row in peaks.rows():
        name, size = f"{row['source']}: {row['name']}", float(row["gib"]) * GiB
        predicted = size * (1 + peaks.error(row))
        yield f'    ("{name}", {size / GB:.2f}e9, {predicted / GB:.2f}e9),'


def text() -> str:
    """Return the module."""
    return (
        '"""Errors on measurements that no fit saw. Written by tests.validation.misses."""\n\n'
        "# Class of our own measurements on one H100 and one H200; how many, mean absolute error,\n"
        "# the worst and the mean with their signs; of times unless the class names memory.\n"
        "OWN: tuple[tuple[str, int, float, float, float], ...] = (\n" + "\n".join(own()) + "\n)\n"
        "# Published peaks of memory, measured and predicted.\n"
        "PEAKS: tuple[tuple[str, float, float], ...] = (\n" + "\n".join(held()) + "\n)\n"
    )


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(text())
