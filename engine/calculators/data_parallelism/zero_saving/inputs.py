"""The inputs of the saving, and what follows from them for every stage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import BILLIONS, Choice, Number, Unit
from engine.basis.units import GB, Bytes, Count, Parameters, Ratio, Share
from engine.catalog.models import MODELS
from engine.formulas.parameters import total_parameters
from engine.formulas.states import (
    MIXED_PRECISION,
    StateBytes,
    States,
    sharded_states,
    zero_saving,
)
from engine.formulas.volumes import zero_bytes_sent

CUSTOM = "custom"
STAGES: tuple[Count, ...] = (0, 1, 2, 3)
_BYTES = Unit(" B", 1.0)
_GIGABYTES = Unit(" GB", GB, {"TB": 1e12, "GiB": 2.0**30})
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
_NAMES: Mapping[str, str] = {key: MODELS[key].name for key in _OFFERED} | {CUSTOM: "your own"}


def _bytes(label: str, symbol: str, help_text: str) -> Number:
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
    """What the reader can change."""

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
    model: Annotated[str, Choice(label="Model", options=_NAMES)] = "llama-3-8b"
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
    ] = 1
    capacity: Annotated[
        float,
        Number(
            label="GPU memory", unit=_GIGABYTES, low=8 * GB, high=512 * GB, scale="log", symbol="C"
        ),
    ] = 80 * GB
    parameters: Annotated[
        float,
        Number(
            label="Parameters of your own model",
            unit=BILLIONS,
            low=1e6,
            high=1e13,
            scale="log",
            symbol="P",
            advanced=True,
        ),
    ] = 7e9
    parameter_bytes: Annotated[
        float, _bytes("Bytes of a parameter", "βp", "2 in bf16, 4 in fp32.")
    ] = MIXED_PRECISION.parameter
    gradient_bytes: Annotated[
        float, _bytes("Bytes of a gradient", "βg", "Megatron sums in fp32: 4.")
    ] = MIXED_PRECISION.gradient
    optimizer_bytes: Annotated[
        float, _bytes("Bytes of the optimizer", "βo", "Copy and two moments in fp32: 12.")
    ] = MIXED_PRECISION.optimizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """The states of one stage on one GPU, and what it sends in a step.

    Attributes:
        states: in bytes.
        held: all of them together.
        saving: of what plain data parallelism holds.
        sent: in a step.
        extra: over what plain data parallelism sends; 1 if that is nothing.
    """

    states: States
    held: Bytes
    saving: Share
    sent: Bytes
    extra: Ratio


def types_of(inputs: Inputs) -> StateBytes:
    """Return the bytes of each kind of state."""
    return StateBytes(
        parameter=inputs.parameter_bytes,
        gradient=inputs.gradient_bytes,
        optimizer=inputs.optimizer_bytes,
    )


def size_of(inputs: Inputs) -> Parameters:
    """Return the parameters of the chosen model."""
    if inputs.model == CUSTOM:
        return inputs.parameters
    return total_parameters(MODELS[inputs.model])


def total(states: States) -> Bytes:
    """Return all states together."""
    return states.parameters + states.gradients + states.optimizer


def sent(inputs: Inputs, stage: Count, num_microbatches: Count) -> Bytes:
    """Return what a rank sends in a step."""
    size = size_of(inputs)
    return zero_bytes_sent(
        size * inputs.gradient_bytes,
        size * inputs.parameter_bytes,
        stage,
        inputs.ranks,
        num_microbatches,
    )


def sharding(inputs: Inputs, stage: Count) -> Sharding:
    """Return everything about one stage."""
    states = sharded_states(size_of(inputs), types_of(inputs), stage, inputs.ranks)
    own = sent(inputs, stage, inputs.num_microbatches)
    plain = sent(inputs, 0, inputs.num_microbatches)
    return Sharding(
        states=states,
        held=total(states),
        saving=zero_saving(types_of(inputs), stage, inputs.ranks),
        sent=own,
        extra=own / plain if plain else 1.0,
    )


def replicated_bytes(types: StateBytes, stage: Count) -> Bytes:
    """Return the bytes per parameter that every rank keeps whatever their number."""
    return (
        (types.parameter if stage < 3 else 0.0)
        + (types.gradient if stage < 2 else 0.0)
        + (types.optimizer if stage < 1 else 0.0)
    )


def break_even_ranks(types: StateBytes, stage: Count) -> float:
    """Return the ranks at which a rank's share weighs as much as what it keeps whole."""
    whole = types.parameter + types.gradient + types.optimizer
    kept = replicated_bytes(types, stage)
    return (whole - kept) / kept if kept else float("inf")
