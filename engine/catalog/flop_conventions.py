"""How published formulas count the operations of training: embedding, attention, nothing repeated.

An MFU is a share of a peak by one of these counts. None of them counts recomputation: with it the
share is the HFU.
"""

from collections.abc import Mapping
from typing import Literal

from engine.core.record import record
from engine.core.units import Share

Counting = Literal["palm", "six", "matrices", "causal"]


@record
class Convention:
    """One way to count.

    Attributes:
        name: its formula, as a reader chooses it.
        embedding: whether the table of the input embedding counts as parameters.
        pairs: share of the pairs of a query and a key that is counted.
        used_by: what counts so.
        source: key of the bibliography.
    """

    name: str
    embedding: bool
    pairs: Share
    used_by: str
    source: str


CONVENTIONS: Mapping[Counting, Convention] = {
    "palm": Convention(
        name="6N + 12Lhs: all parameters, all pairs",
        embedding=True,
        pairs=1.0,
        used_by="PaLM, appendix B",
        source="chowdhery2022",
    ),
    "six": Convention(
        name="6N: parameters only",
        embedding=True,
        pairs=0.0,
        used_by="Kaplan and others; model cards and budgets",
        source="kaplan2020",
    ),
    "matrices": Convention(
        name="6(N − embedding) + 12Lhs",
        embedding=False,
        pairs=1.0,
        used_by="torchtitan's get_num_flop_per_token; Megatron-LM until 2024",
        source="torchtitan_flops",
    ),
    "causal": Convention(
        name="6(N − embedding) + 6Lhs: half of the pairs",
        embedding=False,
        pairs=0.5,
        used_by="Megatron-LM's num_floating_point_operations, Megatron-Bridge",
        source="megatron_flops",
    ),
}
# The one that every MFU of the step model counts by.
STEP_MODEL: Counting = "matrices"
