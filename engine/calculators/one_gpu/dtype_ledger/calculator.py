"""Dtype ledger: which bytes become fewer when a tensor class gets a narrower format."""

from functools import partial

from engine.calculators.one_gpu.dtype_ledger.result import SIZES, Result
from engine.calculators.one_gpu.dtype_ledger.result import Inputs as Inputs
from engine.calculators.one_gpu.dtype_ledger.result import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.units import BYTES, Bytes
from engine.core.views import Axis, Bar, Bars, Segment
from engine.formulas.states import ZERO_MEMORY

TITLE = "The dtype ledger"
QUESTION = "Which bytes does FP8 halve?"
EQUATIONS = (ZERO_MEMORY,)
PRESETS = {
    "FP8 products only, as usual": {"weights": "fp8"},
    "As DeepSeek-V3: moments in bf16, gradients in fp32": {
        "weights": "fp8",
        "gradients": "fp32",
        "moments": "bf16",
    },
    "Everything on the wire in FP8": {
        "reduced": "fp8",
        "gathered": "fp8",
        "activations": "fp8",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the bytes held and sent."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("per_parameter"),
        "states": tell.value("states", symbols={"b": "whole"}),
        **tell.values("data_sent", "tensor_sent", "saved"),
        "held": partial(_held, inputs),
        "wire": partial(_wire, result),
    }


def _held(inputs: Inputs) -> Bars:
    """Return the bytes of a parameter, class by class, now and by default."""
    kinds = (
        ("weights", "weights", "parameters", 1),
        ("gradients", "gradients", "gradients", 1),
        ("master", "master weights", "optimizer", 1),
        ("moments", "two moments", "memory", 2),
    )
    default = {"weights": "bf16", "gradients": "fp32", "master": "fp32", "moments": "fp32"}

    def bar(key: str, label: str, types: dict[str, str]) -> Bar:
        return Bar(
            key=key,
            label=label,
            segments=tuple(
                Segment(key=name, label=words, value=count * SIZES[types[name]], color=color)
                for name, words, color, count in kinds
            ),
        )

    mine = {name: str(getattr(inputs, name)) for name, _, _, _ in kinds}
    return Bars(
        title="Bytes for each parameter",
        axis=Axis(label="bytes", quantity=BYTES, low=0.0, high=19.0),
        bars=(bar("usual", "bf16 with fp32 states", default), bar("yours", "yours", mine)),
    )


def _wire(result: Result) -> Bars:
    def bar(key: str, label: str, data: Bytes, tensor: Bytes) -> Bar:
        return Bar(
            key=key,
            label=label,
            segments=(
                Segment(key="data", label="data parallelism", value=data, color="data"),
                Segment(key="tensor", label="tensor parallelism", value=tensor, color="tensor"),
            ),
        )

    most = max(result.before_data + result.before_tensor, result.data_sent + result.tensor_sent)
    return Bars(
        title="Bytes that each GPU sends in a step",
        axis=Axis(label="sent", quantity=BYTES, low=0.0, high=1.05 * most or 1.0),
        bars=(
            bar("usual", "fp32 gradients, bf16 rest", result.before_data, result.before_tensor),
            bar("yours", "yours", result.data_sent, result.tensor_sent),
        ),
    )
