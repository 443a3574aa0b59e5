"""A layer's operators on the roofline, their times, and the table of both."""

from collections.abc import Mapping

from engine.calculators.one_gpu.layer_roofline.inputs import Placed, Result
from engine.core.outputs import Teller
from engine.core.units import BYTES, FLOP_RATE, INTENSITY, OPERATIONS, SECONDS
from engine.core.views import Bar, Bars, Lines, Point, Rule, Segment, Table
from engine.form.roof import roof

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
