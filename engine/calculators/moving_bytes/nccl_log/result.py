"""Every number of the check of a text of NCCL."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, cast

from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Scalar, Text
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.form.collective_names import TESTED
from engine.form.nccl_samples import SAMPLES
from engine.form.text_validation import text_check
from engine.formulas.bandwidth import Operation, algorithm_bandwidth
from engine.run.logs.nccl import LONGEST_NCCL, NcclOutput, read_nccl
from engine.run.logs.nccl_debug import NcclChoice
from engine.run.logs.nccl_tests import BenchmarkRow
from engine.simulate.collectives.nccl_check import NcclCheck, check_nccl, has_bus_factor
from engine.simulate.collectives.nccl_effect import (
    algorithm_times,
    bus_bandwidth_of,
    charged_time,
    chosen_algorithm,
)
from engine.simulate.collectives.nccl_setting import NcclInputs

# The inputs of the check of a text of NCCL.
#
# A reader's own constants are no input: what is measured on a network says nothing of how fast it
# should be.

AS_TEXT = {"text": "as the text says"}
_MACHINES = (
    *("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72"),
    *("h800", "grand-teton", "p4de", "p5", "p5en", "p6-b200", "a3-mega", "mi300x", "mi355x"),
)
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "8 A100": {"log": SAMPLES["a100"].text},
    "2 p4de, EFA": {"log": SAMPLES["p4de"].text, "machine": "p4de"},
    "24 H100, slow": {"log": SAMPLES["broken"].text},
    "A log, 2 nodes": {"log": SAMPLES["log"].text, "machine": "dgx-h100"},
}


@lru_cache(maxsize=4)
def read_text(text: str) -> NcclOutput:
    """Return a text, read once for the check under its box and for the results."""
    return read_nccl(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    log: Annotated[
        str,
        Text(
            label="Output of nccl-tests, or of NCCL_DEBUG=INFO",
            longest=LONGEST_NCCL,
            samples=SAMPLES,
            rows=10,
            placeholder="Paste the command and the table of all_reduce_perf and the like, or the "
            "lines of NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING, or all together",
            help="Other lines may stand between them.",
            check=text_check(read_text),
        ),
    ] = SAMPLES["h100"].text
    machine: Annotated[
        str,
        Choice(
            label="Machines",
            options={**AS_TEXT, **{key: NODES[key].name for key in _MACHINES}},
            help="A table names GPUs, but neither their network nor their cloud.",
        ),
    ] = "text"
    operation: Annotated[
        str, Choice(label="Operation", options={**AS_TEXT, **TESTED}, advanced=True)
    ] = "text"
    ranks: Annotated[
        int,
        Number(
            label="GPUs",
            low=0,
            high=16_384,
            whole=True,
            help="0: as the text says.",
            advanced=True,
        ),
    ] = 0
    nodes: Annotated[
        int,
        Number(
            label="Nodes",
            low=0,
            high=8_192,
            whole=True,
            help="0: as the text says. A rack whose hosts share NVLink is one node.",
            advanced=True,
        ),
    ] = 0


_CHOICES: Count = 40
_UNKNOWN = float("nan")
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
    """The results read from the text; no number where it has no table, or names no machines.

    `chosen` are the first of NCCL's choices, each with what the model would take.
    """

    text: NcclOutput
    check: NcclCheck
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
    bus = largest.row.bus_bandwidth if largest else _UNKNOWN
    line = check.where.line if check.where else _UNKNOWN
    return Result(
        text=text,
        check=check,
        bus_bandwidth=bus,
        expected=(largest.expected if largest else check.plateau) or _UNKNOWN,
        line=line,
        share=bus / line if check.where else _UNKNOWN,
        latency=smallest.row.time if smallest else _UNKNOWN,
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
