"""Files of public repositories, and what each was meant to say, key by key.

They stand in `data/`, one folder for each repository with its license: examples of Megatron-LM
(d98e8a64), recipes of Megatron-Bridge (067f987d), one function of each; torchtitan (b5bcd76c, and
what its files said in 2024 and 2025, retyped), DeepSpeedExamples (45b4b715) and accelerate
(16cb6eb8). The logs of Megatron-LM are the arguments that public runs of 2023 and 2025 printed.
Trainers on top of these bring files of their own: accelerate's in trl (f2cd5771), and DeepSpeed's
in axolotl (067b021c), whose "auto" the script fills in.
DeepSpeed and accelerate say no model: `config.json` of Llama 3 70B stands beside their files.
"""

from pathlib import Path

DATA = Path(__file__).with_name("data")
MODEL = """
--- config.json ---
{"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
 "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256,
 "tie_word_embeddings": false}
"""
WITHOUT_MODEL = ("deepspeed", "accelerate", "trl", "axolotl")


def real(name: str) -> str:
    """Return the text of a file, with a model beside it where it says none."""
    text = (DATA / name).read_text(encoding="utf-8")
    return text + (MODEL if name.startswith(WITHOUT_MODEL) else "")


def _plan(tensor: int, pipeline: int, *, experts: int = 1, context: int = 1) -> dict[str, object]:
    found = {"tensor": tensor, "pipeline": pipeline, "expert": experts, "context": context}
    return {f"parallelism.{key}_parallel": value for key, value in found.items()}


def _batch(whole: int, micro: int, length: int) -> dict[str, object]:
    return {
        "training.global_batch_size": whole,
        "training.micro_batch_size": micro,
        "sequence_length": length,
    }


def _shape(layers: int, hidden: int, heads: int, width: int, **more: object) -> dict[str, object]:
    sizes = {
        "num_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "ffn_hidden_size": width,
        **more,
    }
    return {f"model.{key}": value for key, value in sizes.items()}


def _world(gpus: int, stage: int, **more: object) -> dict[str, object]:
    found = {f"training.{key}": value for key, value in more.items()}
    return {"parallelism.world_size": gpus, "parallelism.zero_stage": stage} | found


# Of 32 layers in the block of five that is recomputed, none is nearer than all.
MEGATRON = {
    "megatron/llama3_8b_h100_fp8.sh": _shape(32, 4096, 32, 14336, num_key_value_heads=8)
    | _batch(128, 1, 8192)
    | _world(8, 1, precision="fp8", gradient_precision="bf16", overlap_gradient_reduce=True),
    "megatron/mfsdp_llama3_8b.sh": _shape(32, 4096, 32, 14336, head_size=128, vocab_size=128256)
    | _batch(128, 1, 8192)
    | _world(8, 3, precision="fp8", overlap_gradient_reduce=True),
    "megatron/mfsdp_deepseek_v3.sh": _shape(
        61, 7168, 128, 18432, num_experts=256, experts_per_token=8, expert_ffn_hidden_size=2048,
        attention="mla", num_dense_layers=3, num_shared_experts=1, num_prediction_layers=1,
    )
    | _plan(1, 1, experts=8)
    | _batch(2048, 4, 4096)
    | _world(8, 3, precision="bf16", recompute=["mlp", "moe", "mla_up_proj", "layernorm"]),
    "megatron/qwen3_8b.sh": _shape(36, 4096, 32, 12288, num_key_value_heads=8, head_size=128)
    | _batch(8, 1, 4096),
    "megatron/qwen25_7b.sh": _shape(28, 3584, 28, 18944, num_key_value_heads=4, vocab_size=152064),
    "megatron/qwen3_235b.sh": _shape(
        94, 4096, 64, 12288, num_experts=128, experts_per_token=8, expert_ffn_hidden_size=1536
    ),
    "megatron/deepseek_r1.sh": _shape(
        61, 7168, 128, 18432, num_experts=256, nodes_per_token=4, num_dense_layers=3,
        query_latent_size=1536, key_value_latent_size=512, rotary_head_size=64, head_size=192,
    )
    | {"training.recompute": "selective", "parallelism.sequence_parallel": True},
    "megatron/deepseek_v2_lite.sh": _shape(
        27, 2048, 16, 10944, num_experts=64, experts_per_token=6, num_dense_layers=1,
        num_shared_experts=2, expert_ffn_hidden_size=1408,
    ),
    "megatron/kimi_k2.sh": _shape(
        61, 7168, 64, 18432, num_experts=384, vocab_size=163840, num_dense_layers=1
    ),
    "megatron/llama4_maverick.sh": _shape(
        48, 5120, 40, 16384, num_experts=128, experts_per_token=1, dense_layer_every=2,
        num_shared_experts=1, expert_ffn_hidden_size=8192, vocab_size=202048,
    ),
    "megatron/llama32_1b.sh": _shape(16, 2048, 32, 8192, num_key_value_heads=8, mlp="swiglu"),
    "megatron/gpt_oss_120b.sh": _shape(
        36, 2880, 64, 2880, num_experts=128, experts_per_token=4, mlp="swiglu", head_size=64
    ),
    "megatron/log_345m_2023.txt": _shape(24, 1024, 16, 4096, vocab_size=50432, biases=True)
    | _plan(2, 2)
    | _batch(1, 1, 1024)
    | _world(4, 0),
    "megatron/log_3b_2025.txt": _shape(28, 3072, 24, 10752, num_key_value_heads=24, mlp="swiglu")
    | _plan(4, 1)
    | _batch(512, 1, 2048)
    | _world(8, 1, precision="bf16", recompute="selective"),
}  # fmt: skip
BRIDGE = {
    "bridge/llama3_8b_h100_fp8.py.txt": {"model": "llama-3-8b"}
    | _plan(1, 1)
    | _world(8, 1, precision="fp8", recompute="none", global_batch_size=128),
    "bridge/llama3_70b_h100.py.txt": {"model": "llama-3-70b", "parallelism.virtual_pipeline": 5}
    | _plan(4, 4, context=2)
    | _world(64, 1, precision="bf16", global_batch_size=256, micro_batch_size=1),
    "bridge/llama31_405b_h100.py.txt": {"model": "llama-3-405b", "parallelism.virtual_pipeline": 8}
    | _plan(8, 8, context=2)
    | _world(1024, 1, precision="bf16", global_batch_size=1536),
    "bridge/deepseek_v3_h100.py.txt": {"model": "deepseek-v3", "parallelism.virtual_pipeline": 4}
    | _plan(2, 8, experts=64)
    | _world(1024, 1, global_batch_size=16384, recompute=["mla_up_proj", "mlp"]),
    "bridge/gpt_oss_120b_h100.py.txt": {"model": "gpt-oss-120b"}
    | _plan(1, 4, experts=8)
    | _world(64, 1, global_batch_size=1280, recompute=["layernorm", "moe_act"]),
    "bridge/kimi_k2_gb200.py.txt": {"model": "kimi-k2", "parallelism.virtual_pipeline": 4}
    | _plan(1, 4, experts=64)
    | _world(256, 1, precision="fp8", global_batch_size=2048, cuda_graphs=True),
    "bridge/qwen3_moe_h100.py.txt": {"model": "qwen3-235b-a22b", "parallelism.virtual_pipeline": 4}
    | _plan(2, 8, experts=32)
    | _world(256, 1, precision="bf16", global_batch_size=8192),
}
TORCHTITAN = {
    "torchtitan/llama3_8b_2024.toml": {"model": "llama-3-8b"}
    | _batch(8, 1, 8192)
    | _world(8, 3, compiled=False, recompute="selective"),
    "torchtitan/llama3_405b_2025.toml": {"model": "llama-3-405b"}
    | _plan(8, 1)
    | _batch(2, 2, 8192)
    | _world(8, 0, compiled=True, precision="fp8", overlap_tensor_parallel=True),
    "torchtitan/llama3_70b_2025.toml": {"model": "llama-3-70b"}
    | _plan(8, 1)
    | _batch(8, 8, 8192)
    | _world(8, 0, compiled=False, recompute="full"),
    "torchtitan/deepseek_v3_671b_2025.toml": {"model": "deepseek-v3"}
    | _plan(8, 1)
    | _batch(4, 4, 4096)
    | _world(8, 0, compiled=False, recompute="full"),
    "torchtitan/deepseek_v3_16b_2025.toml": {"model": "deepseek-v2-lite"}
    | _plan(1, 1)
    | _batch(64, 8, 4096)
    | _world(8, 3, recompute="full"),
    "torchtitan/llama3_70b_0_3.py.txt": {"model": "llama-3-70b"}
    | _plan(8, 1)
    | _batch(8, 8, 8192)
    | _world(8, 0, recompute="full"),
    "torchtitan/llama3_405b_0_3.py.txt": {"model": "llama-3-405b"}
    | _plan(8, 1)
    | _batch(2, 2, 8192)
    | _world(8, 0, compiled=True, precision="fp8", overlap_tensor_parallel=True),
    "torchtitan/llama3_8b.py.txt": {"model": "llama-3-8b"}
    | _batch(8, 1, 8192)
    | _world(8, 3, recompute="selective"),
    "torchtitan/llama3_70b.py.txt": {"model": "llama-3-70b"}
    | _plan(8, 1)
    | _batch(8, 8, 8192)
    | _world(8, 0, recompute="full"),
    "torchtitan/llama3_405b.py.txt": {"model": "llama-3-405b"}
    | _plan(8, 1)
    | _batch(2, 2, 8192)
    | _world(8, 0, compiled=True, precision="fp8", overlap_tensor_parallel=True, recompute="full"),
    "torchtitan/deepseek_v3_16b.py.txt": {"model": "deepseek-v2-lite"}
    | _plan(1, 1, experts=8)
    | _batch(32, 4, 4096)
    | _world(8, 3, compiled=False, recompute="selective"),
    "torchtitan/deepseek_v3_671b.py.txt": {"model": "deepseek-v3"}
    | _plan(1, 1, experts=2)
    | _batch(32, 4, 4096)
    | _world(8, 3, compiled=False),
    "torchtitan/moonlight_16b.py.txt": {"model": "moonlight-16b"}
    | _plan(1, 1, experts=8)
    | _batch(32, 4, 4096)
    | _world(8, 3, recompute="full", cuda_graphs=False),
    "torchtitan/gpt_oss_120b.py.txt": {"model": "gpt-oss-120b"}
    | _batch(8, 1, 8192)
    | _world(8, 3, recompute="full"),
    "torchtitan/qwen3_32b.py.txt": {"model": "qwen3-32b"}
    | _batch(16, 2, 4096)
    | _world(8, 3, recompute="full"),
}
DEEPSPEED = {
    "deepspeed/zero_0.json": _world(8, 0, precision="fp16", framework="deepspeed"),
    "deepspeed/zero_1.json": _world(8, 1, precision="fp16"),
    "deepspeed/zero_2.json": _world(8, 2, precision="fp16"),
    "deepspeed/zero_3.json": _world(8, 3, precision="bf16"),
    "deepspeed/pipeline.json": _world(32, 0, global_batch_size=256, micro_batch_size=8),
    "deepspeed/autotp.json": _world(32, 2, optimizer="adam") | {"parallelism.tensor_parallel": 4},
    "deepspeed/bert_lamb_64k.json": _world(1024, 0, precision="fp16", global_batch_size=65536),
    "deepspeed/zenflow.json": _world(8, 2, precision="bf16", global_batch_size=8),
    "deepspeed/imagenet_z1.json": _world(8, 1, precision="fp16", micro_batch_size=32),
    "axolotl/zero1_torch_compile.json": _world(8, 1, framework="deepspeed"),
    "axolotl/zero2.json": _world(8, 2, overlap_gradient_reduce=True),
    "axolotl/zero3_bf16.json": _world(8, 3, precision="bf16", overlap_gradient_reduce=True),
    "axolotl/zero3_bf16_cpuoffload_all.json": _world(8, 3, precision="bf16"),
}
ACCELERATE = {
    "accelerate/fsdp.yaml": _world(2, 3, precision="bf16", recompute="none", framework="fsdp"),
    "accelerate/slurm_fsdp.yaml": _world(8, 3, recompute="none"),
    "accelerate/deepspeed.yaml": _world(2, 3, framework="deepspeed"),
    "accelerate/fp8.yaml": _world(8, 0, precision="fp8"),
    "accelerate/multi_gpu.yaml": _world(2, 0, precision="bf16"),
    "accelerate/multi_node.yaml": _world(8, 0, global_batch_size=8),
    "accelerate/cp.yaml": _world(8, 3, recompute="full", global_batch_size=1)
    | _plan(1, 1, context=8),
    "accelerate/tp_hsdp.yaml": _world(8, 3, global_batch_size=4)
    | _plan(2, 1)
    | {"parallelism.shard_group": 2},
    "accelerate/0_11_0.yaml": _world(1, 0, precision="bf16"),
    "accelerate/0_34_0_fp8.yaml": _world(2, 0, precision="fp8"),
    "accelerate/latest.yaml": _world(1, 0),
    "accelerate/invalid_keys.yaml": _world(1, 0),
    "trl/fsdp2.yaml": _world(8, 3, precision="bf16", recompute="none", framework="fsdp"),
    "trl/context_parallel_2gpu.yaml": _world(2, 3, recompute="full", global_batch_size=1)
    | _plan(1, 1, context=2),
    "trl/alst_ulysses_4gpu.yaml": _world(4, 3, framework="deepspeed", global_batch_size=2)
    | _plan(1, 1, context=2),
    "trl/deepspeed_zero3.yaml": _world(8, 3, framework="deepspeed", precision="bf16"),
}
MEANT = MEGATRON | BRIDGE | TORCHTITAN | DEEPSPEED | ACCELERATE
# It runs one plan after the other, each read from a list at run time.
LOOPED = "bridge/gpt_oss_20b.sh"
# As they stand, Megatron-LM refuses these examples: they set fewer GPUs than their degrees need.
REFUSED = {
    "megatron/gpt3_175b.sh": (
        "world size (8) is not divisible by total_model_size (total_model_size=128)"
    ),
    "megatron/bert_340m.sh": (
        "world size (8) is not divisible by total_model_size (total_model_size=128)"
    ),
    "megatron/mixtral_8x7b.sh": (
        "world_size (8) is not divisible by expert_tensor_model_pipeline_parallel size (32)"
    ),
}
