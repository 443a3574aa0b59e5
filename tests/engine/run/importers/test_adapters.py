"""Which layers have adapters: as a text names them, or as its software takes them unasked."""

import pytest

from engine.run.importers.adapters import read_targets, settle_targets
from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import RunDraft, Setting
from tests.each import each

_LAYERS = "training.lora_layers"


@pytest.mark.parametrize(
    ("value", "layers", "warns"),
    [
        ("all-linear", "all", False),
        ("[all-linear]", "all", False),
        ("*_proj", "all", False),
        (["*.q_proj", "*.k_proj", "*.v_proj", "*.o_proj"], "attention", False),
        ("q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj", "all", False),
        (["linear_qkv", "linear_proj"], "attention", False),
        (["linear_qkv", "linear_proj", "linear_fc1", "linear_fc2"], "all", False),
        ("attention,mlp", "all", False),
        ("attention", "attention", False),
        ("q_proj,v_proj", "attention", True),
        (["attention_qkv"], "attention", True),
        (["q_proj", "v_proj", "down_proj"], "all", True),
        ("down_proj", "all", True),
        ("something_else", "all", True),
        (None, None, False),
        ([], None, False),
    ],
)
def test_layers_are_read(value: object, layers: str | None, warns: bool) -> None:
    draft = RunDraft()
    read_targets(Setting(key="target_modules", value=value, line=3), draft)
    assert draft.values.get(_LAYERS) == layers
    assert bool(draft.warnings) == warns
    assert len(draft.entries) == 1


def test_layers_of_a_training_of_all_weights_are_dropped() -> None:
    draft = RunDraft()
    draft.values[_LAYERS] = "all"
    settle_targets(draft, "all", "a trainer")
    assert _LAYERS not in draft.values


_FACTORY = (
    "model_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: lora\ncutoff_len: 2048\nbf16: true\n"
)
_AXOLOTL = """base_model: mistralai/Mistral-7B-v0.1
sequence_len: 4096
micro_batch_size: 2
adapter: lora
lora_r: 16
"""
_TRL = """trl sft --model_name_or_path Qwen/Qwen2.5-7B --use_peft --lora_r 16 \\
  --per_device_train_batch_size 2 --gradient_checkpointing --bf16 --max_length 2048
"""


@pytest.mark.parametrize(
    ("text", "layers", "named"),
    [
        (_FACTORY, "all", False),
        (_FACTORY + "lora_target: q_proj,v_proj\n", "attention", True),
        (_AXOLOTL, "attention", True),
        (_AXOLOTL + "lora_target_linear: true\n", "all", False),
        (_TRL, "attention", True),
    ],
)
def test_what_software_takes_unasked(text: str, layers: str, named: bool) -> None:
    imported = import_run(text)
    assert imported.document["training"]["lora_layers"] == layers
    assert any("of the attention" in warning for warning in imported.warnings) == named
    assert not imported.contradictions


_QLORA = {
    "axolotl": """base_model: meta-llama/Llama-3.1-8B
load_in_4bit: true
adapter: qlora
lora_r: 16
lora_target_linear: true
sequence_len: 2048
micro_batch_size: 1
gradient_accumulation_steps: 4
bf16: true
flash_attention: true
""",
    "LLaMA-Factory": """model_name_or_path: meta-llama/Llama-3.1-8B
stage: sft
finetuning_type: lora
lora_rank: 16
lora_target: all
quantization_bit: 4
cutoff_len: 2048
per_device_train_batch_size: 1
gradient_accumulation_steps: 4
bf16: true
""",
    "Trainer": "torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-3.1-8B "
    "--use_qlora 1 --lora_r 16 --block_size 2048 --per_device_train_batch_size 1 "
    "--gradient_accumulation_steps 4 --bf16 True\n",
}


@each("name", list(_QLORA))
def test_frozen_weights_in_4_bits_are_those_of_a_run_file(name):
    found = import_run(_QLORA[name])
    assert found.contradictions == ()
    assert found.run.training.nf4_weights
    assert found.run.training.lora_rank == 16
    assert not any("4 bits" in line for line in found.warnings)


@each(
    "old, new, bits",
    [("quantization_bit: 4", "quantization_bit: 8", 8), ("type: lora", "type: full", 4)],
)
def test_other_bits_are_told_and_not_shown(old, new, bits):
    found = import_run(_QLORA["LLaMA-Factory"].replace(old, new))
    assert not found.document["training"].get("nf4_weights", False)
    assert any(f"kept in {bits} bits; 16 are shown" in line for line in found.warnings)
