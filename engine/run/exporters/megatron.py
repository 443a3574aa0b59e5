"""A run as arguments of Megatron-LM, and as overrides of a Megatron-Bridge recipe.

Names are those of megatron-core 0.19.2, and the same on its main branch of August 2026. What
Megatron has no argument for (the exact vocabulary behind its padding, kernels) is left to its
defaults, and so are the data and the tokenizer.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.catalog.models import Model, head_size
from engine.core.units import Count
from engine.run.exporters.stage_layout import format_layout
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.parallelism import Plan, Training, quantizes, scales_blocks
from engine.run.run import Run

Argument = tuple[str, object]
# Bases of the rotary embeddings of the families whose block is what is written here. Sources:
# touvron2023, dubey2024 (section 3.2), yang2024 and yang2025 (sections on the architecture),
# deepseek2024 and the files config.json of Code Llama, Llama 4 and Mixtral.
_ROTARY_BASES = {
    "Llama ": 10_000,
    "Llama 3": 500_000,
    "Llama 4": 500_000,
    "Code Llama": 1_000_000,
    "Mixtral": 1_000_000,
    "Qwen2": 1_000_000,
    "Qwen3 ": 1_000_000,
    "DeepSeek": 10_000,
}
_LAYER_NORM = ("Command R", "DBRX", "OLMo 1B", "OLMo 7B", "PaLM", "Phi-3.5 MoE")
_CHECK = (
    "# Not all of this model is known here: compare activation, normalization and positions\n"
    "# (--rotary-base) with its own configuration.\n"
)
_MIXED = (
    "# The layers of this model differ, which no argument below says: add those of its kinds of\n"
    "# layers.\n"
)


def megatron_arguments(run: Run) -> str:
    """Return a launch of Megatron-LM: `torchrun ... pretrain_gpt.py` and its arguments."""
    per_node = min(run.cluster.gpus_per_node, run.plan.world_size)
    nodes = max(1, run.plan.world_size // per_node)
    lines = [f"torchrun --nproc_per_node {per_node} --nnodes {nodes} pretrain_gpt.py"]
    for name, value in _arguments(run):
        lines.append(f"    --{name}" if value is True else f"    --{name} {value}")
    known = run.model.learned_positions or _rotary_base(run.model)
    notes = ("" if known else _CHECK) + (_MIXED if run.model.mix else "")
    return notes + " \\\n".join(lines) + "\n"


def bridge_overrides(run: Run, recipe: str = "") -> str:
    """Return a launch of a Megatron-Bridge recipe with the run's plan as overrides."""
    per_node = min(run.cluster.gpus_per_node, run.plan.world_size)
    nodes = max(1, run.plan.world_size // per_node)
    start = f"torchrun --nproc_per_node={per_node} --nnodes {nodes} run_recipe.py"
    lines = [start + (f" --recipe {recipe}_pretrain_config" if recipe else "")]
    sections = {"micro-batch-size": "train", "global-batch-size": "train", "seq-length": "dataset"}
    sections |= {"overlap-moe-expert-parallel-comm": "comm_overlap"}
    precision = run.training.precision
    gather = f"{precision}-param-gather"
    skipped = ("bf16", "fp16", "fp8-format", "fp4-format", "use-distributed-optimizer", gather)
    for name, value in (*_plan(run), *_training(run.training, run.plan)):
        if name in skipped or name.startswith(("use-megatron-fsdp", "data-")):
            continue
        section = sections.get(name, "ddp" if name.startswith("overlap-") else "model")
        word = "true" if value is True else str(value).replace(" ", ",")
        word = f"[{word}]" if name == "recompute-modules" else word
        lines.append(f"    {section}.{name.replace('-', '_')}={word}")
    scaled = "mxfp8" if _scales_blocks(run) else "fp8_current_scaling"
    recipes = {"fp8": f"bf16_with_{scaled}", "fp4": "bf16_with_nvfp4"}
    lines.append(f"    mixed_precision={recipes.get(precision, precision)}_mixed")
    if precision in recipes and not run.training.quantized_weights:  # these recipes turn it on
        lines.append(f"    mixed_precision.{gather.replace('-', '_')}=false")
    return " \\\n".join(lines) + "\n"


def _arguments(run: Run) -> Iterator[Argument]:
    yield from _model(run.model, run.training.sequence_length)
    yield from _plan(run)
    yield from _training(run.training, run.plan)
    if _scales_blocks(run):
        yield "fp8-recipe", "mxfp8"


def _scales_blocks(run: Run) -> bool:
    """Return whether two copies of a weight in fp8 say so; one scale for a tensor needs one."""
    either = reads_any_operand_layout(run.cluster.gpu)
    return scales_blocks(replace(run.training, block_scales=either))


def _model(model: Model, sequence_length: Count) -> Iterator[Argument]:
    yield "num-layers", model.num_layers
    yield "hidden-size", model.hidden_size
    yield "ffn-hidden-size", model.ffn_hidden_size
    yield "num-attention-heads", model.num_attention_heads
    yield "vocab-size", model.vocab_size
    if model.mlp == "swiglu":  # and what came with it in Llama: Megatron's defaults are GPT's
        yield "swiglu", True
        if not model.name.startswith(_LAYER_NORM):
            yield "normalization", "RMSNorm"
        yield "attention-dropout", 0.0
        yield "hidden-dropout", 0.0
    if not model.biases:
        yield "disable-bias-linear", True
    if not model.tied_embeddings:
        yield "untie-embeddings-and-output-weights", True
    yield from _positions(model, sequence_length)
    yield from _attention(model)
    if model.num_experts:
        yield from _experts(model)
    if model.num_prediction_layers:
        yield "mtp-num-layers", model.num_prediction_layers


def _positions(model: Model, sequence_length: Count) -> Iterator[Argument]:
    # Megatron does not start without it, rotary embeddings or not, nor with less than a sequence.
    yield "max-position-embeddings", model.learned_positions or sequence_length
    if model.learned_positions:
        return
    yield "position-embedding-type", "rope"
    if base := _rotary_base(model):
        yield "rotary-base", base


def _rotary_base(model: Model) -> Count:
    """Return the base of a model's rotary embeddings, of the longest name that fits; 0: unknown."""
    families = [family for family in _ROTARY_BASES if model.name.startswith(family)]
    return _ROTARY_BASES[max(families, key=len)] if families else 0


def _attention(model: Model) -> Iterator[Argument]:
    if model.attention == "mla":
        yield "multi-latent-attention", True
        yield "qk-layernorm", True
        if model.query_latent_size:
            yield "q-lora-rank", model.query_latent_size
        yield "kv-lora-rank", model.key_value_latent_size
        yield "qk-head-dim", head_size(model) - model.rotary_head_size
        yield "qk-pos-emb-head-dim", model.rotary_head_size
        yield "v-head-dim", model.value_head_size
        return
    if model.head_size:
        yield "kv-channels", model.head_size
    if model.num_key_value_heads != model.num_attention_heads:
        yield "group-query-attention", True
        yield "num-query-groups", model.num_key_value_heads
    if model.name.startswith("Qwen3"):
        yield "qk-layernorm", True
    elif model.name.startswith("Qwen"):
        yield "add-qkv-bias", True


def _experts(model: Model) -> Iterator[Argument]:
    yield "num-experts", model.num_experts
    yield "moe-router-topk", model.experts_per_token
    yield "moe-ffn-hidden-size", model.expert_ffn_hidden_size
    if model.num_shared_experts:
        width = model.num_shared_experts * model.expert_ffn_hidden_size
        yield "moe-shared-expert-intermediate-size", width
    if model.nodes_per_token:
        yield "moe-router-group-topk", model.nodes_per_token
    if model.dense_layer_every == 2:
        yield "moe-layer-freq", 2
    elif model.num_dense_layers:
        sparse = model.num_layers - model.num_dense_layers
        yield "moe-layer-freq", f'"([0]*{model.num_dense_layers}+[1]*{sparse})"'


def _plan(run: Run) -> Iterator[Argument]:
    plan = run.plan
    yield "tensor-model-parallel-size", plan.tensor_parallel
    yield "pipeline-model-parallel-size", plan.pipeline_parallel
    if plan.stage_layers:
        yield "pipeline-model-parallel-layout", f'"{format_layout(plan.stage_layers)}"'
    elif plan.virtual_pipeline > 1 and run.training.schedule == "interleaved":
        yield "num-virtual-stages-per-pipeline-rank", plan.virtual_pipeline
    yield "context-parallel-size", plan.context_parallel
    if run.model.num_experts:
        yield "expert-model-parallel-size", plan.expert_parallel
        yield "expert-tensor-parallel-size", plan.expert_tensor_parallel
    if plan.sequence_parallel:
        yield "sequence-parallel", True
    if plan.zero_stage == 1:
        yield "use-distributed-optimizer", True
    elif plan.zero_stage:
        yield "use-megatron-fsdp", True
        strategy = "optim_grads" if plan.zero_stage == 2 else "optim_grads_params"
        yield "data-parallel-sharding-strategy", strategy


def _training(training: Training, plan: Plan) -> Iterator[Argument]:
    yield "micro-batch-size", training.micro_batch_size
    yield "global-batch-size", training.global_batch_size
    yield "seq-length", training.sequence_length
    yield ("fp16" if training.precision == "fp16" else "bf16"), True
    if training.precision == "fp8":
        yield "fp8-format", "e4m3"
    elif training.precision == "fp4":
        yield "fp4-format", "e2m1"
    yield from _recomputation(training)
    switches = {
        "overlap-grad-reduce": training.overlap_gradient_reduce,
        "overlap-param-gather": training.overlap_gradient_reduce and plan.zero_stage == 1,
        "tp-comm-overlap": training.overlap_tensor_parallel and plan.tensor_parallel > 1,
        "overlap-moe-expert-parallel-comm": training.overlap_expert_parallel,
        "use-transformer-engine-op-fuser": training.fused_experts,
        "grad-reduce-in-bf16": training.gradient_precision == "bf16",
        f"{training.precision}-param-gather": training.quantized_weights and quantizes(training),
    }
    yield from ((name, True) for name, on in switches.items() if on)
    if training.exchange == "all-to-all":
        yield "moe-token-dispatcher-type", "alltoall"
    elif training.exchange != "auto":
        yield "moe-token-dispatcher-type", "flex"
        yield "moe-flex-dispatcher-backend", training.exchange
    if training.optimizer != "adam":
        yield "optimizer", training.optimizer


def _recomputation(training: Training) -> Iterator[Argument]:
    if training.recompute == "full":
        yield "recompute-granularity", "full"
        yield "recompute-method", "uniform"
        yield "recompute-num-layers", 1
    elif training.recompute != "none":
        yield "recompute-granularity", "selective"
        if training.recompute == "modules":
            names = training.recompute_modules or ("layernorm", "mla_up_proj", "moe_act")
            yield "recompute-modules", " ".join(names)
