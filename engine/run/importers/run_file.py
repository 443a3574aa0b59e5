"""Reader of a run file, the document of `engine/run/file.py` itself."""

from engine.run.importers.dialect import Dialect, Piece
from engine.run.importers.import_report import RunDraft
from engine.run.importers.json_text import object_settings


def _read(piece: Piece, draft: RunDraft) -> None:
    draft.notes["document"] = piece.tree
    for setting in object_settings(piece):
        draft.report(setting, "understood", "a key of a run file")


RUN_FILE = Dialect(
    name="run file",
    read=_read,
    software="run file",
    keys=frozenset(("parallelism", "training", "cluster")),
)
