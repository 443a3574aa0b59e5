"""Layer roofline: intensity, rate and time of every operator, with and without fusion."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import (
    BYTES,
    FLOP_RATE,
    INTENSITY,
    OPERATIONS,
    SECONDS,
    Bandwidth,
    Bytes,
    FlopRate,
    Intensity,
    Seconds,
    Share,
)
from engine.core.views import (
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Lines,
    Point,
    Rule,
    Segment,
    Table,
)
from engine.form.roof import roof_series
from engine.formulas.roofline import attainable, intensity, ridge, roofline_time
from engine.simulate.layer.layer_operators import Operator, layer_operators

_DENSE = {key: model.name for key, model in MODELS.items() if not model.num_experts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
class RooflinePoint:
    """An operator on the roofline.

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
        Output(
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
        Output(
            "Of it memory-bound",
            color="memory",
            assumes=("The time of operators left of the ridge over all.",),
        ),
    ]
    swept: Annotated[
        Bytes,
        Output(
            "Moved by element-wise operators",
            assumes=("Everything that is neither a matrix product nor fused attention.",),
        ),
    ]
    saved: Annotated[
        Share,
        Output(
            "Fusing both would save",
            note="of this time",
            assumes=("The same layer with fused kernels and fused attention.",),
        ),
    ]
    of_peak: Annotated[
        Share, Output("Of the peak", assumes=("All operations over the time and the peak.",))
    ]
    ridge: Annotated[Intensity, Output("Ridge", assumes=("Dense 16-bit peak over bandwidth.",))]
    peak: FlopRate
    bandwidth: Bandwidth
    placed: tuple[RooflinePoint, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu = ACCELERATORS[inputs.gpu]
    rates = gpu.peak["fp16"], gpu.memory_bandwidth
    placed = _roofline_points(inputs, rates, fused=inputs.fused, flash=inputs.flash)
    best = _roofline_points(inputs, rates, fused=True, flash=True)
    time = sum(point.time for point in placed)
    return Result(
        time=time,
        waiting=sum(point.time for point in placed if point.bound == "memory") / time,
        swept=sum(point.operator.moved for point in placed if not point.operator.is_product),
        saved=1 - sum(point.time for point in best) / time,
        of_peak=sum(point.operator.operations for point in placed) / time / rates[0],
        ridge=ridge(*rates),
        peak=rates[0],
        bandwidth=rates[1],
        placed=placed,
    )


def _roofline_points(
    inputs: Inputs, rates: tuple[FlopRate, Bandwidth], *, fused: bool, flash: bool
) -> tuple[RooflinePoint, ...]:
    operators = layer_operators(
        MODELS[inputs.model],
        inputs.tokens,
        min(inputs.sequence_length, inputs.tokens),
        fused=fused,
        flash=flash,
    )
    return tuple(_roofline_point(operator, rates) for operator in operators)


def _roofline_point(operator: Operator, rates: tuple[FlopRate, Bandwidth]) -> RooflinePoint:
    each = intensity(operator.operations, operator.moved)
    return RooflinePoint(
        operator=operator,
        intensity=each,
        rate=attainable(*rates, each),
        time=roofline_time(operator.operations, operator.moved, *rates),
        bound="compute" if each >= ridge(*rates) else "memory",
    )


_LOW, _HIGH = 1 / 16, 16_384.0
_LOWEST_RATE = 1e10
_CLOSE = 2.2  # times the operations per byte: rings that nearly touch on a phone
NAMES: Mapping[str, str] = {
    "norm": "norm before attention",
    "query_key_value": "queries, keys, values",
    "rotation": "rotation",
    "attention": "attention, fused",
    "scores": "scores and sums",
    "softmax": "softmax and mask",
    "output": "output projection",
    "add": "addition after attention",
    "norm_2": "norm before MLP",
    "mlp_up": "MLP, gate and up",
    "activation": "activation",
    "mlp_down": "MLP, down",
    "add_2": "addition after MLP",
}
# The products of weights lie close together: one of them is named for all.
_SHORT: Mapping[str, str] = {
    "norm": "norm",
    "query_key_value": "",
    "rotation": "rotation",
    "attention": "attention",
    "scores": "scores",
    "softmax": "softmax",
    "output": "products",
    "add": "add",
    "mlp_up": "",
    "activation": "activation",
    "mlp_down": "",
}


def roofline(present: Presenter, result: Result) -> Lines:
    """Return the operators on the roof; the second norm and addition lie on the first."""
    labels = _labels(result)
    points = tuple(
        Point(
            key=point.operator.key,
            label=labels.get(point.operator.key, ""),
            x=min(max(point.intensity, _LOW), _HIGH),
            y=max(point.rate, _LOWEST_RATE),
            color=point.bound,
        )
        for point in result.placed
        if point.operator.key in _SHORT
    )
    return Lines(
        title="The operators of one layer on the roof",
        x=present.axis("ridge", "operations per byte", low=_LOW, high=_HIGH, scale="log"),
        y=present.axis("peak", "rate", low=_LOWEST_RATE, high=3 * result.peak, scale="log"),
        series=(roof_series("roof", "the roof", (result.peak, result.bandwidth), (_LOW, _HIGH)),),
        points=points,
        rules=(Rule(key="ridge", label="ridge", axis="x", at=result.ridge),),
        caption="Turn fusion on and off and watch which rings move.",
    )


def _labels(result: Result) -> dict[str, str]:
    """Return key -> label: operators that lie close together are named at the last of them."""
    names: dict[str, str] = {}
    last, reach = "", 0.0
    for point in sorted(result.placed, key=lambda placed: placed.intensity):
        key, name = point.operator.key, _SHORT.get(point.operator.key, "")
        if not name:
            continue
        if last and point.intensity <= reach:
            name = f"{names.pop(last)}, {name}"
        names[key] = name
        last, reach = key, _CLOSE * point.intensity
    return names


def time_bars(present: Presenter, result: Result) -> Bars:
    """Return the shortest time of every operator."""
    most = max(point.time for point in result.placed)
    return Bars(
        title="The shortest time of every operator",
        axis=present.axis("time", "time", low=0.0, high=most),
        bars=tuple(_bar(point) for point in result.placed),
        caption="In the order in which they run.",
    )


def _bar(point: RooflinePoint) -> Bar:
    words = {"compute": "compute-bound", "memory": "memory-bound"}[point.bound]
    key = point.operator.key
    segment = Segment(key=point.bound, label=words, value=point.time, color=point.bound)
    return Bar(key=key, label=NAMES[key], segments=(segment,))


def operator_table(present: Presenter, result: Result) -> Table:
    """Return every operator with its operations, bytes, intensity and rate."""
    return Table(
        title="Every operator of the layer",
        columns=("Operator", "Operations", "Bytes", "Per byte", "At most", "Time"),
        rows=tuple(
            (
                NAMES[point.operator.key],
                present.say("{w}", w=(point.operator.operations, OPERATIONS)),
                present.say("{q}", q=(point.operator.moved, BYTES)),
                present.say("{i}", i=(point.intensity, INTENSITY)),
                present.say("{a}", a=(point.rate, FLOP_RATE)),
                present.say("{t}", t=(point.time, SECONDS)),
            )
            for point in result.placed
        ),
        caption="Forward, all tokens. Operations of element-wise operators are a few for each "
        "element; it is their bytes that count.",
    )


TITLE = "The roofline of one layer"
QUESTION = "Which operators of a layer wait for memory, and what does fusion change?"
HEADLINE = "time"
EQUATIONS = ()
PRESETS = {
    "As written, attention unfused": {"flash": False},
    "Everything fused": {"fused": True},
    "One token at a time": {"tokens": 1, "fused": True},
    "GPT-3 175B, 2,048 tokens": {
        "model": "gpt-3-175b",
        "tokens": 2048,
        "sequence_length": 2048,
        "gpu": "A100-SXM-80GB",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("time", "waiting"),
        "verdict": _verdict(present, result),
        **present.values("swept", "saved", "of_peak", "ridge"),
        "roofline": partial(roofline, present, result),
        "times": partial(time_bars, present, result),
        "operators": partial(operator_table, present, result),
        "challenge": _challenge(inputs, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.waiting > 0.5:
        return Badge(
            text="The memory decides",
            sentence=present.say("{waiting} of the time, operators wait for memory."),
            color="memory",
        )
    return Badge(
        text="The tensor cores decide",
        sentence=present.say("Operators wait for memory {waiting} of the time."),
        color="compute",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {
        "model": "llama-3-8b",
        "gpu": "H100-SXM",
        "tokens": 64,
        "fused": False,
    }
    products = [point for point in result.placed if point.operator.is_product]
    return Challenge(
        title="Challenge: few tokens, no waiting",
        goal="Make every matrix product of a Llama 3 8B layer compute-bound on an H100, with as "
        "few tokens as that takes, and spend no more than a quarter of the time on memory.",
        conditions=(
            Condition(
                text="Llama 3 8B on H100 SXM",
                met=(inputs.model, inputs.gpu) == ("llama-3-8b", "H100-SXM"),
            ),
            Condition(text="at most 512 tokens at once", met=inputs.tokens <= 512),
            Condition(
                text="every product with a weight is compute-bound",
                met=all(
                    point.bound == "compute"
                    for point in products
                    if point.operator.key != "attention"
                ),
            ),
            Condition(text="memory-bound at most a quarter", met=result.waiting <= 0.25),
        ),
        hints=(
            "The output projection is square, 4,096 by 4,096. It needs the most tokens.",
            "With enough tokens, what is left to wait for is not in the products.",
        ),
        start=start,
        solution=dict(start) | {"tokens": 512, "fused": True},
    )
