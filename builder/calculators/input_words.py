"""Words that find an input in a long form: flags of training software, and what people call it.

Flags are those that the readers of Megatron and torchtitan take for the input; the rest is named
here.
"""

from functools import cache

from engine.run.importers import megatron, torchtitan

# Input -> keys of DeepSpeed, accelerate and Hugging Face, and other names of the same.
_WORDS = {
    "batch_tokens": "train_batch_size gbs",
    "budget": "money cost dollars",
    "compiled": "torch.compile fusion",
    "config": "hugging face transformers upload",
    "context_parallel": "cp ring sequence long ulysses",
    "cuda_graphs": "launch host overhead",
    "deadline": "date days time",
    "eager_loss": "cross entropy logits compile",
    "even_routing": "moe router load balance imbalance aux loss",
    "exchange": "all-to-all a2a dispatcher deepep hybridep moe",
    "expert_parallel": "ep moe mixture ep_size",
    "expert_tensor_parallel": "etp moe",
    "flash_attention": "attn_implementation sdpa fused",
    "framework": "megatron fsdp torchtitan deepspeed xla software backend",
    "fused_experts": "grouped gemm moe",
    "global_batch_size": "train_batch_size gbs gradient_accumulation_steps",
    "half_gradients": "gradient reduce dtype communication_data_type",
    "lora_layers": "adapter target_modules all-linear",
    "lora_rank": "adapter peft r lora_r",
    "micro_batch_size": "mbs train_micro_batch_size_per_gpu per_device_train_batch_size",
    "nic_bandwidth": "network infiniband ethernet nic rail",
    "nics_per_node": "network nic rail hca",
    "num_experts": "moe mixture",
    "num_key_value_heads": "gqa mqa grouped query",
    "overlap_expert_parallel": "moe a2a all-to-all",
    "overlap_gradient_reduce": "overlap_comm ddp buckets",
    "overlap_tensor_parallel": "async userbuffers",
    "own_constants": "calibration measured efficiency",
    "pipeline_parallel": "pp stages",
    "precision": "dtype mixed_precision float8 mxfp8 nvfp4",
    "price": "cost dollars money hour",
    "quantized_weights": "fp8",
    "recompute": "activation gradient_checkpointing checkpointing granularity",
    "recompute_layers": "activation checkpointing recompute-num-layers",
    "schedule": "pipeline zero-bubble dualpipe 1f1b interleaved",
    "sequence_length": "context max_position_embeddings cutoff_len",
    "sequence_parallel": "sp norms",
    "shard_group": "hsdp hybrid mics_shard_size replicate",
    "tensor_parallel": "tp model parallel",
    "tokens": "dataset steps",
    "trained": "lora qlora peft fine-tuning sft adapter",
    "transport": "network infiniband roce efa ethernet nccl",
    "virtual_pipeline": "vpp vp interleaved chunks num-layers-per-virtual-pipeline-stage",
    "vocab_size": "tokenizer",
    "world_size": "nodes gpus nnodes nproc num_processes",
    "zero_stage": "fsdp sharding zero_optimization.stage fully_shard",
}


@cache
def _flags() -> dict[str, tuple[str, ...]]:
    """Return input -> flags, from the readers' tables of run-file keys."""
    flags: dict[str, list[str]] = {}
    switches = {flag: key for flag, (key, _) in megatron.SWITCHES.items()}
    for table in (megatron.COUNTS, switches, torchtitan.COUNTS):
        for flag, key in table.items():
            flags.setdefault(key.rpartition(".")[2], []).append(flag)
    return {name: tuple(found) for name, found in flags.items()}


def input_words(name: str) -> str:
    """Return the words of an input, "" where it has none."""
    return " ".join(filter(None, (_WORDS.get(name, ""), *_flags().get(name, ()))))
