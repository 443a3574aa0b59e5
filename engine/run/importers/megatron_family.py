"""Keys of Megatron's arguments under the roofs of other software, whose defaults differ."""

import re

from engine.run.importers.import_report import RunDraft, Setting, is_true, whole_number
from engine.run.importers.key_table import is_absent, is_off
from engine.run.importers.megatron import import_megatron

# What Megatron takes for granted is off is said where the software has it on.
_OFF = {"sequence_parallel": ("parallelism.sequence_parallel", False),
        "use_distributed_optimizer": ("parallelism.zero_stage", 0),
        "overlap_grad_reduce": ("training.overlap_gradient_reduce", False),
        "swiglu": ("model.mlp", "gelu"),
        "untie_embeddings_and_output_weights": ("model.tied_embeddings", True),
        "bf16": None, "fp16": None}  # fmt: skip


def read_megatron_key(setting: Setting, name: str, draft: RunDraft) -> None:
    """Read a setting as the Megatron argument `name`, in YAML's or Python's spelling."""
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
        return
    if name in _OFF and is_off(setting.value):
        pair = _OFF[name]
        if pair is None:
            draft.report(setting, "understood", "off")
        else:
            draft.set_value(setting, *pair)
        return
    value = setting.value
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        words = re.split(r"[,\s]+", value.strip("[] "))
        value = [word.strip("\"'") for word in words if word]
    number = whole_number(value)
    if is_true(value) and (number is None or name in _OFF):
        value = True
    import_megatron([Setting(key=name, value=value, line=setting.line)], draft)
    entry = draft.entries.pop()
    draft.report(setting, entry.kind, entry.meaning)
