"""Recognition of torchtitan's configurations: TOML, Python, flags."""

import re
import tomllib

from engine.run.importers.dialect import Dialect, Piece
from engine.run.importers.import_report import RunDraft, Setting, TextError, flatten
from engine.run.importers.python_keys import read_python, require_single_configuration
from engine.run.importers.shell import script_flags
from engine.run.importers.torchtitan import import_torchtitan
from engine.run.importers.torchtitan_derived import finish_torchtitan


def _read_toml(piece: Piece, draft: RunDraft) -> None:
    try:
        tree = tomllib.loads(piece.text)
    except tomllib.TOMLDecodeError as error:
        raise TextError(_toml_error(str(error), piece.line)) from None
    except (ValueError, RecursionError):
        raise TextError(f"line {piece.line}: a number is too long or nested too deeply") from None
    lines: dict[str, int] = {}
    section = ""
    for number, line in enumerate(piece.text.splitlines(), piece.line):
        header = re.match(r"\s*\[([\w.]{1,100})\]", line[:200])
        section = header[1] if header else section
        key = re.match(r"\s*([\w-]{1,100})\s*=", line[:200])
        if key:
            lines.setdefault(f"{section}.{key[1]}" if section else key[1], number)
    import_torchtitan(flatten(tree, lines), draft)


def _toml_error(message: str, first: int) -> str:
    match = re.search(r"\(at line (\d+), column (\d+)\)", message)
    if not match:
        return f"line {first}: {message[:200]}"
    reason = message[: match.start()].strip()
    return f"line {first + int(match[1]) - 1}, column {match[2]}: {reason}"


def _read_python(piece: Piece, draft: RunDraft) -> None:
    require_single_configuration(piece.text, piece.line)
    import_torchtitan(read_python(piece.text, piece.line), draft)


def _read_flags(piece: Piece, draft: RunDraft) -> None:
    settings = script_flags(piece.text, piece.line)
    if TORCHTITAN_TOML.name in draft.dialects:
        draft.lines.clear()  # what the file says is no contradiction
    for number, line in enumerate(piece.text.splitlines(), piece.line):
        if match := re.match(r"\s*(?:export\s+)?(?:\w+=\S+\s+)*?CONFIG_FILE=(\S+)", line[:2000]):
            settings.append(Setting(key="CONFIG_FILE", value=match[1].strip("\"'"), line=number))
    import_torchtitan(settings, draft)


TORCHTITAN_TOML = Dialect(
    name="torchtitan TOML",
    read=_read_toml,
    software="torchtitan",
    signs=(
        r"^[ \t]*\[(?:parallelism|training|job|activation_checkpoint|lr_scheduler|metrics|float8|"
        r"mx|quantize\.[\w.]+|activation_checkpoint\.[\w.]+)\]",
        r"^[ \t]*(?:seq_len|local_batch_size|flavor|tensor_parallel_degree|"
        r"pipeline_parallel_degree|data_parallel_shard_degree|data_parallel_replicate_degree|"
        r"context_parallel_degree|expert_parallel_degree|fsdp_reshard_after_forward|"
        r"enable_async_tensor_parallel|selective_ac_option|dump_folder|hf_assets_path|converters|"
        r"pipeline_parallel_schedule|pipeline_parallel_microbatch_size)\s*=(?!=)",
    ),
    finish=finish_torchtitan,
)
TORCHTITAN_PYTHON = Dialect(
    name="torchtitan Python",
    read=_read_python,
    software="torchtitan",
    signs=(
        r"\b(?:ParallelismConfig|TrainingConfig|CompileConfig|ActivationCheckpointConfig|"
        r"Trainer\.Config|parallelism\.Config|LRSchedulersContainer\.Config|"
        r"MetricsProcessor\.Config|CheckpointManager\.Config|OptimizersContainer\.Config)(?=\()",
        r"\.(?:parallelism|training)\.\w+\s*=",
        r"\b(?:SelectiveAC|FullAC|NoAC)\.Config|\bmodel_registry\(",
        r"(?<=[(,\s])(?:local_batch_size|data_parallel_shard_degree|tensor_parallel_degree|"
        r"pipeline_parallel_degree|context_parallel_degree|expert_parallel_degree|"
        r"num_tokens_per_microbatch_per_dp_rank|num_tokens_per_train_step|max_context_length|"
        r"data_parallel_replicate_degree|pipeline_parallel_schedule)=(?!=)",
        r"\bfrom torchtitan\b|\bimport torchtitan\b",
    ),
    finish=finish_torchtitan,
    contains=frozenset((TORCHTITAN_TOML.name,)),
)
TORCHTITAN_FLAGS = Dialect(
    name="torchtitan flags",
    read=_read_flags,
    software="torchtitan",
    signs=(
        r"--(?:parallelism|training|activation_checkpoint|activation-checkpoint|job|compile|"
        r"metrics|profiling|checkpoint|optimizer|lr_scheduler|model|float8)\.\w+",
        r"\btorchtitan[./]\w+|--job\.config_file|\brun_train\.sh\b",
    ),
    finish=finish_torchtitan,
    overrides=True,
)
