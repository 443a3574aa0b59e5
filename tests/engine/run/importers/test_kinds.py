"""Texts that were answered for another software, or dropped beside a model: each kind ten times."""

import json

import pytest

from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import TextError
from tests.each import each

LLAMA = json.dumps(
    {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 128256,
     "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
     "tie_word_embeddings": False}
)  # fmt: skip


def beside_a_model(text):
    return import_run(f"{LLAMA}\n--- my.txt ---\n{text}")


# Formats that no reader takes: made-up trainers, and files that stand beside a configuration.
UNREAD = [
    "step_scheduler:\n  global_batch_size: 64\ndistributed:\n  strategy: fsdp2\n  cp_size: 2\n",
    "# start it with: launcher this.yaml --nproc-per-node 8\nscheduler:\n  global_batch: 64\n",
    "trainer:\n  max_length: 2048\n  batch: 4\noptim:\n  zero: 3\n",
    "[data]\nlength = 2048\n[model]\nname = 'x'\n",
    "batch_size = 4\nblock_size = 1024\nn_layer = 12\n",
    '{"length": 2048, "batch": 4, "stage": 3}',
    '{"add_bos_token": true, "model_max_length": 4096, "pad_token": "x"}',
    "export NCCL_DEBUG=INFO\nexport OMP_NUM_THREADS=8\n",
    "deepspeed --module some.trainer --engine.stage 2 --text.max_len 2048",
    "Dear reader, please train this with a batch of 64 sequences of 2,048 tokens.",
    "kind: Job\nspec:\n  replicas: 4\n  resources:\n    limits: {gpus: 8}\n",
]


@each("text", UNREAD)
def test_a_text_that_no_reader_takes_is_not_dropped_beside_a_model(text):
    found = beside_a_model(text)
    assert found.run is None
    assert found.dialects == ("Hugging Face config.json",)
    assert [one.name for one in found.unread] == ["my.txt"]
    assert any("my.txt" in problem and "not read" in problem for problem in found.contradictions)
    with pytest.raises(TextError, match="no configuration is recognized"):
        import_run(text)


# Words with two dashes of other programs, some of them named as Megatron's are.
WORDS = [
    "deepspeed --module some.trainer --engine.stage 2 --step.micro_batch_size 2",
    "torchrun --nproc_per_node 8 train.py --batch-size 4 --epochs 3 --lr 1e-4",
    "python train.py --model x --seq_len 2048 --bf16",
    "accelerate launch --num_processes 8 my.py --length 2048 --grad-accum 4",
    "srun python main.py --config-name=m.yaml --world 64",
    "python -m trainer.main --micro-batch-size 4",
    "composer train/train.py my.yaml --max_seq_len 2048 --device_batch 4",
    "python run_clm.py --block_size 1024 --learning_rate 1e-4",
    "ray job submit -- python3 -m app --tp 4 --pp 2 --n 8",
    "litgpt pretrain x --train.micro_batch_size 4 --train.global_batch_size 64",
    "# torchrun --num-layers 4 --hidden-size 8 --seq-length 16\nmy: value\n",
    "echo use --tensor-model-parallel-size 4 --num-layers 8 --hidden-size 16\nrun --fast",
]


@each("text", WORDS)
def test_words_with_two_dashes_are_not_megatrons(text):
    found = beside_a_model(text)
    assert not any("Megatron" in name for name in found.dialects)
    assumed = [entry.meaning for entry in found.entries if entry.kind == "assumed"]
    assert not any("Megatron" in meaning for meaning in assumed)
    assert found.run is None


# YAML with FSDP's section that is not accelerate's.
SECTIONS = [
    "base_model: org/some-8b\nsequence_len: 4096\nmicro_batch_size: 2\nfsdp_config:\n"
    "  reshard_after_forward: true\n",
    "base_model: a\nsequence_len: 2048\nmicro_batch_size: 1\nnum_epochs: 1\nfsdp:\n  - full_shard\n"
    "fsdp_config:\n  fsdp_limit_all_gathers: true\n  fsdp_offload_params: false\n",
    "max_seq_len: 4096\nmodel:\n  name: mpt_causal_lm\nfsdp_config:\n"
    "  sharding_strategy: FULL_SHARD\n  mixed_precision: PURE\n",
    "fsdp_config:\n  activation_checkpointing: true\n",
    "train:\n  length: 2048\nfsdp_config:\n  fsdp_offload_params: true\n",
    "fsdp: full_shard auto_wrap\nfsdp_config:\n  min_num_params: 0\nlength: 2048\n",
    "batch: 4\nfsdp_config: {version: 2}\n",
    "trainer:\n  fsdp_config:\n    fsdp_version: 2\n  length: 4096\n",
    "fsdp_config:\n  cpu_ram_efficient_loading: true\n  state_dict_type: SHARDED_STATE_DICT\n",
    "parallel:\n  fsdp_config:\n    reshard_after_forward: true\nseq: 8192\n",
]


@each("text", SECTIONS)
def test_a_section_of_fsdp_is_not_accelerates(text):
    found = beside_a_model(text)
    assert "accelerate YAML" not in found.dialects
    assumed = [entry.meaning for entry in found.entries if entry.kind == "assumed"]
    assert not any("(accelerate" in meaning for meaning in assumed)


def test_the_length_and_batch_beside_a_section_of_fsdp_are_read():
    text = (
        "base_model: org/some-8b\nsequence_len: 4096\nmicro_batch_size: 2\nbf16: true\n"
        "gradient_accumulation_steps: 4\ngradient_checkpointing: true\nfsdp_version: 2\n"
        "fsdp_config:\n  reshard_after_forward: true\n"
        "  transformer_layer_cls_to_wrap: LlamaDecoderLayer\n"
    )
    found = beside_a_model(text)
    training = found.run.training
    assert (training.sequence_length, training.micro_batch_size, training.global_batch_size) == (
        4096,
        2,
        64,
    )
    assert training.recompute == "full"
