"""The tables of port counters, and which of them a text's names belong to."""

from collections.abc import Collection

from engine.catalog import ethernet_counters, port_counters, rdma_counters
from engine.catalog.port_counters import CounterTable

TABLES: tuple[CounterTable, ...] = (
    *port_counters.TABLES,
    *ethernet_counters.TABLES,
    *rdma_counters.TABLES,
)


def table_of(kind: str, names: Collection[str]) -> CounterTable | None:
    """Return the table whose signs most of the names show; None for an unknown adapter.

    A list of names with colons may be of `rdma statistic` as well, by whoever printed it.
    """
    return _most_shown(kind, names) or (_most_shown("rdma", names) if kind == "ethtool" else None)


def _most_shown(kind: str, names: Collection[str]) -> CounterTable | None:
    shown = [
        (sum(table.sign.fullmatch(name) is not None for name in names), table)
        for table in TABLES
        if table.kind == kind
    ]
    most, table = max(shown, key=lambda pair: pair[0], default=(0, None))
    return table if most else None
