"""Inputs of the job planner: the job, the machines, the price, the wish."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import Model
from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import parse_constants
from engine.catalog.rental_prices import RENTAL_PRICES
from engine.core import units
from engine.core.inputs import GBITS, Choice, Number, Scalar, Unit
from engine.core.text import Text
from engine.core.units import DAY, HOUR, Count, Gbit, Price
from engine.form import short_job
from engine.form.fields import (
    CudaGraphs,
    ExpertExchange,
    FusedExperts,
    OverlapExpertParallel,
    OverlapTensorParallel,
    OwnConstants,
)
from engine.form.job_inputs import TRILLIONS
from engine.form.price import PRICE
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import nearest_run
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.machines import cluster_of
from engine.run.parallelism import UNASKED, Cluster, Training
from engine.run.plan_space import PlanningJob, offered_choices

OWN = "own"
_TOKENS = Unit("M", 1e6, {"k": 1e3, "B": 1e9, "T": 1e12}, quantity=units.TOKENS)
_DAYS = Unit(" days", DAY, {"h": HOUR, "d": DAY, "weeks": 7 * DAY}, quantity=units.SECONDS)
_MONEY = Unit("", 1.0, {"k": 1e3, "M": 1e6}, quantity=units.MONEY)
_TRANSPORTS: Mapping[str, str] = {
    "infiniband": "InfiniBand",
    "roce": "RoCE or Ethernet",
    "efa-v1": "EFA of p4d, p4de",
    "efa-v2": "EFA of p5",
    "efa-v3": "EFA of p5en",
    "efa-v4": "EFA of p6",
}
_MACHINES = {key: node.name for key, node in NODES.items()} | {OWN: "your own (below)"}
_MINE = "Of a machine of your own."


def _count(label: str, high: int, *, low: int = 1, symbol: str = "", help: str = "") -> Number:
    scale = "log2" if low else "linear"
    return Number(
        label=label, low=low, high=high, scale=scale, whole=True, symbol=symbol, help=help
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(short_job.Shape):
    """Inputs of the job planner; the shape of a model counts where `model` says so."""

    model: short_job.AnyModelName = "llama-3-70b"
    tokens: Annotated[
        float,
        Number(label="Tokens of the run", unit=TRILLIONS, low=1e6, high=1e15, scale="log"),
    ] = 1e12
    sequence_length: Annotated[int, _count("Sequence length", 1 << 20, low=128, symbol="s")] = 8192
    batch_tokens: Annotated[
        float,
        Number(
            label="Global batch, tokens",
            unit=_TOKENS,
            low=1024.0,
            high=2.0**30,
            scale="log",
            help="Rounded to sequences, and to a number that divides well.",
        ),
    ] = 4 * 2.0**20
    global_batch_size: Annotated[
        int,
        _count(
            "Or in sequences", 16_384, low=0, symbol="B", help="0: as many as those tokens make."
        ),
    ] = 0
    lora_rank: Annotated[int, _count("LoRA rank", 1024, low=0, help="0 trains all parameters.")] = (
        UNASKED.lora_rank
    )
    machine: Annotated[str, Choice(label="Machine", options=_MACHINES)] = "dgx-h100"
    gpu: Annotated[
        str,
        Choice(
            label="GPU",
            options={key: gpu.name for key, gpu in ACCELERATORS.items()},
            help=_MINE,
            advanced=True,
        ),
    ] = "H100-SXM"
    gpus_per_node: Annotated[
        int,
        Number(label="GPUs per node", low=1, high=72, whole=True, help=_MINE, advanced=True),
    ] = 8
    nics_per_node: Annotated[
        int,
        Number(label="Ports per node", low=1, high=72, whole=True, help=_MINE, advanced=True),
    ] = 8
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port, one way",
            unit=GBITS,
            low=1 * Gbit,
            high=3200 * Gbit,
            scale="log",
            help=_MINE,
            advanced=True,
        ),
    ] = 400 * Gbit
    transport: Annotated[
        str, Choice(label="Network", options=_TRANSPORTS, help=_MINE, advanced=True)
    ] = "infiniband"
    world_size: Annotated[int, _count("GPUs", 131_072, symbol="n")] = 512
    precision: Annotated[
        str, Choice(label="Precision", options={key: key for key in ("bf16", "fp16", "fp8", "fp4")})
    ] = "bf16"
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={"both": "Megatron or FSDP", "megatron": "Megatron", "fsdp": "PyTorch FSDP"},
        ),
    ] = "both"
    price: Annotated[
        float,
        replace(
            PRICE,
            low=0.0,
            scale="linear",
            step=0.01 / HOUR,
            help="In your own currency. 0 takes a list price in dollars, where there is one.",
        ),
    ] = 0.0
    deadline: Annotated[
        float,
        Number(
            label="Done within", unit=_DAYS, low=0.1 * DAY, high=3650 * DAY, scale="log", symbol="t"
        ),
    ] = 30 * DAY
    budget: Annotated[
        float, Number(label="Budget", unit=_MONEY, low=1.0, high=1e11, scale="log", symbol="K")
    ] = 2e6
    overlap_tensor_parallel: OverlapTensorParallel = UNASKED.overlap_tensor_parallel
    overlap_expert_parallel: OverlapExpertParallel = UNASKED.overlap_expert_parallel
    exchange: ExpertExchange = UNASKED.exchange
    cuda_graphs: CudaGraphs = UNASKED.cuda_graphs
    fused_experts: FusedExperts = UNASKED.fused_experts
    own_constants: OwnConstants = ""


def model_of(inputs: Inputs) -> tuple[Model, tuple[Text, ...]]:
    """Return the model to be trained, and what of its shape had to be changed."""
    shape = {name: getattr(inputs, name) for name in short_job.Shape.__dataclass_fields__}
    run, changes = nearest_run(
        Form(
            **shape,
            model=inputs.model,
            world_size=1,
            tensor_parallel=1,
            pipeline_parallel=1,
            virtual_pipeline=1,
            context_parallel=1,
            micro_batch_size=1,
            global_batch_size=1,
            schedule="1f1b",
            sequence_parallel=False,
        )
    )
    return run.model, changes


def gpu_of(inputs: Inputs) -> str:
    """Return the GPU of the machine, as a key of `ACCELERATORS`."""
    return inputs.gpu if inputs.machine == OWN else NODES[inputs.machine].gpu


def price_of(inputs: Inputs) -> Price:
    """Return the price of a GPU: the reader's, else the list price of its kind, else 0."""
    listed = RENTAL_PRICES.get(gpu_of(inputs))
    return inputs.price or (listed.price if listed else 0.0)


def cluster(inputs: Inputs) -> Cluster:
    """Return the machines with their price."""
    if inputs.machine != OWN:
        named = cluster_of(inputs.machine, inputs.own_constants)
        return replace(named, price_per_hour=price_of(inputs))
    return Cluster(
        gpu=ACCELERATORS[inputs.gpu],
        gpus_per_node=inputs.gpus_per_node,
        nics_per_node=inputs.nics_per_node,
        nic_bandwidth=inputs.nic_bandwidth,
        transport=inputs.transport,  # type: ignore[arg-type]
        price_per_hour=price_of(inputs),
        own=parse_constants(inputs.own_constants),
    )


def sequences(inputs: Inputs) -> Count:
    """Return the sequences of a global batch.

    Those of so many tokens are rounded to the multiple of the highest power of two that is within
    3 %: 4 million tokens of 8,192 are 480 sequences, which divide over GPUs where 488 do not.
    """
    if inputs.global_batch_size:
        return inputs.global_batch_size
    exact = max(1.0, inputs.batch_tokens / inputs.sequence_length)
    power = 1 << max(0, int(exact).bit_length())
    while power > 1 and abs(round(exact / power) * power - exact) > 0.03 * exact:
        power //= 2
    return max(1, round(exact / power) * power)


def job_of(inputs: Inputs) -> PlanningJob:
    """Return the job, as the planner of plans asks for it."""
    model, _ = model_of(inputs)
    machines = cluster(inputs)
    both = inputs.framework == "both"
    return PlanningJob(
        model=model,
        cluster=machines,
        world_size=inputs.world_size,
        training=Training(
            micro_batch_size=1,
            global_batch_size=sequences(inputs),
            sequence_length=inputs.sequence_length,
            lora_rank=inputs.lora_rank,
            overlap_tensor_parallel=inputs.overlap_tensor_parallel,
            overlap_expert_parallel=inputs.overlap_expert_parallel,
            exchange=inputs.exchange,  # type: ignore[arg-type]
            cuda_graphs=inputs.cuda_graphs,
            fused_experts=inputs.fused_experts,
            block_scales=reads_any_operand_layout(machines.gpu),
        ),
        frameworks=("megatron", "fsdp") if both else (inputs.framework,),  # type: ignore[arg-type]
        precisions=(inputs.precision,),  # type: ignore[arg-type]
        **offered_choices(model, inputs.sequence_length),
    )


PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Llama 3 70B for 15T tokens on 2,048 H100": {
        "tokens": 15e12,
        "global_batch_size": 2048,
        "machine": "grand-teton",
        "world_size": 2048,
    },
    "LoRA of 70B on two GPUs": {
        "tokens": 1e8,
        "sequence_length": 4096,
        "global_batch_size": 32,
        "lora_rank": 16,
        "world_size": 2,
    },
    "Qwen3 235B on 512 H200 over EFA": {
        "model": "qwen3-235b-a22b",
        "tokens": 36e12,
        "sequence_length": 4096,
        "global_batch_size": 2048,
        "machine": "p5en",
    },
    "DeepSeek-V3 on 256 B200 in FP8": {
        "model": "deepseek-v3",
        "tokens": 14.8e12,
        "sequence_length": 4096,
        "global_batch_size": 4096,
        "machine": "dgx-b200",
        "world_size": 256,
        "precision": "fp8",
        "overlap_expert_parallel": True,
        "cuda_graphs": True,
    },
    "30B on 64 MI300X, ports of 200 Gb/s": {
        "model": "custom",
        "num_layers": 60,
        "hidden_size": 6656,
        "num_attention_heads": 52,
        "num_key_value_heads": 52,
        "ffn_hidden_size": 17_920,
        "vocab_size": 32_000,
        "sequence_length": 4096,
        "machine": "own",
        "gpu": "MI300X",
        "nic_bandwidth": 200 * Gbit,
        "transport": "roce",
        "world_size": 64,
    },
}
