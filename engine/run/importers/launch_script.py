"""A script that starts a trainer whose configuration is another text: its launcher's flags."""

import re

from engine.run.importers.accelerate import read_command_flag
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, shorten
from engine.run.importers.launch import is_launch_flag, take_launch
from engine.run.importers.shell import script_flags
from engine.run.importers.unknown_keys import may_change_memory, report_unknown

_STARTED = re.compile(
    r"^(?!\s*#)[^\n]{0,300}?\b(?:torchrun|deepspeed|accelerate launch|python3?)\s[^\n;|&]{0,300}?"
    r"(?P<name>[\w-]+\.py)(?=\s|$)",
    re.MULTILINE,
)


def _read(piece: Piece, draft: RunDraft) -> None:
    for match in _STARTED.finditer(piece.text):
        line = piece.line + piece.text.count("\n", 0, match.start("name"))
        draft.notes.setdefault("programs", {}).setdefault(match["name"], line)
    for setting in script_flags(piece.text, piece.line):
        if not read_command_flag(setting, draft) and take_launch([setting], draft):
            report_unknown(setting, draft)


def _refused(text: str) -> str:
    """Return why a launch script cannot be read alone: arguments of its trainer, by name."""
    settings = script_flags(text)
    unknown = [
        setting.key
        for setting in settings
        if not is_launch_flag(setting.key) and may_change_memory(setting)
    ]
    names = ", ".join(dict.fromkeys(map(shorten, unknown[:6])))
    return f"arguments of a trainer that is not known here ({names})" if unknown else ""


def _finish(draft: RunDraft) -> None:
    """Derive the GPUs where nothing but a launcher says them."""
    if "per_node" in draft.notes and "parallelism.world_size" not in draft.values:
        world = draft.notes["per_node"] * draft.notes.get("nodes", 1)
        draft.derive("parallelism.world_size", world, "nodes x processes per node")


READER = Reader(read=_read, finish=_finish, refuses=_refused)
