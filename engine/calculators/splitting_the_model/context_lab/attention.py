"""Fused attention by sequence length: measured on an H100, and modeled."""

from engine.calculators.splitting_the_model.context_lab.result import Result
from engine.catalog.measured_timings import OWN_ATTENTIONS, OWN_DATE
from engine.core.text import say
from engine.core.units import FLOP_RATE, TOKENS
from engine.core.views import Cell, Table

_KERNELS = {"flash": "FlashAttention-2", "cudnn": "cuDNN"}


def measured_attention(result: Result) -> Table:
    """Return a table of measured and modeled attention rates."""
    rows: list[tuple[Cell, ...]] = []
    for row, rates in zip(OWN_ATTENTIONS, result.attentions(), strict=True):
        rows.append(
            (
                say(f"{_KERNELS[row.kernel]}, {{n}}", n=(row.length, TOKENS)),
                *(say("{r}", r=(rate, FLOP_RATE)) for rate in rates),
            )
        )
    return Table(
        title="Causal attention on one H100, by the length of a sequence",
        columns=("Kernel, tokens", "Forward", "Modeled", "Backward", "Modeled"),
        rows=tuple(rows),
        caption=f"Measured by us, {OWN_DATE}, PyTorch 2.11 and cuDNN 9.19: 16,384 tokens in "
        "sequences of this length, 32 heads of 128, bf16. Counted are the pairs that the mask "
        "leaves.",
    )
