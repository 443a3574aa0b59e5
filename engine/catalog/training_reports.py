"""Published MFU and token rates of large training runs, to compare with predictions."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import HOUR, Share, TokenRate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport:
    """A published figure of a run.

    Attributes:
        name: of the run.
        mfu: share of the peak that the model used; 0 where it is not stated.
        token_rate: tokens per second per GPU; likewise.
        where: the place of the figure in its source.
        source: key of the bibliography.
        date: year and month of the last check.
    """

    name: str
    mfu: Share = 0.0
    token_rate: TokenRate = 0.0
    where: str
    source: str
    date: str


REPORTS: Mapping[str, TrainingReport] = {
    # 400 TFLOP/s of 989 on each GPU; 8,192 GPUs reached 43 %.
    "llama-3-405b": TrainingReport(
        name="Llama 3 405B on 16,384 H100",
        mfu=0.41,
        where="table 4",
        source="dubey2024",
        date="2026-11",
    ),
    # 2.664 million hours of H800 for 14.8 trillion tokens of pre-training.
    "deepseek-v3": TrainingReport(
        name="DeepSeek-V3 on 2,048 H800",
        token_rate=14.8e12 / (2.664e6 * HOUR),
        where="table 1: 14.8T tokens in 2.664M GPU hours",
        source="deepseek2024",
        date="2026-11",
    ),
}
