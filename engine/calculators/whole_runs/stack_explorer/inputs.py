"""Inputs of the stack explorer's job, shared by all tabs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.calculators.whole_runs.stack_explorer.names import EVENT_NAMES, LAYER_NAMES
from engine.core.inputs import GBITS, Choice, Number, Scalar, Unit
from engine.core.units import DAY, GB, HOUR, KB, MICRO, MILLI, NANO, Gbit
from engine.form.fields import OwnConstants, PortsPerEight
from engine.form.job_inputs import TRILLIONS
from engine.form.message.inputs import MESSAGE
from engine.form.overlap.inputs import SCHEDULES
from engine.form.price import PRICE
from engine.form.saving_inputs import LLAMA3_MTBF, SECONDS
from engine.form.what_if import inputs as _levers_inputs
from engine.form.what_if.inputs import GPU_NAMES, MODEL_NAMES

_TIMES = {
    "ns": NANO,
    "us": MICRO,
    "µs": MICRO,
    "ms": MILLI,
    "s": 1.0,
    "min": 60.0,
    "h": HOUR,
    "days": DAY,
}
SHORT_TIMES = Unit(" µs", MICRO, _TIMES, shown=("ns", "µs", "ms", "s"))
LONG_TIMES = Unit(" h", HOUR, _TIMES, shown=("s", "min", "h", "days"))
HOURS = Unit(" h", HOUR, _TIMES)
_SHARED = (
    "model",
    "gpu",
    "world_size",
    "sequence_length",
    "global_batch_size",
    "micro_batch_size",
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_pipeline",
    "context_parallel",
    "expert_parallel",
    "zero_stage",
    "recompute",
    "nic_bandwidth",
    "nics_per_node",
    "own_constants",
)


def _count_input(
    label: str, high: int, *, low: int = 1, symbol: str = "", first: bool = False
) -> Number:
    return Number(
        label=label, low=low, high=high, scale="log2", whole=True, symbol=symbol, advanced=not first
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[str, Choice(label="Model", cites=False, options=MODEL_NAMES)] = "llama-3-405b"
    gpu: Annotated[str, Choice(label="GPU", options=GPU_NAMES)] = "H100-SXM"
    world_size: Annotated[int, _count_input("GPUs", 131_072, symbol="n", first=True)] = 16_384
    nic_bandwidth: Annotated[
        float,
        Number(label="Port, one way", unit=GBITS, low=10 * Gbit, high=1600 * Gbit, scale="log"),
    ] = 400 * Gbit
    tensor_parallel: Annotated[int, _count_input("Tensor parallel", 64)] = 8
    pipeline_parallel: Annotated[int, _count_input("Pipeline parallel", 64)] = 16
    virtual_pipeline: Annotated[int, _count_input("Pieces per pipeline rank", 16)] = 8
    context_parallel: Annotated[int, _count_input("Context parallel", 64)] = 1
    expert_parallel: Annotated[int, _count_input("Expert parallel", 256)] = 1
    micro_batch_size: Annotated[int, _count_input("Micro-batch", 64)] = 1
    global_batch_size: Annotated[
        int, _count_input("Global batch, sequences", 65_536, symbol="B")
    ] = 2048
    sequence_length: Annotated[
        int, _count_input("Sequence length", 1 << 18, low=128, symbol="s")
    ] = 8192
    nics_per_node: PortsPerEight = 8
    zero_stage: Annotated[
        str, Choice(label="ZeRO", options={str(i): str(i) for i in range(4)}, advanced=True)
    ] = "2"
    recompute: Annotated[
        str,
        Choice(
            label="Recompute",
            options={"none": "nothing", "selective": "attention only", "full": "every layer"},
            advanced=True,
        ),
    ] = "none"
    tokens: Annotated[
        float,
        Number(
            label="Tokens of the run",
            unit=TRILLIONS,
            low=1e9,
            high=1e14,
            scale="log",
            symbol="D",
            advanced=True,
        ),
    ] = 15.6e12
    price: Annotated[float, replace(PRICE, advanced=True)] = 2 / HOUR
    own_constants: OwnConstants = ""
    checkpoint: Annotated[
        float,
        Number(
            label="Time of a checkpoint",
            unit=SECONDS,
            low=0.1,
            high=HOUR,
            scale="log",
            help="Only the part in which no step runs.",
            advanced=True,
        ),
    ] = 60.0
    gpu_mtbf: Annotated[
        float,
        Number(
            label="Mean time between failures of one GPU",
            unit=HOURS,
            low=1e3 * HOUR,
            high=1e6 * HOUR,
            scale="log",
            help="With its share of host, cables and software.",
            advanced=True,
        ),
    ] = LLAMA3_MTBF
    event: Annotated[
        str,
        Choice(
            label="Event", options=EVENT_NAMES, help="Arrow keys go along the ruler.", advanced=True
        ),
    ] = "step"
    ruler_from: Annotated[
        float,
        Number(
            label="Ruler from",
            unit=SHORT_TIMES,
            low=10 * NANO,
            high=1.0,
            scale="log",
            advanced=True,
        ),
    ] = 100 * NANO
    ruler_to: Annotated[
        float,
        Number(
            label="Ruler to",
            unit=LONG_TIMES,
            low=36.0,
            high=10_000 * DAY,
            scale="log",
            advanced=True,
        ),
    ] = 100 * DAY
    layer: Annotated[
        str,
        Choice(
            label="Layer", options=LAYER_NAMES, help="Arrow keys go up and down.", advanced=True
        ),
    ] = "step"
    message: Annotated[
        float,
        Number(label="Message", unit=MESSAGE, low=8.0, high=1 * GB, scale="log", advanced=True),
    ] = 64 * KB
    schedule: Annotated[str, Choice(label="Schedule shown", options=SCHEDULES, advanced=True)] = (
        "buckets"
    )


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "70B on 256 H100": {
        "model": "llama-3-70b",
        "world_size": 256,
        "pipeline_parallel": 4,
        "virtual_pipeline": 5,
        "global_batch_size": 256,
        "recompute": "full",
    },
    "8B on one node": {
        "model": "llama-3-8b",
        "world_size": 8,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "global_batch_size": 64,
        "zero_stage": "3",
        "recompute": "full",
        "tokens": 1e11,
    },
    "13B on eight nodes with one port of 100 Gb/s": {
        "model": "llama-2-13b",
        "world_size": 64,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "global_batch_size": 64,
        "sequence_length": 4096,
        "zero_stage": "3",
        "recompute": "full",
        "nic_bandwidth": 100 * Gbit,
        "nics_per_node": 1,
        "tokens": 1e12,
    },
    "Experts: Qwen3 235B on 512 H100": {
        "model": "qwen3-235b-a22b",
        "world_size": 512,
        "tensor_parallel": 1,
        "pipeline_parallel": 8,
        "virtual_pipeline": 1,
        "expert_parallel": 64,
        "global_batch_size": 2048,
        "recompute": "full",
        "sequence_length": 4096,
    },
}


def shared_inputs(inputs: Inputs) -> _levers_inputs.Inputs:
    """Return the inputs of the job, without the inputs of the views."""
    return _levers_inputs.Inputs(**{name: getattr(inputs, name) for name in _SHARED})
