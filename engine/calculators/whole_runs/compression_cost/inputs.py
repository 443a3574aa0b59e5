"""The inputs of the cost of compression, and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, PERCENT, Choice, Number, Scalar
from engine.core.outputs import Symbol, Told
from engine.core.units import Bytes, Count, Gbit, Parameters, Ratio, Seconds
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import run_of
from engine.form.short_job import GpuName
from engine.formulas.compression import PLACE
from engine.run.run import Run
from engine.simulate.data_parallel.compressed_sync import Ways

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "100 Gb/s Ethernet": {"port": 100 * Gbit, "ports": 1},
    "One in a thousand": {"keep": 0.001},
    "Llama 3.2 1B on A100": {"model": "llama-3.2-1b", "gpu": "A100-SXM-80GB"},
}
_MODELS = ("llama-3.2-1b", "llama-3.2-3b", "llama-3-8b", "qwen2.5-1.5b")
VALUES = {"bf16": 2.0, "fp32": 4.0}
COUNTS = tuple(2**i for i in range(1, 13))
_MODELLED: Mapping[str, Any] = {
    "assumes": (
        "Every GPU holds the whole model, eight to a node; nothing else on the wire.",
        "Gradients and what is owed pass through memory at least five times for top-k, eight for "
        "factors; sorting and orthogonalizing come on top.",
    ),
    "sources": ("vogels2019", "renggli2019"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3.2-3b"
    gpu: GpuName = "H100-SXM"
    world_size: Annotated[
        int,
        Number(label="GPUs", low=2, high=4096, scale="log2", whole=True, symbol="n"),
        Symbol("n"),
    ] = 64
    keep: Annotated[
        float,
        Number(
            label="Share that top-k keeps",
            unit=PERCENT,
            low=1e-4,
            high=0.5,
            scale="log",
            symbol="κ",
        ),
        Symbol("k"),
    ] = 0.01
    rank: Annotated[
        int, Number(label="Rank of the factors", low=1, high=512, scale="log2", whole=True)
    ] = 32
    value: Annotated[
        str, Choice(label="Numbers on the wire", options={"bf16": "bf16", "fp32": "fp32"})
    ] = "bf16"
    ports: Annotated[int, Number(label="Ports per node", low=1, high=8, whole=True)] = 8
    port: Annotated[
        float,
        Number(label="Port", unit=GBITS, low=1 * Gbit, high=3200 * Gbit, scale="log"),
    ] = 400 * Gbit
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The three ways at the reader's number of GPUs, and at all others."""

    run: Run
    now: Ways
    curve: tuple[Ways, ...]
    dense_sent: Annotated[
        Bytes, Told("All-reduce sends", note="each GPU in a step", color="gradients", **_MODELLED)
    ]
    top_k_sent: Annotated[
        Bytes,
        Told("Top-k sends", "V", "values, places, from all GPUs", "communication"),
    ]
    low_rank_sent: Annotated[
        Bytes, Told("Factors send", note="each GPU in a step", color="parameters", **_MODELLED)
    ]
    break_even: Annotated[
        Count,
        Told("Top-k sends more from", "x", "GPUs on, whatever the wire", "communication"),
    ]
    smaller: Annotated[
        Ratio,
        Told("Factors are smaller by", note="rank {rank}", color="parameters", **_MODELLED),
    ]
    dense_time: Annotated[
        Seconds, Told("All-reduce takes", note="alone", color="gradients", **_MODELLED)
    ]
    top_k_time: Annotated[
        Seconds,
        Told(
            "Top-k takes",
            note="{top_k_work} of it without a wire",
            color="communication",
            **_MODELLED,
        ),
    ]
    low_rank_time: Annotated[
        Seconds,
        Told(
            "Factors take",
            note="{low_rank_work} of it without a wire",
            color="parameters",
            **_MODELLED,
        ),
    ]
    owed: Annotated[
        Bytes,
        Told(
            "Error feedback holds",
            note="on every GPU, in fp32",
            color="buffers",
            assumes=("One number for each parameter. It is each GPU's own and cannot be sharded.",),
            sources=("vogels2019",),
        ),
    ]
    room: Annotated[
        Bytes,
        Told(
            "Left in a GPU's memory",
            note="beside the job and what it owes",
            color="memory",
            assumes=("DDP with fp32 states, a sequence of 4,096 tokens, every layer recomputed.",),
        ),
    ]
    top_k_work: Seconds
    low_rank_work: Seconds
    size: Annotated[Parameters, Symbol("P")]
    dense_value: Annotated[Bytes, Symbol("d")]
    element: Annotated[Bytes, Symbol("e")]
    place: Annotated[Bytes, Symbol("i")] = PLACE


def job(inputs: Inputs) -> Run:
    """Return the job: plain data parallelism, nothing sharded."""
    run, _ = run_of(
        Form(
            model=inputs.model,
            gpu=inputs.gpu,
            own_constants=inputs.own_constants,
            world_size=inputs.world_size,
            tensor_parallel=1,
            pipeline_parallel=1,
            virtual_pipeline=1,
            context_parallel=1,
            micro_batch_size=1,
            global_batch_size=inputs.world_size,
            sequence_length=4096,
            recompute="full",
            zero_stage="0",
            framework="fsdp",
            schedule="1f1b",
            sequence_parallel=False,
            nics_per_node=inputs.ports,
            nic_bandwidth=inputs.port,
        )
    )
    return run
