"""A pasted text of NCCL against the machines that it ran on: is the network fine?

The largest message is judged, since there bandwidth counts; the smallest tells the latency.
Expected is what the step time would be charged for the same collective.
"""

from dataclasses import dataclass
from math import inf, log

from engine.core.units import Bandwidth, Bytes, GiB, Ratio, Seconds
from engine.formulas.bandwidth import Operation, bus_bandwidth_factor
from engine.run.logs.nccl import NcclText
from engine.run.logs.nccl_debug import Chosen
from engine.run.logs.nccl_tests import Row
from engine.simulate.collectives.nccl_choice import Place, charged, choice, place, times
from engine.simulate.collectives.nccl_effect import bandwidth_of, conditions
from engine.simulate.collectives.nccl_setting import (
    Given,
    Setting,
    choices_in,
    others_in,
    rows_of,
    setting_of,
)

# Within this of the expected bandwidth a measurement is as expected: what sources on the same GPUs
# differ by among themselves.
ALIKE: Ratio = 0.15
# A message that should reach less than this of what a huge one does tells of latency, not wires.
_ENOUGH: Ratio = 0.5
_HUGE: Bytes = 16 * GiB
_SAME = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A message of the table.

    Attributes:
        row: as measured.
        expected: bus bandwidth that the model gives; 0 where it has none.
        time: that the model gives; infinite likewise.
        fastest: "algorithm protocol" that the model expects; empty likewise.
        chosen: what NCCL says it chose for this size; None where the text does not say.
    """

    row: Row
    expected: Bandwidth
    time: Seconds
    fastest: str
    chosen: Chosen | None

    @property
    def off(self) -> Ratio:
        """Measured over expected bandwidth, less one; 0 where nothing is expected.

        By the times, which have more digits than printed bandwidths of small messages.
        """
        return self.time / self.row.time - 1 if self.expected else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """A condition and the bus bandwidth that it would give."""

    key: str
    bandwidth: Bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a text says.

    Attributes:
        setting: that it is judged against.
        where: the same as rates.
        rows: of the operation, smallest message first.
        largest: the judged message; None without a table.
        smallest: likewise.
        alike: conditions by how near they come to the largest message, the nearest first.
        best: highest bus bandwidth of any message.
        plateau: bus bandwidth that a very large message is expected to reach.
        choices: what NCCL chose, one for each operation and size.
        others: operations of the table that are not judged.
    """

    setting: Setting
    where: Place
    rows: tuple[Judged, ...]
    largest: Judged | None
    smallest: Judged | None
    alike: tuple[Alike, ...]
    best: Bandwidth
    plateau: Bandwidth
    choices: tuple[Chosen, ...]
    others: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Return "wrong", "slow", "expected", "fast", "small", "unjudged" or "no table"."""
        if self.largest is None:
            return "no table"
        if any(one.row.wrong for one in self.rows):
            return "wrong"
        if not self.largest.expected:
            return "unjudged"
        if self.largest.expected < _ENOUGH * self.plateau:
            return "small"
        off = self.largest.off
        return "slow" if off < -ALIKE else "fast" if off > ALIKE else "expected"


def check_nccl(text: NcclText, given: Given) -> Check:
    """Return what a text says, judged against the machines."""
    choices = choices_in(text)
    setting = setting_of(text, given, choices)
    where = place(setting.machine, max(setting.ranks, 2), setting.nodes)
    rows = tuple(
        _judged(row, setting, where, choices)
        for row in sorted(rows_of(text, setting.operation), key=lambda row: row.size)
    )
    largest = rows[-1] if rows else None
    return Check(
        setting=setting,
        where=where,
        rows=rows,
        largest=largest,
        smallest=rows[0] if rows else None,
        alike=_alike(largest, setting, where),
        best=max((one.row.bus_bandwidth for one in rows), default=0.0),
        plateau=_expected(_HUGE, setting, where),
        choices=choices,
        others=others_in(text, setting.operation),
    )


def _judged(row: Row, setting: Setting, where: Place, choices: tuple[Chosen, ...]) -> Judged:
    found = times(setting.operation, row.size, where)
    best = choice(setting.operation, row.size, where, found)
    return Judged(
        row=row,
        expected=_expected(row.size, setting, where),
        time=found.get(best, inf),
        fastest=best,
        chosen=_choice(row, setting, choices),
    )


def _expected(size: Bytes, setting: Setting, where: Place) -> Bandwidth:
    """Return the bus bandwidth that the model gives; 0 where it has none."""
    if not has_factor(setting.operation):
        return 0.0
    operation: Operation = setting.operation  # type: ignore[assignment]
    return bandwidth_of(operation, size, charged(operation, size, where), setting.ranks)


def has_factor(operation: str) -> bool:
    """Return whether an operation has a factor from algorithm to bus bandwidth."""
    try:
        bus_bandwidth_factor(operation, 2)  # type: ignore[arg-type]
    except ValueError:
        return False
    return True


def _choice(row: Row, setting: Setting, choices: tuple[Chosen, ...]) -> Chosen | None:
    fitting = (
        one for one in choices if one.size == row.size and one.operation in ("", setting.operation)
    )
    return next(fitting, None)


def _alike(largest: Judged | None, setting: Setting, where: Place) -> tuple[Alike, ...]:
    if largest is None or not largest.expected or largest.row.bus_bandwidth <= 0:
        return ()
    operation: Operation = setting.operation  # type: ignore[assignment]
    size, ranks, measured = largest.row.size, setting.ranks, largest.row.bus_bandwidth
    found = [
        Alike(key=one.key, bandwidth=bandwidth_of(operation, size, one.time, ranks))
        for one in conditions(operation, size, where, setting.machine)
    ]
    # What changes nothing is no condition of its own.
    found = [one for one in found if _apart(one.bandwidth, largest.expected) > _SAME]
    found.append(Alike(key="", bandwidth=largest.expected))
    return tuple(sorted(found, key=lambda one: _apart(one.bandwidth, measured)))


def _apart(one: Bandwidth, other: Bandwidth) -> float:
    return abs(log(one / other)) if one > 0 and other > 0 else inf


def latency_of(check: Check) -> Seconds:
    """Return the time of the smallest message; infinite without a table."""
    return check.smallest.row.time if check.smallest else inf
