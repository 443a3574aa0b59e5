"""The inputs of a calibration: measurements, machines, and the job that they are tried on."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from engine.basis.inputs import Choice, InputError, Text
from engine.catalog.nodes import NODES
from engine.form.calibration_samples import SAMPLES
from engine.form.run.inputs import Inputs as Form
from engine.form.run.repair import run_of
from engine.form.short_job import (
    ContextParallel,
    ExpertParallel,
    FrameworkName,
    GlobalBatch,
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
from engine.run.importers.told import TextError
from engine.run.logs.cluster_text import LONGEST_CLUSTER, ClusterText, read_cluster_text
from engine.run.run import Run
from engine.simulate.own_cluster import machine_in

AS_SAID = "text"
# Where neither the text nor the reader names machines, the job is predicted on these.
ASSUMED = "dgx-h100"
_JOB = (
    *("model", "world_size", "tensor_parallel", "pipeline_parallel", "context_parallel"),
    *("expert_parallel", "zero_stage", "micro_batch_size", "global_batch_size"),
    *("sequence_length", "precision", "recompute", "framework"),
)
PRESETS: dict[str, dict[str, Any]] = {
    "8 A100, published": {"measured": SAMPLES["published"].text},
    "nccl-tests and a log: Llama 3 70B on 64 H100": {
        "measured": SAMPLES["log"].text,
        "world_size": 64,
        "tensor_parallel": 4,
        "pipeline_parallel": 4,
        "context_parallel": 2,
        "micro_batch_size": 1,
        "global_batch_size": 128,
        "recompute": "none",
        "zero_stage": "1",
        "framework": "megatron",
    },
}


@lru_cache(maxsize=4)
def read(text: str) -> ClusterText:
    """Return a text, read once for the check under its box and for the results."""
    return read_cluster_text(text)


def check(text: str) -> None:
    """Raise `InputError` where no measurement is recognized."""
    try:
        read(text)
    except TextError as error:
        raise InputError(str(error)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    measured: Annotated[
        str,
        Text(
            label="What you measured",
            longest=LONGEST_CLUSTER,
            samples=SAMPLES,
            rows=8,
            placeholder="Paste what the script printed, a table of nccl-tests, lines of a training "
            "log, or several of them",
            help="A log needs its job, in the fields below.",
            check=check,
        ),
    ] = SAMPLES["made-up"].text
    machine: Annotated[
        str,
        Choice(
            label="Machines",
            options={AS_SAID: "as the text says"} | {key: one.name for key, one in NODES.items()},
            help="Shares are of their datasheets: GPU, links, ports.",
        ),
    ] = AS_SAID
    model: ModelName = "llama-3-70b"
    world_size: WorldSize = 64
    framework: FrameworkName = "megatron"
    precision: PrecisionName = "bf16"
    sequence_length: SequenceLength = 8192
    global_batch_size: GlobalBatch = 128
    micro_batch_size: MicroBatch = 1
    tensor_parallel: TensorParallel = 8
    pipeline_parallel: PipelineParallel = 4
    context_parallel: ContextParallel = 1
    expert_parallel: ExpertParallel = 1
    zero_stage: ZeroStage = "1"
    recompute: RecomputeName = "selective"


def machine_of(inputs: Inputs) -> str:
    """Return the machines that the reader or the text names; empty where neither does."""
    return machine_in(read(inputs.measured)) if inputs.machine == AS_SAID else inputs.machine


def job_on(inputs: Inputs, machine: str) -> Run:
    """Return the job on machines of the catalog."""
    node = NODES[machine]
    job = {name: getattr(inputs, name) for name in _JOB}
    form = Form(
        **job,
        gpu=node.gpu,
        gpus_per_node=node.gpus_per_node,
        nics_per_node=node.nics_per_node,
        nic_bandwidth=node.nic_bandwidth,
        virtual_pipeline=1,
        schedule="1f1b",
        sequence_parallel=job["tensor_parallel"] > 1,
        overlap_tensor_parallel=job["framework"] == "megatron",
    )
    run, _ = run_of(form)
    return run
