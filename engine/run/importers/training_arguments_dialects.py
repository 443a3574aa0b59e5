"""Recognition of Hugging Face's TrainingArguments: flags, YAML, JSON, Python."""

import re

from engine.run.importers.dialect import Dialect, Piece, flags, yaml_keys
from engine.run.importers.import_report import RunDraft, Setting
from engine.run.importers.json_text import object_settings
from engine.run.importers.shell import script_flags
from engine.run.importers.training_arguments import (
    finish_training_arguments,
    import_training_arguments,
)
from engine.run.importers.training_arguments_python import read_trainer_python
from engine.run.importers.yaml_text import read_yaml

_OWN = (
    "per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps",
    "num_train_epochs", "lr_scheduler_type", "save_total_limit", "save_strategy", "eval_strategy",
    "evaluation_strategy", "logging_strategy", "model_name_or_path", "gradient_checkpointing",
    "warmup_ratio", "report_to", "ddp_timeout", "model_max_length", "dataloader_num_workers",
    "fsdp_transformer_layer_cls_to_wrap", "torch_compile", "remove_unused_columns", "push_to_hub",
)  # fmt: skip
# TRL's commands, whose classes have defaults of their own.
_COMMAND = re.compile(
    r"(?<![\w./-])trl\s+(sft|dpo|grpo|kto|reward|rloo)\b|"
    r"(?:trl/scripts|examples/scripts)/(sft|dpo|grpo|kto|reward|rloo)\.py"
)
_CLASSES = {"sft": "SFTConfig", "dpo": "DPOConfig", "grpo": "GRPOConfig", "kto": "KTOConfig",
            "reward": "RewardConfig", "rloo": "RLOOConfig"}  # fmt: skip


def _read(piece: Piece, draft: RunDraft) -> None:
    if piece.tree is not None:
        settings = object_settings(piece)
    elif re.search(flags(*_OWN), piece.text, re.MULTILINE):
        settings = [*_class_of(piece), *script_flags(piece.text, piece.line)]
    else:
        settings = read_yaml(piece.text, piece.line)
    import_training_arguments(settings, draft)


def _class_of(piece: Piece) -> list[Setting]:
    for number, line in enumerate(piece.text.splitlines(), piece.line):
        match = _COMMAND.search(line[:2000])
        if match and not line.lstrip().startswith("#"):
            return [Setting(key="class", value=_CLASSES[match[1] or match[2]], line=number)]
    return []


def _read_python(piece: Piece, draft: RunDraft) -> None:
    import_training_arguments(read_trainer_python(piece.text, piece.line), draft)


_JOINS = frozenset(("DeepSpeed", "accelerate"))
TRAINING_ARGUMENTS = Dialect(
    name="Hugging Face TrainingArguments",
    read=_read,
    software="Hugging Face Trainer",
    signs=(flags(*_OWN), yaml_keys(*_OWN)),
    keys=frozenset(_OWN),
    finish=finish_training_arguments,
    joins=_JOINS,
)
TRAINER_PYTHON = Dialect(
    name="Hugging Face Trainer in Python",
    read=_read_python,
    software="Hugging Face Trainer",
    signs=(
        r"\b(?:Seq2SeqTrainingArguments|TrainingArguments|SFTConfig|DPOConfig|GRPOConfig|KTOConfig|"
        r"RewardConfig)\s*\(",
        r"\b\w*(?:SFT|DPO|GRPO|KTO|Seq2Seq|Reward)?Trainer\s*\(",
        rf"(?<![\w.-])(?:{'|'.join(_OWN)})\s*=(?!=)(?=[^\n,]{{0,200}},|[^\n()]{{0,200}}\))",
        r"^[ \t]*(?:from|import)\s+(?:transformers|trl|peft)\b",
    ),
    finish=finish_training_arguments,
    joins=_JOINS,
)
