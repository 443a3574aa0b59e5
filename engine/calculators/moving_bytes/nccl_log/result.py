"""Every number of the check of a text of NCCL."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.calculators.moving_bytes.nccl_log.inputs import AS_TEXT, Inputs, read
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas.bandwidth import Operation, algorithm_bandwidth
from engine.run.logs.nccl import NcclText
from engine.run.logs.nccl_debug import Chosen
from engine.run.logs.nccl_tests import Row
from engine.simulate.collectives.nccl_check import Check, check_nccl, has_factor
from engine.simulate.collectives.nccl_choice import charged, choice, times
from engine.simulate.collectives.nccl_effect import bandwidth_of
from engine.simulate.collectives.nccl_setting import Given

_CHOICES: Count = 40
_INFINITE = float("inf")
_SIZES = tuple(2.0**power for power in range(10, 35, 2))
_MODEL = "The same time as a training step is charged for this collective; receipts there."


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Bus bandwidths over the sizes of messages; 0 where there is none, no sizes without a table.

    Measured ones come from size and time: printed ones of small messages are 0.00.
    """

    sizes: tuple[Bytes, ...]
    measured: tuple[Bandwidth, ...]
    expected: tuple[Bandwidth, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the text says; no finite value where it has no table.

    `chosen` are the first of NCCL's choices, each with what the model would take.
    """

    text: NcclText
    found: Check
    bus_bandwidth: Annotated[
        Bandwidth,
        Told(
            "Bus bandwidth",
            color="communication",
            basis="measured",
            assumes=("As the table prints it, out of place.",),
            sources=("nccl_tests",),
        ),
    ]
    expected: Annotated[
        Bandwidth,
        Told("Expected", note="of this message, from the model", assumes=(_MODEL,)),
    ]
    line: Annotated[
        Bandwidth,
        Told(
            "Line rate",
            note="one way: of a GPU's links, or of a node's ports",
            basis="datasheet",
            assumes=("Of a ring: in one node the links of a GPU, between nodes all ports.",),
            sources=("bekman2025",),
        ),
    ]
    share: Annotated[
        Share,
        Told(
            "Of the line rate",
            basis="measured",
            assumes=("May exceed 100 % where a switch adds, or a tree of two nodes runs.",),
            sources=("nccl_tests",),
        ),
    ]
    latency: Annotated[
        Seconds,
        Told(
            "Smallest message",
            basis="measured",
            assumes=("As the table prints it, out of place.",),
        ),
    ]
    size: Bytes
    ranks: Count
    nodes: Count
    curve: Later[Curve]
    chosen: Later[tuple[tuple[Chosen, str], ...]]


def solve(inputs: Inputs) -> Result:
    """Return what the text says of the machines."""
    text = read(inputs.log)
    given = Given(
        machine="" if inputs.machine in AS_TEXT else inputs.machine,
        ranks=inputs.ranks,
        nodes=inputs.nodes,
        operation="" if inputs.operation in AS_TEXT else inputs.operation,
    )
    found = check_nccl(text, given)
    largest, smallest = found.largest, found.smallest
    bus = largest.row.bus_bandwidth if largest else _INFINITE
    return Result(
        text=text,
        found=found,
        bus_bandwidth=bus,
        expected=(largest.expected if largest else found.plateau) or _INFINITE,
        line=found.where.line,
        share=bus / found.where.line,
        latency=smallest.row.time if smallest else _INFINITE,
        size=largest.row.size if largest else 0.0,
        ranks=found.where.group.ranks,
        nodes=found.where.group.nodes,
        curve=Later(partial(_curve, found)),
        chosen=Later(lambda: tuple((one, _choice(found, one)) for one in found.choices[:_CHOICES])),
    )


def _curve(found: Check) -> Curve:
    rows = [one.row for one in found.rows if one.row.size > 0]
    sizes = tuple(row.size for row in rows) or _SIZES
    operation, where = cast(Operation, found.setting.operation), found.where
    expected = (0.0,) * len(sizes)
    if has_factor(operation):
        expected = tuple(
            bandwidth_of(operation, size, charged(operation, size, where), where.group.ranks)
            for size in sizes
        )
    measured = tuple(_bus(found, row) for row in rows)
    return Curve(sizes=sizes, measured=measured, expected=expected)


def _bus(found: Check, row: Row) -> Bandwidth:
    operation, ranks = found.setting.operation, found.where.group.ranks
    if has_factor(operation) and ranks > 1:
        return bandwidth_of(cast(Operation, operation), row.size, row.time, ranks)
    factor = row.bus_bandwidth / row.algorithm_bandwidth if row.algorithm_bandwidth else 1.0
    return factor * algorithm_bandwidth(row.size, row.time)


def _choice(found: Check, one: Chosen) -> str:
    operation = one.operation or found.setting.operation
    return choice(operation, one.size, found.where, times(operation, one.size, found.where))
