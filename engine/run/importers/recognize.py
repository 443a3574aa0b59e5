"""Recognition of the configurations in a text and of their dialects.

A text is cut at lines such as "--- config.json ---" and at fences of Markdown; JSON objects that
begin a line are taken out, and so are the files that a script writes (here-documents). What remains
is of a dialect if two of its signs stand there outside of comments. A part of no dialect is named.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.run.importers.dialect import Dialect, Piece, Unread, flags
from engine.run.importers.dialects import DIALECTS
from engine.run.importers.import_report import TextError
from engine.run.importers.text_parts import Part, blank, split_parts, without_comments

_FORMATS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "OLMo-core",
        "its settings are computed by a program; paste the model's config.json and say batch, "
        "length and GPUs in a run file",
        (
            r"\bfrom olmo_core(?:\.\w+)* import|\bimport olmo_core\b",
            r"\b(?:TransformerTrainModuleConfig|TransformerConfig\.\w+|NumpyFSLDatasetConfig|"
            r"SkipStepAdamWConfig|TransformerDataParallelConfig|olmo_core\.internal)\b",
        ),
    ),
    (
        "torchtune",
        "",
        (
            r"\b_component_\b\s?[:=]\s*[\"']?torchtune\.\w+(?:\.\w+)*",
            r"(?<![\w./-])tune run\b",
            r"(?<![\w.])(?:apply_lora_to_mlp|lora_attn_modules|enable_activation_checkpointing|"
            r"tensor_parallel_dim|data_parallel_shard_dim)\s?[:=]",
        ),
    ),
    (
        "LitGPT",
        "",
        (
            r"(?<![\w./-])litgpt\s+(?:pretrain|finetune)\w*",
            flags("train.micro_batch_size", "train.global_batch_size", "data.json_path"),
            r"^(?:checkpoint_dir|lora_r|lora_query|lora_mlp|precision|devices|num_nodes)\s*:",
        ),
    ),
    (
        "fairseq",
        "",
        (
            r"(?<![\w./-])fairseq-(?:hydra-)?train\b",
            flags("max-tokens", "update-freq", "arch", "max-update", "share-all-embeddings"),
        ),
    ),
)
_PATTERNS = tuple(
    (name, why, tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns))
    for name, why, patterns in _FORMATS
)


def name_format(text: str) -> str:
    """Return the name of an unsupported format, with the reason; "" if none is seen."""
    for name, why, patterns in _PATTERNS:
        of_format = len({match[0] for match in patterns[0].finditer(text)})
        others = len({match[0] for pattern in patterns[1:] for match in pattern.finditer(text)})
        if of_format + others > 1 and of_format:
            return f"{name} is not read" + (f": {why}" if why else "")
    return ""


ENOUGH = 2  # signs
_DEEPEST = 100


@dataclass(slots=True, kw_only=True)
class Recognized:
    """The parts of a text: configurations, and what no reader takes."""

    pieces: list[Piece] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


_SUCH_AS = "Megatron-LM arguments, Trainer arguments, torchtitan, DeepSpeed JSON, a config.json"


def recognize(text: str) -> Recognized:
    """Return the configurations of a text; raise `TextError` if there is none."""
    recognized = Recognized()
    for part in split_parts(text):
        _read_part(part, recognized)
    if not recognized.pieces:
        allowed = f"{len(DIALECTS)} formats, such as {_SUCH_AS}"
        for unread in recognized.unread:
            if unread.reason != _UNKNOWN:
                raise TextError(f"line {unread.first}: {unread.reason}; allowed: {allowed}")
        seen = "; ".join(sign for part in recognized.unread for sign in part.seen)
        raise TextError(
            f"line 1: no configuration is recognized (signs seen: {seen or 'none'}); allowed: "
            f"{allowed}"
        )
    return recognized


def _read_part(part: Part, recognized: Recognized) -> None:
    text = _extract_objects(part, recognized)
    if not without_comments(text).strip():
        return
    dialects = _dialects_of(text)
    if len(dialects) > 1:
        raise TextError(_tie(dialects, text, part.line))
    refuses = dialects[0].reader().refuses if dialects else None
    reason = refuses(text) if refuses else ""
    if dialects and not reason:
        recognized.pieces.append(
            Piece(dialect=dialects[0].name, text=text, line=part.line, name=part.name)
        )
        if foreign := _foreign_lines(dialects[0], text):
            first, last = foreign[0] + part.line, foreign[-1] + part.line
            name = f"lines {first}-{last}"
            recognized.unread.append(Unread(name=name, first=first, last=last, reason=_FOREIGN))
    elif not part.optional:
        why = name_format(without_comments(text)) or reason or _UNKNOWN
        recognized.unread.append(_unread(text, part.line, part.name, _seen(text), why))


_FOREIGN = "another format within a script"
# No command of a shell looks so.
_NO_COMMAND = re.compile(
    r"^[ \t]*(?:[A-Za-z_][\w.-]*:[ \t]+\S|\[[a-z][\w.]*\][ \t]*$|[a-z_]\w* = \S)"
)
_FLAGS_IN_YAML = re.compile(r"^[ \t]*--[\w-]+:\s", re.MULTILINE)


def _foreign_lines(dialect: Dialect, text: str) -> list[int]:
    """Return the lines of a script, from 0, that are YAML or TOML; none if there is but one."""
    code = without_comments(text)
    script = any(sign.startswith("--") for sign in dialect.signs_in(code))
    if not script or _FLAGS_IN_YAML.search(code):
        return []
    lines = [at for at, line in enumerate(code.splitlines()) if _NO_COMMAND.match(line[:500])]
    return lines if len(lines) > 1 else []


_UNKNOWN = "no format that is known here"


def _unread(
    text: str, line: int, name: str, seen: tuple[str, ...], reason: str = _UNKNOWN
) -> Unread:
    filled = [
        number for number, line_text in enumerate(text.splitlines(), line) if line_text.strip()
    ]
    first, last = (filled[0], filled[-1]) if filled else (line, line)
    line_range = f"lines {first}-{last}" if last > first else f"line {last}"
    return Unread(name=name or line_range, first=first, last=last, seen=seen, reason=reason)


def _dialects_of(text: str) -> list[Dialect]:
    """Return the dialects with enough signs, less those that another of them contains."""
    code = without_comments(text)
    taken = [
        dialect for dialect in DIALECTS if dialect.signs and len(dialect.signs_in(code)) >= ENOUGH
    ]
    contained = {name for dialect in taken for name in dialect.contains}
    known = [dialect for dialect in taken if dialect.name not in contained]
    return [dialect for dialect in known if not dialect.weak] or known


def _tie(dialects: Sequence[Dialect], text: str, line: int) -> str:
    code = without_comments(text)
    kinds = " and ".join(
        f"{dialect.name} ({', '.join(dialect.signs_in(code)[:3])})" for dialect in dialects
    )
    return f"line {line}: signs of {kinds}: put a line such as --- NAME --- between the texts"


def _seen(text: str) -> tuple[str, ...]:
    """Return the signs of a text of no dialect, each with the dialect that it is one of."""
    code = without_comments(text)
    return tuple(
        f"{', '.join(signs)} ({dialect.name})"
        for dialect in DIALECTS
        if (signs := dialect.signs_in(code))
    )


def _extract_objects(part: Part, recognized: Recognized) -> str:
    """Extract JSON objects that begin a line; return the rest with its line numbers kept."""
    chunk, line = part.text, part.line
    chunks, offset = [], 0
    for match in re.finditer(r"^[ \t]*\{", chunk, re.MULTILINE):
        if match.start() < offset:
            continue
        body = chunk[match.end() - 1 :]
        if _too_deep(body):
            raise TextError(f"line {line}: nested too deeply")
        first = line + chunk.count("\n", 0, match.end() - 1)
        try:
            tree, length = json.JSONDecoder().raw_decode(body)
        except json.JSONDecodeError as error:
            if not chunk[: match.start()].strip():
                if part.optional or _dialects_of(chunk):
                    return chunk  # YAML may be in braces, with comments and a last comma
                raise TextError(
                    f"line {first + error.lineno - 1}, column {error.colno}: the JSON is damaged "
                    f"or cut off ({error.msg})"
                ) from None
            continue
        except (ValueError, RecursionError):
            raise TextError(f"line {first}: a number is too long or brackets too deep") from None
        _take_object(tree, body[:length], first, part, recognized)
        chunks.append(chunk[offset : match.start()])
        chunks.append(blank(body[:length]))
        offset = match.end() - 1 + length
    chunks.append(chunk[offset:])
    return "".join(chunks)


def _take_object(
    tree: Mapping[str, Any], text: str, line: int, part: Part, recognized: Recognized
) -> None:
    """Add an object to the pieces, or to what is not read."""
    signs = {dialect.name: dialect.keys_in(tree) for dialect in DIALECTS if dialect.keys}
    dialects = [dialect for dialect in DIALECTS if len(signs.get(dialect.name, ())) >= ENOUGH]
    contained = {name for dialect in dialects for name in dialect.contains}
    dialects = [dialect for dialect in dialects if dialect.name not in contained]
    if len(dialects) > 1:
        kinds = " and ".join(
            f"{dialect.name} ({', '.join(signs[dialect.name][:3])})" for dialect in dialects
        )
        raise TextError(f"line {line}: keys of {kinds}: one object is one configuration")
    if dialects:
        name = dialects[0].name
        recognized.pieces.append(
            Piece(dialect=name, text=text, line=line, tree=tree, name=part.name)
        )
    elif not part.optional:
        seen = tuple(f"{', '.join(keys)} ({name})" for name, keys in signs.items() if keys)
        recognized.unread.append(_unread(text, line, part.name, seen))


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
