"""Inputs of the scaling calculator; the defaults are a published 7B run on A100."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.constants import COMMON
from engine.catalog.models import MODELS
from engine.core.inputs import (
    GBITS,
    PERCENT,
    PLAIN,
    Choice,
    Number,
    Switch,
)
from engine.core.units import Gbit, Tokens
from engine.form.fields import LabGpu, OwnConstants, PortsPerEight
from engine.form.gradient_type import GradientType
from engine.simulate.data_parallel.scaling import ScalingJob

LARGEST = 16_384
OFFERED = ("llama-2-7b", "llama-3-8b", "llama-2-13b", "llama-3-70b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_gpus: Annotated[
        int, Number(label="GPUs", low=1, high=LARGEST, scale="log2", whole=True, symbol="n")
    ] = 256
    mode: Annotated[
        str,
        Choice(
            label="Scaling",
            options={"weak": "weak: tokens per GPU stay", "strong": "strong: the batch stays"},
        ),
    ] = "weak"
    tokens: Annotated[
        int,
        Number(
            label="Tokens per GPU and step",
            low=256,
            high=1_048_576,
            scale="log2",
            whole=True,
            symbol="t",
            help="Weak scaling keeps them.",
        ),
    ] = 16_384
    batch: Annotated[
        int,
        Number(
            label="Tokens of the whole batch",
            unit=PLAIN,
            low=65_536,
            high=268_435_456,
            scale="log2",
            whole=True,
            help="Strong scaling keeps them.",
        ),
    ] = 4_194_304
    port: Annotated[
        float,
        Number(label="Network port", unit=GBITS, low=1 * Gbit, high=1600 * Gbit, scale="log"),
    ] = 100 * Gbit
    gradient: GradientType = "fp32"
    overlap: Annotated[bool, Switch(label="Overlap with the backward pass")] = True
    deviation: Annotated[
        float,
        Number(
            label="Jitter of a step",
            unit=PERCENT,
            low=0.0,
            high=0.2,
            step=0.0001,
            help="Standard deviation of one GPU's computing time.",
        ),
    ] = COMMON.deviation
    slower: Annotated[
        float,
        Number(
            label="One GPU is slower by",
            unit=PERCENT,
            low=0.0,
            high=0.5,
            step=0.01,
            help="Of its speed; everybody waits for it.",
        ),
    ] = 0.0
    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={key: MODELS[key].name for key in OFFERED},
            advanced=True,
        ),
    ] = "llama-2-7b"
    gpu: LabGpu = "a100"
    ports_per_node: PortsPerEight = 4
    micro_batch: Annotated[
        int,
        Number(
            label="Tokens of a micro-batch",
            low=256,
            high=131_072,
            scale="log2",
            whole=True,
            advanced=True,
            help="Gradients are reduced behind the backward pass of the last one.",
        ),
    ] = 4096
    own_constants: OwnConstants = ""


def job_of(inputs: Inputs) -> ScalingJob:
    """Return the data-parallel job."""
    return ScalingJob(
        model=inputs.model,
        gpu=inputs.gpu,
        micro_batch=float(inputs.micro_batch),
        gradient=inputs.gradient,
        overlap=inputs.overlap,
        port=inputs.port,
        ports_per_node=inputs.ports_per_node,
        deviation=inputs.deviation,
        slower=inputs.slower,
        own=inputs.own_constants,
    )


def tokens_of(inputs: Inputs, mode: str, num_gpus: int) -> Tokens:
    """Return the tokens of each of n GPUs: they stay, or the batch does."""
    return float(inputs.tokens) if mode == "weak" else inputs.batch / num_gpus


def alone_of(inputs: Inputs, mode: str) -> Tokens:
    """Return the tokens of a step of one GPU alone: as many, or the whole batch."""
    return float(inputs.tokens) if mode == "weak" else float(inputs.batch)
