"""Counter names: the counters that reveal each port fault on InfiniBand and Ethernet."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.ethernet_counters import MLX5 as ETHERNET
from engine.catalog.port_counters import (
    BROKEN,
    HOST,
    INFINIBAND,
    LOST,
    MARKED,
    PAUSED,
    PAUSES,
    WAITS,
    PortCounter,
)
from engine.catalog.rdma_counters import MLX5 as RDMA
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count
from engine.core.views import Badge, Cell, Citation, Code, Table

TITLE = "Which counter tells what"
QUESTION = "Which counter grows when this goes wrong, over InfiniBand and over RoCE?"
HEADLINE = "happens"
EQUATIONS = ()
PRESETS = {
    "A full port elsewhere, over RoCE": {"trouble": "elsewhere", "fabric": "roce"},
    "A slow host, over InfiniBand": {"trouble": "host", "fabric": "infiniband"},
}
_FABRICS = {"infiniband": "InfiniBand", "roce": "RoCE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of a port.

    Attributes:
        name: in a few words.
        says: what counters of it say, in the catalog.
        infiniband, roce: what happens, and where to look.
    """

    name: str
    says: tuple[str, ...]
    infiniband: str
    roce: str


TROUBLES: Mapping[str, Fault] = {
    "cable": Fault(
        name="a bad cable or transceiver",
        says=(BROKEN,),
        infiniband="Lanes make errors, the link retrains, packets arrive damaged. Errors are "
        "counted where they arrive: read both ends.",
        roce="The coding corrects most errors. What it cannot correct is counted on the physical "
        "port, and each such packet is lost.",
    ),
    "lost": Fault(
        name="packets lost",
        says=(LOST,),
        infiniband="Rare: nothing is sent without room for it. A switch discards what waits too "
        "long.",
        roce="A buffer was full, and no pause came in time. The receiver sees a gap, and the "
        "sender goes back.",
    ),
    "elsewhere": Fault(
        name="a full port elsewhere",
        says=(WAITS, PAUSED),
        infiniband="The neighbor grants no credits, and this port waits. Follow the route to the "
        "port that is full.",
        roce="The switch pauses this port's priority. Marks should have slowed the senders down "
        "before.",
    ),
    "host": Fault(
        name="a host that takes data too slowly",
        says=(PAUSES, HOST),
        infiniband="The host's own port shows nothing. The switch port that faces it waits: read "
        "PortXmitWait there.",
        roce="The host pauses its switch, or its adapter drops what it has no room for. Look at "
        "its PCIe link and its memory.",
    ),
    "congested": Fault(
        name="congestion under control",
        says=(MARKED,),
        infiniband="A sender waits for credits instead. Adaptive routing takes other links before "
        "queues grow.",
        roce="Switches mark packets (ECN), receivers send notifications (CNP), senders slow down.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    trouble: Annotated[
        str,
        Choice(
            label="What goes wrong", options={key: fault.name for key, fault in TROUBLES.items()}
        ),
    ] = "cable"
    fabric: Annotated[str, Choice(label="Over", options=_FABRICS)] = "infiniband"
    priority: Annotated[
        int,
        Number(
            label="Priority that is paused",
            low=0,
            high=7,
            whole=True,
            help="RoCE: the class of the RDMA traffic; 3 by convention.",
        ),
    ] = 3


Counters = tuple[tuple[str, str, PortCounter], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The counters of the fault: (name, tool, counter)."""

    trouble: Fault
    counters: Counters
    count: Annotated[
        Count,
        Output(
            "Counters that tell it",
            basis="definition",
            assumes=("Those that this site's decoder knows.",),
            sources=("ib_counters", "mlx5_counters", "rdma_statistic"),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the counters that grow."""
    trouble = TROUBLES[inputs.trouble]
    counters = _find_counters(trouble, inputs.fabric, inputs.priority)
    return Result(trouble=trouble, counters=counters, count=len(counters))


def _find_counters(trouble: Fault, fabric: str, priority: Count) -> Counters:
    tools = {"perfquery": INFINIBAND} if fabric == "infiniband" else {"ethtool -S": ETHERNET}
    every = [
        (name, tool, counter)
        for tool, counters in {**tools, "rdma statistic": RDMA}.items()
        for name, counter in counters.items()
        # Pause frames are counted beside the time that they make.
        if counters.get(f"{name}_duration", counter).says in trouble.says
    ]
    return tuple(counter for counter in every if _counts_priority(counter[0], fabric, priority))


def _counts_priority(name: str, fabric: str, priority: Count) -> bool:
    """Return whether the fabric has the counter and, if it is per priority, this priority."""
    if "prio" in name:
        return f"prio{priority}_" in name
    # Marks, notifications and adaptive retransmission are those of RDMA over Ethernet.
    only_roce = name.startswith(("np_", "rp_", "roce_")) or name == "rx_icrc_encapsulated"
    return fabric == "roce" or not only_roce


def views(inputs: Inputs, result: Result) -> Views:
    """Return the description of the fault, its counters, and the command that reads them."""
    present = Presenter(result, inputs)
    trouble = result.trouble
    infiniband = inputs.fabric == "infiniband"
    return {
        "happens": Badge(
            text=f"{trouble.name[0].upper()}{trouble.name[1:]}, over {_FABRICS[inputs.fabric]}",
            sentence=trouble.infiniband if infiniband else trouble.roce,
        ),
        **present.values("count"),
        "counters": partial(_counter_table, result),
        "command": _command(infiniband=infiniband),
        "both": partial(_fabric_table, inputs.priority),
    }


def _counter_table(result: Result) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, tool, counter.meaning) for name, tool, counter in result.counters
    )
    return Table(
        title="Counters that grow",
        columns=("Counter", "Printed by", "It counts"),
        rows=rows or (("none on this host", "", "read the port of the switch"),),
    )


def _command(*, infiniband: bool) -> Code:
    port = "perfquery -x" if infiniband else "ethtool -S eth0"
    lines = ("date +%s.%N", port, "rdma statistic show link mlx5_0/1")
    once = "; ".join(lines)
    return Code(title="Read twice", language="bash", text=f"{once}\nsleep 10\n{once}\n")


def _fabric_table(priority: Count) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for trouble in TROUBLES.values():
        names = [_counter_names(trouble, fabric, priority) for fabric in _FABRICS]
        rows.append((trouble.name, *names))
    rows.append(
        ("described by", Citation(("ib_counters", "perfquery")), Citation(("mlx5_counters",
         "rdma_statistic")))
    )  # fmt: skip
    return Table(
        title="The same trouble over both fabrics",
        columns=("What goes wrong", *_FABRICS.values()),
        rows=tuple(rows),
        caption="At most two counters of each tool. A counter of one tool is not printed by the "
        "other two.",
    )


def _counter_names(trouble: Fault, fabric: str, priority: Count) -> str:
    tools: dict[str, list[str]] = {}
    for name, tool, _ in _find_counters(trouble, fabric, priority):
        tools.setdefault(tool, []).append(name)
    # What people look for first: pauses of the priority, then discards.
    marks = ("prio", "pause", "iscard")
    first = [
        name
        for names in tools.values()
        for name in sorted(names, key=lambda name: [mark not in name for mark in marks])[:2]
    ]
    return ", ".join(first) or "nothing on this host"
