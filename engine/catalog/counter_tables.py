"""The tables of port counters, and which of them a text's names belong to."""

import re
from collections.abc import Collection

from engine.catalog import ethernet_counters, port_counters, rdma_counters
from engine.catalog.port_counters import CounterTable

TABLES: tuple[CounterTable, ...] = (
    *port_counters.TABLES,
    *ethernet_counters.TABLES,
    *rdma_counters.TABLES,
)


# Names that drivers give their RDMA devices, and their tables: counters of several share names.
_DEVICE = re.compile(r"(bnxt_re|ionic|mlx5|efa)_?(?:bond_?)?\d")
_DRIVERS = {table.name.lower(): table for table in rdma_counters.TABLES}


def table_of(kind: str, names: Collection[str], port: str = "") -> CounterTable | None:
    """Return the table whose signs most of the names show; None for an unknown adapter.

    A device that its driver named has the table of that driver. A list of names with colons may be
    of `rdma statistic` as well, by whoever printed it.
    """
    if kind == "rdma" and (device := _DEVICE.match(port)):
        driver = _DRIVERS[device[1]]
        if any(name in driver.counters for name in names):
            return driver
    return _most_shown(kind, names) or (_most_shown("rdma", names) if kind == "ethtool" else None)


def _most_shown(kind: str, names: Collection[str]) -> CounterTable | None:
    """Return the table with most signs; mlx5's names, which other drivers lend, count last."""
    shown = [
        (sum(table.sign.fullmatch(name) is not None for name in names), table)
        for table in TABLES
        if table.kind == kind
    ]
    plain = [pair for pair in shown if pair[0] and pair[1].name != "mlx5"]
    lent = [pair for pair in shown if pair[0]]
    return max(
        plain if kind == "rdma" and plain else lent, key=lambda pair: pair[0], default=(0, None)
    )[1]
