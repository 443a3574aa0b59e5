"""Every number of the checkpoint lab."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from engine.core.inputs import GBYTES_PER_SECOND, Choice, Number, Scalar, Switch
from engine.core.outputs import Output, Symbol
from engine.core.text import Text
from engine.core.units import (
    DAY,
    GB,
    HOUR,
    Bandwidth,
    Bytes,
    Count,
    Parameters,
    Seconds,
    Share,
    TokenRate,
)
from engine.form.fields import OwnConstants
from engine.form.saving_inputs import HOURS, LLAMA3_MTBF, MINUTES, Interval
from engine.form.short_job import (
    ContextParallel,
    ExpertParallel,
    FrameworkName,
    GlobalBatch,
    GpuName,
    MicroBatch,
    ModelName,
    PipelineParallel,
    PrecisionName,
    RecomputeName,
    SequenceLength,
    TensorParallel,
    WorldSize,
    ZeroStage,
)
from engine.simulate.job.saved_run import Checkpoint, CheckpointCost
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence

# Token numbers of a vocabulary beyond 65,536.
TOKEN: Bytes = 4.0
_POISSON = "Failures strike at random and independently, at a constant rate."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A checkpoint of the job, and the pace of saving it.

    Attributes:
        changes: of the plan, in sentences, without which nothing would run it.
    """

    evidence: Evidence
    changes: tuple[Text, ...]
    saved: Checkpoint
    bloom: Checkpoint
    llama: Checkpoint
    now: CheckpointCost
    fit: MemoryFit
    whole: Annotated[
        Bytes,
        Output(
            "A checkpoint",
            "C",
            "{per_parameter} for each parameter",
            "optimizer",
            assumes=("Gradients and activations are made anew; the data loader's place is small.",),
        ),
    ]
    per_gpu: Annotated[
        Bytes,
        Output(
            "Of that, one GPU writes",
            note="{writers} GPUs write",
            color="optimizer",
            assumes=("Evenly over all GPUs where states are sharded, else over one replica's.",),
            sources=("bytecheckpoint2024",),
        ),
    ]
    host: Annotated[
        Bytes,
        Output(
            "Held in a host's memory",
            note="while it is written behind the steps",
            color="buffers",
            assumes=("One copy of what the node writes.",),
            sources=("pytorch_async",),
        ),
    ]
    write: Annotated[Seconds, Output("Written after", "Tw", "all nodes at once", "memory")]
    rank_0: Annotated[
        Seconds,
        Output(
            "Written by one node",
            note="if rank 0 gathered all of it",
            color="memory",
            assumes=("The rate of one node to the storage; gathering is left out.",),
            sources=("bytecheckpoint2024",),
        ),
    ]
    stall: Annotated[
        Seconds,
        Output(
            "Steps wait",
            note="for each checkpoint",
            color="bad",
            assumes=(
                "In the background: for the copy to the host over PCIe at its line rate. Otherwise "
                "until all is written.",
            ),
            sources=("mohan2021",),
        ),
    ]
    mtbf: Annotated[
        Seconds, Output("Something fails every", "M", "in the whole job", assumes=(_POISSON,))
    ]
    young: Annotated[
        Seconds, Output("Young's interval", "t", "to first order", assumes=(_POISSON,))
    ]
    daly: Annotated[
        Seconds,
        Output(
            "Best interval",
            note="by Daly, but never shorter than a write",
            assumes=(_POISSON,),
            sources=("daly2006",),
        ),
    ]
    goodput: Annotated[
        Share,
        Output(
            "Goodput",
            note="at your interval",
            color="compute",
            assumes=(
                _POISSON,
                "A failure loses the steps since the last checkpoint that was written whole.",
            ),
            sources=("daly2006",),
        ),
    ]
    tokens: Annotated[
        TokenRate,
        Output(
            "Tokens of all GPUs",
            note="in a second",
            assumes=("From the step time that the planner computes.",),
            sources=("narayanan2021",),
        ),
    ]
    reading: Annotated[
        Bandwidth, Output("Read of tokens", "B", "by all GPUs together, 4 bytes each", "memory")
    ]
    best: Annotated[
        Share,
        Output(
            "Best goodput",
            note="with work of {daly} between two checkpoints",
            color="compute",
            assumes=(_POISSON,),
            sources=("daly2006",),
        ),
    ]
    size: Annotated[Parameters, Output(symbol="P", of="model")]
    weight: Annotated[Bytes, Output(symbol="w")]
    optimizer: Annotated[Bytes, Output(symbol="o")]
    per_parameter: Annotated[
        Bytes,
        Output(
            "For each parameter",
            note="{weight} of the weight, {optimizer} of the optimizer",
            color="optimizer",
            assumes=("Adam in mixed precision; under FSDP the weight is the full-precision copy.",),
            sources=("rajbhandari2020",),
        ),
    ]
    gpus: Annotated[Count, Output(symbol="n", of="world_size")]
    largest: Annotated[Bytes, Output(symbol="c")]
    writers: int
    node: Bandwidth
    curve: tuple[tuple[Share, Share], ...]


# The inputs of the checkpoint lab: a job, where it saves, and how often it fails.

LLAMA_3, BLOOM = "Llama 3 405B on 16,384 H100", "BLOOM 176B on 384 A100"
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    LLAMA_3: {
        "model": "llama-3-405b",
        "world_size": 16_384,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "context_parallel": 1,
        "zero_stage": "2",
        "recompute": "none",
        "global_batch_size": 2048,
        "storage": 2000 * GB,  # sustained, as published
    },
    # The storage as its site states it; it failed one to two times a week and saved every 3 hours.
    BLOOM: {
        "model": "bloom-176b",
        "gpu": "A100-SXM-80GB",
        "world_size": 384,
        "tensor_parallel": 4,
        "pipeline_parallel": 12,
        "context_parallel": 1,
        "micro_batch_size": 2,
        "global_batch_size": 2048,
        "sequence_length": 2048,
        "recompute": "full",
        "framework": "deepspeed",
        "gpu_mtbf": 43_000 * HOUR,
        "background": False,
        "interval": 3 * HOUR,
        "storage": 300 * GB,
    },
    "Llama 3 8B on 8 H100, FSDP": {
        "model": "llama-3-8b",
        "world_size": 8,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "context_parallel": 1,
        "zero_stage": "3",
        "framework": "fsdp",
        "global_batch_size": 64,
        "storage": 5 * GB,
        "node": 5 * GB,
    },
    "Written while the steps wait": {"background": False},
    "Weights only": {"optimizer": "no"},
}


def _advanced(field: Any) -> Number | Choice:  # noqa: ANN401 (an annotation)
    """Return a field's input widget, marked as advanced."""
    mark: Number | Choice = field.__metadata__[0]
    return replace(mark, advanced=True)


def _rate_input(label: str, help_text: str) -> Number:
    return Number(
        label=label,
        unit=GBYTES_PER_SECOND,
        low=0.1 * GB,
        high=10_000 * GB,
        scale="log",
        help=help_text,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    interval: Interval = HOUR
    background: Annotated[
        bool,
        Switch(
            label="Write in the background",
            help="Steps wait only for the copy to the host's memory.",
        ),
    ] = True
    optimizer: Annotated[
        str,
        Choice(
            label="Saved",
            options={"yes": "weights and optimizer", "no": "weights only"},
        ),
    ] = "yes"
    storage: Annotated[
        float, _rate_input("Storage, all writers", "Sustained writing of the file system.")
    ] = 40 * GB
    node: Annotated[float, _rate_input("One node to the storage", "Its ports for storage.")] = (
        20 * GB
    )
    gpu_mtbf: Annotated[
        float,
        Number(
            label="Mean time between failures of one GPU",
            unit=HOURS,
            low=1e3 * HOUR,
            high=1e6 * HOUR,
            scale="log",
        ),
        Symbol("Mg"),
    ] = LLAMA3_MTBF
    restart: Annotated[
        float,
        Number(
            label="Restart",
            unit=MINUTES,
            low=6.0,
            high=DAY,
            scale="log",
            symbol="R",
            help="To notice, replace, load and compile. Loading reads the whole checkpoint.",
        ),
    ] = 600.0
    model: ModelName = "llama-3-70b"
    gpu: GpuName = "H100-SXM"
    world_size: WorldSize = 1024
    zero_stage: ZeroStage = "1"
    tensor_parallel: Annotated[int, _advanced(TensorParallel)] = 4
    pipeline_parallel: Annotated[int, _advanced(PipelineParallel)] = 4
    context_parallel: Annotated[int, _advanced(ContextParallel)] = 2
    expert_parallel: Annotated[int, _advanced(ExpertParallel)] = 1
    micro_batch_size: Annotated[int, _advanced(MicroBatch)] = 1
    global_batch_size: Annotated[int, _advanced(GlobalBatch)] = 1024
    sequence_length: Annotated[int, _advanced(SequenceLength)] = 8192
    precision: Annotated[str, _advanced(PrecisionName)] = "bf16"
    recompute: Annotated[str, _advanced(RecomputeName)] = "selective"
    framework: Annotated[str, _advanced(FrameworkName)] = "megatron"
    own_constants: OwnConstants = ""
