"""Measured curves between nodes that no constant was fitted to, and what the model predicts.

`unseen_curves.csv` holds times of nccl-tests (of rccl-tests for MI355X), out of place, from 1 MiB
on, as printed by the sources below. What a cluster reaches for its largest message is its own: it
is read off that message, which is left out of the errors. The rest of a curve is predicted.

    python -m tests.validation.unseen_curves

prints the errors of each curve. Not in here, though public: Oracle's quick starts (only 4 GiB and
more), Google's A3 High and A3 Mega (transports over TCP), RTX 6000D with adaptive routing (its own
authors' report of congestion). Every curve was entered before a constant was compared with it. But
the form of the model is not blind: that chunks fill a tree of switches, that NCCL takes what it
plans, and that a ring in LL128 takes longer than planned was found where curves of EFA v2 were off.
That steps and transfers of LL add in a rack was seen in the two curves of GB200, and its step was
fitted to their messages of up to 64 KiB.
No whole curve of the third and fourth EFA could be read.
"""

import statistics
from pathlib import Path

from engine.core.units import Bandwidth, Bytes, Ratio, Seconds
from engine.formulas import send_time, transfer_time
from tests.validation.curves import points
from tests.validation.unseen_sources import CURVES, FITTED, Measured

DATA = Path(__file__).with_name("unseen_curves.csv")


def read() -> dict[str, list[tuple[Bytes, Seconds]]]:
    """Return size and time of the points of each curve, by size."""
    return points(DATA, (*CURVES, *FITTED))


def reached(one: Measured, size: Bytes, time: Seconds) -> Bandwidth:
    """Return the bandwidth of a large message: of the ring, or of a rank's port."""
    if one.operation == "send":
        return size / time
    if one.operation == "exchange":
        return size * (one.nodes - 1) / one.nodes / time
    # Of two nodes a tree sends the buffer over the ports once; of more the ring is the fastest.
    if one.operation == "reduce" and one.nodes == 2:
        return size / time
    if one.operation == "reduce":
        return 2 * size * (one.ranks - 1) / one.ranks / time
    return size * (one.ranks - 1) / one.ranks / time


def predicted(one: Measured, size: Bytes, bandwidth: Bandwidth) -> Seconds:
    """Return the time that the model gives."""
    group = (one.ranks, one.nodes, bandwidth)
    if one.operation == "send":
        return send_time.send_time(size, bandwidth, one.nodes, one.network)
    if one.operation == "exchange":
        return send_time.all_to_all_time(size, *group, one.network)
    if one.operation == "reduce":
        return transfer_time.all_reduce_time(size, *group, one.switch, one.network, one.links)
    what: transfer_time.Half = "reduce_scatter" if one.operation == "scatter" else "all_gather"
    return transfer_time.scatter_or_gather_time(size, *group, one.network, what)


def errors(name: str) -> list[Ratio]:
    """Return predicted over measured bus bandwidth, less one, without the largest message."""
    one, points = (CURVES.get(name) or FITTED[name]), read()[name]
    bandwidth = reached(one, *points[-1])
    return [time / predicted(one, size, bandwidth) - 1 for size, time in points[:-1]]


def mean(name: str) -> Ratio:
    """Return the mean absolute error of a curve."""
    return statistics.fmean(map(abs, errors(name)))


def of_class(operation: str) -> list[str]:
    """Return the curves of an operation between nodes, or between the trays of a rack."""
    return [name for name, one in CURVES.items() if one.operation == operation]


def main() -> None:
    """Print one line per curve."""
    print(f"{'':30s}  mean  worst   bias  from 1 MiB on, in percent")
    for name, one in CURVES.items():
        found = [100 * value for value in errors(name)]
        sizes = list(map(abs, found))
        numbers = (statistics.fmean(sizes), max(sizes), statistics.fmean(found))
        print(f"{name:30s}" + "{:6.1f} {:6.1f} {:+6.1f}  ".format(*numbers) + one.fault)


if __name__ == "__main__":
    main()
