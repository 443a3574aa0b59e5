"""Short cuts of public configurations by format, and what each was meant to say.

Facts only: names of keys and their values; no prose is copied. `FORMATS`: name -> (repository and
path, text, path of the run file -> value). Left out of a text are keys of logs, data and saving.
"""

from collections.abc import Mapping
from typing import Any

Meant = Mapping[str, Any]
_BF16, _FULL = ("training.precision", "bf16"), ("training.recompute", "full")
FORMATS: Mapping[str, tuple[str, str, Meant]] = {
    "LLaMA-Factory full": (
        "hiyouga/LLaMA-Factory examples/train_full/qwen3_full_sft.yaml",
        """
model_name_or_path: Qwen/Qwen3-4B-Instruct-2507
stage: sft
finetuning_type: full
deepspeed: examples/deepspeed/ds_z3_config.json  # choices
cutoff_len: 2048
preprocessing_num_workers: 16
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
bf16: true
ddp_timeout: 180000000
resume_from_checkpoint: null
""",
        {
            "model": "qwen3-4b",
            "sequence_length": 2048,
            "parallelism.zero_stage": 3,
            "parallelism.world_size": 8,
            "training.micro_batch_size": 1,
            "training.global_batch_size": 16,
            "training.framework": "deepspeed",
            **dict([_BF16, _FULL]),
        },
    ),
    "LLaMA-Factory LoRA": (
        "hiyouga/LLaMA-Factory examples/train_lora/qwen3_lora_sft.sh",
        """
MODEL_PATH=Qwen/Qwen3-4B-Instruct-2507
llamafactory-cli train \\
    --model_name_or_path ${MODEL_PATH} \\
    --stage sft \\
    --do_train \\
    --finetuning_type lora \\
    --lora_rank 16 \\
    --lora_target all \\
    --cutoff_len 1024 \\
    --per_device_train_batch_size 2 \\
    --gradient_accumulation_steps 8 \\
    --disable_gradient_checkpointing true \\
    --bf16 True
""",
        {
            "model": "qwen3-4b",
            "sequence_length": 1024,
            "parallelism.zero_stage": 0,
            "training.lora_rank": 16,
            "training.lora_layers": "all",
            "training.global_batch_size": 128,
            "training.recompute": "none",
            "training.framework": "fsdp",
        },
    ),
    "LLaMA-Factory Megatron": (
        "hiyouga/LLaMA-Factory examples/megatron/qwen3_moe_full.yaml",
        """
model_name_or_path: Qwen/Qwen3-30B-A3B-Instruct-2507
do_train: true
stage: sft
finetuning_type: full # only support full for now
cutoff_len: 4096
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
bf16: true
tensor_model_parallel_size: 1
sequence_parallel: false
pipeline_model_parallel_size: 4
bias_activation_fusion: true
use_distributed_optimizer: true
overlap_param_gather: true
overlap_grad_reduce: true
moe_grouped_gemm: true
moe_token_dispatcher_type: alltoall
expert_model_parallel_size: 2
recompute_granularity: full
""",
        {
            "model": "qwen3-30b-a3b",
            "parallelism.pipeline_parallel": 4,
            "parallelism.expert_parallel": 2,
            "parallelism.zero_stage": 1,
            "training.global_batch_size": 16,
            "training.framework": "megatron",
            "training.exchange": "all-to-all",
        },
    ),
    "axolotl FSDP": (
        "axolotl-ai-cloud/axolotl examples/llama-3/fft-8b-liger-fsdp.yaml",
        """
base_model: NousResearch/Meta-Llama-3.1-8B
liger_fused_linear_cross_entropy: true
datasets:
  - path: mlabonne/FineTome-100k
    type: chat_template
val_set_size: 0.02
sequence_len: 4096
sample_packing: true
wandb_project:
gradient_accumulation_steps: 4
micro_batch_size: 2
optimizer: adamw_torch_fused
learning_rate: 2e-5
bf16: auto
tf32: false
gradient_checkpointing: true
gradient_checkpointing_kwargs:
  use_reentrant: false
fsdp:
  - full_shard
  - auto_wrap
fsdp_config:
  fsdp_limit_all_gathers: true
  fsdp_offload_params: true
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer
  fsdp_sharding_strategy: FULL_SHARD
""",
        {
            "model": "llama-3-8b",
            "sequence_length": 4096,
            "parallelism.zero_stage": 3,
            "training.micro_batch_size": 2,
            "training.global_batch_size": 64,
            **dict([_BF16, _FULL]),
        },
    ),
    "axolotl experts": (
        "axolotl-ai-cloud/axolotl examples/expert_parallel/qwen3_30ba3b_ep_fsdp_fft_4gpu.yaml",
        """
base_model: Qwen/Qwen3-30B-A3B-Instruct-2507
experts_implementation: grouped_mm
expert_parallel_size: 2
dp_shard_size: 2
sequence_len: 2048
sample_packing: true
micro_batch_size: 1
gradient_accumulation_steps: 1
optimizer: adamw_torch_8bit
bf16: true
gradient_checkpointing: true
flash_attention: true
fsdp_config:
  fsdp_version: 2
  offload_params: false
  auto_wrap_policy: TRANSFORMER_BASED_WRAP
  transformer_layer_cls_to_wrap: Qwen3MoeDecoderLayer
  reshard_after_forward: true
""",
        {
            "sequence_length": 2048,
            "parallelism.world_size": 4,
            "parallelism.expert_parallel": 2,
            "parallelism.shard_group": 2,
            "parallelism.zero_stage": 3,
            "training.global_batch_size": 4,
        },
    ),
    "verl FSDP": (
        "volcengine/verl examples/grpo_trainer/run_qwen2-7b.sh",
        """
python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo \\
    data.train_batch_size=1024 \\
    data.max_prompt_length=512 \\
    data.max_response_length=1024 \\
    actor_rollout_ref.model.path=Qwen/Qwen2-7B-Instruct \\
    actor_rollout_ref.actor.optim.lr=1e-6 \\
    actor_rollout_ref.model.use_remove_padding=True \\
    actor_rollout_ref.actor.ppo_mini_batch_size=256 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=40 \\
    actor_rollout_ref.model.enable_gradient_checkpointing=True \\
    actor_rollout_ref.actor.fsdp_config.param_offload=False \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    actor_rollout_ref.rollout.n=5 \\
    trainer.logger='["console","wandb"]' \\
    trainer.n_gpus_per_node=8 \\
    trainer.nnodes=1 $@
""",
        {
            "model": "qwen2.5-7b",
            "sequence_length": 1536,
            "parallelism.world_size": 8,
            "parallelism.zero_stage": 3,
            "parallelism.tensor_parallel": None,
            "training.micro_batch_size": 40,
            "training.global_batch_size": 1280,
            **dict([_BF16, _FULL]),
        },
    ),
    "verl Megatron": (
        "volcengine/verl examples/grpo_trainer/run_qwen3-235b_megatron_96gb.sh",
        """
NNODES=${NNODES:-4}
train_tp=${TP:-4}
train_pp=${PP:-8}
EP=${EP:-4}
python3 -m verl.trainer.main_ppo \\
    --config-name='ppo_megatron_trainer.yaml' \\
    data.max_prompt_length=2048 \\
    data.max_response_length=8192 \\
    actor_rollout_ref.rollout.n=8 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=16 \\
    actor_rollout_ref.model.path=Qwen/Qwen3-235B-A22B \\
    actor_rollout_ref.actor.megatron.param_offload=False \\
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=${train_pp} \\
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=${train_tp} \\
    actor_rollout_ref.actor.megatron.expert_model_parallel_size=$EP \\
    +TRANSFORMER.moe_token_dispatcher_type="flex" \\
    +TRANSFORMER.account_for_loss_in_pipeline_split=True \\
    +TRANSFORMER.account_for_embedding_in_pipeline_split=True \\
    trainer.n_gpus_per_node=8 \\
    trainer.nnodes="${NNODES}"
""".replace("TRANSFORMER", "actor_rollout_ref.actor.megatron.override_transformer_config"),
        {
            "model": "qwen3-235b-a22b",
            "parallelism.world_size": 32,
            "parallelism.tensor_parallel": 4,
            "parallelism.pipeline_parallel": 8,
            "parallelism.expert_parallel": 4,
            "parallelism.zero_stage": 1,
            "parallelism.sequence_parallel": True,
            "training.global_batch_size": 128,
            "training.micro_batch_size": 2,
            "training.framework": "megatron",
        },
    ),
    "verl supervised": (
        "volcengine/verl examples/sft/gsm8k/run_qwen3_8b_sft_peft_sp2_npu.sh",
        """
torchrun --standalone --nnodes=1 --nproc_per_node=8 \\
     -m verl.trainer.fsdp_sft_trainer \\
    optim.lr=1e-4 \\
    data.prompt_dict_keys=['question'] \\
    +data.response_dict_keys=['answer'] \\
    data.micro_batch_size_per_gpu=64 \\
    model.partial_pretrain=Qwen/Qwen3-8B \\
    trainer.default_local_dir=out \\
    model.lora_rank=32 \\
    model.lora_alpha=16 \\
    model.target_modules=all-linear \\
    model.strategy=fsdp \\
    ulysses_sequence_parallel_size=2 \\
    use_remove_padding=true
""",
        {
            "model": "qwen3-8b",
            "sequence_length": 1024,
            "parallelism.world_size": 8,
            "parallelism.context_parallel": 2,
            "training.lora_rank": 32,
            "training.lora_layers": "all",
            "training.micro_batch_size": 64,
            "training.global_batch_size": 256,
        },
    ),
    "swift Megatron": (
        "modelscope/ms-swift examples/megatron/long_text.sh",
        """
# Env: 4 * A100
NPROC_PER_NODE=4 \\
CUDA_VISIBLE_DEVICES=0,1,2,3 \\
megatron sft \\
    --model Qwen/Qwen2.5-7B \\
    --save_safetensors true \\
    --tensor_model_parallel_size 4 \\
    --micro_batch_size 1 \\
    --global_batch_size 8 \\
    --packing true \\
    --recompute_granularity full \\
    --recompute_method uniform \\
    --recompute_num_layers 1 \\
    --finetune true \\
    --cross_entropy_loss_fusion true \\
    --max_length 32768 \\
    --sequence_parallel true \\
    --attention_backend flash
""",
        {
            "model": "qwen2.5-7b",
            "sequence_length": 32768,
            "parallelism.world_size": 4,
            "parallelism.tensor_parallel": 4,
            "parallelism.sequence_parallel": True,
            "parallelism.zero_stage": 1,
            "training.global_batch_size": 8,
            **dict([_FULL]),
        },
    ),
    "swift": (
        "modelscope/ms-swift examples/train/full/train.sh",
        """
# 76GiB
swift sft \\
    --model Qwen/Qwen2.5-7B-Instruct \\
    --tuner_type full \\
    --dataset 'AI-ModelScope/alpaca-gpt4-data-zh#500' \\
              'AI-ModelScope/alpaca-gpt4-data-en#500' \\
    --torch_dtype bfloat16 \\
    --per_device_train_batch_size 1 \\
    --per_device_eval_batch_size 1 \\
    --gradient_accumulation_steps 16 \\
    --max_length 2048 \\
    --dataloader_num_workers 4 \\
    --model_author swift
""",
        {
            "model": "qwen2.5-7b",
            "sequence_length": 2048,
            "parallelism.zero_stage": 0,
            "training.global_batch_size": 128,
            "training.lora_rank": None,
            **dict([_BF16, _FULL]),
        },
    ),
    "swift ZeRO-3": (
        "modelscope/ms-swift examples/train/multi-gpu/deepspeed/train_zero3.sh, without its passes",
        """
NPROC_PER_NODE=2 \\
swift sft \\
    --model Qwen/Qwen2.5-7B-Instruct \\
    --tuner_type lora \\
    --torch_dtype bfloat16 \\
    --per_device_train_batch_size 1 \\
    --lora_rank 8 \\
    --target_modules all-linear \\
    --max_length 2048 \\
    --deepspeed zero3
""",
        {
            "parallelism.world_size": 2,
            "parallelism.zero_stage": 3,
            "training.lora_rank": 8,
            "training.lora_layers": "all",
            # ceil(16 / 1 / 2) = 8 passes.
            "training.global_batch_size": 16,
        },
    ),
    "GPT-NeoX": (
        "EleutherAI/gpt-neox configs/20B.yml",
        """
# DISCLAIMER: 96x 40GB
{
  "vocab_file": "./20B_checkpoints/20B_tokenizer.json",
  "pipe_parallel_size": 4,
  "model_parallel_size": 2,
  "num_layers": 44,
  "hidden_size": 6144,
  "num_attention_heads": 64,
  "seq_length": 2048,
  "max_position_embeddings": 2048,
  "pos_emb": "rotary",
  "no_weight_tying": true,
  "gpt_j_residual": true,
  "output_layer_parallelism": "column",
  "optimizer": {
    "type": "Adam",
    "params": {
      "lr": 0.97e-4,
      "betas": [0.9, 0.95],
      }
      },
  "zero_optimization": {
  "stage": 1,
  "overlap_comm": True,
  },
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 32,
  "checkpoint_activations": true,
  "partition_activations": false,
  "fp16": {
    "enabled": true,
    "loss_scale": 0,
    },
  "tokenizer_type": "HFTokenizer",
  "tensorboard-dir": "./tensorboard",
}
""",
        {
            "model.num_layers": 44,
            "model.hidden_size": 6144,
            "model.ffn_hidden_size": 24576,
            "model.vocab_size": 50432,
            "model.mlp": "gelu",
            "model.tied_embeddings": False,
            "parallelism.pipeline_parallel": 4,
            "parallelism.tensor_parallel": 2,
            "parallelism.zero_stage": 1,
            "training.micro_batch_size": 4,
            "training.global_batch_size": 128,
            "training.precision": "fp16",
            **dict([_FULL]),
        },
    ),
    "GPT-NeoX gated": (
        "EleutherAI/gpt-neox configs/llama2/70B.yml, with the batch of llama/train_config.yml",
        """
{
  "pipe-parallel-size": 1,
  "model-parallel-size": 1,
  "make-vocab-size-divisible-by": 1,
  "num-layers": 80,
  "hidden-size": 8192,
  "intermediate-size": 86016,
  "num-attention-heads": 64,
  "num-kv-heads": 8,
  "seq-length": 4096,
  "pos-emb": "rotary",
  "no-weight-tying": true,
  "attention-config": [[["flash"], 80]],
  "use-bias-in-attn-linear": false,
  "activation": "swiglu",
  "mlp-multiple-of": 256,
  "train-micro-batch-size-per-gpu": 4,
  "precision": "bfloat16",
}
""",
        {
            "model.ffn_hidden_size": 28672,
            "model.num_key_value_heads": 8,
            "model.mlp": "swiglu",
            "model.biases": False,
            "training.flash_attention": True,
            "training.precision": "bf16",
            "training.recompute": "none",
        },
    ),
    "Primus": (
        "AMD-AGI/Primus examples/megatron/configs/MI300X/llama3.1_70B-BF16-pretrain.yaml",
        """
work_group: ${PRIMUS_TEAM:amd}
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: llama3.1_70B.yaml
    overrides:
      train_iters: 50
      micro_batch_size: 3
      global_batch_size: 24
      seq_length: ${PRIMUS_SEQ_LENGTH:8192}
      max_position_embeddings: 8192
      lr_decay_iters: null
      tensor_model_parallel_size: 1
      pipeline_model_parallel_size: ${PRIMUS_PP:1}
      overlap_grad_reduce: true
      use_torch_fsdp2: true
      use_distributed_optimizer: false
      sequence_parallel: 1
      recompute_granularity: full # full, selective
      recompute_method: block # uniform, block
      recompute_num_layers: 80 # int
      enable_primus_turbo: true
""",
        {
            "model": "llama-3-70b",
            "sequence_length": 8192,
            "parallelism.zero_stage": 3,
            "parallelism.sequence_parallel": False,
            "training.micro_batch_size": 3,
            "training.global_batch_size": 24,
            **dict([_BF16, _FULL]),
        },
    ),
    "Megatron in YAML": (
        "NVIDIA/Megatron-LM tests/functional_tests/test_cases/gpt/gpt3_15b_8t_release, cut",
        """
ENV_VARS:
  CUDA_DEVICE_MAX_CONNECTIONS: 1
TEST_TYPE: "release"
LAUNCHER: ft_launcher
MODEL_ARGS:
  # Distributed args
  --tensor-model-parallel-size: 8
  --pipeline-model-parallel-size: 1
  --use-distributed-optimizer: true
  --overlap-grad-reduce: true
  --sequence-parallel: true
  --disable-bias-linear: true
  --micro-batch-size: 4
  --untie-embeddings-and-output-weights: true
  --position-embedding-type: rope
  --num-layers: 32
  --hidden-size: 6144
  --num-attention-heads: 48
  --group-query-attention: true
  --num-query-groups: 8
  --seq-length: 4096
  --max-position-embeddings: 4096
  --bf16: true
""",
        {
            "model.num_layers": 32,
            "model.num_key_value_heads": 8,
            "model.learned_positions": None,
            "model.tied_embeddings": False,
            "parallelism.tensor_parallel": 8,
            "parallelism.sequence_parallel": True,
            "parallelism.zero_stage": 1,
            "training.micro_batch_size": 4,
            **dict([_BF16]),
        },
    ),
    "NeMo 1": (
        "NVIDIA/NeMo-Framework-Launcher launcher_scripts/conf/training/llama/llama2_7b.yaml",
        """
run:
  name: llama2_7b
trainer:
  num_nodes: 16
  devices: 8
  precision: bf16
  max_steps: 300000
  accumulate_grad_batches: 1
exp_manager:
  explicit_log_dir: results
model:
  mcore_gpt: true
  micro_batch_size: 1
  global_batch_size: 2048
  rampup_batch_size: null
  tensor_model_parallel_size: 1
  pipeline_model_parallel_size: 1
  virtual_pipeline_model_parallel_size: null
  encoder_seq_length: 4096
  max_position_embeddings: 4096
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 11008
  num_attention_heads: 32
  kv_channels: null
  bias: false
  activation: fast-swiglu
  position_embedding_type: rope
  share_embeddings_and_output_weights: false
  activations_checkpoint_granularity: null
  sequence_parallel: false
  optim:
    name: mcore_distributed_optim
    lr: 1e-4
    overlap_grad_sync: true
""",
        {
            "model.num_layers": 32,
            "model.ffn_hidden_size": 11008,
            "model.mlp": "swiglu",
            "model.tied_embeddings": False,
            "model.biases": None,
            "model.learned_positions": None,
            "sequence_length": 4096,
            "parallelism.world_size": 128,
            "parallelism.zero_stage": 1,
            "training.global_batch_size": 2048,
            "training.recompute": None,
            "training.overlap_gradient_reduce": True,
        },
    ),
    "Trainer flags": (
        "tatsu-lab/stanford_alpaca README.md, two nodes",
        """
torchrun --nproc_per_node=4 --nnodes=2 --master_port=12345 train.py \\
    --model_name_or_path huggyllama/llama-7b \\
    --data_path ./alpaca_data.json \\
    --bf16 True \\
    --num_train_epochs 3 \\
    --per_device_train_batch_size 4 \\
    --per_device_eval_batch_size 4 \\
    --gradient_accumulation_steps 8 \\
    --evaluation_strategy "no" \\
    --model_max_length 512 \\
    --fsdp "full_shard auto_wrap" \\
    --fsdp_transformer_layer_cls_to_wrap 'LlamaDecoderLayer' \\
    --tf32 True
""",
        {
            "model": "llama-7b",
            "sequence_length": 512,
            "parallelism.world_size": 8,
            "parallelism.zero_stage": 3,
            "training.micro_batch_size": 4,
            "training.global_batch_size": 256,
            "training.recompute": "none",
            "training.framework": "fsdp",
            **dict([_BF16]),
        },
    ),
    "Trainer Python": (
        "huggingface/trl docs, cut",
        """
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

model_id = "Qwen/Qwen2.5-7B"
model = AutoModelForCausalLM.from_pretrained(model_id, attn_implementation="flash_attention_2")
peft_config = LoraConfig(r=32, lora_alpha=16, target_modules="all-linear")
args = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    max_length=4096,
    packing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
)
trainer = SFTTrainer(model=model, args=args, train_dataset=dataset, peft_config=peft_config)
""",
        {
            "model": "qwen2.5-7b",
            "sequence_length": 4096,
            "parallelism.zero_stage": 0,
            "training.lora_rank": 32,
            "training.lora_layers": "all",
            "training.global_batch_size": 64,
            "training.flash_attention": True,
            **dict([_BF16, _FULL]),
        },
    ),
    "OpenRLHF": (
        "OpenRLHF/OpenRLHF examples/scripts/train_sft.sh at v0.10.0",
        """
set -x

read -r -d '' training_commands <<EOF
openrlhf.cli.train_sft \\
   --max_len 2048 \\
   --dataset Open-Orca/OpenOrca \\
   --train_batch_size 256 \\
   --micro_train_batch_size 2 \\
   --pretrain meta-llama/Meta-Llama-3-8B \\
   --zero_stage 2 \\
   --max_epochs 1 \\
   --packing_samples \\
   --bf16 \\
   --flash_attn \\
   --gradient_checkpointing
EOF

if [[ ${1} != "slurm" ]]; then
    deepspeed --module $training_commands
fi
""",
        {
            "model": "llama-3-8b",
            "sequence_length": 2048,
            "parallelism.zero_stage": 2,
            "training.micro_batch_size": 2,
            "training.global_batch_size": 256,
            "training.framework": "deepspeed",
            **dict([_BF16, _FULL]),
        },
    ),
    "OpenRLHF reinforcement": (
        "OpenRLHF/OpenRLHF examples/scripts/train_reinforce_baseline_hybrid_engine.sh, cut",
        """
python3 -m openrlhf.cli.train_ppo_ray \\
   --ref.num_nodes 1 \\
   --actor.num_nodes 1 \\
   --actor.num_gpus_per_node 4 \\
   --vllm.num_engines 4 \\
   --actor.model_name_or_path Qwen/Qwen3-4B \\
   --rollout.batch_size 128 \\
   --train.batch_size 1024 \\
   --train.micro_batch_size 1 \\
   --data.max_len 8192 \\
   --ds.ring_attn_size 2 \\
   --ds.zero_stage 3 \\
   --ds.param_dtype bf16 \\
   --actor.gradient_checkpointing_enable
""",
        {
            "model": "qwen3-4b",
            "sequence_length": 8192,
            "parallelism.world_size": 4,
            "parallelism.context_parallel": 2,
            "parallelism.zero_stage": 3,
            "training.global_batch_size": 1024,
            **dict([_FULL]),
        },
    ),
    "MaxText": (
        "AI-Hypercomputer/maxtext src/maxtext/configs/gpu/models/mixtral_8x7b.yml, with axes",
        """
base_config: "base.yml"
model_name: "mixtral-8x7b"

run_name: "gpu_train_test"
hardware: "gpu"
steps: 30
per_device_batch_size: 6
max_target_length: 4096
attention: "cudnn_flash_te"
remat_policy: "minimal_with_context"
use_iota_embed: true
dataset_type: "synthetic"
ici_fsdp_parallelism: 4
ici_expert_parallelism: 2
dcn_data_parallelism: 2
gradient_accumulation_steps: 2
""",
        {
            "model": "mixtral-8x7b",
            "sequence_length": 4096,
            "parallelism.world_size": 16,
            "parallelism.expert_parallel": 2,
            "parallelism.zero_stage": 3,
            "parallelism.shard_group": 8,
            "training.micro_batch_size": 6,
            "training.global_batch_size": 192,
            "training.recompute": "selective",
            "training.framework": "xla",
            **dict([_BF16]),
        },
    ),
    "nanotron": (
        "huggingface/nanotron examples/config_tiny_llama.yaml",
        """
data_stages:
- data:
    dataset: null
    num_loading_workers: 1
  name: Stable Training Stage
  start_training_step: 1
lighteval: null
model:
  ddp_bucket_cap_mb: 25
  dtype: bfloat16
  model_config:
    hidden_act: silu
    hidden_size: 2048
    intermediate_size: 11008
    is_llama_config: true
    num_attention_heads: 16
    num_hidden_layers: 28
    num_key_value_heads: 2
    tie_word_embeddings: true
    vocab_size: 128256
optimizer:
  accumulate_grad_in_fp32: true
  optimizer_factory:
    name: adamW
    torch_adam_is_fused: true
  zero_stage: 0
parallelism:
  dp: 4
  pp: 1
  pp_engine: 1f1b
  tp: 2
  tp_mode: REDUCE_SCATTER
tokens:
  batch_accumulation_per_replica: 1
  micro_batch_size: 3
  sequence_length: 4096
""",
        {
            "model.num_layers": 28,
            "model.num_key_value_heads": 2,
            "model.tied_embeddings": True,
            "sequence_length": 4096,
            "parallelism.world_size": 8,
            "parallelism.tensor_parallel": 2,
            "parallelism.sequence_parallel": True,
            "parallelism.zero_stage": 0,
            "training.micro_batch_size": 3,
            "training.global_batch_size": 12,
            "training.recompute": "none",
            **dict([_BF16]),
        },
    ),
    "Automodel": (
        "NVIDIA-NeMo/Automodel examples/llm_finetune/llama3_1/llama3_1_8b_hellaswag_pp.yaml",
        """
recipe: TrainFinetuneRecipeForNextTokenPrediction
step_scheduler:
  global_batch_size: 256
  local_batch_size: 32
  ckpt_every_steps: 200
dist_env:
  backend: nccl
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B
distributed:
  strategy: fsdp2
  dp_size: none
  tp_size: 1
  cp_size: 1
  pp_size: 2
  pipeline:
    pp_microbatch_size: 4
packed_sequence:
  packed_sequence_size: 0
dataset:
  path_or_dataset: rowan/hellaswag
optimizer:
  _target_: torch.optim.Adam
  lr: 1.0e-5
""",
        {
            "model": "llama-3-8b",
            "parallelism.world_size": 8,
            "parallelism.pipeline_parallel": 2,
            "parallelism.zero_stage": 3,
            "training.micro_batch_size": 4,
            "training.global_batch_size": 256,
            "training.recompute": "none",
        },
    ),
    "LLM Foundry": (
        "mosaicml/llm-foundry scripts/train/yamls/pretrain/mpt-7b.yaml",
        """
variables:
  max_seq_len: 2048
max_seq_len: ${variables.max_seq_len}
model:
  name: mpt_causal_lm
  init_device: meta
  d_model: 4096
  n_heads: 32
  n_layers: 32
  expansion_ratio: 4
  vocab_size: 50368
  attn_config:
    attn_impl: flash
train_loader:
  name: text
  num_workers: 8
optimizer:
  name: decoupled_adamw
  lr: 1.2e-4
max_duration: 63900ba
global_train_batch_size: 1024
device_train_microbatch_size: 8
precision: amp_bf16
fsdp_config:
  sharding_strategy: FULL_SHARD
  mixed_precision: PURE
  activation_checkpointing: true
  activation_checkpointing_reentrant: false
  activation_cpu_offload: false
  limit_all_gathers: true
""",
        {
            "model.num_layers": 32,
            "model.ffn_hidden_size": 16384,
            "model.learned_positions": 2048,
            "model.tied_embeddings": True,
            "sequence_length": 2048,
            "parallelism.zero_stage": 3,
            "training.micro_batch_size": 8,
            "training.global_batch_size": 1024,
            "training.gradient_precision": "bf16",
            **dict([_BF16, _FULL]),
        },
    ),
    "NeMo 2 command": (
        "NVIDIA/NeMo docs/source/nlp/nemo_megatron/batching.rst",
        """
nemo llm pretrain --factory llama3_8b data.micro_batch_size=4 data.global_batch_size=16 \\
    trainer.accumulate_grad_batches=1
""",
        {
            "model": "llama-3-8b",
            "sequence_length": 8192,
            "parallelism.world_size": 8,
            "parallelism.tensor_parallel": 1,
            "parallelism.context_parallel": 2,
            "parallelism.zero_stage": 1,
            "training.micro_batch_size": 4,
            "training.global_batch_size": 16,
            "training.gradient_precision": "fp32",
            **dict([_BF16]),
        },
    ),
    "NeMo 2 Python": (
        "NVIDIA/NeMo examples/llm/pretrain/custom_recipe.py",
        """
import nemo_run as run
from nemo.collections import llm
from nemo.collections.llm.recipes import llama3_70b

def custom_llama3_70b():
    pretrain = llama3_70b.pretrain_recipe(num_nodes=4, num_gpus_per_node=8)
    pretrain.trainer.val_check_interval = 400
    pretrain.log.ckpt.save_top_k = -1
    pretrain.trainer.max_steps = 1000
    return pretrain

if __name__ == "__main__":
    run.cli.main(llm.pretrain, default_factory=custom_llama3_70b)
""",
        {
            "model": "llama-3-70b",
            "sequence_length": 8192,
            "parallelism.world_size": 32,
            "parallelism.tensor_parallel": 4,
            "parallelism.pipeline_parallel": 4,
            "parallelism.virtual_pipeline": 5,
            "parallelism.context_parallel": 2,
            "parallelism.sequence_parallel": True,
            "training.micro_batch_size": 1,
            "training.global_batch_size": 512,
            **dict([_BF16]),
        },
    ),
    "ms-swift YAML": (
        "modelscope/ms-swift examples/yaml/deepspeed/sft.yaml",
        """
ENV:
  CUDA_VISIBLE_DEVICES: '0,1'
  NPROC_PER_NODE: '2'
model: Qwen/Qwen2.5-7B-Instruct
tuner_type: lora
dataset:
  - 'AI-ModelScope/alpaca-gpt4-data-zh#500'
torch_dtype: bfloat16
num_train_epochs: 1
per_device_train_batch_size: 1
learning_rate: 1e-4
lora_rank: 8
lora_alpha: 32
target_modules: all-linear
gradient_accumulation_steps: 8
split_dataset_ratio: 0.0
max_length: 2048
output_dir: output
system: You are a helpful assistant.
warmup_ratio: 0.05
dataloader_num_workers: 4
model_author: swift
model_name: swift-bot
deepspeed: zero2
""",
        {
            "model": "qwen2.5-7b",
            "sequence_length": 2048,
            "parallelism.zero_stage": 2,
            "parallelism.world_size": 2,
            "training.micro_batch_size": 1,
            "training.global_batch_size": 16,
            "training.lora_rank": 8,
            "training.lora_layers": "all",
            **dict([_BF16, _FULL]),
        },
    ),
    "ms-swift Megatron YAML": (
        "modelscope/ms-swift examples/yaml/megatron/sft.yaml",
        """
ENV:
  PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True'
  NPROC_PER_NODE: '4'
model: Qwen/Qwen3-30B-A3B
tuner_type: lora
lora_rank: 8
target_modules: all-linear
load_from_cache_file: true
split_dataset_ratio: 0.01
max_length: 2048
packing: true
save_safetensors: true
micro_batch_size: 1
global_batch_size: 4
num_train_epochs: 1
expert_model_parallel_size: 4
sequence_parallel: true
recompute_granularity: full
recompute_method: uniform
recompute_num_layers: 1
""",
        {
            "model": "qwen3-30b-a3b",
            "sequence_length": 2048,
            "parallelism.zero_stage": 1,
            "parallelism.expert_parallel": 4,
            "parallelism.world_size": 4,
            "training.framework": "megatron",
            "training.global_batch_size": 4,
            "training.lora_rank": 8,
            **dict([_BF16, _FULL]),
        },
    ),
}
