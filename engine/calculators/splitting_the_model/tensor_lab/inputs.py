"""The inputs of the tensor-parallel lab, and the run that they describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, Choice, Number, Scalar, Switch
from engine.core.units import Count, Gbit
from engine.form.fields import GpusPerNode, OwnConstants, kernel_efficiency
from engine.form.run.inputs import Inputs as RunInputs

OFFERED = ("llama-3-8b", "llama-2-13b", "llama-3-70b", "llama-3-405b", "gpt-3-175b")
MOST = 72
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "16 ranks over two nodes": {"tensor_parallel": 16},
    "16 ranks, one port per node": {"tensor_parallel": 16, "nics_per_node": 1},
    "8B on one node": {
        "model": "llama-3-8b",
        "sequence_length": 8192,
        "pipeline_parallel": 1,
        "data_parallel": 1,
    },
    "Async, 8 ranks": {"overlap": True},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tensor_parallel: Annotated[
        int,
        Number(label="Tensor parallel", low=1, high=MOST, scale="log2", whole=True, symbol="t"),
    ] = 8
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in OFFERED})
    ] = "llama-3-70b"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=512, high=131_072, scale="log2", whole=True, symbol="s"
        ),
    ] = 4096
    micro_batch_size: Annotated[
        int,
        Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, symbol="b"),
    ] = 1
    sequence_parallel: Annotated[
        bool,
        Switch(
            label="Sequence parallel",
            help="--sequence-parallel in Megatron-LM: gathers and scatters in place of "
            "all-reduces.",
        ),
    ] = True
    overlap: Annotated[
        bool,
        Switch(
            label="Async",
            help="Collectives are cut into pieces that run beside the products.",
        ),
    ] = False
    nics_per_node: Annotated[int, Number(label="Ports per node", low=1, high=MOST, whole=True)] = 8
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate of one port, one way.",
        ),
    ] = 400 * Gbit
    gpus_per_node: GpusPerNode = 8
    gpu: Annotated[
        str,
        Choice(
            label="GPU",
            cites=False,
            options={key: gpu.name for key, gpu in ACCELERATORS.items()},
            advanced=True,
        ),
    ] = "H100-SXM"
    pipeline_parallel: Annotated[
        int,
        Number(label="Pipeline stages", low=1, high=64, scale="log2", whole=True, advanced=True),
    ] = 4
    data_parallel: Annotated[
        int, Number(label="Replicas", low=1, high=1024, scale="log2", whole=True, advanced=True)
    ] = 4
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=256, scale="log2", whole=True, advanced=True)
    ] = 8
    utilization: Annotated[
        float,
        kernel_efficiency(
            "For the ratio and the bandwidth needed; the times of a step come from the step model."
        ),
    ] = 0.5
    own_constants: OwnConstants = ""


def run_inputs(inputs: Inputs, tensor: Count) -> RunInputs:
    """Return the run at a tensor-parallel degree, other axes unchanged."""
    return RunInputs(
        model=inputs.model,
        gpu=inputs.gpu,
        gpus_per_node=inputs.gpus_per_node,
        nics_per_node=inputs.nics_per_node,
        nic_bandwidth=inputs.nic_bandwidth,
        own_constants=inputs.own_constants,
        world_size=tensor * inputs.pipeline_parallel * inputs.data_parallel,
        tensor_parallel=tensor,
        pipeline_parallel=inputs.pipeline_parallel,
        context_parallel=1,
        sequence_parallel=inputs.sequence_parallel and tensor > 1,
        sequence_length=inputs.sequence_length,
        micro_batch_size=inputs.micro_batch_size,
        global_batch_size=inputs.micro_batch_size * inputs.num_microbatches * inputs.data_parallel,
        overlap_tensor_parallel=inputs.overlap,
        virtual_pipeline=1,
        schedule="1f1b",
    )
