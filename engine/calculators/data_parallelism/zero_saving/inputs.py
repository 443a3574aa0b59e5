"""Inputs of the ZeRO saving, and the job that they describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.core.inputs import BILLIONS, Choice, Number, Unit
from engine.core.outputs import Symbol
from engine.core.units import BYTES, GB, Count
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, StateBytes
from engine.simulate.data_parallel.zero_saving import ZeroJob

CUSTOM_TYPES = "custom"
STAGES: tuple[Count, ...] = (0, 1, 2, 3)
_BYTES = Unit(" B", 1.0)
_GIGABYTES = Unit(" GB", GB, {"TB": 1e12, "GiB": 2.0**30}, quantity=BYTES)
_OFFERED = (
    "llama-3-8b",
    "llama-3-70b",
    "llama-3-405b",
    "llama-2-7b",
    "llama-2-13b",
    "gpt-3-175b",
    "deepseek-v3",
    "tiny-260",
)
_NAMES: Mapping[str, str] = {key: MODELS[key].name for key in _OFFERED} | {CUSTOM_TYPES: "your own"}


def _bytes_field(label: str, symbol: str, help_text: str) -> Number:
    return Number(
        label=label,
        unit=_BYTES,
        low=0.0,
        high=24.0,
        step=0.5,
        symbol=symbol,
        help=help_text,
        advanced=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[
        int,
        Number(
            label="GPUs that share the states",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            symbol="N",
        ),
    ] = 8
    zero_stage: Annotated[
        str,
        Choice(
            label="Sharded",
            options={
                "1": "optimizer (ZeRO-1)",
                "2": "and gradients (ZeRO-2)",
                "3": "and parameters (ZeRO-3)",
                "0": "nothing (DDP)",
            },
        ),
    ] = "1"
    model: Annotated[str, Choice(label="Model", cites=False, options=_NAMES)] = "llama-3-8b"
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=64,
            scale="log2",
            whole=True,
            symbol="g",
            help="Gradients are accumulated over them.",
        ),
        Symbol("micro"),  # in the equations g is a gradient's bytes
    ] = 1
    capacity: Annotated[
        float,
        Number(
            label="GPU memory",
            unit=_GIGABYTES,
            low=8 * GB,
            high=512 * GB,
            scale="log",
            symbol="C",
            help="What programs can allocate, as PyTorch reports it: less than on the label.",
        ),
    ] = GPUS["h100"].memory
    parameters: Annotated[
        float,
        Number(
            label="Parameters of your own model",
            unit=BILLIONS,
            low=1e6,
            high=1e13,
            scale="log",
            symbol="P",
            help="Counts if the model above is your own.",
            advanced=True,
        ),
    ] = 7e9
    parameter_bytes: Annotated[
        float,
        _bytes_field("Bytes of a parameter", "βp", "2 in bf16, 4 in fp32."),
        BYTES,
        Symbol("p"),
    ] = MIXED_PRECISION.parameter
    gradient_bytes: Annotated[
        float,
        _bytes_field("Bytes of a gradient", "βg", "Megatron sums in fp32: 4."),
        BYTES,
        Symbol("g"),
    ] = MIXED_PRECISION.gradient
    optimizer_bytes: Annotated[
        float,
        _bytes_field("Bytes of the optimizer", "βo", "Copy and two moments in fp32: 12."),
        BYTES,
        Symbol("o"),
    ] = MIXED_PRECISION.optimizer


def types_of(inputs: Inputs) -> StateBytes:
    """Return the bytes of each kind of state."""
    return StateBytes(
        parameter=inputs.parameter_bytes,
        gradient=inputs.gradient_bytes,
        optimizer=inputs.optimizer_bytes,
    )


def job_of(inputs: Inputs) -> ZeroJob:
    """Return the job whose states are sharded."""
    own = inputs.model == CUSTOM_TYPES
    return ZeroJob(
        parameters=inputs.parameters if own else total_parameters(MODELS[inputs.model]),
        types=types_of(inputs),
        ranks=inputs.ranks,
        num_microbatches=inputs.num_microbatches,
    )
