"""Machine, ranks, nodes and operation that a pasted NCCL text was measured with.

The reader's inputs come first, then the text, then what its bandwidth columns imply. A machine that
neither names is not assumed. Nodes are scale-up networks: the hosts of a rack count as one.
"""

from dataclasses import dataclass

from engine.catalog.nccl_devices import device_row
from engine.catalog.nodes import NODES
from engine.core.units import GB, Bytes, Count, Ratio
from engine.run.logs.nccl import NcclOutput
from engine.run.logs.nccl_debug import NcclChoice, NcclDebug
from engine.run.logs.nccl_tests import BenchmarkRow

# Names of a test -> the operation; the rest are called as they are.
_TESTS = {"alltoall": "all_to_all", "sendrecv": "send_receive"}
_SCATTER = "reduce_scatter"
# Printed digits of two bandwidths above 1 GB/s change their ratio by less.
_SAME_FACTOR: Ratio = 0.03


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
        machine: key of `NODES`; empty where neither the reader nor the text names one.
        chosen: whether the reader named the machine.
        ranks, nodes: ranks and nodes of the collective; 0 if unknown.
        hosts: that the text lists; 0 if it lists none.
        operation: an `Operation`, or another name without a bus-bandwidth factor.
        counted: whether ranks are stated; otherwise they follow from two columns, or a node.
    """

    machine: str
    chosen: bool
    ranks: Count
    nodes: Count
    hosts: Count
    operation: str
    counted: bool


def machine_of(device: str) -> str:
    """Return the usual machine of a device, by the name that it prints; empty if unknown."""
    row = device_row(device)
    return row.machine if row else ""


def _table_machine(text: NcclOutput) -> str:
    """Return the machine of all GPUs of a table; empty if unknown, or of several kinds."""
    machines = {machine_of(device) for device in text.devices}
    return machines.pop() if len(machines) == 1 else ""


def infer_setting(
    text: NcclOutput, inputs: NcclInputs, choices: tuple[NcclChoice, ...]
) -> NcclSetting:
    """Return the setting of a text, from the reader's inputs and the text."""
    table, debug = text.table, text.debug
    platform = debug.platform if debug and debug.platform in NODES else ""
    machine = inputs.machine or platform or _table_machine(text)
    operation = inputs.operation or _operation(text, choices)
    counted = inputs.ranks or (table.ranks if table else 0) or (debug.ranks if debug else 0)
    column_ranks = _ranks_by_columns(text, operation)
    # A list of ranks that was cut is contradicted by the columns.
    truncated = not inputs.ranks and column_ranks > counted
    counted = 0 if counted < 2 or truncated else counted
    whole = NODES[machine].gpus_per_node if machine else 0
    ranks = counted or column_ranks or whole
    hosts = (table.hosts if table and not truncated else 0) or _hosts_in_log(debug)
    domains = NODES[machine].domains(ranks, hosts) if machine and hosts else hosts
    return NcclSetting(
        machine=machine,
        chosen=bool(inputs.machine),
        ranks=ranks,
        nodes=min(inputs.nodes or domains, ranks),
        hosts=hosts,
        operation=operation,
        counted=bool(counted),
    )


def _hosts_in_log(debug: NcclDebug | None) -> Count:
    """Return the hosts of a log, which may cover one of many; 0 if unknown."""
    return debug.said_nodes or debug.nodes if debug else 0


def _operation(text: NcclOutput, choices: tuple[NcclChoice, ...]) -> str:
    if text.table:
        name = text.table.operation
        return _TESTS.get(name, name) or _operation_by_factor(text)
    return next((choice.operation for choice in choices if choice.operation), "all_reduce")


def _operation_by_factor(text: NcclOutput) -> str:
    """Return the operation implied by the bus-bandwidth factor and by whether rows sum.

    Only the factor of an all-reduce exceeds one; with two ranks it is one, as that of a broadcast.
    """
    row = _largest_row(text)
    if row is None or row.bus_bandwidth >= row.algorithm_bandwidth * 1.001:
        return "all_reduce"
    if row.adds:
        return "all_reduce" if row.bus_bandwidth > row.algorithm_bandwidth * 0.999 else _SCATTER
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


def has_one_group(text: NcclOutput, setting: NcclSetting) -> bool:
    """Return whether all rows are of one number of ranks, and of as many as are listed.

    Two tables in one text have two factors of the bus bandwidth; a communicator that was split has
    fewer ranks than are listed.
    """
    factors = [
        row.bus_bandwidth / row.algorithm_bandwidth
        for row in operation_rows(text, setting.operation)
        if row.algorithm_bandwidth > GB and row.bus_bandwidth > 0
    ]
    if factors and max(factors) > (1 + _SAME_FACTOR) * min(factors):
        return False
    ranks = _ranks_by_columns(text, setting.operation)
    return not (setting.counted and ranks and ranks < setting.ranks * (1 - _SAME_FACTOR))


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
