"""A pasted text of NCCL against the machines that it ran on: is the network fine?

What the text does not say the reader says: machine, ranks, nodes, operation. The largest message
is judged, since there bandwidth counts; the smallest tells the latency. Expected is what the step
time would be charged for the same collective.
"""

from dataclasses import dataclass
from math import inf, log

from engine.basis.units import GB, Bandwidth, Bytes, Count, GiB, Ratio, Seconds
from engine.catalog.nodes import NODES
from engine.formulas.bandwidth import Operation, bus_bandwidth_factor
from engine.run.logs.nccl import NcclText
from engine.run.logs.nccl_debug import Chosen, Debug
from engine.run.logs.nccl_tests import Row
from engine.simulate.nccl_choice import Place, fastest, place, times
from engine.simulate.nccl_effect import bandwidth_of, conditions

# Within this of the expected bandwidth a measurement is as expected: what sources on the same GPUs
# differ by among themselves.
ALIKE: Ratio = 0.15
# A message that should reach less than this of what a huge one does tells of latency, not wires.
_ENOUGH: Ratio = 0.5
_HUGE: Bytes = 16 * GiB
_SAME = 0.01
# Names of a test -> the operation; the rest are called as they are.
_TESTS = {"alltoall": "all_to_all", "sendrecv": "send_receive"}
# What a device calls itself, in the order of looking -> the machine that it usually is in.
_DEVICES = (
    ("GB300", "gb300-nvl72"),
    ("GB200", "gb200-nvl72"),
    ("B300", "dgx-b300"),
    ("B200", "dgx-b200"),
    ("H200", "dgx-h200"),
    ("H800", "h800"),
    ("H100 80GB HBM3", "dgx-h100"),
    ("A100-SXM", "dgx-a100"),
    ("V100-SXM3", "dgx-2"),
    ("MI300X", "mi300x"),
    ("MI325X", "mi325x"),
    ("MI355X", "mi355x"),
)
DEFAULT_MACHINE = "dgx-h100"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the reader says; 0 and empty: as the text says."""

    machine: str = ""
    ranks: Count = 0
    nodes: Count = 0
    operation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the text is judged against.

    Attributes:
        machine: key of `NODES`.
        known: whether the reader or the text names it; otherwise it is assumed.
        ranks, nodes: of the collective; 0 ranks where nothing says.
        operation: as `Operation`; another name where there is no factor for it.
        counted: whether ranks are stated; otherwise they follow from two columns, or a node.
    """

    machine: str
    known: bool
    ranks: Count
    nodes: Count
    operation: str
    counted: bool


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
    choices = _unique(text)
    setting = _setting(text, given, choices)
    where = place(setting.machine, max(setting.ranks, 2), setting.nodes)
    rows = tuple(
        _judged(row, setting, where, choices)
        for row in sorted(_rows(text, setting.operation), key=lambda row: row.size)
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
        others=_others(text, setting.operation),
    )


def machine_of(device: str) -> str:
    """Return the usual machine of a device, by the name that it prints; empty if unknown."""
    return next((machine for name, machine in _DEVICES if name in device), "")


def _setting(text: NcclText, given: Given, choices: tuple[Chosen, ...]) -> Setting:
    table, debug = text.table, text.debug
    named = machine_of(table.device) if table else ""
    machine = given.machine or named
    operation = given.operation or _operation(text, choices)
    counted = given.ranks or (table.ranks if table else 0) or (debug.ranks if debug else 0)
    by_columns = _by_columns(text, operation)
    # A list of ranks that was cut is contradicted by the columns.
    cut = not given.ranks and by_columns > counted
    counted = 0 if counted < 2 or cut else counted
    machine = machine or DEFAULT_MACHINE
    ranks = counted or by_columns or NODES[machine].gpus_per_node
    hosts = table.nodes if table and not cut else 0
    nodes = given.nodes or hosts or _nodes(debug, machine, ranks)
    return Setting(
        machine=machine,
        known=bool(given.machine or named),
        ranks=ranks,
        nodes=min(nodes, ranks),
        operation=operation,
        counted=bool(counted),
    )


def _nodes(debug: Debug | None, machine: str, ranks: Count) -> Count:
    """Return the nodes by a log, which may be that of one host among many; 0: nothing says."""
    if debug is None:
        return 0
    least = -(-ranks // NODES[machine].gpus_per_node)
    return debug.said_nodes or (max(debug.nodes, least) if debug.nodes else 0)


def _operation(text: NcclText, choices: tuple[Chosen, ...]) -> str:
    if text.table:
        name = text.table.operation
        return _TESTS.get(name, name) or _by_factor(text)
    return next((one.operation for one in choices if one.operation), "all_reduce")


def _by_factor(text: NcclText) -> str:
    """Return the operation by bus over algorithm bandwidth; all-reduce's alone is above one."""
    row = _sharpest(text)
    if row is None or row.bus_bandwidth >= row.algorithm_bandwidth * 1.001:
        return "all_reduce"
    return "broadcast" if row.bus_bandwidth > row.algorithm_bandwidth * 0.999 else "all_gather"


def _by_columns(text: NcclText, operation: str) -> Count:
    """Return the ranks by which bus and algorithm bandwidth differ; 0 where they do not say."""
    row = _sharpest(text)
    if row is None:
        return 0
    factor = row.bus_bandwidth / row.algorithm_bandwidth
    if operation == "all_reduce":
        factor /= 2
    if not 0.3 < factor < 0.9999 or operation in ("broadcast", "reduce", "send_receive"):
        return 0
    # n = 1 / (1 - factor), as far as the printed digits carry.
    ranks = round(1 / (1 - factor))
    off = 0.01 * GB / row.algorithm_bandwidth
    return ranks if ranks >= 2 and off * ranks * ranks < 0.5 else 0


def _sharpest(text: NcclText) -> Row | None:
    rows = text.table.rows if text.table else ()
    row = max(rows, key=lambda row: row.algorithm_bandwidth, default=None)
    return row if row and row.algorithm_bandwidth > GB else None


def _rows(text: NcclText, operation: str) -> tuple[Row, ...]:
    if text.table is None:
        return ()
    named = {_TESTS.get(row.operation, row.operation) or operation for row in text.table.rows}
    if operation not in named:
        return text.table.rows
    return tuple(
        row
        for row in text.table.rows
        if (_TESTS.get(row.operation, row.operation) or operation) == operation
    )


def _others(text: NcclText, operation: str) -> tuple[str, ...]:
    """Return what else the table measures, in its order."""
    rows = text.table.rows if text.table else ()
    named = dict.fromkeys(_TESTS.get(row.operation, row.operation) or operation for row in rows)
    return tuple(name for name in named if name != operation) if operation in named else ()


def _judged(row: Row, setting: Setting, where: Place, choices: tuple[Chosen, ...]) -> Judged:
    found = times(setting.operation, row.size, where)
    return Judged(
        row=row,
        expected=_expected(row.size, setting, where),
        time=min(found.values(), default=inf),
        fastest=min(found, key=found.__getitem__, default=""),
        chosen=_choice(row, setting, choices),
    )


def _expected(size: Bytes, setting: Setting, where: Place) -> Bandwidth:
    """Return the bus bandwidth that the model gives; 0 where it has none."""
    if not has_factor(setting.operation):
        return 0.0
    operation: Operation = setting.operation  # type: ignore[assignment]
    return bandwidth_of(operation, size, fastest(operation, size, where), setting.ranks)


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


def _unique(text: NcclText) -> tuple[Chosen, ...]:
    """Return each operation and size once, in the order of size."""
    found: dict[tuple[str, Bytes], Chosen] = {}
    for one in text.debug.chosen if text.debug else ():
        found.setdefault((one.operation, one.size), one)
    return tuple(sorted(found.values(), key=lambda one: (one.operation, one.size)))


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
