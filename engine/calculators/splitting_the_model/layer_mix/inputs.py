"""Inputs of the composer of layers, and the models that they stand for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.mixers.compose import composed_model
from engine.catalog.models import Model
from engine.catalog.nodes import NODES
from engine.catalog.recent_models import EVERY_MODEL
from engine.core.inputs import Choice, Number, Scalar
from engine.core.units import Count
from engine.form.fields import OwnConstants

SIZES = (
    "qwen3-next-80b-a3b",
    "qwen3.5-397b-a17b",
    "nemotron-3-nano",
    "nemotron-3-super",
    "nemotron-3-ultra",
    "deepseek-v3.2",
    "glm-5",
    "kimi-linear-48b-a3b",
    "gemma-3-27b",
    "gemma-4-31b",
    "olmo-3-32b",
    "llama-3-70b",
    "qwen3-235b-a22b",
)
_MACHINES = ("dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72", "gb300-nvl72")
LOW, HIGH = 4096, 1 << 20
_MOST: Count = 96


def _layers(label: str) -> Number:
    return Number(label=label, low=0, high=_MOST, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Sizes of",
            cites=False,
            options={key: EVERY_MODEL[key].name for key in SIZES},
        ),
    ] = "qwen3-next-80b-a3b"
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=LOW, high=HIGH, scale="log2", whole=True, symbol="s"),
    ] = 32_768
    full: Annotated[int, _layers("Full attention, parts")] = 1
    windowed: Annotated[int, _layers("Attention in a window, parts")] = 0
    chosen: Annotated[int, _layers("Attention to chosen keys, parts")] = 0
    linear: Annotated[int, _layers("Linear, with a state, parts")] = 3
    window: Annotated[
        int,
        Number(
            label="Window",
            low=128,
            high=65_536,
            scale="log2",
            whole=True,
            symbol="w",
            help="Tokens that a layer with a window sees.",
            advanced=True,
        ),
    ] = 1024
    machine: Annotated[
        str, Choice(label="Machines", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h200"
    gpus: Annotated[int, Number(label="GPUs", low=32, high=4096, scale="log2", whole=True)] = 64
    stages: Annotated[
        str,
        Choice(
            label="Pipeline stages",
            options={n: n for n in ("1", "2", "4", "8", "16")},
            advanced=True,
        ),
    ] = "1"
    own_constants: OwnConstants = ""


def preset(model: str, full: int, others: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    """Return the inputs of a published model: its sizes and the parts of its layers."""
    return {"model": model, "full": full, "linear": 0, **others}


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Qwen3-Next": preset("qwen3-next-80b-a3b", 12, {"linear": 36}),
    "Nemotron 3 Nano": preset("nemotron-3-nano", 6, {"linear": 23}),
    "Nemotron 3 Super": preset(
        "nemotron-3-super", 8, {"linear": 40, "machine": "gb200-nvl72", "gpus": 64}
    ),
    "DeepSeek-V3.2": preset(
        "deepseek-v3.2", 0, {"chosen": 61, "gpus": 512, "stages": "8", "sequence_length": 131_072}
    ),
    "Kimi Linear": preset("kimi-linear-48b-a3b", 7, {"linear": 20}),
    "Gemma 3 27B": preset("gemma-3-27b", 10, {"windowed": 52}),
    "OLMo 3 32B": preset("olmo-3-32b", 16, {"windowed": 48, "window": 4096}),
    "Llama 3 70B": preset("llama-3-70b", 80, {"gpus": 128}),
}
_ALL_FULL: Mapping[str, Count] = {"full": 1, "windowed": 0, "chosen": 0, "linear": 0}


def model_of(inputs: Inputs) -> Model:
    """Return the model as composed."""
    counts = {key: getattr(inputs, key) for key in _ALL_FULL}
    return composed_model(EVERY_MODEL[inputs.model], counts, inputs.window)


def twin_of(inputs: Inputs) -> Model:
    """Return a model of the same sizes with full attention in every layer that mixes tokens."""
    return composed_model(EVERY_MODEL[inputs.model], _ALL_FULL, inputs.window)
