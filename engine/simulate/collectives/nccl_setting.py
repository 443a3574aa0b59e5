"""Machine, ranks, nodes and operation that a pasted NCCL text was measured with.

The reader's inputs come first, then the text, then what its bandwidth columns imply.
"""

from dataclasses import dataclass

from engine.catalog.nodes import NODES
from engine.core.units import GB, Bytes, Count
from engine.run.logs.nccl import NcclOutput
from engine.run.logs.nccl_debug import NcclChoice, NcclDebug
from engine.run.logs.nccl_tests import BenchmarkRow

# Names of a test -> the operation; the rest are called as they are.
_TESTS = {"alltoall": "all_to_all", "sendrecv": "send_receive"}
# Printed device name, in the order of matching -> usual machine of the device.
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
class NcclInputs:
    """Settings entered by the reader; 0 and empty: taken from the text."""

    machine: str = ""
    ranks: Count = 0
    nodes: Count = 0
    operation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclSetting:
    """Setting that a text is checked against.

    Attributes:
        machine: key of `NODES`.
        known: whether the reader or the text names the machine; otherwise it is assumed.
        ranks, nodes: ranks and nodes of the collective; 0 ranks if unknown.
        operation: an `Operation`, or another name without a bus-bandwidth factor.
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


def infer_setting(
    text: NcclOutput, inputs: NcclInputs, choices: tuple[NcclChoice, ...]
) -> NcclSetting:
    """Return the setting of a text, from the reader's inputs and the text."""
    table, debug = text.table, text.debug
    table_machine = machine_of(table.device) if table else ""
    machine = inputs.machine or table_machine
    operation = inputs.operation or _operation(text, choices)
    counted = inputs.ranks or (table.ranks if table else 0) or (debug.ranks if debug else 0)
    column_ranks = _ranks_by_columns(text, operation)
    # A list of ranks that was cut is contradicted by the columns.
    truncated = not inputs.ranks and column_ranks > counted
    counted = 0 if counted < 2 or truncated else counted
    machine = machine or DEFAULT_MACHINE
    ranks = counted or column_ranks or NODES[machine].gpus_per_node
    table_nodes = table.nodes if table and not truncated else 0
    nodes = inputs.nodes or table_nodes or _nodes_in_log(debug, machine, ranks)
    return NcclSetting(
        machine=machine,
        known=bool(inputs.machine or table_machine),
        ranks=ranks,
        nodes=min(nodes, ranks),
        operation=operation,
        counted=bool(counted),
    )


def _nodes_in_log(debug: NcclDebug | None, machine: str, ranks: Count) -> Count:
    """Return the number of nodes in a log, which may cover one host of many; 0 if unknown."""
    if debug is None:
        return 0
    least = -(-ranks // NODES[machine].gpus_per_node)
    return debug.said_nodes or (max(debug.nodes, least) if debug.nodes else 0)


def _operation(text: NcclOutput, choices: tuple[NcclChoice, ...]) -> str:
    if text.table:
        name = text.table.operation
        return _TESTS.get(name, name) or _operation_by_factor(text)
    return next((choice.operation for choice in choices if choice.operation), "all_reduce")


def _operation_by_factor(text: NcclOutput) -> str:
    """Return the operation implied by the bus-bandwidth factor; only all-reduce's exceeds one."""
    row = _largest_row(text)
    if row is None or row.bus_bandwidth >= row.algorithm_bandwidth * 1.001:
        return "all_reduce"
    return "broadcast" if row.bus_bandwidth > row.algorithm_bandwidth * 0.999 else "all_gather"


def _ranks_by_columns(text: NcclOutput, operation: str) -> Count:
    """Return the ranks implied by bus over algorithm bandwidth; 0 if they cannot be inferred."""
    row = _largest_row(text)
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


def _largest_row(text: NcclOutput) -> BenchmarkRow | None:
    rows = text.table.rows if text.table else ()
    row = max(rows, key=lambda row: row.algorithm_bandwidth, default=None)
    return row if row and row.algorithm_bandwidth > GB else None


def operation_rows(text: NcclOutput, operation: str) -> tuple[BenchmarkRow, ...]:
    """Return the rows of an operation; all rows if none has that name."""
    if text.table is None:
        return ()
    operations = {_TESTS.get(row.operation, row.operation) or operation for row in text.table.rows}
    if operation not in operations:
        return text.table.rows
    return tuple(
        row
        for row in text.table.rows
        if (_TESTS.get(row.operation, row.operation) or operation) == operation
    )


def other_operations(text: NcclOutput, operation: str) -> tuple[str, ...]:
    """Return the other operations of the table, in its order."""
    rows = text.table.rows if text.table else ()
    operations = dict.fromkeys(
        _TESTS.get(row.operation, row.operation) or operation for row in rows
    )
    return (
        tuple(name for name in operations if name != operation) if operation in operations else ()
    )


def unique_choices(text: NcclOutput) -> tuple[NcclChoice, ...]:
    """Return one logged choice per operation and size, sorted."""
    choices: dict[tuple[str, Bytes], NcclChoice] = {}
    for choice in text.debug.chosen if text.debug else ():
        choices.setdefault((choice.operation, choice.size), choice)
    return tuple(sorted(choices.values(), key=lambda choice: (choice.operation, choice.size)))
