"""A matrix product under the roofline: from how many rows on it is compute-bound."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import (
    BYTES,
    Bandwidth,
    Bytes,
    FlopRate,
    Intensity,
    Operations,
    Ratio,
    Seconds,
    Share,
    Tokens,
)
from engine.core.views import Badge, Line, Lines, Rule, Scale
from engine.formulas.roofline import (
    INTENSITY,
    PRODUCT_BYTES,
    attainable,
    intensity,
    product_bytes,
    product_operations,
    roofline_time,
)
from engine.simulate.layer.enough_rows import compute_bound_rows

TITLE = "The roofline of a matmul"
QUESTION = "How many tokens does a weight matrix need before the tensor cores are the limit?"
HEADLINE = "rate"
EQUATIONS = (INTENSITY, PRODUCT_BYTES)
PRESETS = {
    "MLP of Llama 3 8B": {"columns": 14_336, "inner": 4096},
    "One head, 128 wide": {"columns": 128, "inner": 4096, "rows": 4096},
    "Four by four by four": {"rows": 4, "columns": 4, "inner": 4},
}
_MAX_ROWS = 65_536
_COLUMN = tuple(2 ** (step / 3) for step in range(49))
_HALF: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    rows: Annotated[
        int,
        Number(label="Rows: tokens", low=1, high=_MAX_ROWS, scale="log2", whole=True, symbol="m"),
    ] = 64
    columns: Annotated[
        int, Number(label="Columns", low=1, high=_MAX_ROWS, scale="log2", whole=True, symbol="n")
    ] = 4096
    inner: Annotated[
        int, Number(label="Inner sum", low=1, high=_MAX_ROWS, scale="log2", whole=True, symbol="k")
    ] = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Operations, bytes and attainable rate of a matrix product."""

    rate: Annotated[
        FlopRate,
        Output("At most", color="compute", assumes=("Every element goes through memory once.",)),
    ]
    intensity: Annotated[
        Intensity, Output("Operations per byte", "I", assumes=("16 bits for every element.",))
    ]
    operations: Annotated[
        Operations, Output("Operations", "W", assumes=("Two for every element of the inner sums.",))
    ]
    moved: Annotated[Bytes, Output("Bytes moved", "Q", assumes=("Caches hold what tiles share.",))]
    time: Annotated[
        Seconds, Output("At least", assumes=("The slower of operations and transfers.",))
    ]
    enough: Annotated[
        Tokens,
        Output(
            "Tokens that fill the tensor cores",
            note="no number of them does, if a side of the weight is too short",
            assumes=("The rows at which operations per byte reach the ridge.",),
        ),
    ]
    share: Annotated[Share, Output("Of the peak", assumes=("The rate over the dense peak.",))]
    peak: FlopRate
    bandwidth: Bandwidth
    column: tuple[FlopRate, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu = ACCELERATORS[inputs.gpu]
    peak, bandwidth = gpu.peak["fp16"], gpu.memory_bandwidth
    operations = product_operations(inputs.rows, inputs.columns, inputs.inner)
    moved = product_bytes(inputs.rows, inputs.columns, inputs.inner, _HALF, _HALF)
    each = intensity(operations, moved)
    rate = attainable(peak, bandwidth, each)
    return Result(
        rate=rate,
        intensity=each,
        operations=operations,
        moved=moved,
        time=roofline_time(operations, moved, peak, bandwidth),
        enough=_whole_rows(
            compute_bound_rows(inputs.columns, inputs.inner, _HALF, peak, bandwidth)
        ),
        share=rate / peak,
        peak=peak,
        bandwidth=bandwidth,
        column=tuple(_rate_at(rows, inputs, peak, bandwidth) for rows in _COLUMN),
    )


def _whole_rows(rows: Ratio) -> Ratio:
    """Return the smallest sufficient whole number of rows, or infinity."""
    return float(math.ceil(rows)) if math.isfinite(rows) else rows


def _rate_at(rows: float, inputs: Inputs, peak: FlopRate, bandwidth: Bandwidth) -> FlopRate:
    operations = product_operations(rows, inputs.columns, inputs.inner)
    moved = product_bytes(rows, inputs.columns, inputs.inner, _HALF, _HALF)
    return attainable(peak, bandwidth, intensity(operations, moved))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        **present.values("rate"),
        "limit": _limit(present, result),
        **present.values("intensity", "operations"),
        "moved": present.value("moved", symbols={"e": (_HALF, BYTES), "o": (_HALF, BYTES)}),
        **present.values("time", "enough", "share"),
        "curve": partial(_curve, present, inputs, result),
        "formula": present.formula("Operations over bytes", INTENSITY),
    }


def _limit(present: Presenter, result: Result) -> Badge:
    if result.rate < result.peak:
        return Badge(
            text="Memory-bound",
            sentence=present.say("{intensity} feed {share} of the peak."),
            color="memory",
        )
    return Badge(
        text="Compute-bound",
        sentence=present.say("{intensity} are enough for the peak."),
        color="compute",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    label = present.say("from {enough} tokens")
    inside = result.enough <= _MAX_ROWS
    return present.curve(
        "What a product can reach, over the tokens",
        over=Scale("rows", "tokens", 1, _MAX_ROWS, log=True),
        shows=Scale("rate", "rate", 1e11, 2 * result.peak, log=True),
        x=_COLUMN,
        lines=(
            Line("rate", "at most", result.column, "compute"),
            Line("peak", "peak", (result.peak,) * 2, "muted", dashed=True, x=(1, _MAX_ROWS)),
        ),
        at=max(result.rate, 1e11),
        now="{rate}",
        rules=(Rule(key="enough", label=label, axis="x", at=result.enough),) if inside else (),
        caption="Drag the handle. The weight is read once, however many tokens use it.",
    )
