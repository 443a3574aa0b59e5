"""Inputs of the overlap calculator."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, MEGABYTES, PERCENT, Choice, Number, Switch
from engine.core.units import MB, Gbit
from engine.form.fields import LabGpu, OwnConstants
from engine.simulate.overlap.overlap_job import OverlapSetting

DENSE = ("llama-3-8b", "llama-2-13b", "llama-3-70b", "llama-3-405b", "gpt-3-175b")
SCHEDULES = {
    "blocking": "Blocking",
    "buckets": "DDP buckets",
    "sharded": "FSDP prefetch",
    "async": "Async TP",
    "paired": "Paired passes",
}
_POWERS = {str(2**i): str(2**i) for i in range(5)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of the overlap calculator."""

    schedule: Annotated[
        str,
        Choice(
            label="Schedule shown",
            options=SCHEDULES,
            help="Each keeps what the one before it does, and hides one thing more.",
        ),
    ] = "sharded"
    slow_down: Annotated[
        float,
        Number(
            label="Contention",
            unit=PERCENT,
            low=0.0,
            high=0.4,
            step=0.01,
            symbol="c",
            help="While a collective runs, computation takes this much longer.",
        ),
    ] = 0.19
    bucket: Annotated[
        float,
        Number(
            label="Bucket",
            unit=MEGABYTES,
            low=1 * MB,
            high=2000 * MB,
            scale="log",
            help="Schedule 2: gradients are reduced as soon as so many bytes are ready.",
        ),
    ] = 100 * MB
    prefetch: Annotated[
        int,
        Number(
            label="Prefetch depth",
            low=0,
            high=4,
            whole=True,
            help="Schedules 3 to 5: parameters are gathered so many units ahead of their use.",
        ),
    ] = 1
    tokens: Annotated[
        int,
        Number(
            label="Tokens of a micro-batch",
            low=1024,
            high=131_072,
            scale="log2",
            whole=True,
            symbol="t",
            help="One pass of one replica; its tensor-parallel GPUs share them.",
        ),
    ] = 16_384
    port: Annotated[
        float,
        Number(
            label="Network port per GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate, one way.",
        ),
    ] = 400 * Gbit
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in DENSE})
    ] = "llama-3-70b"
    gpu: LabGpu = "h100"
    tensor_parallel: Annotated[
        str,
        Choice(
            label="Tensor parallel",
            options={key: _POWERS[key] for key in ("1", "2", "4", "8")},
            advanced=True,
        ),
    ] = "8"
    pipeline_parallel: Annotated[
        str, Choice(label="Pipeline stages", cites=False, options=_POWERS, advanced=True)
    ] = "4"
    data_parallel: Annotated[
        int,
        Number(label="Data parallel", low=1, high=2048, scale="log2", whole=True, advanced=True),
    ] = 32
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=128,
            scale="log2",
            whole=True,
            symbol="m",
            advanced=True,
        ),
    ] = 16
    reshard: Annotated[
        bool,
        Switch(
            label="Free parameters after the forward pass",
            help="Off: gathered once per step and kept (reshard_after_forward=False, and "
            "set_reshard_after_backward(False) until the last micro-batch).",
            advanced=True,
        ),
    ] = True
    fp32_gradients: Annotated[
        bool,
        Switch(
            label="Reduce gradients in fp32",
            help="Twice the bytes of bf16 on the wire.",
            advanced=True,
        ),
    ] = False
    deviation: Annotated[
        float,
        Number(
            label="Jitter of a step",
            unit=PERCENT,
            low=0.0,
            high=0.1,
            step=0.001,
            symbol="s",
            help="Standard deviation of one GPU's step time; all wait for the slowest.",
            advanced=True,
        ),
    ] = 0.01
    own_constants: OwnConstants = ""


_SAME = (
    "model",
    "gpu",
    "data_parallel",
    "num_microbatches",
    "tokens",
    "port",
    "slow_down",
    "bucket",
    "prefetch",
    "reshard",
    "deviation",
)


def overlap_job(inputs: Inputs) -> OverlapSetting:
    """Return the job of the inputs, for any schedule."""
    return OverlapSetting(
        **{name: getattr(inputs, name) for name in _SAME},
        tensor_parallel=int(inputs.tensor_parallel),
        pipeline_parallel=int(inputs.pipeline_parallel),
        gradient=4.0 if inputs.fp32_gradients else 2.0,
        own=inputs.own_constants,
    )
