"""What a pasted text of NCCL was measured on: machine, ranks, nodes, operation.

What the text does not say the reader says, or its columns tell.
"""

from dataclasses import dataclass

from engine.catalog.nodes import NODES
from engine.core.units import GB, Bytes, Count
from engine.run.logs.nccl import NcclText
from engine.run.logs.nccl_debug import Chosen, Debug
from engine.run.logs.nccl_tests import Row

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


def machine_of(device: str) -> str:
    """Return the usual machine of a device, by the name that it prints; empty if unknown."""
    return next((machine for name, machine in _DEVICES if name in device), "")


def setting_of(text: NcclText, given: Given, choices: tuple[Chosen, ...]) -> Setting:
    """Return what a text is judged against."""
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


def rows_of(text: NcclText, operation: str) -> tuple[Row, ...]:
    """Return the rows of an operation; all of them where none is named so."""
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


def others_in(text: NcclText, operation: str) -> tuple[str, ...]:
    """Return what else the table measures, in its order."""
    rows = text.table.rows if text.table else ()
    named = dict.fromkeys(_TESTS.get(row.operation, row.operation) or operation for row in rows)
    return tuple(name for name in named if name != operation) if operation in named else ()


def choices_in(text: NcclText) -> tuple[Chosen, ...]:
    """Return each operation and size once, in the order of size."""
    found: dict[tuple[str, Bytes], Chosen] = {}
    for one in text.debug.chosen if text.debug else ():
        found.setdefault((one.operation, one.size), one)
    return tuple(sorted(found.values(), key=lambda one: (one.operation, one.size)))
