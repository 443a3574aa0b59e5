"""Readers of Hugging Face's TrainingArguments: flags, YAML, JSON, Python."""

import re

from engine.run.importers.command_dialects import TRAINING_ARGUMENT_KEYS
from engine.run.importers.dialect import Piece, Reader, flags
from engine.run.importers.import_report import RunDraft, Setting
from engine.run.importers.json_text import object_settings
from engine.run.importers.shell import script_flags
from engine.run.importers.training_arguments import (
    finish_training_arguments,
    import_training_arguments,
)
from engine.run.importers.training_arguments_python import read_trainer_python
from engine.run.importers.yaml_text import read_yaml

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
    elif re.search(flags(*TRAINING_ARGUMENT_KEYS), piece.text, re.MULTILINE):
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


READER = Reader(read=_read, finish=finish_training_arguments)
PYTHON_READER = Reader(read=_read_python, finish=finish_training_arguments)
