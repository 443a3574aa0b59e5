"""One layer under the roofline: every operator's place, and what fusion changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.core.outputs import Teller, Told, Views
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
from engine.form.roof import roof
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


_LOW, _HIGH = 1 / 16, 16_384.0
_LEAST = 1e10
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


def roofline(tell: Teller, result: Result) -> Lines:
    """Return the operators on the roof; the second norm and addition lie on the first."""
    labels = _labels(result)
    points = tuple(
        Point(
            key=one.operator.key,
            label=labels.get(one.operator.key, ""),
            x=min(max(one.intensity, _LOW), _HIGH),
            y=max(one.rate, _LEAST),
            color=one.bound,
        )
        for one in result.placed
        if one.operator.key in _SHORT
    )
    return Lines(
        title="The operators of one layer on the roof",
        x=tell.axis("ridge", "operations per byte", low=_LOW, high=_HIGH, scale="log"),
        y=tell.axis("peak", "rate", low=_LEAST, high=3 * result.peak, scale="log"),
        series=(roof("roof", "the roof", (result.peak, result.bandwidth), (_LOW, _HIGH)),),
        points=points,
        rules=(Rule(key="ridge", label="ridge", axis="x", at=result.ridge),),
        caption="Turn fusion on and off and watch which rings move.",
    )


def _labels(result: Result) -> dict[str, str]:
    """Return key -> label: operators that lie close together are named at the last of them."""
    found: dict[str, str] = {}
    last, reach = "", 0.0
    for one in sorted(result.placed, key=lambda placed: placed.intensity):
        key, name = one.operator.key, _SHORT.get(one.operator.key, "")
        if not name:
            continue
        if last and one.intensity <= reach:
            name = f"{found.pop(last)}, {name}"
        found[key] = name
        last, reach = key, _CLOSE * one.intensity
    return found


def times(tell: Teller, result: Result) -> Bars:
    """Return the shortest time of every operator."""
    most = max(one.time for one in result.placed)
    return Bars(
        title="The shortest time of every operator",
        axis=tell.axis("time", "time", low=0.0, high=most),
        bars=tuple(_bar(one) for one in result.placed),
        caption="In the order in which they run.",
    )


def _bar(one: Placed) -> Bar:
    words = {"compute": "compute-bound", "memory": "memory-bound"}[one.bound]
    key = one.operator.key
    segment = Segment(key=one.bound, label=words, value=one.time, color=one.bound)
    return Bar(key=key, label=NAMES[key], segments=(segment,))


def operators(tell: Teller, result: Result) -> Table:
    """Return every operator with its operations, bytes, intensity and rate."""
    return Table(
        title="Every operator of the layer",
        columns=("Operator", "Operations", "Bytes", "Per byte", "At most", "Time"),
        rows=tuple(
            (
                NAMES[one.operator.key],
                tell.say("{w}", w=(one.operator.operations, OPERATIONS)),
                tell.say("{q}", q=(one.operator.moved, BYTES)),
                tell.say("{i}", i=(one.intensity, INTENSITY)),
                tell.say("{a}", a=(one.rate, FLOP_RATE)),
                tell.say("{t}", t=(one.time, SECONDS)),
            )
            for one in result.placed
        ),
        caption="Forward, all tokens. Operations of element-wise operators are a few for each "
        "element; it is their bytes that count.",
    )


TITLE = "One layer under the roof"
QUESTION = "Which operators of a layer wait for memory, and what does fusion change?"
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
    tell = Teller(inputs, result)
    return {
        **tell.values("time", "waiting"),
        "verdict": _verdict(tell, result),
        **tell.values("swept", "saved", "of_peak", "ridge"),
        "roofline": partial(roofline, tell, result),
        "times": partial(times, tell, result),
        "operators": partial(operators, tell, result),
        "challenge": _challenge(inputs, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.waiting > 0.5:
        return Badge(
            text="The memory decides",
            sentence=tell.say("{waiting} of the time, operators wait for memory."),
            color="memory",
        )
    return Badge(
        text="The tensor cores decide",
        sentence=tell.say("Operators wait for memory {waiting} of the time."),
        color="compute",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {
        "model": "llama-3-8b",
        "gpu": "H100-SXM",
        "tokens": 64,
        "fused": False,
    }
    products = [one for one in result.placed if one.operator.is_product]
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
                    one.bound == "compute" for one in products if one.operator.key != "attention"
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
