"""Fit the latencies and ramps of the links to the measured all-reduce curves.

    python -m tests.validation.fit_collectives

Minimized: the mean absolute error of the bus bandwidth from 1 MiB on plus 0.4 of that below, and
what single points exceed the bars by. Left out are the points on which sources contradict each
other (`CONTRADICTED`) and one outlier of its own source. Coordinate descent as in `fit.py`.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.catalog import transports
from engine.core.units import KiB, MiB
from engine.formulas import ring_time, switch_time, transfer_time, tree_time
from tests.validation import curves

# (curve, from, to): another source on the same GPUs, or the same source in place, differs by more
# than 15 %.
CONTRADICTED = (
    ("A100, nccl-tests", 128 * KiB, 2 * MiB),
    ("A100, nccl-tests", 8 * MiB, 8 * MiB),
    ("H100, DGX Cloud", 4 * KiB, 4 * KiB),
)
# The modules that read a constant of the links: each holds its own copy of the name.
_USERS = (ring_time, tree_time, transfer_time, switch_time)
# Module or modules, record or nothing, name.
FREE: tuple[tuple[Any, str, str], ...] = (
    (_USERS, "", "LAUNCH"),
    *((_USERS, "NVLINK", name) for name in ("step", "ramp", "scale")),
    *((_USERS, "SWITCH", name) for name in ("start", "ramp", "scale")),
    # A step of large messages stays as it was fitted before trees took NCCL's table: between the
    # 9.3 us of small ones and the 14 us that NCCL plans. The one curve with InfiniBand cannot
    # tell the two apart.
    (transports, "INFINIBAND", "step_small"),
    *((transports, "EFA_V1", name) for name in ("step", "step_eager", "ramp", "scale")),
    (curves, "", "ONE_PROCESS"),
    (curves, "", "ONE_CALL"),
)


POINTS = curves.read()


def trusted(name: str, size: float) -> bool:
    """Whether no other measurement contradicts the point."""
    return not any(name == one and low <= size <= high for one, low, high in CONTRADICTED)


def _holders(modules: Any, name: str) -> list[Any]:
    """Return the modules that hold a name."""
    every = modules if isinstance(modules, tuple) else (modules,)
    return [module for module in every if hasattr(module, name)]


def get(modules: Any, record: str, name: str) -> float:
    holder = _holders(modules, record or name)[0]
    return float(getattr(getattr(holder, record) if record else holder, name))


def put(modules: Any, record: str, name: str, value: float) -> None:
    for holder in _holders(modules, record or name):
        if record:
            setattr(holder, record, replace(getattr(holder, record), **{name: value}))
        else:
            setattr(holder, name, value)


# Constants that nothing but this curve fixes: without it nothing is left to hold them.
OWN = "2 nodes, EFA v1"


def of_curve(name: str) -> list[tuple[float, float]]:
    """Return size and absolute error of the points of a curve that nothing contradicts."""
    network = transports.EFA_V1 if name == OWN else transports.INFINIBAND
    one = replace(curves.CURVES[name], network=network)
    points = POINTS[name]
    return [(s, abs(curves.error(one, s, t))) for s, t in points if trusted(name, s)]


def loss(without: str = "") -> float:
    """What is minimized, over all curves but one."""
    total = 0.0
    for name in POINTS:
        if name == without:
            continue
        found = of_curve(name)
        large, small = [e for s, e in found if s >= MiB], [e for s, e in found if s < MiB]
        total += (sum(large) + 2 * sum(max(0, e - 0.09) for e in large)) / len(large)
        total += (0.4 * sum(small) + 2 * sum(max(0, e - 0.23) for e in small)) / len(small)
    return total


def held_out(name: str) -> list[float]:
    """Return the errors of a curve from 1 MiB on, with constants fitted to the others.

    The latency of LL between nodes, which the curve of four nodes alone fixes, starts from that of
    large messages, and stays there.
    """
    kept = {key: get(*key) for key in FREE}
    try:
        if curves.CURVES[name].nodes > 1:
            put(transports, "INFINIBAND", "step_small", transports.INFINIBAND.step)
        descend(lambda: loss(name))
        return [error for size, error in of_curve(name) if size >= MiB]
    finally:
        for key, value in kept.items():
            put(*key, value)


def descend(value: Callable[[], float]) -> None:
    """Halve the steps until under 0.4 %."""
    best, steps = value(), dict.fromkeys(FREE, 0.2)
    while max(steps.values()) > 0.004:
        for key in FREE:
            before = get(*key)
            for factor in (math.exp(steps[key]), math.exp(-steps[key])):
                put(*key, before * factor)
                if value() < best:
                    best = value()
                    break
            else:
                put(*key, before)
                steps[key] /= 2


def main() -> None:
    """Run it."""
    descend(loss)
    for modules, record, name in FREE:
        print(f"{record}.{name} = {get(modules, record, name):.4g}".lstrip("."))


if __name__ == "__main__":
    main()
