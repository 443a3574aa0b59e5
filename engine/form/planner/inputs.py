"""Inputs of the planner: the job, the allowed choices, the reader's plan."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import KEPT_FREE
from engine.catalog.models import MODELS
from engine.catalog.published_recipes import published_recipes
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import GBITS, PERCENT, TRILLIONS, Choice, Number
from engine.core.units import Count, Gbit
from engine.form.fields import (
    CudaGraphs,
    ExpertExchange,
    FusedExperts,
    OverlapExpertParallel,
    OverlapTensorParallel,
    OwnConstants,
)
from engine.form.price import PRICE
from engine.form.what_if.inputs import GPU_NAMES, MODEL_NAMES
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.parallelism import UNASKED, Cluster, Plan, Training
from engine.run.plan_space import PlanningJob, offered_choices
from engine.run.run import Run

NODE: Count = 8
_SIZES = ("1", "2", "4", "8", "16", "32", "64")
_OPTIONS = {size: size for size in _SIZES}
_STAGES = {
    "0": "nothing is sharded",
    "1": "ZeRO-1: optimizer states",
    "2": "ZeRO-2: and gradients",
    "3": "ZeRO-3: and parameters",
}


def _count(label: str, low: int, high: int, symbol: str = "") -> Number:
    return Number(label=label, low=low, high=high, scale="log2", whole=True, symbol=symbol)


def _axis(label: str) -> Choice:
    return Choice(label=label, options=_OPTIONS)


OwnFramework = Annotated[
    str, Choice(label="Software", options={"megatron": "Megatron", "fsdp": "PyTorch FSDP"})
]
OwnZero = Annotated[str, Choice(label="Sharded", options=_STAGES)]
OwnRecompute = Annotated[
    str,
    Choice(
        label="Recompute",
        options={"none": "nothing", "selective": "attention only", "full": "every layer"},
    ),
]
OwnTensor = Annotated[str, _axis("Tensor parallel")]
OwnPipeline = Annotated[str, _axis("Pipeline parallel")]
OwnContext = Annotated[str, _axis("Context parallel")]
OwnPieces = Annotated[
    str, Choice(label="Virtual stages per rank", options={n: n for n in ("1", "2", "4", "5", "8")})
]
OwnMicroBatch = Annotated[
    str, Choice(label="Micro-batch", options={n: n for n in ("1", "2", "4", "8", "16")})
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of the planner."""

    model: Annotated[str, Choice(label="Model", cites=False, options=MODEL_NAMES)] = "llama-2-7b"
    world_size: Annotated[int, _count("GPUs", 8, 16_384, "n")] = 64
    sequence_length: Annotated[int, _count("Sequence length", 512, 1 << 20, "s")] = 4096
    global_batch_size: Annotated[int, _count("Global batch, sequences", 1, 16_384, "B")] = 1024
    gpu: Annotated[str, Choice(label="GPU", options=GPU_NAMES)] = "H100-SXM"
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port, one way",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="A port for each GPU, nodes of 8.",
        ),
    ] = 400 * Gbit
    framework: Annotated[
        str,
        Choice(
            label="Software to choose from",
            options={"both": "Megatron or FSDP", "megatron": "Megatron", "fsdp": "PyTorch FSDP"},
        ),
    ] = "both"
    precision: Annotated[str, Choice(label="Precision", options={"bf16": "bf16", "fp8": "fp8"})] = (
        "bf16"
    )
    kept_free: Annotated[
        float,
        Number(
            label="Memory kept free",
            unit=PERCENT,
            low=0.0,
            high=0.3,
            step=0.01,
            help="Predicted peaks are 3 % off in the mean.",
        ),
    ] = KEPT_FREE
    tokens: Annotated[
        float, Number(label="Tokens of the run", unit=TRILLIONS, low=1e9, high=1e14, scale="log")
    ] = 1e12
    overlap_tensor_parallel: OverlapTensorParallel = UNASKED.overlap_tensor_parallel
    overlap_expert_parallel: OverlapExpertParallel = UNASKED.overlap_expert_parallel
    exchange: ExpertExchange = UNASKED.exchange
    cuda_graphs: CudaGraphs = UNASKED.cuda_graphs
    fused_experts: FusedExperts = UNASKED.fused_experts
    price: Annotated[float, replace(PRICE, symbol="", advanced=True)] = 2 / 3600
    own_constants: OwnConstants = ""
    own_framework: OwnFramework = "megatron"
    own_tensor: OwnTensor = "8"
    own_pipeline: OwnPipeline = "2"
    own_pieces: OwnPieces = "1"
    own_context: OwnContext = "1"
    own_zero: OwnZero = "1"
    own_micro_batch: OwnMicroBatch = "1"
    own_recompute: OwnRecompute = "none"


def job_of(inputs: Inputs) -> PlanningJob:
    """Return the job: whole nodes, and the choices of a request that names none."""
    model = MODELS[inputs.model]
    both = inputs.framework == "both"
    return PlanningJob(
        model=model,
        cluster=Cluster(
            gpu=ACCELERATORS[inputs.gpu],
            gpus_per_node=NODE,
            nics_per_node=NODE,
            nic_bandwidth=inputs.nic_bandwidth,
            price_per_hour=inputs.price,
            own_constants=parse_constants(inputs.own_constants),
        ),
        world_size=inputs.world_size // NODE * NODE,
        training=Training(
            micro_batch_size=1,
            global_batch_size=inputs.global_batch_size,
            sequence_length=inputs.sequence_length,
            overlap_tensor_parallel=inputs.overlap_tensor_parallel,
            overlap_expert_parallel=inputs.overlap_expert_parallel,
            exchange=inputs.exchange,  # type: ignore[arg-type]
            cuda_graphs=inputs.cuda_graphs,
            fused_experts=inputs.fused_experts,
            block_scales=reads_any_operand_layout(ACCELERATORS[inputs.gpu]),
        ),
        frameworks=("megatron", "fsdp") if both else (inputs.framework,),  # type: ignore[arg-type]
        precisions=(inputs.precision,),  # type: ignore[arg-type]
        kept_free=inputs.kept_free,
        recipes=published_recipes(),
        **offered_choices(model, inputs.sequence_length),
    )


def own_run(inputs: Any, job: PlanningJob) -> Run:  # noqa: ANN401 (any calculator's inputs with such fields)
    """Return the plan that the reader names, as a run of the job."""
    tensor, pieces = int(inputs.own_tensor), int(inputs.own_pieces)
    stages = int(inputs.own_pipeline)
    pieces = pieces if stages > 1 else 1
    plan = Plan(
        world_size=job.world_size,
        tensor_parallel=tensor,
        pipeline_parallel=stages,
        virtual_pipeline=pieces,
        context_parallel=int(inputs.own_context),
        expert_parallel=min(job.model.num_experts or 1, NODE),
        sequence_parallel=tensor > 1,
        zero_stage=int(inputs.own_zero),
    )
    training = replace(
        job.training,
        framework=inputs.own_framework,
        micro_batch_size=int(inputs.own_micro_batch),
        recompute=inputs.own_recompute,
        schedule="interleaved" if pieces > 1 else "1f1b",
        precision=job.precisions[0],
    )
    return Run(model=job.model, cluster=job.cluster, plan=plan, training=training)


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "128K of context": {
        "model": "llama-3-8b",
        "sequence_length": 131_072,
        "global_batch_size": 32,
        "tokens": 2e10,
    },
    "70B on the same 64 GPUs": {
        "model": "llama-3-70b",
        "sequence_length": 8192,
        "global_batch_size": 512,
        "tokens": 1e11,
    },
    "Half the network": {
        "model": "llama-3-70b",
        "sequence_length": 8192,
        "global_batch_size": 512,
        "tokens": 1e11,
        "nic_bandwidth": 200 * Gbit,
    },
    "OLMo-core: OLMo 2 7B, FSDP on H100": {
        "model": "olmo-2-7b",
        "framework": "fsdp",
        "own_framework": "fsdp",
        "own_tensor": "1",
        "own_pipeline": "1",
        "own_zero": "3",
        "own_micro_batch": "2",
    },
}
