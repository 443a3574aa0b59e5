"""The inputs of the check of a text of NCCL, and every number of the page.

A reader's own constants are no input: what is measured on a network says nothing of how fast it
should be.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.basis.inputs import Choice, Number, Scalar, Text
from engine.basis.told import Told
from engine.basis.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.catalog.nodes import NODES
from engine.form.collective_names import TESTED
from engine.form.nccl_samples import SAMPLES
from engine.form.pasted import checked_by
from engine.run.logs.nccl import LONGEST_NCCL, NcclText, read_nccl
from engine.simulate.nccl_check import Check, check_nccl
from engine.simulate.nccl_setting import Given

_INFINITE = float("inf")
_TEXT = {"text": "as the text says"}
_MACHINES = (
    *("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72"),
    *("h800", "grand-teton", "p4de", "p5", "p5en", "p6-b200", "a3-mega", "mi300x", "mi355x"),
)
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "8 A100": {"log": SAMPLES["a100"].text},
    "2 p4de, EFA": {"log": SAMPLES["p4de"].text, "machine": "p4de"},
    "24 H100, slow": {"log": SAMPLES["broken"].text},
    "A log, 2 nodes": {"log": SAMPLES["log"].text},
}


@lru_cache(maxsize=4)
def read(text: str) -> NcclText:
    """Return a text, read once for the check under its box and for the results."""
    return read_nccl(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    log: Annotated[
        str,
        Text(
            label="Output of nccl-tests, or of NCCL_DEBUG=INFO",
            longest=LONGEST_NCCL,
            samples=SAMPLES,
            rows=10,
            placeholder="Paste the table of all_reduce_perf and the like, or the lines of "
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING, or both together",
            help="Other lines may stand between them.",
            check=checked_by(read),
        ),
    ] = SAMPLES["h100"].text
    machine: Annotated[
        str,
        Choice(
            label="Machines",
            options={**_TEXT, **{key: NODES[key].name for key in _MACHINES}},
            help="A table names GPUs, but neither their network nor their cloud.",
        ),
    ] = "text"
    operation: Annotated[
        str, Choice(label="Operation", options={**_TEXT, **TESTED}, advanced=True)
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
            help="0: as the text says.",
            advanced=True,
        ),
    ] = 0


_MODEL = "The same time as a training step is charged for this collective; receipts there."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the text says; no finite value where it has no table."""

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


def solve(inputs: Inputs) -> Result:
    """Return what the text says of the machines."""
    text = read(inputs.log)
    given = Given(
        machine="" if inputs.machine in _TEXT else inputs.machine,
        ranks=inputs.ranks,
        nodes=inputs.nodes,
        operation="" if inputs.operation in _TEXT else inputs.operation,
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
    )
