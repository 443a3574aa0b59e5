"""Reader of the arguments that GPT-NeoX prints at its start: `hidden_size .... 4096....updated`.

They are those of its YAML, all of them, with the defaults; what the configuration changed is marked
`updated` (megatron/neox_arguments/arguments.py, NeoXArgs.print, at commit ea7aefd8).
"""

import ast
import re
from collections.abc import Iterator

from engine.run.importers.dialect import Dialect, Piece
from engine.run.importers.gpt_neox import finish_gpt_neox, import_gpt_neox
from engine.run.importers.import_report import RunDraft, Setting, flatten

_LINE = re.compile(r"^.{0,60}?\b([a-z][a-z0-9_]{2,60}) \.{2,} (.{1,4000}?)(\.{2,}updated|)\s*$")
# Follows from others of the printed arguments, or is GPT-NeoX's way to keep them.
_DERIVED = (
    "is_pipe_parallel", "params_dtype", "iteration", "config_files", "deepspeed", "save_iters",
    "world_size", "wandb_group",
)  # fmt: skip


def printed_settings(text: str, first_line: int) -> Iterator[Setting]:
    """Yield the arguments that are marked as updated, with the entries of their objects."""
    for number, line in enumerate(text.splitlines(), first_line):
        match = _LINE.match(line[:5000])
        if not match or not match[3]:
            continue
        value = _value(match[2].strip())
        if isinstance(value, dict) and value:
            leaves = flatten({match[1]: value})
            yield from (Setting(key=leaf.key, value=leaf.value, line=number) for leaf in leaves)
        else:
            yield Setting(key=match[1], value=value, line=number)


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _read(piece: Piece, draft: RunDraft) -> None:
    settings = []
    for setting in printed_settings(piece.text, piece.line):
        if setting.key in _DERIVED:
            draft.report(setting, "without effect", "follows from other printed arguments")
        else:
            settings.append(setting)
    import_gpt_neox(settings, draft)


GPT_NEOX_PRINTED = Dialect(
    name="GPT-NeoX printed arguments",
    read=_read,
    software="GPT-NeoX",
    signs=(
        r"\b(?:pipe_parallel_size|model_parallel_size|pos_emb|gpt_j_residual|no_weight_tying|"
        r"train_micro_batch_size_per_gpu|attention_config|global_num_gpus|zero_optimization|"
        r"checkpoint_factor|rotary_pct|gradient_accumulation_steps) \.{2,} ",
        r"\.{2,}updated(?=\s*$)",
    ),
    finish=finish_gpt_neox,
    contains=frozenset(("Megatron-LM log",)),
)
