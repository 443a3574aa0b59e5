"""What each piece of a text says, noted in a draft."""

import re
import tomllib
from collections.abc import Callable, Mapping

from engine.run.importers.accelerate import take_accelerate
from engine.run.importers.bridge import overrides, take_bridge
from engine.run.importers.deepspeed import take_deepspeed
from engine.run.importers.hugging_face_keys import take_hugging_face
from engine.run.importers.import_report import Draft, Given, TextError, flat
from engine.run.importers.megatron import take_megatron
from engine.run.importers.python_keys import configurations, python_keys
from engine.run.importers.recognize import Piece
from engine.run.importers.shell import printed_arguments, resolved, script_flags
from engine.run.importers.torchtitan import take_torchtitan
from engine.run.importers.yaml_subset import yaml_keys


def read_piece(piece: Piece, draft: Draft) -> None:
    """Note what a piece says."""
    _READ[piece.dialect](piece, draft)


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
    found = overrides(resolved(piece.text), piece.line)
    if re.search(r"^\s*(def |import |from |cfg\.)", piece.text, re.MULTILINE):
        _one_of(piece)
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


def _one_of(piece: Piece) -> None:
    """Refuse a file of several configurations, such as a registry of recipes.

    Raises:
        TextError: what the text holds, and what to do.
    """
    found = configurations(piece.text)
    if len(found) > 1:
        names = ", ".join(f"{name} (line {piece.line + line - 1})" for name, line in found[:12])
        more = f" and {len(found) - 12} more" if len(found) > 12 else ""
        raise TextError(
            f"line {piece.line}: {len(found)} configurations, {names}{more}; paste one of these "
            "functions alone"
        )


def _titan_python(piece: Piece, draft: Draft) -> None:
    _one_of(piece)
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
