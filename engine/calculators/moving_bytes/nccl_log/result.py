"""Every number of the check of a text of NCCL."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.calculators.moving_bytes.nccl_log.inputs import AS_TEXT, Inputs, read_text
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas.bandwidth import Operation, algorithm_bandwidth
from engine.run.logs.nccl import NcclOutput
from engine.run.logs.nccl_debug import NcclChoice
from engine.run.logs.nccl_tests import BenchmarkRow
from engine.simulate.collectives.nccl_check import NcclCheck, check_nccl, has_bus_factor
from engine.simulate.collectives.nccl_choice import algorithm_times, charged_time, chosen_algorithm
from engine.simulate.collectives.nccl_effect import bus_bandwidth_of
from engine.simulate.collectives.nccl_setting import NcclInputs

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
    """The results read from the text; not finite where it has no table.

    `chosen` are the first of NCCL's choices, each with what the model would take.
    """

    text: NcclOutput
    found: NcclCheck
    bus_bandwidth: Annotated[
        Bandwidth,
        Output(
            "Bus bandwidth",
            color="communication",
            basis="measured",
            assumes=("As the table prints it, out of place.",),
            sources=("nccl_tests",),
        ),
    ]
    expected: Annotated[
        Bandwidth,
        Output("Expected", note="of this message, from the model", assumes=(_MODEL,)),
    ]
    line: Annotated[
        Bandwidth,
        Output(
            "Line rate",
            note="one way: of a GPU's links, or of a node's ports",
            basis="datasheet",
            assumes=("Of a ring: in one node the links of a GPU, between nodes all ports.",),
            sources=("bekman2025",),
        ),
    ]
    share: Annotated[
        Share,
        Output(
            "Of the line rate",
            basis="measured",
            assumes=("May exceed 100 % where a switch adds, or a tree of two nodes runs.",),
            sources=("nccl_tests",),
        ),
    ]
    latency: Annotated[
        Seconds,
        Output(
            "Smallest message",
            basis="measured",
            assumes=("As the table prints it, out of place.",),
        ),
    ]
    size: Bytes
    ranks: Count
    nodes: Count
    curve: Lazy[Curve]
    chosen: Lazy[tuple[tuple[NcclChoice, str], ...]]


def solve(inputs: Inputs) -> Result:
    """Return the results read from the text."""
    text = read_text(inputs.log)
    assumptions = NcclInputs(
        machine="" if inputs.machine in AS_TEXT else inputs.machine,
        ranks=inputs.ranks,
        nodes=inputs.nodes,
        operation="" if inputs.operation in AS_TEXT else inputs.operation,
    )
    check = check_nccl(text, assumptions)
    largest, smallest = check.largest, check.smallest
    bus = largest.row.bus_bandwidth if largest else _INFINITE
    line = check.where.line if check.where else _INFINITE
    return Result(
        text=text,
        found=check,
        bus_bandwidth=bus,
        expected=(largest.expected if largest else check.plateau) or _INFINITE,
        line=line,
        share=bus / line if check.where else _INFINITE,
        latency=smallest.row.time if smallest else _INFINITE,
        size=largest.row.size if largest else 0.0,
        ranks=check.where.group.ranks if check.where else check.setting.ranks,
        nodes=check.where.group.nodes if check.where else check.setting.nodes,
        curve=Lazy(partial(_curve, check)),
        chosen=Lazy(
            lambda: tuple(
                (chosen, _model_choice(check, chosen)) for chosen in check.choices[:_CHOICES]
            )
        ),
    )


def _curve(check: NcclCheck) -> Curve:
    rows = [judged.row for judged in check.rows if judged.row.size > 0]
    sizes = tuple(row.size for row in rows) or _SIZES
    operation, where = cast(Operation, check.setting.operation), check.where
    expected = (0.0,) * len(sizes)
    if where and has_bus_factor(operation):
        expected = tuple(
            bus_bandwidth_of(
                operation, size, charged_time(operation, size, where), where.group.ranks
            )
            for size in sizes
        )
    measured = tuple(_expected_bandwidth(check, row) for row in rows)
    return Curve(sizes=sizes, measured=measured, expected=expected)


def _expected_bandwidth(check: NcclCheck, row: BenchmarkRow) -> Bandwidth:
    operation, ranks = check.setting.operation, check.setting.ranks
    if has_bus_factor(operation) and ranks > 1:
        return bus_bandwidth_of(cast(Operation, operation), row.size, row.time, ranks)
    factor = row.bus_bandwidth / row.algorithm_bandwidth if row.algorithm_bandwidth else 1.0
    return factor * algorithm_bandwidth(row.size, row.time)


def _model_choice(check: NcclCheck, chosen: NcclChoice) -> str:
    operation = chosen.operation or check.setting.operation
    if check.where is None:
        return ""
    return chosen_algorithm(
        operation, chosen.size, check.where, algorithm_times(operation, chosen.size, check.where)
    )
