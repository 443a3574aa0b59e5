"""Memory check: three readings of a GPU against the model's three lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.constants import ALLOWANCES
from engine.core.inputs import GIGABYTES, Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, GB, SHARE, Bytes, GiB, Share
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Rule, Segment, Table
from engine.form import short_job
from engine.form.adjusted_inputs import with_changes
from engine.form.fields import EagerLoss
from engine.form.run.prediction_text import memory_error_text
from engine.run.run import Run
from engine.simulate.memory.memory_check import (
    Cause,
    MemoryReadings,
    first_cause,
    modeled_readings,
    relative_error,
)

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
    """The calculator's inputs: a job, and three tools' readings of its GPU that holds most."""

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
    """The model's lines, the gaps between the readings, and their errors and causes."""

    changes: tuple[Text, ...]
    run: Run
    ours: MemoryReadings
    read: MemoryReadings
    cause: Cause
    off: Mapping[str, Share]
    our_allocated: Annotated[
        Bytes,
        Output(
            "Allocated, modeled",
            color="memory",
            assumes=("Tensors and workspaces of the rank that holds most.",),
        ),
    ]
    our_reserved: Annotated[
        Bytes,
        Output(
            "Reserved, modeled",
            color="memory",
            assumes=("What the allocator keeps beyond tensors is fitted to published peaks.",),
            sources=("torchtitan",),
        ),
    ]
    our_process: Annotated[
        Bytes,
        Output(
            "nvidia-smi, modeled",
            color="memory",
            assumes=("The CUDA context is measured, the buffers of NCCL are fitted.",),
            sources=("bigscience2022",),
        ),
    ]
    in_pieces: Annotated[
        Bytes,
        Output(
            "In pieces",
            color="buffers",
            basis="measured",
            assumes=("The peaks of both are taken over the same steps.",),
        ),
    ]
    beside: Annotated[
        Bytes,
        Output(
            "Outside PyTorch",
            color="buffers",
            basis="measured",
            assumes=("Nothing else runs on the GPU, or it is counted here.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the lines of the job and of the readings."""
    run, changes = short_job.job_run_and_changes(inputs, eager_loss=inputs.eager_loss)
    ours = modeled_readings(run)
    read = MemoryReadings(
        allocated=inputs.allocated, reserved=inputs.reserved, process=inputs.process
    )
    return Result(
        changes=changes,
        run=run,
        ours=ours,
        read=read,
        cause=first_cause(ours, read),
        off={
            name: relative_error(getattr(ours, name), getattr(read, name))
            for name in MemoryReadings.__slots__
        },
        our_allocated=ours.allocated,
        our_reserved=ours.reserved,
        our_process=ours.process,
        in_pieces=read.pieces,
        beside=read.outside,
    )


def pieces_note(result: Result) -> str:
    """Return the note on fragmented blocks, or the missing readings."""
    both = result.read.allocated and result.read.reserved
    return "reserved, not allocated" if both else "needs allocated and reserved"


def outside_note(result: Result) -> str:
    """Return the note on memory outside of PyTorch, or the missing readings."""
    both = result.read.reserved and result.read.process
    return "in nvidia-smi, not reserved" if both else "needs reserved and nvidia-smi"


def verdict(result: Result) -> Badge:
    """Return the first differing reading, and its meaning."""
    numbers = {
        "p": (result.in_pieces, BYTES),
        "o": (result.beside, BYTES),
        "allowed": (ALLOWANCES.context + ALLOWANCES.channels, BYTES),
    }
    text, words = {
        "none": ("Nothing read yet", "Type what your tools show of the GPU that holds most."),
        "order": (
            "Not of one moment",
            "Tensors lie inside what is reserved, and that inside what nvidia-smi shows. Read the "
            "peaks of one process after the same steps.",
        ),
        "tensors": (
            "Other tensors",
            "What is allocated differs from the model by more than nine in ten published peaks do. "
            "Compare batch, length, recomputation and sharding with the job that ran.",
        ),
        "pieces": (
            "Blocks in pieces",
            "{p} are reserved and hold no tensor, more than twice what the model expects. "
            "PYTORCH_ALLOC_CONF=expandable_segments:True lets blocks grow instead.",
        ),
        "outside": (
            "Outside PyTorch",
            "{o} lie outside PyTorch; a CUDA context and NCCL take about {allowed}. Look for "
            "another process, more communicators, or a library with a pool of its own.",
        ),
        "alike": (
            "As modeled",
            "The readings are as close to the model as nine in ten published peaks are.",
        ),
    }[result.cause]
    color = {"alike": "compute", "none": "muted"}.get(result.cause, "communication")
    return Badge(text=text, sentence=say(words, **numbers), color=color)


def bars(result: Result) -> Bars:
    """Return both stacks against the memory of the GPU."""
    capacity = result.run.cluster.gpu.memory
    shown = (("ours", "model", result.ours), ("read", "yours", result.read))
    most = max(result.ours.process, result.read.process, result.read.reserved, capacity)
    return Bars(
        title="Three lines, one inside the other",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(
                    Segment(
                        key="allocated",
                        label="allocated",
                        value=lines.allocated,
                        color="activations",
                    ),
                    Segment(key="pieces", label="reserved", value=lines.pieces, color="buffers"),
                    Segment(key="outside", label="outside", value=lines.outside, color="muted"),
                ),
            )
            for key, label, lines in shown
            if lines.allocated or lines.pieces or lines.outside
        ),
        rules=(Rule(key="gpu", label="the GPU", axis="x", at=capacity),),
        caption="A part is drawn where the two readings around it were taken.",
    )


def comparison(result: Result) -> Table:
    """Return each tool's reading with the model's line."""
    names = (("Allocated", "allocated"), ("Reserved", "reserved"), ("nvidia-smi", "process"))
    rows: list[tuple[Cell, ...]] = []
    for label, name in names:
        ours, read = getattr(result.ours, name), getattr(result.read, name)
        sign = "+" if read >= ours else "−"
        rows.append(
            (
                label,
                say("{m}", m=(ours, BYTES)),
                say("{m}", m=(read, BYTES)) if read else "not read",
                say(f"{sign}{{d}}", d=(abs(result.off[name]), SHARE)) if read else "",
            )
        )
    return Table(
        title="Line by line",
        columns=("Tool", "Model", "Yours", "Yours is off by"),
        rows=tuple(rows),
        caption=memory_error_text(),
    )


TITLE = "Is my memory right?"
QUESTION = "Which of my three memory readings differs from the model, and what fills the gap?"
HEADLINE = "our_process"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("our_process"),
        "verdict": with_changes(verdict(result), result.changes),
        **present.values("our_allocated", "our_reserved"),
        "in_pieces": present.value("in_pieces", note=pieces_note(result)),
        "beside": present.value("beside", note=outside_note(result)),
        "lines": partial(bars, result),
        "compared": comparison(result),
    }
