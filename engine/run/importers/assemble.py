"""A text with one or several configurations as a run file."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.run.file import InputError, read
from engine.run.importers.accelerate import finish_accelerate, take_accelerate
from engine.run.importers.bridge import overrides, take_bridge
from engine.run.importers.deepspeed import finish_deepspeed, take_deepspeed
from engine.run.importers.hugging_face_keys import take_hugging_face
from engine.run.importers.megatron import VERSION, finish_megatron, take_megatron
from engine.run.importers.python_keys import python_keys
from engine.run.importers.recognize import Piece, pieces
from engine.run.importers.shell import printed_arguments, script_flags
from engine.run.importers.told import LONGEST_TEXT, Draft, Entry, Given, TextError, flat
from engine.run.importers.torchtitan import finish_torchtitan, take_torchtitan
from engine.run.importers.yaml_subset import yaml_keys
from engine.run.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What stands where no text says it.

    Attributes:
        model: row of the catalog; empty: it must be said.
        cluster: of a run file.
        world_size: GPUs; 0: one node, or what the degrees need.
    """

    model: str = ""
    cluster: Mapping[str, Any]
    world_size: int = 0


DGX_H100: Mapping[str, Any] = {
    "gpu": "H100-SXM",
    "gpus_per_node": 8,
    "nics_per_node": 8,
    "nic_bandwidth": 50e9,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a text says of a run.

    Attributes:
        dialects: what was recognized, in the order of the text.
        entries: every key.
        contradictions: what does not fit together, as the framework would say it.
        document: the run file; empty where it could not be put together.
        run: what it describes, or nothing.
    """

    dialects: tuple[str, ...]
    entries: tuple[Entry, ...]
    contradictions: tuple[str, ...]
    document: Mapping[str, Any]
    run: Run | None


def imported(text: str, defaults: Defaults | None = None) -> Imported:
    """Return what a text says; raise `TextError` with line, column and reason if nothing."""
    if len(text) > LONGEST_TEXT:
        raise TextError(f"line 1: {len(text)} characters; allowed: at most {LONGEST_TEXT}")
    draft = Draft()
    for piece in pieces(text):
        draft.dialects.append(piece.dialect)
        _READ[piece.dialect](piece, draft)
    return _finished(draft, defaults or Defaults(cluster=DGX_H100))


def _finished(draft: Draft, defaults: Defaults) -> Imported:
    if "document" in draft.notes:
        document: Mapping[str, Any] = draft.notes["document"]
    else:
        if defaults.world_size:
            # Asked for beside the text: what is derived, as the batch, follows from it.
            draft.values["parallelism.world_size"] = defaults.world_size
        _finish(draft)
        document = _document(draft, defaults)
    run = None
    if not draft.contradictions:
        try:
            run = read(document)
        except InputError as error:
            draft.contradictions += error.problems
    return Imported(
        dialects=tuple(draft.dialects),
        entries=tuple(draft.entries),
        contradictions=tuple(draft.contradictions),
        document=document,
        run=run,
    )


def _finish(draft: Draft) -> None:
    """Let the framework that was recognized derive what follows."""
    said = " ".join(draft.dialects)
    if "torchtitan" in said:
        finish_torchtitan(draft)
    elif "DeepSpeed" in said:
        finish_deepspeed(draft)
    elif "accelerate" in said:
        finish_accelerate(draft)
        if draft.values.get("training.framework") == "deepspeed":
            draft.assume("training.compiled", True, "DeepSpeed's fused kernels")
    elif "Megatron" in said:
        finish_megatron(draft)
        _ranks(draft)


def _ranks(draft: Draft) -> None:
    """Derive Megatron's world size and batch."""
    notes, get = draft.notes, draft.get
    parts = get("parallelism.tensor_parallel") * get("parallelism.pipeline_parallel")
    parts *= get("parallelism.context_parallel")
    if "per_node" in notes and "parallelism.world_size" not in draft.values:
        world = notes["per_node"] * notes.get("nodes", 1)
        draft.derive("parallelism.world_size", world, "nodes x processes per node")
    experts = get("parallelism.expert_parallel") * get("parallelism.expert_tensor_parallel")
    stage = max(parts // get("parallelism.pipeline_parallel"), experts)
    least = get("parallelism.pipeline_parallel") * stage
    world = -(-8 // least) * least
    draft.assume("parallelism.world_size", world, "no launcher says how many GPUs")
    world = draft.values["parallelism.world_size"]
    if world % parts:
        draft.contradictions.append(f"world size ({world}) is not divisible by {parts}")
        return
    pipeline = experts * get("parallelism.pipeline_parallel")
    if world % pipeline:
        draft.contradictions.append(
            f"decoder world_size ({world}) is not divisible by "
            f"expert_tensor_model_pipeline_parallel size ({pipeline})"
        )
        return
    draft.assume("training.micro_batch_size", 1, f"--micro-batch-size is missing ({VERSION})")
    ranks, micro = world // parts, get("training.micro_batch_size")
    draft.assume("training.global_batch_size", micro * ranks, f"micro-batch x ranks ({VERSION})")
    if get("training.global_batch_size") % (micro * ranks):
        draft.contradictions.append(
            f"global batch size ({get('training.global_batch_size')}) is not divisible by micro "
            f"batch size ({micro}) times data parallel size ({ranks})"
        )


def _document(draft: Draft, defaults: Defaults) -> dict[str, Any]:
    """Return the run file of a draft; what only a run file asks for is assumed."""
    if "model" not in draft.values and "model.num_layers" not in draft.values and defaults.model:
        draft.assume("model", defaults.model, "no text says the model; add its config.json")
    for key, value in defaults.cluster.items():
        draft.assume(f"cluster.{key}", value, "no text says the machines")
    if "per_node" in draft.notes:
        draft.values["cluster.gpus_per_node"] = draft.notes["per_node"]
    if defaults.world_size:
        draft.values["parallelism.world_size"] = defaults.world_size
    length = 8192 if "training.framework" in draft.values else 4096
    draft.assume("sequence_length", length, "no text says the length")
    draft.assume("training.micro_batch_size", 1, "no text says the batch")
    draft.assume("parallelism.world_size", 8, "no text says how many GPUs")
    draft.assume("training.global_batch_size", draft.values["parallelism.world_size"], "likewise")
    draft.assume("training.precision", "bf16", "no text says the precision")
    return _nested(draft.values)


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    named = "model" in values
    for path, value in values.items():
        section, point, key = path.partition(".")
        if not point:
            found[section] = value
        elif not (named and section == "model"):
            found.setdefault(section, {})[key] = value
    order = ("model", "sequence_length", "cluster", "parallelism", "training")
    return {key: found[key] for key in order if key in found}


def _lines_of(piece: Piece) -> dict[str, int]:
    """Return the line of each key of an object: the first that names it in quotes."""
    lines: dict[str, int] = {}
    for number, line in enumerate(piece.text.splitlines(), piece.line):
        for name in re.findall(r'"([^"\n]{1,100})"\s*:', line[:2000]):
            lines.setdefault(name, number)
    return lines


def _tree(piece: Piece) -> list[Given]:
    lines = _lines_of(piece)
    return [
        Given(key=one.key, value=one.value, line=lines.get(one.key.rpartition(".")[2], piece.line))
        for one in flat(piece.tree or {})
    ]


def _run_file(piece: Piece, draft: Draft) -> None:
    draft.notes["document"] = piece.tree
    for one in _tree(piece):
        draft.tell(one, "understood", "a key of a run file")


def _hugging_face(piece: Piece, draft: Draft) -> None:
    take_hugging_face(piece.tree or {}, _tree(piece), draft)


def _deepspeed(piece: Piece, draft: Draft) -> None:
    take_deepspeed(_tree(piece), draft)


def _accelerate(piece: Piece, draft: Draft) -> None:
    take_accelerate(yaml_keys(piece.text, piece.line), draft)


def _arguments(piece: Piece, draft: Draft) -> None:
    take_megatron(script_flags(piece.text, piece.line), draft)


def _log(piece: Piece, draft: Draft) -> None:
    take_megatron(printed_arguments(piece.text, piece.line), draft)


def _bridge(piece: Piece, draft: Draft) -> None:
    draft.values.setdefault("training.framework", "megatron")
    found = overrides(piece.text, piece.line)
    if re.search(r"^\s*(def |import |from |cfg\.)", piece.text, re.MULTILINE):
        named = [one for one in found if one.key == "recipe"]
        found = named + python_keys(piece.text, piece.line)
    take_bridge(found, draft)
    flags = [one for one in script_flags(piece.text, piece.line) if one.key in _LAUNCH]
    take_megatron(flags, draft)


_LAUNCH = ("--nproc_per_node", "--nproc-per-node", "--nnodes", "--nodes", "--gpus-per-node")


def _titan_toml(piece: Piece, draft: Draft) -> None:
    try:
        tree = tomllib.loads(piece.text)
    except tomllib.TOMLDecodeError as error:
        raise TextError(_placed(str(error), piece.line)) from None
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
    take_torchtitan(flat(tree, lines), draft)


def _placed(message: str, first: int) -> str:
    match = re.search(r"\(at line (\d+), column (\d+)\)", message)
    if not match:
        return f"line {first}: {message[:200]}"
    reason = message[: match.start()].strip()
    return f"line {first + int(match[1]) - 1}, column {match[2]}: {reason}"


def _titan_python(piece: Piece, draft: Draft) -> None:
    take_torchtitan(python_keys(piece.text, piece.line), draft)


def _titan_flags(piece: Piece, draft: Draft) -> None:
    take_torchtitan(script_flags(piece.text, piece.line), draft)


_READ: Mapping[str, Callable[[Piece, Draft], None]] = {
    "run file": _run_file,
    "Hugging Face config.json": _hugging_face,
    "DeepSpeed JSON": _deepspeed,
    "accelerate YAML": _accelerate,
    "Megatron-LM arguments": _arguments,
    "Megatron-LM log": _log,
    "Megatron-Bridge overrides": _bridge,
    "torchtitan TOML": _titan_toml,
    "torchtitan Python": _titan_python,
    "torchtitan flags": _titan_flags,
}
