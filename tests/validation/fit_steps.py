"""Fit what a step of LL128 takes in a ring over nodes to the gathers of ten nodes of eight H100.

    python -m tests.validation.fit_steps

NCCL plans 1.9 us. Minimized: the mean absolute error of the bus bandwidth on the sizes that take
LL128 there (up to 128 MiB; at 256 MiB the time doubles). The other curves of the same cluster, and
all of other clusters, are in `unseen_curves.py` and only check it.
"""

import statistics
from typing import Any

from engine.basis.units import MICRO, MiB, Ratio, Seconds
from engine.formulas import medium_time
from tests.validation import unseen_curves

CURVE = "H100, 10 nodes of 8, gather"
_LARGEST = 128 * MiB
_module: Any = medium_time


def loss(step: Seconds) -> Ratio:
    """Return the mean absolute error with another step."""
    one, points = unseen_curves.FITTED[CURVE], unseen_curves.read()[CURVE]
    bandwidth = unseen_curves.reached(one, *points[-1])
    kept = _module.MEDIUM_STEP_OVER
    try:
        _module.MEDIUM_STEP_OVER = step
        return statistics.fmean(
            abs(time / unseen_curves.predicted(one, size, bandwidth) - 1)
            for size, time in points
            if size <= _LARGEST
        )
    finally:
        _module.MEDIUM_STEP_OVER = kept


def main() -> None:
    """Print the best step, to a tenth of a microsecond."""
    best = min((tenths / 10 * MICRO for tenths in range(10, 200)), key=loss)
    print(f"{best / MICRO:.1f} us: {100 * loss(best):.1f} %")


if __name__ == "__main__":
    main()
