"""Fitted constants: value, prior assumption, and sensitivity to a single source."""

from collections.abc import Mapping

from engine.core.text import Sentence, say
from engine.core.units import RATIO, SECONDS, SHARE, Quantity
from engine.core.views import Cell, Citation, Table
from engine.form.run.fitted_constants import CONSTANTS
from engine.form.run.unfitted_constants import ROWS, value_of

_WORDS: Mapping[str, tuple[str, Quantity]] = {
    "matmul": ("products in 16 bits, of the peak", SHARE),
    "matmul_fp8": ("products in FP8, of the peak", SHARE),
    "attention_forward": ("fused attention forward, of the 16-bit peak", SHARE),
    "attention_backward": ("fused attention backward, of the 16-bit peak", SHARE),
    "fill": ("to fill and to empty a tile", SECONDS),
    "hidden": ("of a layer's collectives, hidden where they overlap", SHARE),
    "exchange_hidden": ("of the exchange of tokens, hidden beside another micro-batch", SHARE),
    "cover": ("share of the backward products that hides a collective", SHARE),
    "exposed_sends": ("of the messages between pieces, exposed", SHARE),
    "host": ("the host's share of a step", SECONDS),
    "deviation": ("standard deviation of the speed of GPUs", SHARE),
    "layer_deviation": (
        "deviation of their speed, where all meet in every layer (ZeRO-3)",
        SHARE,
    ),
    "taken": ("taken from computation by gathers of ZeRO-3, of their time", SHARE),
    "fetch_ahead": ("share of computation that hides DeepSpeed's gathers of ZeRO-3", SHARE),
    "expert_launches": ("launches of a layer of experts, forward", SECONDS),
    "grace_launches": ("launches of a layer of experts, host Grace with captured parts", SECONDS),
    "first_attention": ("first FlashAttention, of the rate of the second", SHARE),
    "busiest": ("busiest rank of experts over the mean, router not forced", RATIO),
    "matmul_fp4": ("products in FP4, of the peak", SHARE),
    "expert_biases": ("bytes for an element of a copy, biases of experts", RATIO),
    "unfused_copy": ("bytes for an element of a copy, separate kernels", RATIO),
}


def constants() -> Table:
    """Return the table."""
    return Table(
        title="Every fitted constant",
        columns=("Of", "Constant", "Assumed before", "Fitted", "Without any one source"),
        rows=tuple(_row(*constant) for constant in CONSTANTS),
        caption="The last column tells between which values a constant lies when one source after "
        "another is left out of the fit. The fit to all sources need not lie between them. An A100 "
        "has no FP8, so that constant stays as it was assumed.",
    )


def unfitted() -> Table:
    """Return the constants that were not fitted to training runs."""
    rows: list[tuple[Cell, ...]] = []
    for key, words, quantity, ends, origin, sources in ROWS:
        value = say("{x}", x=(value_of(key), quantity))
        reach: Cell = "-"
        if ends:
            reach = say("{a} to {b}", a=(ends[0], quantity), b=(ends[1], quantity))
        rows.append((words, value, reach, origin, Citation(sources) if sources else "-"))
    return Table(
        title="Every other constant",
        columns=("Constant", "Value", "Its sources range", "From", "Source"),
        rows=tuple(rows),
        caption="No training run was fitted for these. A dash for the range: the source states one "
        "value, or we assume it. What is counted in formulas and tile sizes of libraries are left "
        "out.",
    )


def _row(
    owner: str, name: str, value: float, before: float, low: float, high: float
) -> tuple[Cell, ...]:
    words, quantity = _WORDS[name]

    def told(number: float) -> Sentence:
        return say("{x}", x=(number, quantity))

    reach = say("{a} to {b}", a=(low, quantity), b=(high, quantity))
    return (owner if owner != "common" else "all", words, told(before), told(value), reach)
