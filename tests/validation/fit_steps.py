"""Fit two steps of rings to measured gathers: of LL128 over nodes, of LL in a rack.

    python -m tests.validation.fit_steps

LL128, of which NCCL plans 1.9 us: to the gathers of ten nodes of eight H100. Minimized: the mean
absolute error of the bus bandwidth on the sizes that take LL128 there (up to 128 MiB; at 256 MiB
the time doubles). The other curves of the same cluster, and all of other clusters, are in
`unseen_curves.py` and only check it.

LL between the trays of a rack, of which NCCL plans 0.6 us: to the gathers of 1 to 64 KiB by 8 and
by 32 GB200. The same curves from 1 MiB on are in `unseen_curves.py`; the form, in which steps and
transfer add, has seen them.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.catalog.transports import NVLINK_NETWORK
from engine.core.units import GB, MICRO, Bytes, Count, KiB, MiB, Ratio, Seconds
from engine.formulas import medium_time
from engine.formulas.transfer_time import small_half_time
from tests.validation import unseen_curves

CURVE = "H100, 10 nodes of 8, gather"
_LARGEST = 128 * MiB
_module: Any = medium_time

# GPUs -> microseconds of 1, 2, 4, ... 64 KiB, out of place, as the source of the curves prints.
RACK: Mapping[Count, tuple[float, ...]] = {
    8: (21.20, 21.03, 21.11, 21.51, 21.85, 24.08, 24.68),
    32: (56.72, 56.85, 57.53, 58.43, 59.29, 60.02, 61.83),
}
# Bus bandwidth of their largest messages; of so few bytes the transfer is next to nothing.
_RACK_BANDWIDTH = 454 * GB


def loss(step: Seconds) -> Ratio:
    """Return the mean absolute error with another step of LL128."""
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


def rack_time(size: Bytes, ranks: Count, step: Seconds) -> Seconds:
    """Return the time of a small gather in a rack with another step of LL."""
    network = replace(NVLINK_NETWORK, step_small=step)
    return small_half_time(size, ranks, 1, _RACK_BANDWIDTH, network)


def rack_loss(step: Seconds, ranks: Sequence[Count] = tuple(RACK)) -> Ratio:
    """Return the mean absolute error with another step of LL, for the curves of so many GPUs."""
    return statistics.fmean(
        abs(time * MICRO / rack_time(2**place * KiB, count, step) - 1)
        for count in ranks
        for place, time in enumerate(RACK[count])
    )


def best(of: Callable[[Seconds], Ratio], unit: Seconds) -> Seconds:
    """Return the step with the least error, up to 20 us, to a unit."""
    return min((count * unit for count in range(1, round(20 * MICRO / unit))), key=of)


def main() -> None:
    """Print the best steps."""
    medium = best(loss, MICRO / 10)
    print(f"LL128 over nodes {medium / MICRO:.1f} us: {100 * loss(medium):.1f} %")
    small = best(rack_loss, MICRO / 20)
    print(f"LL in a rack {small / MICRO:.2f} us: {100 * rack_loss(small):.1f} %")
    for ranks in RACK:
        alone = best(lambda step, one=ranks: rack_loss(step, (one,)), MICRO / 20)  # type: ignore[misc]
        print(f"  by {ranks} GPUs alone {alone / MICRO:.2f} us")


if __name__ == "__main__":
    main()
