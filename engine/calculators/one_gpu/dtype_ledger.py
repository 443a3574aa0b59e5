"""Dtype ledger: which bytes become fewer when a tensor class gets a narrower format."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import BYTES, Bytes, Parameters, Share
from engine.core.views import Axis, Bar, Bars, Segment
from engine.formulas.parameters import total_parameters
from engine.formulas.states import ZERO_MEMORY, StateBytes, sharded_states
from engine.formulas.volumes import tensor_parallel_bytes_sent, zero_bytes_sent

SIZES = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0, "none": 0.0}
_NAMES = {"fp32": "fp32", "bf16": "bf16", "fp8": "FP8", "none": "none"}


def _choice(label: str, *keys: str, help_text: str = "") -> Choice:
    return Choice(label=label, options={key: _NAMES[key] for key in keys}, help=help_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={
                key: MODELS[key].name for key in ("llama-3-8b", "llama-3-70b", "llama-3-405b")
            },
        ),
    ] = "llama-3-70b"
    ranks: Annotated[
        int,
        Number(label="Data-parallel ranks", low=1, high=1024, scale="log2", whole=True, symbol="N"),
        Symbol("n"),
    ] = 16
    tensor_parallel: Annotated[
        int, Number(label="Tensor parallel", low=1, high=8, scale="log2", whole=True)
    ] = 8
    tokens: Annotated[
        int,
        Number(
            label="Tokens of a step, per replica", low=1024, high=1 << 22, scale="log2", whole=True
        ),
    ] = 65_536
    weights: Annotated[
        str, _choice("Weights", "bf16", "fp8", help_text="The copy that the products read.")
    ] = "bf16"
    gradients: Annotated[str, _choice("Gradients, summed in", "fp32", "bf16")] = "fp32"
    master: Annotated[str, _choice("Master weights", "fp32", "bf16", "none")] = "fp32"
    moments: Annotated[str, _choice("Adam's moments", "fp32", "bf16", "fp8")] = "fp32"
    reduced: Annotated[str, _choice("Gradients, on the wire", "fp32", "bf16", "fp8")] = "fp32"
    gathered: Annotated[str, _choice("Parameters, on the wire", "bf16", "fp8")] = "bf16"
    activations: Annotated[
        str, _choice("Activations, on the wire", "bf16", "fp8", help_text="Tensor parallelism.")
    ] = "bf16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The bytes of the reader's types, beside those of the defaults."""

    per_parameter: Annotated[
        Bytes,
        Output(
            "States per parameter",
            note="on one GPU, nothing sharded",
            color="optimizer",
            assumes=("Weight, gradient, master copy and two moments.",),
            sources=("micikevicius2018",),
        ),
    ]
    states: Annotated[
        Bytes, Output("States on each GPU", "M", "ZeRO-1: optimizer sharded", "optimizer")
    ]
    size: Annotated[Parameters, Output(symbol="P", of="model")]
    parameter: Annotated[Bytes, Output(symbol="p", of="weights")]
    gradient: Annotated[Bytes, Output(symbol="g", of="gradients")]
    optimizer: Annotated[Bytes, Output(symbol="o", of="moments")]
    whole: Annotated[int, Output(symbol="a")]
    shares: Annotated[int, Output(symbol="c", of="ranks")]
    data_sent: Annotated[
        Bytes,
        Output(
            "Data parallelism sends",
            note="each GPU in a step",
            color="data",
            assumes=("Gradients reduced and parameters gathered once, in rings.",),
            sources=("rajbhandari2020",),
        ),
    ]
    tensor_sent: Annotated[
        Bytes,
        Output(
            "Tensor parallelism sends",
            note="each GPU in a step",
            color="tensor",
            assumes=(
                "Without sequence parallelism: eight passes of the hidden state around the ring "
                "for every layer, and four for the split vocabulary.",
            ),
            sources=("korthikanti2022",),
        ),
    ]
    saved: Annotated[
        Share,
        Output(
            "Bytes saved on the wire",
            note="of those with fp32 gradients and bf16 for the rest",
            color="communication",
            assumes=("Scales of narrow formats are left out.",),
            sources=("rajbhandari2020",),
        ),
    ]
    before_data: Bytes
    before_tensor: Bytes


def _zero_bytes(inputs: Inputs, size: Parameters, reduced: str, gathered: str) -> Bytes:
    return zero_bytes_sent(size * SIZES[reduced], size * SIZES[gathered], 1, inputs.ranks)


def _tensor_parallel_bytes(inputs: Inputs, activations: str) -> Bytes:
    model = MODELS[inputs.model]
    rows = inputs.tokens * model.hidden_size * SIZES[activations]
    return tensor_parallel_bytes_sent(rows, model.num_layers, inputs.tensor_parallel)


def solve(inputs: Inputs) -> Result:
    """Return the bytes."""
    size = total_parameters(MODELS[inputs.model]) / inputs.tensor_parallel
    types = StateBytes(
        parameter=SIZES[inputs.weights],
        gradient=SIZES[inputs.gradients],
        optimizer=SIZES[inputs.master] + 2 * SIZES[inputs.moments],
    )
    data = _zero_bytes(inputs, size, inputs.reduced, inputs.gathered)
    tensor = _tensor_parallel_bytes(inputs, inputs.activations)
    before = _zero_bytes(inputs, size, "fp32", "bf16"), _tensor_parallel_bytes(inputs, "bf16")
    return Result(
        per_parameter=types.parameter + types.gradient + types.optimizer,
        states=sharded_states(size, types, 1, inputs.ranks).total,
        size=size,
        parameter=types.parameter,
        gradient=types.gradient,
        optimizer=types.optimizer,
        whole=1,
        shares=inputs.ranks,
        data_sent=data,
        tensor_sent=tensor,
        saved=1 - (data + tensor) / sum(before) if sum(before) else 0.0,
        before_data=before[0],
        before_tensor=before[1],
    )


TITLE = "The dtype ledger"
QUESTION = "Which bytes does FP8 halve?"
HEADLINE = "states"
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
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("per_parameter"),
        "states": present.value("states", symbols={"b": "whole"}),
        **present.values("data_sent", "tensor_sent", "saved"),
        "held": partial(_memory_bars, inputs),
        "wire": partial(_traffic_bars, result),
    }


def _memory_bars(inputs: Inputs) -> Bars:
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


def _traffic_bars(result: Result) -> Bars:
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
