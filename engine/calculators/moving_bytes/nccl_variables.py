"""NCCL variables as cards: effect, cost on this machine, and when never to set it."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.nccl_constants import VERSION
from engine.catalog.nccl_variables import VARIABLES, NcclVariable
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Bandwidth, Count, MiB, Ratio
from engine.core.views import Badge, Table
from engine.form.fields import OwnConstants
from engine.form.nccl_fields import Machine, Message, Nodes
from engine.formulas.bandwidth import Operation
from engine.simulate.collectives.nccl_effect import (
    CONDITION_NAMES,
    bus_bandwidth_of,
    changed_time,
    charged_time,
    place_collective,
)

TITLE = "Variables of NCCL"
QUESTION = "What does this variable do, and when should it never be set?"
HEADLINE = "set_to"
PRESETS = {
    "NCCL_IB_HCA with one card": {"variable": "NCCL_IB_HCA", "nodes": 4},
    "NCCL_PROTO=LL": {"variable": "NCCL_PROTO"},
}
_KINDS = {
    "system": ("Describes the system", "may stay in scripts, if it is right", "compute"),
    "debugging": ("For debugging", "NVIDIA's guide says not to set it in production", "bad"),
    "logging": ("Prints", "changes no result", "muted"),
}
_MODEL = ("An all-reduce over all GPUs of the nodes, by the times that a step is charged.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    variable: Annotated[
        str, Choice(label="Variable", options={name: name for name in VARIABLES})
    ] = "NCCL_ALGO"
    message: Message = 256 * MiB
    machine: Machine = "dgx-h100"
    nodes: Nodes = 1
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The all-reduce without the variable and with it; no finite value where no model says."""

    card: NcclVariable
    unset: Annotated[Bandwidth, Output("Unset", "", "bus bandwidth", "data", _MODEL)]
    set_to: Annotated[
        Bandwidth,
        Output("Set", "", "{what}", "communication", _MODEL, ("nccl_tuning", "bekman2025")),
    ]
    left: Annotated[Ratio, Output("Takes", "", "the time of the unset one", assumes=_MODEL)]
    what: str
    ranks: Count


def solve(inputs: Inputs) -> Result:
    """Return the all-reduce with and without the variable."""
    card = VARIABLES[inputs.variable]
    node = place_collective(inputs.machine, 2).node
    ranks, own = node.gpus_per_node * inputs.nodes, inputs.own_constants
    where = place_collective(inputs.machine, ranks, inputs.nodes, own_constants=own)
    operation: Operation = "all_reduce"
    time = charged_time(operation, inputs.message, where)
    changed = float("inf")
    if card.changes:
        changed = changed_time(card.changes, operation, inputs.message, where, inputs.machine)
    applies = changed < float("inf") and _applies_to(card.changes, inputs.nodes)
    changed = changed if applies else float("inf")
    return Result(
        card=card,
        unset=bus_bandwidth_of(operation, inputs.message, time, ranks),
        set_to=bus_bandwidth_of(operation, inputs.message, changed, ranks) or float("inf"),
        left=changed / time,
        what=CONDITION_NAMES.get(card.changes, "") if applies else "no number here",
        ranks=ranks,
    )


def _applies_to(change: str, nodes: Count) -> bool:
    """Return whether a change applies to this number of nodes."""
    if change in ("one_port", "half_ports", "sockets"):
        return nodes > 1
    return change != "pcie" or nodes == 1


def views(inputs: Inputs, result: Result) -> Views:
    """Return the card, its effect, and all of them as a table."""
    present = Presenter(inputs, result)
    return {
        "card": _card(result),
        "unset": present.value("unset"),
        "set_to": present.value("set_to", note=result.what),
        "left": present.value("left"),
        "advice": partial(_advice, result),
        "all": _variable_table,
    }


def _card(result: Result) -> Badge:
    card = result.card
    title, _, color = _KINDS[card.kind]
    return Badge(text=title, sentence=f"{card.name}: {card.effect}", color=color)


def _advice(result: Result) -> Table:
    card = result.card
    _, words, _ = _KINDS[card.kind]
    return Table(
        title=card.name,
        columns=("Question", "Answer"),
        rows=(
            ("Default", card.default),
            ("Set it", card.use),
            ("Never", card.never),
            ("Kind", words),
        ),
    )


def _variable_table() -> Table:
    return Table(
        title="All cards",
        columns=("Variable", "What it does", "When not to set it"),
        rows=tuple(
            (variable.name, variable.effect, variable.never) for variable in VARIABLES.values()
        ),
        caption=f"As of NCCL {VERSION}.",
    )
