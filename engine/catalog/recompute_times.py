"""The measured time of one layer with and without recomputation: Korthikanti 2022, table 4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.core.units import MILLI, Seconds

Repeated = Literal["none", "selective", "full"]

SOURCE = "korthikanti2022"
# The published run of the same model and machine: 22B parameters on 8 A100, tensor parallel 8.
RUN = "korth-t5-22B-full"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTimes:
    """One row of the table: heads 64, hidden 6,144, 2,048 tokens, micro-batch 4.

    Attributes:
        name: of the row.
        recompute: what the backward pass repeats.
        sequence_parallel: whether what tensor parallelism replicates is split.
        forward: measured.
        backward: measured, with what is repeated.
    """

    name: str
    recompute: Repeated
    sequence_parallel: bool
    forward: Seconds
    backward: Seconds

    @property
    def total(self) -> Seconds:
        """Both passes."""
        return self.forward + self.backward


def _row(
    name: str, recompute: Repeated, sequence_parallel: bool, forward: float, backward: float
) -> LayerTimes:
    return LayerTimes(
        name=name,
        recompute=recompute,
        sequence_parallel=sequence_parallel,
        forward=forward * MILLI,
        backward=backward * MILLI,
    )


LAYER_TIMES: Mapping[str, LayerTimes] = {
    "none": _row("nothing", "none", False, 7.7, 11.9),
    "none_sp": _row("nothing, sequence parallel", "none", True, 7.2, 11.8),
    "selective": _row("core of the attention", "selective", False, 7.7, 13.2),
    "selective_sp": _row("core, sequence parallel", "selective", True, 7.2, 13.1),
    "full": _row("the whole layer", "full", False, 7.7, 19.5),
}
