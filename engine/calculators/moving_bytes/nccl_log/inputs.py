"""The inputs of the check of a text of NCCL.

A reader's own constants are no input: what is measured on a network says nothing of how fast it
should be.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Scalar, Text
from engine.form.collective_names import TESTED
from engine.form.nccl_samples import SAMPLES
from engine.form.text_validation import text_check
from engine.run.logs.nccl import LONGEST_NCCL, NcclOutput, read_nccl

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
