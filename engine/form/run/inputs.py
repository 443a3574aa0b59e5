"""The inputs of a training run: the keys of a run file, flat."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.recent_rows import RECENT_ROWS
from engine.core.inputs import GBITS, Choice, Number, Switch
from engine.core.units import Gbit
from engine.form.fields import (
    Compiled,
    CudaGraphs,
    EagerLoss,
    ExpertExchange,
    FusedAttention,
    FusedExperts,
    GpusPerNode,
    OverlapExpertParallel,
    OverlapGradientReduce,
    OverlapTensorParallel,
    OwnConstants,
)
from engine.form.own_gpu import (
    OWN_GPU,
    OWN_GPU_NAME,
    OwnBandwidth,
    OwnMemory,
    OwnPeak,
    OwnPeakFp8,
    OwnScaleUp,
)
from engine.run.parallelism import UNASKED

CUSTOM = "custom"
# The H100 of torchtitan's measurements: 96 GB of slower memory, 500 instead of 700 W.
LIMITED = "H100-SXM-500W"

# Models whose sizes `engine.catalog.recent_models` has, which is imported when one is chosen.
RECENT_NAMES: Mapping[str, str] = {row.key: row.name for row in RECENT_ROWS}
OLDER_NAMES: Mapping[str, str] = {key: model.name for key, model in MODELS.items()}
_MODEL_NAMES = {CUSTOM: "your own (below)", **OLDER_NAMES, **RECENT_NAMES}
_GPU_NAMES: Mapping[str, str] = {key: gpu.name for key, gpu in ACCELERATORS.items()} | {
    LIMITED: "H100 SXM 96 GB at 500 W",
    OWN_GPU: OWN_GPU_NAME,
}
_SCHEDULES: Mapping[str, str] = {
    "1f1b": "1F1B",
    "interleaved": "interleaved 1F1B",
    "gpipe": "GPipe",
    "zb-1p": "zero bubble, ZB-1p",
    "zb-2p": "zero bubble, ZB-2p",
    "zbv": "zero bubble, ZB-V",
    "v-half": "V-Half",
    "v-min": "V-Min",
    "dualpipe": "DualPipe",
}


def _count(label: str, high: int, *, low: int = 1, symbol: str = "", shape: bool = False) -> Number:
    """A whole number; `shape`: of a model that the reader builds."""
    return Number(
        label=label,
        low=low,
        high=high,
        scale="log2" if low else "linear",
        whole=True,
        symbol=symbol,
        advanced=shape,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of a training run."""

    model: Annotated[str, Choice(label="Model", cites=False, options=_MODEL_NAMES)] = "llama-3-70b"
    sequence_length: Annotated[int, _count("Sequence length", 1 << 20, low=128, symbol="s")] = 8192
    gpu: Annotated[str, Choice(label="GPU", options=_GPU_NAMES)] = "H100-SXM"
    world_size: Annotated[int, _count("GPUs", 131_072, symbol="n")] = 64
    tensor_parallel: Annotated[int, _count("Tensor parallel", 64)] = 4
    pipeline_parallel: Annotated[int, _count("Pipeline parallel", 128)] = 4
    virtual_pipeline: Annotated[int, _count("Virtual stages per rank", 32)] = 5
    context_parallel: Annotated[int, _count("Context parallel", 64)] = 2
    expert_parallel: Annotated[int, _count("Expert parallel", 256)] = 1
    micro_batch_size: Annotated[int, _count("Micro-batch", 256)] = 1
    global_batch_size: Annotated[int, _count("Global batch, sequences", 65_536, symbol="B")] = 128
    precision: Annotated[
        str,
        Choice(
            label="Precision", options={"bf16": "bf16", "fp16": "fp16", "fp8": "fp8", "fp4": "fp4"}
        ),
    ] = "bf16"
    recompute: Annotated[
        str,
        Choice(
            label="Recompute",
            options={
                "none": "nothing",
                "selective": "attention only",
                "modules": "norms, activation functions, up-projections",
                "full": "every layer",
            },
        ),
    ] = "none"
    zero_stage: Annotated[
        str,
        Choice(
            label="ZeRO",
            options={
                "0": "0: nothing is sharded",
                "1": "1: optimizer states",
                "2": "2: and gradients",
                "3": "3: and parameters",
            },
        ),
    ] = "1"
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "megatron": "Megatron, NeMo",
                "fsdp": "PyTorch FSDP, torchtitan",
                "deepspeed": "DeepSpeed",
                "xla": "XLA: MaxText, NeuronX",
            },
        ),
    ] = "megatron"
    gpus_per_node: GpusPerNode = 8
    nics_per_node: Annotated[
        int, Number(label="Ports per node", low=1, high=72, whole=True, advanced=True)
    ] = 8
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port",
            unit=GBITS,
            low=1 * Gbit,
            high=3200 * Gbit,
            scale="log",
            advanced=True,
            help="One way.",
        ),
    ] = 400 * Gbit
    schedule: Annotated[
        str, Choice(label="Pipeline schedule", options=_SCHEDULES, advanced=True)
    ] = "interleaved"
    sequence_parallel: Annotated[bool, Switch(label="Sequence parallel", advanced=True)] = True
    shard_group: Annotated[
        int,
        Number(
            label="Ranks that shard one copy",
            low=0,
            high=4096,
            step=8,
            whole=True,
            advanced=True,
            help="0: all data-parallel ranks; 8 is HSDP inside a node of 8.",
        ),
    ] = 0
    flash_attention: FusedAttention = UNASKED.flash_attention
    overlap_gradient_reduce: OverlapGradientReduce = UNASKED.overlap_gradient_reduce
    overlap_tensor_parallel: OverlapTensorParallel = UNASKED.overlap_tensor_parallel
    overlap_expert_parallel: OverlapExpertParallel = UNASKED.overlap_expert_parallel
    exchange: ExpertExchange = UNASKED.exchange
    compiled: Compiled = UNASKED.compiled
    half_gradients: Annotated[
        str,
        Choice(
            label="Gradients summed and reduced in",
            options={"off": "the framework's type", "on": "bf16", "fp32": "fp32"},
            help="By default, DeepSpeed reduces in the model's type, the others in fp32.",
        ),
    ] = "off"
    quantized_weights: Annotated[
        bool,
        Switch(
            label="Weights in fp8 alone",
            advanced=True,
            help="No copy in 16 bits: Megatron-LM's fp8-param-gather, which most recipes set.",
        ),
    ] = UNASKED.quantized_weights
    quantized_once: Annotated[
        bool,
        Switch(
            label="Weights in fp8 without their transpose",
            advanced=True,
            help="On Blackwell, with one scale for a tensor.",
        ),
    ] = UNASKED.quantized_once
    cuda_graphs: CudaGraphs = UNASKED.cuda_graphs
    fused_experts: FusedExperts = UNASKED.fused_experts
    even_routing: Annotated[
        bool,
        Switch(
            label="Every expert gets as many tokens",
            advanced=True,
            help="As benchmarks force it; otherwise the busiest rank sets the pace.",
        ),
    ] = UNASKED.even_routing
    keeps_quantized_products: Annotated[
        bool,
        Switch(
            label="Products in fp8 are kept",
            advanced=True,
            help="By selective recomputation in FSDP, as torchtitan did until 2024.",
        ),
    ] = UNASKED.keeps_quantized_products
    eager_loss: EagerLoss = UNASKED.eager_loss
    expert_tensor_parallel: Annotated[
        int,
        Number(
            label="Ranks that share an expert",
            low=1,
            high=64,
            scale="log2",
            whole=True,
            advanced=True,
        ),
    ] = 1
    lora_rank: Annotated[
        int,
        Number(
            label="LoRA rank",
            low=0,
            high=1024,
            whole=True,
            advanced=True,
            help="0 trains all parameters.",
        ),
    ] = UNASKED.lora_rank
    lora_layers: Annotated[
        str,
        Choice(
            label="Adapters beside the products",
            options={"attention": "of the attention", "all": "of the feed-forward part too"},
            advanced=True,
            help="target_modules of PEFT; with a LoRA rank above 0.",
        ),
    ] = UNASKED.lora_layers
    recompute_layers: Annotated[
        int,
        Number(
            label="Recomputed layers",
            low=0,
            high=1024,
            whole=True,
            advanced=True,
            help="Of full recomputation; 0 repeats all layers.",
        ),
    ] = UNASKED.recompute_layers
    fp8_activation_inputs: Annotated[
        bool,
        Switch(
            label="Inputs of the activation in 8 bits",
            help="activation_func_fp8_input_store.",
            advanced=True,
        ),
    ] = UNASKED.fp8_activation_inputs
    own_constants: OwnConstants = ""
    own_peak: OwnPeak = 989e12
    own_peak_fp8: OwnPeakFp8 = 0.0
    own_memory: OwnMemory = 80e9
    own_bandwidth: OwnBandwidth = 3.35e12
    own_scale_up: OwnScaleUp = 450e9
    num_layers: Annotated[int, _count("Layers", 512, shape=True)] = 80
    hidden_size: Annotated[int, _count("Hidden size", 65_536, low=512, shape=True)] = 8192
    num_attention_heads: Annotated[int, _count("Attention heads", 512, shape=True)] = 64
    num_key_value_heads: Annotated[int, _count("Key-value heads", 512, shape=True)] = 8
    ffn_hidden_size: Annotated[int, _count("Feed-forward size", 1 << 18, shape=True)] = 28_672
    vocab_size: Annotated[int, _count("Vocabulary", 1 << 20, shape=True)] = 128_256
    mlp: Annotated[
        str,
        Choice(
            label="Feed-forward",
            options={"swiglu": "SwiGLU, three matrices", "gelu": "GELU, two matrices"},
            advanced=True,
        ),
    ] = "swiglu"
    tied_embeddings: Annotated[bool, Switch(label="Tied embeddings", advanced=True)] = False
    biases: Annotated[
        bool,
        Switch(
            label="Biases and LayerNorms",
            advanced=True,
            help="As GPT-3's; Megatron-LM has biases unless --disable-bias-linear.",
        ),
    ] = False
    learned_positions: Annotated[
        int,
        Number(
            label="Rows of positions",
            low=0,
            high=1 << 14,
            whole=True,
            advanced=True,
            help="Of a learned table; 0 with rotary positions.",
        ),
    ] = 0
    num_experts: Annotated[int, _count("Experts", 1024, low=0, shape=True)] = 0
    experts_per_token: Annotated[int, _count("Experts per token", 64, shape=True)] = 8
    num_shared_experts: Annotated[int, _count("Shared experts", 16, low=0, shape=True)] = 0
    expert_ffn_hidden_size: Annotated[int, _count("Expert size", 1 << 16, shape=True)] = 2048
    num_dense_layers: Annotated[int, _count("Dense layers first", 512, low=0, shape=True)] = 0
