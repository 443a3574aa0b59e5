"""A reader's measurements of a cluster, in one text: the script's output, nccl-tests, a log."""

from dataclasses import dataclass

from engine.run.importers.import_report import TextError
from engine.run.logs.calibration import Timings, holds_calibration, read_calibration
from engine.run.logs.nccl import NcclText, read_nccl
from engine.run.logs.training import TrainingLog, read_training_log

LONGEST_CLUSTER = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterText:
    """What a text holds; None for what it does not."""

    timings: Timings | None
    nccl: NcclText | None
    log: TrainingLog | None


def read_cluster_text(text: str) -> ClusterText:
    """Return what a text holds; raise `TextError` where it holds no measurement."""
    timings = None
    rest = text
    if holds_calibration(text):
        timings = read_calibration(text)
        # One line; its numbers would look like rows of a table.
        rest = "\n".join("" if line.lstrip().startswith("{") else line for line in text.split("\n"))
    nccl, log = _nccl(rest), _log(rest)
    if timings is None and nccl is None and log is None:
        raise TextError(
            "line 1: no measurement is recognized; allowed: the output of the script, a table of "
            "nccl-tests, steps of a training log, or several of them"
        )
    return ClusterText(timings=timings, nccl=nccl, log=log)


def _nccl(text: str) -> NcclText | None:
    try:
        found = read_nccl(text)
    except TextError:
        return None
    return found if found.table and found.table.rows else None


def _log(text: str) -> TrainingLog | None:
    try:
        return read_training_log(text)
    except TextError:
        return None
