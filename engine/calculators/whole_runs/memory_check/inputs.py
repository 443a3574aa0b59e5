"""The inputs of the check of memory: a job and three readings; and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import GIGABYTES, Number, Scalar
from engine.core.outputs import Told
from engine.core.text import Text
from engine.core.units import GB, Bytes, GiB, Share
from engine.form import short_job
from engine.form.fields import EagerLoss
from engine.run.run import Run
from engine.simulate.memory.memory_check import Cause, Lines, cause, modelled, off

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "torchtitan: Llama 3 8B on 8 H100, 77.0 GiB": {
        "model": "llama-3-8b",
        "gpu": "H100-SXM-500W",
        "world_size": 8,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "micro_batch_size": 2,
        "global_batch_size": 16,
        "recompute": "selective",
        "zero_stage": "3",
        "framework": "fsdp",
        "eager_loss": True,
        "allocated": 0.0,
        "reserved": 77 * GiB,
        "process": 0.0,
    },
    "Blocks in pieces": {"reserved": 62 * GB, "process": 65 * GB},
    "Memory outside PyTorch": {"process": 62 * GB},
}


def _reading(label: str, where: str) -> Number:
    return Number(
        label=label,
        unit=GIGABYTES,
        low=0.0,
        high=1e12,
        step=0.1 * GB,
        help=f"{where}. 0: not read. If your log prints GiB, type the unit: 77 GiB.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(short_job.Shape):
    """What the reader can change: a job, and what three tools show of its fullest GPU."""

    allocated: Annotated[float, _reading("Allocated", "torch.cuda.max_memory_allocated")] = 33 * GB
    reserved: Annotated[float, _reading("Reserved", "torch.cuda.max_memory_reserved")] = 44 * GB
    process: Annotated[float, _reading("nvidia-smi", "Memory-Usage of the process")] = 47 * GB
    model: short_job.AnyModelName = "llama-3-8b"
    gpu: short_job.GpuName = "H100-SXM"
    world_size: short_job.WorldSize = 8
    tensor_parallel: short_job.TensorParallel = 1
    pipeline_parallel: short_job.PipelineParallel = 1
    context_parallel: short_job.ContextParallel = 1
    expert_parallel: short_job.ExpertParallel = 1
    zero_stage: short_job.ZeroStage = "3"
    micro_batch_size: short_job.MicroBatch = 1
    global_batch_size: short_job.GlobalBatch = 8
    sequence_length: short_job.SequenceLength = 8192
    precision: short_job.PrecisionName = "bf16"
    recompute: short_job.RecomputeName = "selective"
    framework: short_job.FrameworkName = "fsdp"
    eager_loss: EagerLoss = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The model's lines, what lies between the readings, and by how much they are off and why."""

    changes: tuple[Text, ...]
    run: Run
    ours: Lines
    read: Lines
    cause: Cause
    off: Mapping[str, Share]
    our_allocated: Annotated[
        Bytes,
        Told(
            "Allocated, modeled",
            color="memory",
            assumes=("Tensors and workspaces of the fullest rank.",),
        ),
    ]
    our_reserved: Annotated[
        Bytes,
        Told(
            "Reserved, modeled",
            color="memory",
            assumes=("What the allocator keeps beyond tensors is fitted to published peaks.",),
            sources=("torchtitan",),
        ),
    ]
    our_process: Annotated[
        Bytes,
        Told(
            "nvidia-smi, modeled",
            color="memory",
            assumes=("The CUDA context is measured, the buffers of NCCL are fitted.",),
            sources=("bigscience2022",),
        ),
    ]
    in_pieces: Annotated[
        Bytes,
        Told(
            "In pieces",
            color="buffers",
            basis="measured",
            assumes=("The peaks of both are taken over the same steps.",),
        ),
    ]
    beside: Annotated[
        Bytes,
        Told(
            "Outside PyTorch",
            color="buffers",
            basis="measured",
            assumes=("Nothing else runs on the GPU, or it is counted here.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the lines of the job and of the readings."""
    run, changes = short_job.job_told(inputs, eager_loss=inputs.eager_loss)
    ours = modelled(run)
    read = Lines(allocated=inputs.allocated, reserved=inputs.reserved, process=inputs.process)
    return Result(
        changes=changes,
        run=run,
        ours=ours,
        read=read,
        cause=cause(ours, read),
        off={name: off(getattr(ours, name), getattr(read, name)) for name in Lines.__slots__},
        our_allocated=ours.allocated,
        our_reserved=ours.reserved,
        our_process=ours.process,
        in_pieces=read.pieces,
        beside=read.outside,
    )
