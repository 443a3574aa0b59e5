"""The inputs of accumulation at scale."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import GBITS, Choice, Number
from engine.core.outputs import Symbol
from engine.core.units import Gbit
from engine.form.fields import OwnConstants
from engine.run.parallelism import Cluster
from engine.simulate.data_parallel.accumulation import AccumulationJob

MAX_MICRO_BATCHES = 256
SCHEMES: Mapping[str, str] = {
    "ddp_sync": "DDP, reduced every time",
    "ddp": "DDP with no_sync",
    "zero1": "ZeRO-1",
    "zero2": "ZeRO-2",
    "fsdp": "FSDP, as it comes",
    "fsdp_once": "FSDP, gradients reduced once",
    "fsdp_keep": "FSDP, also gathered once",
}
_MODELS = ("llama-3-8b", "llama-2-7b", "llama-2-13b", "gpt-3-5b", "gpt-3-20b", "llama-3-70b")
_GPUS = ("H100-SXM", "H200-SXM", "B200", "A100-SXM-80GB", "MI300X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-8b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: ACCELERATORS[key].name for key in _GPUS})
    ] = "H100-SXM"
    world_size: Annotated[
        int,
        Number(label="GPUs", low=8, high=4096, scale="log2", whole=True, symbol="n"),
        Symbol("n"),
    ] = 64
    sequence_length: Annotated[
        int, Number(label="Sequence length", low=512, high=32_768, scale="log2", whole=True)
    ] = 4096
    micro_batch_size: Annotated[
        int, Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, symbol="b")
    ] = 1
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches",
            low=1,
            high=MAX_MICRO_BATCHES,
            scale="log2",
            whole=True,
            symbol="g",
        ),
    ] = 4
    scheme: Annotated[str, Choice(label="Data parallelism", options=SCHEMES)] = "zero1"
    pipeline_parallel: Annotated[
        int,
        Number(
            label="Stages of a pipeline",
            low=2,
            high=64,
            scale="log2",
            whole=True,
            symbol="p",
            help="For the figure about pipelines only.",
            advanced=True,
        ),
    ] = 4
    port: Annotated[
        float,
        Number(
            label="Port of each GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            advanced=True,
            help="One way; nodes of 8 GPUs.",
        ),
    ] = 400 * Gbit
    own_constants: OwnConstants = ""


def step_of(inputs: Inputs, scheme: str = "", count: int = 0) -> AccumulationJob:
    """Return the job; another scheme or number of micro-batches if given."""
    return AccumulationJob(
        model=MODELS[inputs.model],
        cluster=Cluster(
            gpu=ACCELERATORS[inputs.gpu],
            gpus_per_node=8,
            nics_per_node=8,
            nic_bandwidth=inputs.port,
            own=parse_constants(inputs.own_constants),
        ),
        ranks=inputs.world_size,
        sequence_length=inputs.sequence_length,
        batch=inputs.micro_batch_size,
        count=count or inputs.num_microbatches,
        scheme=scheme or inputs.scheme,
    )
