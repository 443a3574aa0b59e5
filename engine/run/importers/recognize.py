"""Recognition of the configurations in a text and of their dialects."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from engine.run.importers.import_report import TextError

Dialect = Literal[
    "run file",
    "Hugging Face config.json",
    "DeepSpeed JSON",
    "accelerate YAML",
    "Megatron-LM arguments",
    "Megatron-LM log",
    "Megatron-Bridge overrides",
    "torchtitan TOML",
    "torchtitan Python",
    "torchtitan flags",
]
_MARK = re.compile(r"^\s*[-=]{3,}[^-=\n]{0,120}[-=]*\s*$")
# In a comment a line of dashes is a heading of the script, unless it names a file.
_COMMENTED = re.compile(r"^\s*(?:#|//)\s*[-=]{3,}[^-=\n]{0,100}\.[a-z]{2,5}\s*[-=]+\s*$")
_COMMENT = re.compile(r"(^|\s)#(?!SBATCH).*$", re.MULTILINE)
_DEEPEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One configuration of a text.

    Attributes:
        dialect: what it is.
        text: of it alone.
        line: of its first line, from 1.
        tree: what a JSON object holds.
    """

    dialect: Dialect
    text: str
    line: int
    tree: Mapping[str, Any] | None = None


def split_configurations(text: str) -> list[Piece]:
    """Split a text into configurations; raise `TextError` if there is none."""
    pieces: list[Piece] = []
    for chunk, line in _chunks(text):
        rest = _extract_objects(chunk, line, pieces)
        if rest.strip():
            dialect = _text_dialect(rest)
            if dialect:
                pieces.append(Piece(dialect=dialect, text=rest, line=line))
            elif not pieces:
                continue
    if not pieces:
        raise TextError(
            "line 1: no configuration is recognized; allowed: Megatron-LM arguments, a log with "
            "them, Megatron-Bridge overrides, torchtitan TOML or Python, DeepSpeed JSON, "
            "accelerate YAML, a config.json, a run file"
        )
    return pieces


def _chunks(text: str) -> list[tuple[str, int]]:
    """Return the parts between lines such as "--- config.json ---", with their first lines."""
    chunks, start = [], 1
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) < 200 and (_MARK.match(line) or _COMMENTED.match(line)):
            chunks.append(("\n".join(lines), start))
            lines, start = [], number + 1
        else:
            lines.append(line)
    chunks.append(("\n".join(lines), start))
    return [(chunk, line) for chunk, line in chunks if chunk.strip()]


def _extract_objects(chunk: str, line: int, pieces: list[Piece]) -> str:
    """Extract JSON objects that begin a line; return the rest with its line numbers kept."""
    rest, place = [], 0
    for match in re.finditer(r"^\s*\{", chunk, re.MULTILINE):
        if match.start() < place:
            continue
        body = chunk[match.end() - 1 :]
        if _too_deep(body):
            raise TextError(f"line {line}: nested too deeply")
        first = line + chunk.count("\n", 0, match.end() - 1)
        try:
            tree, length = json.JSONDecoder().raw_decode(body)
        except json.JSONDecodeError as error:
            if match.start() == 0 or not chunk[: match.start()].strip():
                raise TextError(
                    f"line {first + error.lineno - 1}, column {error.colno}: the JSON is damaged "
                    f"or cut off ({error.msg})"
                ) from None
            continue
        except (ValueError, RecursionError):
            raise TextError(f"line {first}: a number is too long or brackets too deep") from None
        text = body[:length]
        pieces.append(Piece(dialect=_object_dialect(tree), text=text, line=first, tree=tree))
        rest.append(chunk[place : match.start()])
        rest.append("\n" * text.count("\n"))
        place = match.end() - 1 + length
    rest.append(chunk[place:])
    return "".join(rest)


def _too_deep(text: str) -> bool:
    depth = 0
    for letter in text:
        if letter in "[{":
            depth += 1
            if depth > _DEEPEST:
                return True
        elif letter in "]}":
            depth -= 1
            if depth <= 0:
                return False
    return False


def _object_dialect(tree: Mapping[str, Any]) -> Dialect:
    if "parallelism" in tree and "training" in tree:
        return "run file"
    deep = ("zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size")
    if any(key in tree for key in deep) or "gradient_accumulation_steps" in tree:
        return "DeepSpeed JSON"
    return "Hugging Face config.json"


def _text_dialect(text: str) -> Dialect | None:
    """Return the dialect of a text without JSON; the most specific patterns come first."""
    tests: tuple[tuple[str, Dialect], ...] = (
        (r"^\s*\[(parallelism|training|job|model|activation_checkpoint)\]", "torchtitan TOML"),
        (r"(ParallelismConfig|TrainingConfig|Trainer\.Config|parallelism\.Config)\(|"
         r"\.parallelism\.\w+\s*=|(SelectiveAC|FullAC)\.Config", "torchtitan Python"),
        (r"--(parallelism|training)\.\w+", "torchtitan flags"),
        (r"^\s*(distributed_type|compute_environment|fsdp_config|parallelism_config)\s*:",
         "accelerate YAML"),
        (r"\b[a-z_]{4,60}\s?\.{6,}\s?\S", "Megatron-LM log"),
        (r"(^|\s)\+{0,2}(cfg\.)?(model|train|dataset)\.[a-z_]+\s?=|_pretrain_\w*config",
         "Megatron-Bridge overrides"),
        (r"(^|\s|[\"'(])--[a-z][\w-]+", "Megatron-LM arguments"),
    )  # fmt: skip
    for said in (_COMMENT.sub("", text), text):
        for pattern, dialect in tests:
            if re.search(pattern, said, re.MULTILINE):
                return dialect
    return None
