"""Sample configurations, one per format, retyped from public examples.

Megatron-LM's examples and printed arguments, a recipe of Megatron-Bridge with overrides,
torchtitan's three dialects, DeepSpeed and accelerate with the model's config.json beside them.
"""

from collections.abc import Mapping

from engine.core.inputs import Sample

_LLAMA_70B = """--- config.json ---
{
  "model_type": "llama",
  "num_hidden_layers": 80,
  "hidden_size": 8192,
  "num_attention_heads": 64,
  "num_key_value_heads": 8,
  "intermediate_size": 28672,
  "vocab_size": 128256,
  "max_position_embeddings": 131072,
  "tie_word_embeddings": false
}
"""
_MEGATRON = r"""GPUS_PER_NODE=8
NNODES=${NNODES:-"8"}
MODEL_ARGS=(
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --seq-length 4096
    --max-position-embeddings 32768
    --position-embedding-type rope
    --swiglu
    --disable-bias-linear
    --untie-embeddings-and-output-weights
    --vocab-size 32000
)
MOE_ARGS=(
    --num-experts 8
    --moe-router-topk 2
    --moe-grouped-gemm
)
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py \
    ${MODEL_ARGS[@]} ${MOE_ARGS[@]} \
    --micro-batch-size 1 --global-batch-size 256 --bf16 \
    --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 \
    --expert-model-parallel-size 8 --use-distributed-optimizer --sequence-parallel
"""
_LOG = """using world size: 512, data-parallel size: 16, tensor-model-parallel size: 8
------------------------ arguments ------------------------
  bf16 ............................................ True
  ffn_hidden_size ................................. 28672
  global_batch_size ............................... 1024
  group_query_attention ........................... True
  hidden_size ..................................... 8192
  micro_batch_size ................................ 1
  num_attention_heads ............................. 64
  num_layers ...................................... 80
  num_query_groups ................................ 8
  padded_vocab_size ............................... 128256
  pipeline_model_parallel_size .................... 4
  position_embedding_type ......................... rope
  recompute_granularity ........................... full
  seq_length ...................................... 8192
  sequence_parallel ............................... True
  swiglu .......................................... True
  tensor_model_parallel_size ...................... 8
  untie_embeddings_and_output_weights ............. True
  use_distributed_optimizer ....................... True
  virtual_pipeline_model_parallel_size ............ 5
  world_size ...................................... 512
-------------------- end of arguments ---------------------
"""
_BRIDGE = r"""torchrun --nproc_per_node=8 --nnodes 8 run_recipe.py \
  --recipe llama3_70b_pretrain_config \
  model.tensor_model_parallel_size=4 model.pipeline_model_parallel_size=4 \
  model.virtual_pipeline_model_parallel_size=5 model.context_parallel_size=2 \
  train.micro_batch_size=1 train.global_batch_size=128 dataset.seq_length=8192 \
  mixed_precision=bf16_mixed comm_overlap.tp_comm_overlap=true
"""
_TOML = """[model]
name = "llama3"
flavor = "8B"

[training]
local_batch_size = 1
seq_len = 8192

[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
context_parallel_degree = 1

[compile]
enable = false

[activation_checkpoint]
mode = "selective"
selective_ac_option = "op"
"""
_TITAN_PYTHON = """def llama3_70b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("70B"),
        training=TrainingConfig(local_batch_size=8, seq_len=8192, steps=1000),
        parallelism=ParallelismConfig(tensor_parallel_degree=8, data_parallel_shard_degree=32),
        activation_checkpoint=FullAC.Config(),
        compile=CompileConfig(enable=True),
    )
"""
_TITAN_MAIN = """def llama3_8b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B"),
        training=TrainingConfig(
            max_context_length=8192,
            num_tokens_per_microbatch_per_dp_rank=8192,
            num_tokens_per_train_step=1048576,
        ),
        parallelism=ParallelismConfig(
            data_parallel_replicate_degree=2, data_parallel_shard_degree=8
        ),
        activation_checkpoint=SelectiveAC.Config(),
    )
"""
_DEEPSPEED = (
    """--- ds_config.json ---
{
  "train_batch_size": 512,
  "train_micro_batch_size_per_gpu": 1,
  "gradient_accumulation_steps": 4,
  "optimizer": {"type": "AdamW", "params": {"lr": 3e-5}},
  "zero_optimization": {"stage": 3, "overlap_comm": true, "contiguous_gradients": true},
  "bf16": {"enabled": true},
  "gradient_clipping": 1.0
}
"""
    + _LLAMA_70B
)
_ACCELERATE = (
    """--- accelerate ---
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_reshard_after_forward: true
  fsdp_activation_checkpointing: true
mixed_precision: bf16
num_machines: 8
num_processes: 64
"""
    + _LLAMA_70B
)
SAMPLES: Mapping[str, Sample] = {
    "megatron": Sample(title="Megatron-LM script", text=_MEGATRON),
    "log": Sample(title="Megatron-LM log", text=_LOG),
    "bridge": Sample(title="Megatron-Bridge", text=_BRIDGE),
    "torchtitan-toml": Sample(title="torchtitan TOML", text=_TOML),
    "torchtitan-python": Sample(title="torchtitan 0.3", text=_TITAN_PYTHON),
    "torchtitan-main": Sample(title="torchtitan main", text=_TITAN_MAIN),
    "deepspeed": Sample(title="DeepSpeed and config.json", text=_DEEPSPEED),
    "accelerate": Sample(title="accelerate and config.json", text=_ACCELERATE),
    "config": Sample(title="config.json alone", text=_LLAMA_70B),
}
