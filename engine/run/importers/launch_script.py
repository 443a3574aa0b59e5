"""A script that starts a trainer whose configuration is another text: its launcher's flags."""

import re

from engine.run.importers.accelerate import read_command_flag
from engine.run.importers.dialect import Dialect, Piece, assignments, flags
from engine.run.importers.import_report import RunDraft, shorten
from engine.run.importers.launch import is_launch_flag, take_launch
from engine.run.importers.shell import LAUNCH_VARIABLES, script_flags
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


LAUNCH_SCRIPT = Dialect(
    name="launch script",
    read=_read,
    finish=_finish,
    signs=(
        flags("nproc-per-node", "nnodes", "num-gpus", "num-nodes", "num-machines", "num-processes",
              "ntasks-per-node", "gpus-per-node", "node-rank", "master-addr", "master-port",
              "rdzv-backend", "rdzv-endpoint", "machine-rank", "main-process-port", "include",
              "actor-num-nodes", "actor-num-gpus-per-node"),
        assignments(*LAUNCH_VARIABLES, "MASTER_ADDR", "MASTER_PORT", "NODE_RANK"),
        r"(?:^|[\s/])(?:torchrun|deepspeed|srun|sbatch|mpirun|mpiexec)(?=\s)|\baccelerate launch\b",
        r"\b(?:torchrun|deepspeed|accelerate launch)\s[^\n;|&]{0,300}?[\w/-]\.py(?=\s|$)",
        r"^#SBATCH\s+--?\w[\w-]*",
    ),
    weak=True,
    refuses=_refused,
)  # fmt: skip
