"""Readers of torchtitan's configurations: TOML, Python, flags."""

import re
import tomllib

from engine.run.importers.dialect import Piece, Reader
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
    if "torchtitan TOML" in draft.dialects:
        draft.lines.clear()  # what the file says is no contradiction
    for number, line in enumerate(piece.text.splitlines(), piece.line):
        if match := re.match(r"\s*(?:export\s+)?(?:\w+=\S+\s+)*?CONFIG_FILE=(\S+)", line[:2000]):
            settings.append(Setting(key="CONFIG_FILE", value=match[1].strip("\"'"), line=number))
    import_torchtitan(settings, draft)


TOML_READER = Reader(read=_read_toml, finish=finish_torchtitan)
PYTHON_READER = Reader(read=_read_python, finish=finish_torchtitan)
FLAGS_READER = Reader(read=_read_flags, finish=finish_torchtitan)
