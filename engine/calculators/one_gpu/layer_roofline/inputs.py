"""The inputs of a layer under the roofline, and every number of the page."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number, Switch
from engine.core.outputs import Told
from engine.core.units import Bandwidth, Bytes, FlopRate, Intensity, Seconds, Share
from engine.formulas.roofline import attainable, intensity, ridge, roofline_time
from engine.simulate.layer.layer_operators import Operator, layer_operators

_DENSE = {key: one.name for key, one in MODELS.items() if not one.num_experts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    model: Annotated[str, Choice(label="Model", cites=False, options=_DENSE)] = "llama-3-8b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    tokens: Annotated[
        int, Number(label="Tokens at once", low=1, high=1 << 17, scale="log2", whole=True)
    ] = 8192
    sequence_length: Annotated[
        int, Number(label="Sequence length", low=1, high=1 << 17, scale="log2", whole=True)
    ] = 8192
    fused: Annotated[
        bool,
        Switch(label="Fused kernels", help="Norm, rotation and activation as one kernel each."),
    ] = False
    flash: Annotated[
        bool, Switch(label="Fused attention", help="The scores never reach memory.")
    ] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An operator under the roof.

    Attributes:
        operator: what it computes and moves.
        intensity: operations per byte.
        rate: the highest that the roof allows.
        time: the shortest.
        bound: "compute" or "memory".
    """

    operator: Operator
    intensity: Intensity
    rate: FlopRate
    time: Seconds
    bound: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """All operators of the layer, and where its time goes."""

    time: Annotated[
        Seconds,
        Told(
            "One layer, forward, at least",
            color="compute",
            assumes=(
                "Every operator at the roof: dense 16-bit peak or memory bandwidth, one after "
                "another.",
            ),
        ),
    ]
    waiting: Annotated[
        Share,
        Told(
            "Of it memory-bound",
            color="memory",
            assumes=("The time of operators left of the ridge over all.",),
        ),
    ]
    swept: Annotated[
        Bytes,
        Told(
            "Moved by element-wise operators",
            assumes=("Everything that is neither a matrix product nor fused attention.",),
        ),
    ]
    saved: Annotated[
        Share,
        Told(
            "Fusing both would save",
            note="of this time",
            assumes=("The same layer with fused kernels and fused attention.",),
        ),
    ]
    of_peak: Annotated[
        Share, Told("Of the peak", assumes=("All operations over the time and the peak.",))
    ]
    ridge: Annotated[Intensity, Told("Ridge", assumes=("Dense 16-bit peak over bandwidth.",))]
    peak: FlopRate
    bandwidth: Bandwidth
    placed: tuple[Placed, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu = ACCELERATORS[inputs.gpu]
    rates = gpu.peak["fp16"], gpu.memory_bandwidth
    placed = _placed(inputs, rates, fused=inputs.fused, flash=inputs.flash)
    best = _placed(inputs, rates, fused=True, flash=True)
    time = sum(one.time for one in placed)
    return Result(
        time=time,
        waiting=sum(one.time for one in placed if one.bound == "memory") / time,
        swept=sum(one.operator.moved for one in placed if not one.operator.is_product),
        saved=1 - sum(one.time for one in best) / time,
        of_peak=sum(one.operator.operations for one in placed) / time / rates[0],
        ridge=ridge(*rates),
        peak=rates[0],
        bandwidth=rates[1],
        placed=placed,
    )


def _placed(
    inputs: Inputs, rates: tuple[FlopRate, Bandwidth], *, fused: bool, flash: bool
) -> tuple[Placed, ...]:
    operators = layer_operators(
        MODELS[inputs.model],
        inputs.tokens,
        min(inputs.sequence_length, inputs.tokens),
        fused=fused,
        flash=flash,
    )
    return tuple(_place(one, rates) for one in operators)


def _place(one: Operator, rates: tuple[FlopRate, Bandwidth]) -> Placed:
    each = intensity(one.operations, one.moved)
    return Placed(
        operator=one,
        intensity=each,
        rate=attainable(*rates, each),
        time=roofline_time(one.operations, one.moved, *rates),
        bound="compute" if each >= ridge(*rates) else "memory",
    )
