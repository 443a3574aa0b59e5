"""Every number of a calibration: the constants, and the job with and without them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

from engine.catalog.measured_kernels import MEASURED, STREAMED
from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import OwnConstants
from engine.core.inputs import Choice, Sample, Text
from engine.core.outputs import Output
from engine.core.units import Bandwidth, Count, FlopRate, GiB, Ratio, Seconds
from engine.form import short_job
from engine.form.log_samples import SAMPLES as LOGS
from engine.form.nccl_samples import SAMPLES as TABLES
from engine.form.text_validation import text_check
from engine.run.logs.calibration import Timings
from engine.run.logs.cluster_text import LONGEST_CLUSTER, ClusterMeasurements, read_cluster_text
from engine.run.machines import cluster_of
from engine.run.run import Run
from engine.simulate.measured.calibration import Calibration, calibrate, synthetic_text
from engine.simulate.measured.measured_cluster import (
    all_timings,
    fastest_rates,
    logged_step,
    machine_of_text,
    num_timings,
    own_constants,
    with_log_pace,
)
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_range import step_range
from engine.simulate.step.what_if import run_step_time

# Sample measurements to try, each labeled with its origin.
#
# `published`: products (Microsoft Azure) and streaming (BabelStream) on an A100, and the nccl-tests
# of 8 A100 (Bekman), put in the form that the script prints. `made-up`: times that the engine's own
# formulas give for known constants, with a few percent of scatter. `h100` and `cpu`: the output of
# the script on one H100, and on two processes of one CPU with gloo.

_A100 = "A100-SXM-80GB"
_OPERATIONS = 2.0


def _script(device: str, ranks: Count, nodes: Count, **rows: list[tuple[object, ...]]) -> str:
    head = {"format": "wallclock-calibration", "version": 1, "device": device}
    return json.dumps({**head, "ranks": ranks, "nodes": nodes, **rows}) + "\n"


def _rounded(time: Seconds) -> Seconds:
    return float(f"{time:.4g}")


def _published() -> str:
    products: list[tuple[object, ...]] = [
        (
            row.precision,
            row.rows,
            row.columns,
            row.inner,
            _rounded(_OPERATIONS * row.rows * row.columns * row.inner / row.rate),
        )
        for row in MEASURED
        if row.gpu == _A100 and row.source == "azure_gpu_guide"
    ]
    copies: list[tuple[object, ...]] = [
        (int(size * GiB), _rounded(size * GiB / STREAMED[_A100])) for size in (1, 2)
    ]
    kernels = _script("NVIDIA A100-SXM4-80GB", 8, 1, products=products, copies=copies)
    return kernels + TABLES["a100"].text


# What the script printed on two processes of one CPU (PyTorch 2.13, gloo), 2026-11-22.
_CPU = (
    '{"format": "wallclock-calibration", "version": 1, "torch": "2.13.0+cpu", "device'
    '": "CPU", "backend": "gloo", "ranks": 2, "nodes": 1, "products": [["bf16", 512, '
    '512, 512, 0.02935], ["bf16", 256, 256, 256, 0.003049], ["bf16", 128, 128, 128, 0'
    '.0002698], ["bf16", 64, 64, 64, 0.0001764], ["bf16", 512, 1792, 256, 0.03343], ['
    '"bf16", 256, 896, 256, 0.009123], ["bf16", 256, 256, 896, 0.01048], ["bf16", 512'
    ', 64, 512, 0.002988], ["bf16", 128, 640, 512, 0.008105], ["bf16", 1024, 256, 64,'
    ' 0.003439], ["bf16", 256, 256, 32, 0.0005416], ["bf16", 1024, 512, 128, 0.01276]'
    '], "attention": [["flash", 1, 4, 256, 128, 0.005713, 0.04136], ["flash", 1, 4, 5'
    '12, 128, 0.02277, 0.1627]], "copies": [[2097152, 0.0001808], [4194304, 0.0004912'
    '], [8388608, 0.0005281], [16777216, 0.001694], [33554432, 0.003525]], "collectiv'
    'es": [["all_reduce", 4096, 2, 1, 0.001922], ["all_gather", 4096, 2, 1, 0.001071]'
    ', ["reduce_scatter", 4096, 2, 1, 0.001821], ["all_reduce", 16384, 2, 1, 0.001503'
    '], ["all_gather", 16384, 2, 1, 0.001274], ["reduce_scatter", 16384, 2, 1, 0.0014'
    '24], ["all_reduce", 65536, 2, 1, 0.000944], ["all_gather", 65536, 2, 1, 0.001272'
    '], ["reduce_scatter", 65536, 2, 1, 0.001241], ["all_reduce", 262144, 2, 1, 0.003'
    '767], ["all_gather", 262144, 2, 1, 0.00135], ["reduce_scatter", 262144, 2, 1, 0.'
    '002211], ["all_reduce", 1048576, 2, 1, 0.003729], ["all_gather", 1048576, 2, 1, '
    '0.001928], ["reduce_scatter", 1048576, 2, 1, 0.003062]]}'
)
# What the script printed on one H100 SXM (PyTorch 2.11, CUDA 13.0, driver 580.159.04), 2026-11-23.
_H100 = (
    '{"format": "wallclock-calibration", "version": 1, "torch": "2.11.0+cu130", "device":'
    ' "NVIDIA H100 80GB HBM3", "backend": "nccl", "ranks": 1, "nodes": 1, "products": [["'
    'bf16", 8192, 8192, 8192, 0.001528], ["fp8", 8192, 8192, 8192, 0.0008457], ["bf16", 4'
    '096, 4096, 4096, 0.0001955], ["fp8", 4096, 4096, 4096, 0.0001205], ["bf16", 2048, 20'
    '48, 2048, 2.871e-05], ["fp8", 2048, 2048, 2048, 1.73e-05], ["bf16", 1024, 1024, 1024'
    ', 1.374e-05], ["fp8", 1024, 1024, 1024, 1.957e-05], ["bf16", 8192, 28672, 4096, 0.00'
    '2693], ["fp8", 8192, 28672, 4096, 0.001528], ["bf16", 4096, 14336, 4096, 0.0007475],'
    ' ["fp8", 4096, 14336, 4096, 0.0004147], ["bf16", 4096, 4096, 14336, 0.0006617], ["fp'
    '8", 4096, 4096, 14336, 0.0004003], ["bf16", 8192, 1024, 8192, 0.0002088], ["fp8", 81'
    '92, 1024, 8192, 0.0001186], ["bf16", 2048, 10240, 8192, 0.0004894], ["fp8", 2048, 10'
    '240, 8192, 0.0002723], ["bf16", 16384, 4096, 1024, 0.0002253], ["fp8", 16384, 4096, '
    '1024, 0.0001378], ["bf16", 4096, 4096, 512, 3.634e-05], ["fp8", 4096, 4096, 512, 2.6'
    '25e-05], ["bf16", 16384, 8192, 2048, 0.0008266], ["fp8", 16384, 8192, 2048, 0.000479'
    '6]], "attention": [["flash", 4, 32, 2048, 128, 0.0005091, 0.001619], ["flash", 2, 32'
    ', 4096, 128, 0.0009136, 0.002734], ["flash", 1, 32, 8192, 128, 0.001754, 0.004868], '
    '["cudnn", 4, 32, 2048, 128, 0.0002856, 0.0009081], ["cudnn", 2, 32, 4096, 128, 0.000'
    '5253, 0.001548], ["cudnn", 1, 32, 8192, 128, 0.0009878, 0.002802]], "copies": [[1342'
    "17728, 4.778e-05], [268435456, 9.162e-05], [536870912, 0.0001803], [1073741824, 0.00"
    '03596], [2147483648, 0.0007136]], "collectives": []}'
)
SAMPLES: Mapping[str, Sample] = {
    "made-up": Sample(title="16 H100 (made up)", text=synthetic_text()),
    "published": Sample(title="8 A100, published tables", text=_published()),
    "log": Sample(
        title="nccl-tests and a log (made up)", text=TABLES["h100"].text + LOGS["megatron"].text
    ),
    "h100": Sample(title="one H100, as measured", text=_H100 + "\n"),
    "cpu": Sample(title="two processes on a CPU, as measured", text=_CPU + "\n"),
}


# Inputs of a calibration: measurements, machines, and a test job.

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


_INFINITE = float("inf")  # of what the text does not measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The measurements, and the calibrated prediction.

    Attributes:
        machine: key of `NODES`; empty where neither text nor reader names one.
        run, evidence: the job, with the measured constants if there are any, and what is known.
        constants: the constants; None where nothing could be fitted.
        calibration: the fits.
        logged: a logged step, and what it is of the catalog's prediction.
    """

    machine: str
    run: Run
    evidence: Evidence
    constants: OwnConstants | None
    calibration: Calibration
    unread: Count
    logged: tuple[Seconds, float] | None
    step_time: Annotated[
        Seconds,
        Output("Step on your cluster", "T", "{ours} with the catalog's constants"),
    ]
    ours: Seconds
    least: Annotated[
        Seconds, Output("Range, from", assumes=("Eight in ten such steps lie in the range.",))
    ]
    most: Annotated[
        Seconds, Output("Range, to", assumes=("Eight in ten such steps lie in the range.",))
    ]
    width: Annotated[
        Ratio,
        Output(
            "Range against the catalog's",
            note="relative to the step",
            assumes=(
                "What differs from cluster to cluster and was measured narrows it, but never by "
                "more than what runs of one cluster have in common; errors of the measurement "
                "widen it.",
            ),
        ),
    ]
    product: Annotated[
        FlopRate,
        Output(
            "Fastest product",
            basis="measured",
            color="compute",
            assumes=("Two operations for each product of two elements, over the time.",),
        ),
    ]
    copy: Annotated[
        Bandwidth,
        Output(
            "Fastest copy",
            basis="measured",
            color="memory",
            assumes=("Bytes read and bytes written, over the time.",),
        ),
    ]
    collective: Annotated[
        Bandwidth,
        Output(
            "Fastest collective",
            basis="measured",
            color="communication",
            assumes=("Bus bandwidth, as nccl-tests count it.",),
        ),
    ]
    rows: Count


@lru_cache(maxsize=8)  # another job on the same machines changes no constant
def _measured(timings: Timings, machine: str) -> Calibration:
    return calibrate(timings, cluster_of(machine))


def solve(inputs: Inputs) -> Result:
    """Return the constants in the text, and the job's prediction with them."""
    text, machine = parse_measurements(inputs.measured), machine_of(inputs)
    timings = all_timings(text, machine or ASSUMED)
    run = job_on(inputs, machine or ASSUMED)
    calibration = Calibration(measured=(), points=())
    if machine:
        calibration = _measured(timings, machine)
    constants = own_constants(calibration, NODES[machine].gpu) if machine else None
    if machine and text.log:
        constants = with_log_pace(constants or OwnConstants(gpu=NODES[machine].gpu), text, run)
    mine = replace(run, cluster=replace(run.cluster, own_constants=constants))
    ours, step = run_step_time(run).total, run_step_time(mine).total
    least, most, _ = step_range(mine, step)
    before = step_range(run, ours)
    fastest = fastest_rates(timings)
    return Result(
        machine=machine,
        run=mine,
        evidence=evidence(mine),
        constants=constants,
        calibration=calibration,
        unread=timings.unread,
        logged=logged_step(text, run),
        step_time=step,
        ours=ours,
        least=least,
        most=most,
        width=(most - least) / step / ((before[1] - before[0]) / ours),
        product=fastest.product or _INFINITE,
        copy=fastest.copy or _INFINITE,
        collective=fastest.collective or _INFINITE,
        rows=num_timings(timings),
    )
