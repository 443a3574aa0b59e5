"""The inputs of the check of an MFU, and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reported_mfu import PRINTED
from engine.core.inputs import PERCENT, Choice, Number
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import FlopRate, Operations, Share
from engine.form.job_inputs import PER_SECOND
from engine.formulas.token_operations import (
    COUNTINGS,
    Counting,
    implied_peak,
    token_operations,
    utilization,
)
from engine.run.parallelism import Recompute
from engine.simulate.layer.token_cost import repeated_operations
from engine.simulate.memory.peak_check import Explanation, Peak, explanations, peaks

RECOMPUTE: Mapping[str, str] = {
    "none": "nothing",
    "selective": "the attention scores",
    "full": "every layer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    rate: Annotated[
        float,
        Number(label="Speed per GPU", unit=PER_SECOND, low=0.1, high=1e7, scale="log", symbol="r"),
    ] = 9600.0
    model: Annotated[
        str,
        Choice(label="Model", cites=False, options={key: one.name for key, one in MODELS.items()}),
    ] = "llama-2-7b"
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=8, high=1 << 20, scale="log2", whole=True, symbol="s"),
    ] = 4096
    printed: Annotated[
        float,
        Number(
            label="MFU that your log prints",
            unit=PERCENT,
            low=0.0,
            high=3.0,
            step=0.001,
            symbol="u",
            help="0 if it prints none. Some logs print more than 100 %, which is always wrong.",
        ),
    ] = 0.243
    precision: Annotated[
        str,
        Choice(
            label="Matrix products in",
            options={"bf16": "16 bits", "fp8": "fp8"},
            help="A GPU without fp8 is measured against its 16-bit peak.",
        ),
    ] = "bf16"
    recompute: Annotated[str, Choice(label="Recompute", options=RECOMPUTE)] = "none"
    counting: Annotated[str, Choice(label="Operations counted", options=COUNTINGS)] = "palm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The two utilizations, and what explains the printed one; nothing does if none is printed.

    `nearest` is what best explains each of those that were published.
    """

    mfu: Annotated[
        Share,
        Told(
            "MFU",
            "u",
            note="of {peak_rate}",
            color="compute",
            assumes=("The peak is dense, of the data type of the matrix products.",),
        ),
    ]
    hfu: Annotated[
        Share,
        Told(
            "HFU",
            "U",
            note="with what is computed twice",
            assumes=("Full recomputation repeats all of a layer's forward pass.",),
        ),
    ]
    achieved: Annotated[
        FlopRate,
        Told("Useful operations", assumes=("Operations per token times tokens per second.",)),
    ]
    implied: Annotated[
        FlopRate,
        Told(
            "Your log divides by",
            "I",
            color="memory",
            assumes=("Operations are counted as you chose; the log may count them otherwise.",),
        ),
    ]
    operations: Annotated[
        Operations,
        Told("Operations per token", "C", assumes=("Counted as chosen, nothing repeated.",)),
    ]
    again: Annotated[Operations, Told(symbol="c", of="recompute")]
    peak_rate: Annotated[
        FlopRate,
        Told(
            "Peak",
            "F",
            basis="datasheet",
            assumes=(
                "Dense: makers print twice as much for 2:4 sparsity, which training does not use.",
            ),
        ),
    ]
    peak: Peak
    candidates: tuple[Peak, ...]
    found: tuple[Explanation, ...]
    nearest: Later[tuple[Explanation, ...]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model, counting = MODELS[inputs.model], cast(Counting, inputs.counting)
    operations = token_operations(model, inputs.sequence_length, counting)
    recompute = cast(Recompute, inputs.recompute)
    again = repeated_operations(model, inputs.sequence_length, counting, recompute)
    candidates = peaks(ACCELERATORS[inputs.gpu], inputs.precision)
    peak = candidates[0]
    mfu = utilization(operations, inputs.rate, peak.rate)
    printed = inputs.printed or mfu
    return Result(
        mfu=mfu,
        hfu=utilization(operations + again, inputs.rate, peak.rate),
        achieved=operations * inputs.rate,
        implied=implied_peak(operations, inputs.rate, printed),
        operations=operations,
        again=again,
        peak_rate=peak.rate,
        peak=peak,
        candidates=candidates,
        found=explanations(model, inputs.sequence_length, inputs.rate, printed, candidates),
        nearest=Later(_nearest),
    )


@cache
def _nearest() -> tuple[Explanation, ...]:
    return tuple(
        explanations(
            MODELS[line.model],
            line.sequence_length,
            line.rate,
            line.mfu,
            peaks(ACCELERATORS[line.gpu], line.precision),
        )[0]
        for line in PRINTED
    )
