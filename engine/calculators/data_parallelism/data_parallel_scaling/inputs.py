"""Inputs of the scaling calculator; the defaults are a published 7B run on A100."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.core.inputs import (
    BILLIONS,
    GBITS,
    GBYTES_PER_SECOND,
    MEBIBYTES,
    PERCENT,
    PLAIN,
    Choice,
    Number,
    Switch,
)
from engine.core.units import GB, Gbit, MiB, Tokens
from engine.form.fields import COMPUTING, LabGpu, PortsPerEight
from engine.simulate.data_parallel.scaling import ScalingJob

LARGEST = 16_384


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
    overlap: Annotated[bool, Switch(label="Overlap with the backward pass")] = True
    deviation: Annotated[
        float,
        Number(
            label="Jitter of a step",
            unit=PERCENT,
            low=0.0,
            high=0.2,
            step=0.001,
            help="Standard deviation of one GPU's computing time.",
        ),
    ] = 0.01
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
    parameters: Annotated[
        float,
        Number(
            label="Parameters",
            unit=BILLIONS,
            low=1e7,
            high=1e12,
            scale="log",
            symbol="P",
            advanced=True,
        ),
    ] = 7e9
    gpu: LabGpu = "a100"
    utilization: Annotated[float, COMPUTING] = 0.55
    ports_per_node: PortsPerEight = 4
    scale_up: Annotated[
        float,
        Number(
            label="NVLink, ring bus bandwidth",
            unit=GBYTES_PER_SECOND,
            low=25 * GB,
            high=900 * GB,
            scale="log",
            advanced=True,
        ),
    ] = 235 * GB
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
    bucket: Annotated[
        float,
        Number(
            label="Bucket", unit=MEBIBYTES, low=1 * MiB, high=4096 * MiB, scale="log", advanced=True
        ),
    ] = 512 * MiB


def job_of(inputs: Inputs) -> ScalingJob:
    """Return the data-parallel job."""
    return ScalingJob(
        parameters=inputs.parameters,
        peak=GPUS[inputs.gpu].peak["bf16"],
        utilization=inputs.utilization,
        micro_batch=inputs.micro_batch,
        overlap=inputs.overlap,
        bucket=inputs.bucket,
        port=inputs.port,
        ports_per_node=inputs.ports_per_node,
        scale_up=inputs.scale_up,
        deviation=inputs.deviation,
        slower=inputs.slower,
    )


def tokens_of(inputs: Inputs, mode: str, num_gpus: int) -> Tokens:
    """Return the tokens of each of n GPUs: they stay, or the batch does."""
    return float(inputs.tokens) if mode == "weak" else inputs.batch / num_gpus
