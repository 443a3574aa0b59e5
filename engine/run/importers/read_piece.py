"""Dispatch of each piece of a text to the importer of its dialect."""

import re
import tomllib
from collections.abc import Callable, Mapping

from engine.run.importers.accelerate import import_accelerate
from engine.run.importers.bridge import import_bridge, read_overrides
from engine.run.importers.deepspeed import import_deepspeed
from engine.run.importers.hugging_face_keys import import_hugging_face
from engine.run.importers.import_report import RunDraft, Setting, TextError, flatten
from engine.run.importers.megatron import import_megatron
from engine.run.importers.python_keys import configuration_functions, read_python
from engine.run.importers.recognize import Piece
from engine.run.importers.shell import printed_arguments, resolve_variables, script_flags
from engine.run.importers.torchtitan import import_torchtitan
from engine.run.importers.yaml_subset import read_yaml


def read_piece(piece: Piece, draft: RunDraft) -> None:
    """Import one piece into a draft."""
    _READ[piece.dialect](piece, draft)


def _key_lines(piece: Piece) -> dict[str, int]:
    """Return the line of each key of an object: the first that names it in quotes."""
    lines: dict[str, int] = {}
    for number, line in enumerate(piece.text.splitlines(), piece.line):
        for name in re.findall(r'"([^"\n]{1,100})"\s*:', line[:2000]):
            lines.setdefault(name, number)
    return lines


def _tree_settings(piece: Piece) -> list[Setting]:
    lines = _key_lines(piece)
    return [
        Setting(
            key=leaf.key, value=leaf.value, line=lines.get(leaf.key.rpartition(".")[2], piece.line)
        )
        for leaf in flatten(piece.tree or {})
    ]


def _run_file(piece: Piece, draft: RunDraft) -> None:
    draft.notes["document"] = piece.tree
    for setting in _tree_settings(piece):
        draft.report(setting, "understood", "a key of a run file")


def _hugging_face(piece: Piece, draft: RunDraft) -> None:
    import_hugging_face(piece.tree or {}, _tree_settings(piece), draft)


def _deepspeed(piece: Piece, draft: RunDraft) -> None:
    import_deepspeed(_tree_settings(piece), draft)


def _accelerate(piece: Piece, draft: RunDraft) -> None:
    import_accelerate(read_yaml(piece.text, piece.line), draft)


def _arguments(piece: Piece, draft: RunDraft) -> None:
    import_megatron(script_flags(piece.text, piece.line), draft)


def _log(piece: Piece, draft: RunDraft) -> None:
    import_megatron(printed_arguments(piece.text, piece.line), draft)


def _bridge(piece: Piece, draft: RunDraft) -> None:
    draft.values.setdefault("training.framework", "megatron")
    settings = read_overrides(resolve_variables(piece.text), piece.line)
    if re.search(r"^\s*(def |import |from |cfg\.)", piece.text, re.MULTILINE):
        _require_single_configuration(piece)
        named = [setting for setting in settings if setting.key == "recipe"]
        settings = named + read_python(piece.text, piece.line)
    import_bridge(settings, draft)
    flags = [setting for setting in script_flags(piece.text, piece.line) if setting.key in _LAUNCH]
    import_megatron(flags, draft)


_LAUNCH = ("--nproc_per_node", "--nproc-per-node", "--nnodes", "--nodes", "--gpus-per-node")


def _titan_toml(piece: Piece, draft: RunDraft) -> None:
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


def _require_single_configuration(piece: Piece) -> None:
    """Reject a file with several configurations, such as a registry of recipes.

    Raises:
        TextError: what the text holds, and what to do.
    """
    functions = configuration_functions(piece.text)
    if len(functions) > 1:
        names = ", ".join(f"{name} (line {piece.line + line - 1})" for name, line in functions[:12])
        more = f" and {len(functions) - 12} more" if len(functions) > 12 else ""
        raise TextError(
            f"line {piece.line}: {len(functions)} configurations, {names}{more}; paste one of "
            "these functions alone"
        )


def _titan_python(piece: Piece, draft: RunDraft) -> None:
    _require_single_configuration(piece)
    import_torchtitan(read_python(piece.text, piece.line), draft)


def _titan_flags(piece: Piece, draft: RunDraft) -> None:
    import_torchtitan(script_flags(piece.text, piece.line), draft)


_READ: Mapping[str, Callable[[Piece, RunDraft], None]] = {
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
