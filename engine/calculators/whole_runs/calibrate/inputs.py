"""Inputs of a calibration: measurements, machines, and a test job."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from engine.calculators.whole_runs.calibrate.calibration_samples import SAMPLES
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Text
from engine.form import short_job
from engine.form.text_validation import text_check
from engine.run.logs.cluster_text import LONGEST_CLUSTER, ClusterMeasurements, read_cluster_text
from engine.run.run import Run
from engine.simulate.measured.measured_cluster import machine_of_text

AS_SAID = "text"
# Where neither the text nor the reader names machines, the job is predicted on these.
ASSUMED = "dgx-h100"
PRESETS: dict[str, dict[str, Any]] = {
    "One H100, as measured": {"measured": SAMPLES["h100"].text},
    "8 A100, published": {"measured": SAMPLES["published"].text},
    "nccl-tests and a log: Llama 3 70B on 64 H100": {
        **short_job.LLAMA_70B,
        "measured": SAMPLES["log"].text,
    },
}


@lru_cache(maxsize=4)
def parse_measurements(text: str) -> ClusterMeasurements:
    """Return a text, read once for the check under its box and for the results."""
    return read_cluster_text(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(short_job.Shape):
    """The calculator's inputs."""

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
            check=text_check(parse_measurements),
        ),
    ] = SAMPLES["made-up"].text
    machine: Annotated[
        str,
        Choice(
            label="Machines",
            cites=False,
            options={AS_SAID: "as the text says"} | {key: node.name for key, node in NODES.items()},
            help="Shares are of their datasheets: GPU, links, ports.",
        ),
    ] = AS_SAID
    model: short_job.AnyModelName = "llama-3-70b"
    world_size: short_job.WorldSize = 64
    framework: short_job.FrameworkName = "megatron"
    precision: short_job.PrecisionName = "bf16"
    sequence_length: short_job.SequenceLength = 8192
    global_batch_size: short_job.GlobalBatch = 128
    micro_batch_size: short_job.MicroBatch = 1
    tensor_parallel: short_job.TensorParallel = 8
    pipeline_parallel: short_job.PipelineParallel = 4
    context_parallel: short_job.ContextParallel = 1
    expert_parallel: short_job.ExpertParallel = 1
    zero_stage: short_job.ZeroStage = "1"
    recompute: short_job.RecomputeName = "selective"


def machine_of(inputs: Inputs) -> str:
    """Return the machines named by the input or the text; empty if none."""
    return (
        machine_of_text(parse_measurements(inputs.measured))
        if inputs.machine == AS_SAID
        else inputs.machine
    )


def job_on(inputs: Inputs, machine: str) -> Run:
    """Return the job on machines of the catalog."""
    node = NODES[machine]
    return short_job.job_run(
        inputs,
        gpu=node.gpu,
        gpus_per_node=node.gpus_per_node,
        nics_per_node=node.nics_per_node,
        nic_bandwidth=node.nic_bandwidth,
    )
