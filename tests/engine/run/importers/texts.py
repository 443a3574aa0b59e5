"""Configurations of public repositories, their facts retyped, and what each was meant to say.

Megatron-LM (examples/, BSD-3-Clause), Megatron-Bridge (Apache-2.0), torchtitan (BSD-3-Clause),
DeepSpeed and its examples (Apache-2.0), accelerate (Apache-2.0). Facts only: sizes and names of
keys; no prose is copied. `TEXTS`: name -> (text, path of the run file -> value).
"""

LLAMA_JSON = """
{"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
 "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256,
 "tie_word_embeddings": false}
"""
TEXTS = {
    # examples/gpt3/train_gpt3_175b_distributed.sh
    "megatron gpt3 175b": (
        r"""
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NUM_NODES=16
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto # Can use (flash/fused/unfused/local)
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --fp16
    --lr 6.0e-5
)
MODEL_PARALLEL_ARGS=(
    --tensor-model-parallel-size 8
    --pipeline-model-parallel-size 16
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${GPT_MODEL_ARGS[@]} ${TRAINING_ARGS[@]} \
    ${MODEL_PARALLEL_ARGS[@]}
""",
        {
            "model.num_layers": 96,
            "model.hidden_size": 12288,
            "model.mlp": "gelu",
            "model.learned_positions": 2048,
            "sequence_length": 2048,
            "parallelism.world_size": 128,
            "parallelism.tensor_parallel": 8,
            "parallelism.pipeline_parallel": 16,
            "parallelism.zero_stage": 0,
            "parallelism.sequence_parallel": False,
            "training.global_batch_size": 1536,
            "training.precision": "fp16",
        },
    ),
    # examples/mixtral/train_mixtral_8x7b_distributed.sh
    "megatron mixtral 8x7b": (
        r"""
GPUS_PER_NODE=8
NNODES=${NNODES:-"1"}
MODEL_ARGS=(
    --use-mcore-models
    --disable-bias-linear
    --seq-length 4096
    --max-position-embeddings 32768
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --init-method-std 0.01
    --swiglu
    --untie-embeddings-and-output-weights
    --group-query-attention
    --num-query-groups 8
    --position-embedding-type rope
    --vocab-size 32000
)
MOE_ARGS=(
    --num-experts 8
    --moe-router-topk 2
    --moe-router-load-balancing-type aux_loss
)
torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py ${MODEL_ARGS[@]} ${MOE_ARGS[@]} \
    --micro-batch-size 1 --global-batch-size 256 --bf16 \
    --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 \
    --expert-model-parallel-size 8 --use-distributed-optimizer --sequence-parallel
""",
        {
            "model.num_experts": 8,
            "model.experts_per_token": 2,
            "model.expert_ffn_hidden_size": 14336,
            "model.num_key_value_heads": 8,
            "model.tied_embeddings": False,
            "parallelism.world_size": 64,
            "parallelism.expert_parallel": 8,
            "parallelism.expert_tensor_parallel": 1,
            "parallelism.pipeline_parallel": 4,
            "parallelism.zero_stage": 1,
        },
    ),
    # examples/llama/train_llama3_8b_h100_fp8.sh
    "megatron llama3 8b fp8": (
        r"""
TP_SIZE=1
CP_SIZE=1
PP_SIZE=1
MICRO_BATCH_SIZE=1
GLOBAL_BATCH_SIZE=128
NUM_LAYERS=32
MODEL_ARGS=(
    --num-layers $NUM_LAYERS
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --kv-channels 128
    --seq-length 8192
    --position-embedding-type rope
    --swiglu
    --untie-embeddings-and-output-weights
    --disable-bias-linear
    --vocab-size 128256
)
TRAINING_ARGS="--micro-batch-size $MICRO_BATCH_SIZE --global-batch-size $GLOBAL_BATCH_SIZE \
 --bf16 --grad-reduce-in-bf16 --overlap-grad-reduce --use-distributed-optimizer \
 --cross-entropy-loss-fusion --calculate-per-token-loss"
DTYPE_ARGS=(
    "--fp8-format hybrid"
    "--fp8-amax-history-len 1024"
)
torchrun --nproc_per_node 8 pretrain_gpt.py "${MODEL_ARGS[@]}" $TRAINING_ARGS ${DTYPE_ARGS[@]} \
    --tensor-model-parallel-size $TP_SIZE --context-parallel-size $CP_SIZE
""",
        {
            "parallelism.world_size": 8,
            "training.precision": "fp8",
            "training.gradient_precision": "bf16",
            "training.overlap_gradient_reduce": True,
            "model.head_size": 128,
            "model.vocab_size": 128256,
            "training.global_batch_size": 128,
        },
    ),
    # what Megatron-LM prints at its start
    "megatron log": (
        """
using world size: 512, data-parallel size: 8, tensor-model-parallel size: 8
------------------------ arguments ------------------------
  bf16 ............................................ True
  ffn_hidden_size ................................. 28672
  fp8 ............................................. None
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
""",
        {
            "model.ffn_hidden_size": 28672,
            "parallelism.world_size": 512,
            "parallelism.virtual_pipeline": 5,
            "parallelism.sequence_parallel": True,
            "training.recompute": "full",
            "training.precision": "bf16",
            "training.global_batch_size": 1024,
        },
    ),
    # the layout of DeepSeek-V3 in Megatron-LM's and Bridge's recipes
    "megatron deepseek layout": (
        """
torchrun --nproc_per_node 8 --nnodes 128 pretrain_gpt.py --num-layers 61 --hidden-size 7168
  --num-attention-heads 128 --ffn-hidden-size 18432 --vocab-size 129280 --swiglu
  --untie-embeddings-and-output-weights --disable-bias-linear --multi-latent-attention
  --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128
  --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-router-group-topk 4
  --moe-shared-expert-intermediate-size 2048 --moe-layer-freq ([0]*3+[1]*58) --mtp-num-layers 1
  --pipeline-model-parallel-size 16 --pipeline-model-parallel-layout "Et*3|(tt|)*29,m|L"
  --expert-model-parallel-size 64 --expert-tensor-parallel-size 1 --tensor-model-parallel-size 2
  --sequence-parallel --seq-length 4096 --micro-batch-size 1 --global-batch-size 8192 --bf16
  --recompute-granularity selective --recompute-modules mla_up_proj mlp
  --position-embedding-type rope
""",
        {
            "model.attention": "mla",
            "model.head_size": 192,
            "model.num_shared_experts": 1,
            "model.num_dense_layers": 3,
            "model.nodes_per_token": 4,
            "parallelism.pipeline_layout": [3, *[2] * 29, 0, 0],
            "parallelism.virtual_pipeline": 2,
            "parallelism.expert_tensor_parallel": 1,
            "training.recompute": ["mla_up_proj", "mlp"],
        },
    ),
    # scripts/performance of Megatron-Bridge
    "bridge llama3 70b": (
        r"""
torchrun --nproc_per_node=8 --nnodes 8 run_recipe.py --recipe llama3_70b_pretrain_config \
  model.tensor_model_parallel_size=4 model.pipeline_model_parallel_size=4 \
  model.virtual_pipeline_model_parallel_size=5 model.context_parallel_size=2 \
  train.micro_batch_size=1 train.global_batch_size=128 dataset.seq_length=8192 \
  mixed_precision=bf16_with_fp8_current_scaling_mixed comm_overlap.tp_comm_overlap=true
""",
        {
            "model": "llama-3-70b",
            "parallelism.world_size": 64,
            "parallelism.virtual_pipeline": 5,
            "parallelism.sequence_parallel": True,
            "parallelism.zero_stage": 1,
            "training.precision": "fp8",
            "training.overlap_tensor_parallel": True,
        },
    ),
    # recipes of Megatron-Bridge as Python
    "bridge qwen3 python": (
        """
def qwen3_235b_a22b_pretrain_config():
    cfg = _pretrain_common()
    cfg.model.tensor_model_parallel_size = 4
    cfg.model.pipeline_model_parallel_size = 16
    cfg.model.context_parallel_size = 2
    cfg.model.expert_model_parallel_size = 8
    cfg.model.expert_tensor_parallel_size = 1
    cfg.model.sequence_parallel = True
    cfg.model.seq_length = 4096
    cfg.train.global_batch_size = 512
    cfg.train.micro_batch_size = 1
    cfg.mixed_precision = "bf16_mixed"
    return cfg
""",
        {
            "model": "qwen3-235b-a22b",
            "parallelism.expert_parallel": 8,
            "parallelism.pipeline_parallel": 16,
            "sequence_length": 4096,
            "training.global_batch_size": 512,
        },
    ),
    # train_configs/llama3_8b.toml of torchtitan 0.2
    "torchtitan toml 8b": (
        """
[job]
dump_folder = "./outputs"
[model]
name = "llama3"
flavor = "8B"
[optimizer]
name = "AdamW"
lr = 3e-4
[training]
local_batch_size = 1
seq_len = 8192
steps = 1000
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
pipeline_parallel_degree = 1
context_parallel_degree = 1
[compile]
enable = false
[activation_checkpoint]
mode = "selective"  # ["none", "selective", "full"]
selective_ac_option = "op"
""",
        {
            "model": "llama-3-8b",
            "parallelism.world_size": 8,
            "parallelism.zero_stage": 3,
            "training.compiled": False,
            "training.recompute": "selective",
            "training.global_batch_size": 8,
            "training.framework": "fsdp",
        },
    ),
    # train_configs/llama3_405b.toml of torchtitan 0.2
    "torchtitan toml 405b": (
        """
[model]
name = "llama3"
flavor = "405B"
converters = ["float8"]
[training]
local_batch_size = 2
seq_len = 8192
[parallelism]
data_parallel_shard_degree = 16
tensor_parallel_degree = 8
enable_async_tensor_parallel = true
[compile]
enable = true
[activation_checkpoint]
mode = "full"
""",
        {
            "model": "llama-3-405b",
            "parallelism.world_size": 128,
            "parallelism.tensor_parallel": 8,
            "parallelism.sequence_parallel": True,
            "training.precision": "fp8",
            "training.overlap_tensor_parallel": True,
            "training.recompute": "full",
            "training.micro_batch_size": 2,
            "training.global_batch_size": 32,
        },
    ),
    # train_configs/deepseek_v3_671b.toml of torchtitan 0.2
    "torchtitan toml deepseek": (
        """
[model]
name = "deepseek_v3"
flavor = "671B"
[training]
local_batch_size = 4
seq_len = 4096
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = 256
pipeline_parallel_degree = 8
pipeline_parallel_schedule = "Interleaved1F1B"
expert_parallel_degree = 64
[activation_checkpoint]
mode = "full"
""",
        {
            "model": "deepseek-v3",
            "parallelism.world_size": 2048,
            "parallelism.expert_parallel": 64,
            "parallelism.virtual_pipeline": 2,
            "training.schedule": "interleaved",
            "training.micro_batch_size": 1,
            "training.global_batch_size": 1024,
        },
    ),
    # config_registry.py of torchtitan 0.3.0
    "torchtitan python": (
        """
def llama3_70b() -> Trainer.Config:
    return Trainer.Config(
        hf_assets_path="./assets/hf/Llama-3.1-70B",
        model_spec=model_registry("70B"),
        optimizer=OptimizersContainer.Config(lr=1.5e-4),
        training=TrainingConfig(local_batch_size=8, seq_len=8192, steps=1000),
        parallelism=ParallelismConfig(tensor_parallel_degree=8, data_parallel_shard_degree=32),
        activation_checkpoint=FullAC.Config(),
        compile=CompileConfig(enable=True),
    )
""",
        {
            "model": "llama-3-70b",
            "parallelism.world_size": 256,
            "parallelism.tensor_parallel": 8,
            "training.recompute": "full",
            "training.compiled": True,
            "training.global_batch_size": 256,
        },
    ),
    # the main branch since August 2026: batches are counted in tokens
    "torchtitan main": (
        """
def llama3_8b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B"),
        training=TrainingConfig(
            max_context_length=8192,
            num_tokens_per_microbatch_per_dp_rank=16384,
            num_tokens_per_train_step=1048576,
        ),
        parallelism=ParallelismConfig(
            data_parallel_replicate_degree=2, data_parallel_shard_degree=8
        ),
        activation_checkpoint=SelectiveAC.Config(),
    )
""",
        {
            "sequence_length": 8192,
            "training.micro_batch_size": 2,
            "training.global_batch_size": 128,
            "parallelism.world_size": 16,
            "parallelism.shard_group": 8,
            "training.recompute": "selective",
        },
    ),
    "torchtitan flags": (
        """
NGPU=8 CONFIG_FILE=./train_configs/llama3_8b.toml torchrun --nnodes 4 --nproc_per_node 8 \\
    torchtitan/train.py --model.name llama3 --model.flavor 8B --training.local_batch_size=2 \\
    --training.seq_len 8192 --training.compile --model.converters="float8" \\
    --activation_checkpoint.mode selective
""",
        {
            "model": "llama-3-8b",
            "parallelism.world_size": 32,
            "training.compiled": True,
            "training.precision": "fp8",
            "training.global_batch_size": 64,
        },
    ),
    # DeepSpeed's configuration of ZeRO-3, with the model beside it
    "deepspeed zero 3": (
        """
{"train_batch_size": 512, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 4,
 "optimizer": {"type": "AdamW", "params": {"lr": 3e-5}},
 "zero_optimization": {"stage": 3, "overlap_comm": true, "contiguous_gradients": true,
   "stage3_max_live_parameters": 1e9},
 "bf16": {"enabled": true}, "gradient_clipping": 1.0}
---
"""
        + LLAMA_JSON,
        {
            "model": "llama-3-70b",
            "parallelism.world_size": 32,
            "parallelism.zero_stage": 3,
            "training.framework": "deepspeed",
            "training.micro_batch_size": 4,
            "training.precision": "bf16",
            "training.overlap_gradient_reduce": True,
        },
    ),
    "deepspeed zero 1 fp16": (
        """
{"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 1},
 "fp16": {"enabled": true, "loss_scale": 0}, "tensor_parallel": {"autotp_size": 4}}
"""
        + LLAMA_JSON,
        {
            "parallelism.zero_stage": 1,
            "parallelism.tensor_parallel": 4,
            "parallelism.world_size": 32,
            "training.precision": "fp16",
            "training.global_batch_size": 16,
        },
    ),
    # examples/config_yaml_templates/fsdp.yaml of accelerate, FSDP2
    "accelerate fsdp2": (
        """
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config:
  fsdp_version: 2
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_reshard_after_forward: true
  fsdp_activation_checkpointing: true
mixed_precision: bf16
num_machines: 2
num_processes: 16
---
"""
        + LLAMA_JSON,
        {
            "model": "llama-3-70b",
            "parallelism.world_size": 16,
            "parallelism.zero_stage": 3,
            "training.recompute": "full",
            "training.framework": "fsdp",
        },
    ),
    "accelerate parallelism": (
        """
distributed_type: FSDP
num_processes: 64
mixed_precision: bf16
parallelism_config:
  parallelism_config_dp_replicate_size: 2
  parallelism_config_dp_shard_size: 8
  parallelism_config_tp_size: 4
  parallelism_config_cp_size: 1
fsdp_config:
  fsdp_reshard_after_forward: false
---
"""
        + LLAMA_JSON,
        {
            "parallelism.tensor_parallel": 4,
            "parallelism.shard_group": 8,
            "parallelism.zero_stage": 2,
            "training.global_batch_size": 16,
        },
    ),
    "accelerate deepspeed": (
        """
distributed_type: DEEPSPEED
deepspeed_config:
  gradient_accumulation_steps: 4
  zero_stage: 2
  offload_optimizer_device: none
mixed_precision: fp16
num_processes: 8
---
"""
        + LLAMA_JSON,
        {
            "parallelism.zero_stage": 2,
            "training.framework": "deepspeed",
            "training.precision": "fp16",
            "training.global_batch_size": 32,
            "training.compiled": False,
        },
    ),
}
