"""Inputs that several calculators ask for in the same words."""

from typing import Annotated

from engine.basis.inputs import MICROSECONDS, Choice, Number, Switch
from engine.basis.told import Symbol
from engine.basis.units import MICRO
from engine.catalog.hardware import GPUS

LabGpu = Annotated[
    str, Choice(label="GPU", options={k: gpu.name for k, gpu in GPUS.items()}, advanced=True)
]
FewGpus = Annotated[int, Number(label="GPUs", low=2, high=16, whole=True, symbol="n")]
GpusPerNode = Annotated[
    int, Number(label="GPUs per node", low=1, high=72, whole=True, advanced=True)
]
PortsPerEight = Annotated[
    int, Number(label="Ports per node of 8", low=1, high=16, whole=True, advanced=True)
]
StepLatency = Annotated[
    float,
    Number(
        label="Latency of one step",
        unit=MICROSECONDS,
        low=1 * MICRO,
        high=50 * MICRO,
        scale="log",
        symbol="α",
        advanced=True,
    ),
    Symbol("a"),
]
FusedAttention = Annotated[bool, Switch(label="Fused attention", advanced=True)]
